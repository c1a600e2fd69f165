"""Hashes of flows as switches compute them: fields, a seed and a function give the uplink.

`crc` is CRC-32 that starts from the seed. It is linear: another seed flips the same bits of every flow, so over a power
of two links the choice of a second tier is a renaming of the first's, and flows that met once meet again. Switches cure
that with another function or other bits (`offset`) on each tier. `toeplitz` is linear too, but another seed is another
key. `mixed` is CRC-32 followed by a seeded mix that is not linear: an ideal switch. `xor` folds all words: few inputs
differ in it. Source: Zhang et al., ATC 2021 (linearity of hashes in switches); Microsoft RSS (Toeplitz).
"""

from __future__ import annotations

from collections.abc import Iterable
from functools import cache
from typing import Literal, get_args

import numpy as np
from numpy.typing import NDArray

HashFunction = Literal["crc", "mixed", "toeplitz", "xor"]
FUNCTIONS: tuple[str, ...] = get_args(HashFunction)
Words = NDArray[np.uint32]

CRC_POLYNOMIAL = 0xEDB88320  # IEEE 802.3, reflected
WORD_BITS, BYTE_BITS = 32, 8
ROCE_PORT = 4791  # UDP destination port of RoCEv2, IANA
UDP, TCP = 17, 6
FIELD_ORDER = ("src_ip", "dst_ip", "protocol", "src_port", "dst_port", "rdma_qp")
_MIX_1, _MIX_2 = np.uint32(0x85EBCA6B), np.uint32(0xC2B2AE35)  # MurmurHash3 finalizer, A. Appleby, public domain
_GOLDEN = np.uint32(0x9E3779B9)  # 2^32 over the golden ratio: spreads small seeds


def hash_words(fields: NDArray[np.uint32], function: str, seed: Words) -> Words:
    """(n,) uint32 hash of each flow; `fields` (n, n_fields) uint32, `seed` (n,) uint32 of the switch it is at."""
    if function == "toeplitz":
        return _toeplitz(fields, seed)
    if function == "xor":
        folded = np.bitwise_xor.reduce(fields, axis=1)
        weak: Words = (folded ^ (folded >> np.uint32(WORD_BITS // 2)) ^ seed).astype(np.uint32)
        return weak
    if function == "crc":
        return _crc(fields, seed)
    return mixed((_crc(fields, np.zeros_like(seed)) ^ (seed * _GOLDEN)).astype(np.uint32))


def rotated(words: Words, offset: int) -> Words:
    """(n,) uint32 words rotated right by `offset` bits: which bits of the hash a tier reads."""
    right = np.uint32(offset % WORD_BITS)
    left = np.uint32((WORD_BITS - offset) % WORD_BITS)
    found: Words = words if right == 0 else (words >> right) | (words << left)
    return found


def mixed(words: Words) -> Words:
    """(n,) uint32 words in which every bit depends on every bit of the input, one to one.

    Source: MurmurHash3, finalizer of 32 bits.
    """
    words = (words ^ (words >> np.uint32(16))) * _MIX_1
    words = (words ^ (words >> np.uint32(13))) * _MIX_2
    found: Words = words ^ (words >> np.uint32(16))
    return found


@cache
def _crc_table() -> Words:
    """(256,) CRC-32 of each byte."""
    table = np.arange(1 << BYTE_BITS, dtype=np.uint32)
    for _ in range(BYTE_BITS):
        table = np.where(table & 1, (table >> np.uint32(1)) ^ np.uint32(CRC_POLYNOMIAL), table >> np.uint32(1))
    return table.astype(np.uint32)


def _crc(fields: NDArray[np.uint32], seed: Words) -> Words:
    """CRC-32 over the bytes of all fields, most significant byte first; seed 0 gives the CRC of Ethernet."""
    table, crc = _crc_table(), ~seed
    for byte in _bytes_of(fields):
        crc = table[(crc ^ byte) & np.uint32(0xFF)] ^ (crc >> np.uint32(BYTE_BITS))
    found: Words = ~crc
    return found


def _bytes_of(fields: NDArray[np.uint32]) -> Iterable[Words]:
    for column in fields.T:
        for shift in range(WORD_BITS - BYTE_BITS, -1, -BYTE_BITS):
            yield (column >> np.uint32(shift)) & np.uint32(0xFF)


def _toeplitz(fields: NDArray[np.uint32], seed: Words) -> Words:
    """Toeplitz hash: XOR of the 32 key bits under each input bit that is set; the key is drawn from the seed."""
    found = np.zeros(len(fields), np.uint32)
    for number, column in enumerate(fields.T):
        key, following = _key_word(seed, number), _key_word(seed, number + 1)
        for bit in range(WORD_BITS):
            window = key if bit == 0 else (key << np.uint32(bit)) | (following >> np.uint32(WORD_BITS - bit))
            is_set = (column >> np.uint32(WORD_BITS - 1 - bit)) & np.uint32(1)
            found ^= np.where(is_set == 1, window, np.uint32(0)).astype(np.uint32)
    return found


def _key_word(seed: Words, number: int) -> Words:
    """(n,) the key's word of that number."""
    step = np.uint32((number * int(_GOLDEN) + 1) % (1 << WORD_BITS))
    return mixed(seed + step)
