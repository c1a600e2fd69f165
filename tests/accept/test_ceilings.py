"""Ceilings against their closed forms and against published plateaus."""

import pytest

from eastwest.accept import ceilings
from eastwest.accept.ceilings import Exit
from eastwest.accept.gpus import gpu_of_name, nvls_bytes_per_s, scale_up_of

G = 10**9


@pytest.mark.parametrize(("gbps", "expected"), [(100, 12e9), (200, 24e9), (400, 48e9)])
def test_one_nic_gives_what_maintainers_accept(gbps: int, expected: float) -> None:
    assert ceilings.ring(Exit(1, gbps * G), None, None).bytes_per_s == pytest.approx(expected)


def test_a_ring_over_four_200g_nics_is_96_gigabytes_per_second() -> None:
    found = ceilings.ring(Exit(4, 200 * G), None, 8)
    assert (found.name, found.bytes_per_s, found.wire_bytes_per_s) == ("ring", pytest.approx(96e9), 100e9)
    assert found.formula == "4 NICs x 200G / 8 x 0.96 = 96 GB/s"


def test_slow_scale_up_links_limit_a_ring_over_servers() -> None:
    # H800: 200 GB/s one way, of which NCCL counts 20.6/25; a GPU passes on 7/8 of the ring's channels.
    found = ceilings.ring(Exit(8, 400 * G), scale_up_of("h800"), 8)
    assert found.limit == "scale-up"
    assert found.bytes_per_s == pytest.approx(200e9 * 20.6 / 25 * 8 / 7)
    assert ceilings.ring(Exit(8, 400 * G), scale_up_of("h100"), 8).limit == "nic"


@pytest.mark.parametrize(("nodes", "factor"), [(2, 15 / 16 * 2), (3, 23 / 24 * 1.5), (4, 31 / 32 * 4 / 3)])
def test_a_tree_sends_two_times_k_minus_1_over_k(nodes: int, factor: float) -> None:
    """Naive oracle: busbw = S/t x 2(n-1)/n, and each server sends 2(k-1)/k x S through its NICs in t."""
    n, exit_bytes_per_s = 8 * nodes, 100e9 * 0.92
    seconds = 2 * (nodes - 1) / nodes * 1.0 / exit_bytes_per_s
    found = ceilings.tree(Exit(8, 100 * G), None, nodes, n)
    assert found.bytes_per_s == pytest.approx(2 * (n - 1) / n * 1.0 / seconds)
    assert found.bytes_per_s == pytest.approx(exit_bytes_per_s * factor)


def test_a_tree_is_no_faster_than_the_inside_of_its_servers() -> None:
    found = ceilings.tree(Exit(32, 100 * G), scale_up_of("h100"), 2, 16)
    assert found.limit == "scale-up"
    assert found.bytes_per_s == pytest.approx(490e9, rel=0.01)  # published: 487 GB/s on two such servers


@pytest.mark.parametrize("nodes", [2, 4, 16])
def test_all_to_all_counts_the_bytes_that_leave_a_server(nodes: int) -> None:
    """Naive oracle: of S bytes a GPU sends S/n to each rank; those of the n-g others pass its share of the NICs."""
    each, n = 8, 8 * nodes
    leaving = sum(1 / n for rank in range(n) if rank // each != 0)
    seconds = leaving / (8 * 50e9 * 0.96 / each)
    found = ceilings.all_to_all(Exit(8, 400 * G), nodes, each)
    assert found.bytes_per_s == pytest.approx((n - 1) / n / seconds)


@pytest.mark.parametrize(
    ("mtu", "is_roce", "gbps", "expected"),
    [(4096, True, 100, 98.04), (1024, True, 100, 92.59), (4096, False, 200, 198.74)],
)
def test_the_wire_less_headers_is_what_perftest_can_show(mtu: int, is_roce: bool, gbps: int, expected: float) -> None:
    # 98.01 Gb/s of 100G RoCE and 196.6 Gb/s of 200G InfiniBand are published.
    assert ceilings.wire_less_headers(gbps * G, mtu, is_roce).bytes_per_s * 8 / 1e9 == pytest.approx(expected, abs=0.01)


def test_a_narrow_slot_limits_the_nic() -> None:
    found = ceilings.ring(Exit(8, 400 * G, pcie_bytes_per_s=26e9), None, 8)
    assert (found.name, found.limit, found.bytes_per_s) == ("pcie", "pcie", 8 * 26e9)


# Published plateaus inside one server: ml-engineering network README (744d01e), GTC25 S72583, nccl-tests#290.
@pytest.mark.parametrize(
    ("gpu", "ring", "nvls"),
    [
        ("a100", (232, 234.89), None),
        ("h100", (370,), (476, 480)),
        ("h200", (365.6, 367.2), (473.1, 482.26)),
        ("b200", (682.2,), (838.0, 845.67)),
        ("v100", (122,), None),
    ],
)
def test_published_plateaus_lie_within_seven_percent_below_or_two_above(gpu, ring, nvls) -> None:
    scale_up = scale_up_of(gpu)
    for measured in ring:
        assert 0.93 <= measured * 1e9 / ceilings.scale_up_ring(scale_up).bytes_per_s <= 1.02
    found = ceilings.nvls(scale_up, 8)
    assert (found is None) == (nvls is None)
    for measured in nvls or ():
        assert 0.93 <= measured * 1e9 / found.bytes_per_s <= 1.02


@pytest.mark.parametrize(("n", "measured"), [(5, 414.2), (6, 435.6), (7, 460.0), (8, 473.1)])
def test_nvls_follows_its_law_over_the_number_of_gpus(n: int, measured: float) -> None:
    assert measured * 1e9 / nvls_bytes_per_s(scale_up_of("h200"), n) == pytest.approx(0.975, abs=0.02)


@pytest.mark.parametrize(
    ("printed", "gpu"),
    [
        ("NVIDIA H100 80GB HBM3", "h100"),
        ("NVIDIA H100 PCIe", None),
        ("NVIDIA H100 NVL", None),
        ("NVIDIA A100-PCIE-40GB", None),
        ("A100-SXM4-40GB", "a100-40gb"),
        ("NVIDIA A100-SXM4-80GB", "a100"),
        ("NVIDIA H20", "h20"),
        ("NVIDIA H200", "h200"),
        ("NVIDIA GB200", "gb200"),
        ("Tesla V100-SXM2-32GB", "v100"),
        ("NVIDIA GeForce RTX 4090", None),
    ],
)
def test_a_printed_name_is_a_model_or_nothing(printed: str, gpu: str | None) -> None:
    assert gpu_of_name(printed) == gpu


def test_gpus_without_published_rings_have_no_ceiling() -> None:
    assert scale_up_of("mi300x") is None
