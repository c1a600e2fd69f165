"""Sentences with numbers: what counts as a figure, and what does not."""

import pytest

from eastwest.dialects.bench.prose import detect, read


def figures(text: str) -> list[float | None]:
    return [
        row.out.busbw_bytes_per_s and round(row.out.busbw_bytes_per_s / 1e9, 3)
        for run in read(text).benchmarks
        for row in run.rows
    ]


def settings(text: str) -> dict[str, str]:
    return {setting.name: setting.value for setting in read(text).settings}


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ('2 nodes, 4x200G per node, all_reduce busbw 95.97 GB/s at 128 MB, "Avg bus bandwidth 84.86"', [95.97]),
        ("busbw 100 (2 nodes), 70 (3), 58 (4-5), 40 (6)", [100.0, 70.0, 58.0, 58.0, 40.0]),
        ("2 nodes: 100 GB/s, 3 nodes: 70 GB/s", [100.0, 70.0]),
        ("busbw = 370GB/s", [370.0]),
        ("we get 95 GB/s busbw", [95.0]),
        ("ib_write_bw 98 Gb/s on a 100G NIC", [12.25]),
        ("2台服务器，每台 8x400G，all_reduce 总线带宽 360 GB/s", [360.0]),
        ("target 100 GB/s, measured 80 GB/s", [80.0]),
        ("8x400G, 64 GPUs", []),
        ("bus bandwidth    : 373.187", []),
        ("the leaf has 64x800G ports", []),
    ],
)
def test_figures_need_their_unit_or_the_word_busbw(text: str, expected: list[float]) -> None:
    assert figures(text) == expected


@pytest.mark.parametrize(
    ("text", "name", "value"),
    [
        ("8x400G per node", "nics", "8"),
        ("8 x 400Gb/s per node", "nic rate", "400000000000"),
        ("4 nodes with 8 GPUs per node", "local ranks", "8"),
        ("64 GPUs on 8 servers", "ranks", "64"),
        ("16台，每台8卡", "nodes", "16"),
        ("16台，每台8卡", "local ranks", "8"),
        ("over TCP", "transport", "Socket"),
        ("expected 470 GB/s", "target", "470000000000.0"),
    ],
)
def test_the_system_is_told_by_its_units(text: str, name: str, value: str) -> None:
    assert settings(text)[name] == value


@pytest.mark.parametrize("text", ["leaf: 64x400G switch", "8x400GB of memory", "12 racks"])
def test_switches_and_memory_are_no_nics(text: str) -> None:
    assert "nics" not in settings(text)


def test_a_log_is_no_sentence() -> None:
    text = "busbw 95 GB/s\n" * 300
    assert detect(text)
    assert read(text).benchmarks == ()
