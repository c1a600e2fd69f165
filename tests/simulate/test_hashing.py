"""Hashes: the published CRC check value, uniformity by chi-square, linearity where it is known, seeds that matter."""

import binascii

import numpy as np
import pytest

from eastwest.simulate.choice import HashWish, Requests, keys_of
from eastwest.simulate.hashing import FUNCTIONS, hash_words, mixed, rotated

N = 20_000
CHI_SQUARE_999 = 37.7  # 15 degrees of freedom, one in a thousand is larger


def keys(n: int = N, **more: object) -> np.ndarray:
    rng = np.random.default_rng(5)
    src, dst = rng.integers(0, 1000, n), rng.integers(0, 1000, n)
    requests = Requests(src, dst, np.arange(n), np.zeros(n, np.int8))
    return keys_of(requests, HashWish(**more), seed=1)  # type: ignore[arg-type]


def test_crc_is_that_of_ethernet() -> None:
    """Seed 0 gives CRC-32 of the bytes; the check value of "1234" x 2 comes from Python's own."""
    fields = np.array([[0x31323334, 0x35363738]], np.uint32)
    assert int(hash_words(fields, "crc", np.zeros(1, np.uint32))[0]) == binascii.crc32(b"12345678")


@pytest.mark.parametrize("function", sorted(set(FUNCTIONS) - {"xor"}))
def test_flows_spread_evenly_over_16_links(function: str) -> None:
    words = hash_words(keys(), function, np.full(N, 77, np.uint32))
    counts = np.bincount(words % 16, minlength=16)
    assert ((counts - N / 16) ** 2 / (N / 16)).sum() < CHI_SQUARE_999


def pairs_chi_square(function: str, seeds: tuple[int, int], offset: int = 0) -> float:
    """Chi-square of the second tier's choice among 4 links, of flows that the first sent over its link 0."""
    first, second = (hash_words(keys(), function, np.full(N, seed, np.uint32)) for seed in seeds)
    chosen = rotated(second, offset)[first % 4 == 0] % 4
    counts = np.bincount(chosen, minlength=4)
    return float(((counts - len(chosen) / 4) ** 2 / (len(chosen) / 4)).sum())


@pytest.mark.parametrize("function", ["mixed", "toeplitz"])
def test_other_seeds_make_independent_choices(function: str) -> None:
    assert pairs_chi_square(function, (1, 2)) < 16.3  # 3 degrees of freedom, one in a thousand is larger


def test_another_seed_of_a_crc_only_renames_the_choices_and_other_bits_cure_it() -> None:
    """CRC is linear (Zhang et al., ATC 2021): all flows of one link meet again on one link."""
    assert pairs_chi_square("crc", (1, 2)) > 1000
    assert pairs_chi_square("crc", (1, 2), offset=9) < 16.3


@pytest.mark.parametrize("function", FUNCTIONS)
def test_equal_seeds_repeat_the_choice(function: str) -> None:
    assert pairs_chi_square(function, (3, 3)) > 1000


def test_the_mix_is_one_to_one() -> None:
    assert len(np.unique(mixed(np.arange(100_000, dtype=np.uint32)))) == 100_000


def test_rotation_by_a_whole_word_is_none() -> None:
    words = np.array([0x80000001], np.uint32)
    assert rotated(words, 1).tolist() == [0xC0000000]
    assert rotated(words, 32).tolist() == words.tolist()


def test_a_fixed_source_port_leaves_only_addresses_to_tell_flows_apart() -> None:
    same = Requests(np.zeros(8, int), np.ones(8, int), np.arange(8), np.zeros(8, np.int8))
    assert len(np.unique(keys_of(same, HashWish(), 1), axis=0)) == 8
    assert len(np.unique(keys_of(same, HashWish(fixed_port=True), 1), axis=0)) == 1
    assert len(np.unique(keys_of(same, HashWish(fixed_port=True, fields=("src_ip", "rdma_qp")), 1), axis=0)) == 8
