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


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("busbw 2.9 Tb/s", [362.5]),
        ("peaks at 1.45 Tbps busbw", [181.25]),
        ("busbw 340000 MB/s", [340.0]),
        ("busbw 340 GiB/s", [365.072]),
        ("busbw 340,5 GB/s", [340.5]),
        ("algbw 259 busbw 486", [486.0]),
        ("algbw 259 GB/s busbw 486 GB/s", [486.0]),
        ("yesterday 370 GB/s, today only 190 GB/s", [370.0, 190.0]),
        ("NVLink 900 GB/s, busbw 480 GB/s", [480.0]),
        ("busbw 100 gives hope", [100.0]),
        ("all_reduce busbw 只有 180 GB/s", [180.0]),
        ("ib_write_bw 只有 92 Gb/s", [11.5]),
    ],
)
def test_units_and_several_figures(text: str, expected: list[float]) -> None:
    assert figures(text) == expected
    assert not any(run.unread for run in read(text).benchmarks)


@pytest.mark.parametrize(
    "text",
    [
        "busbw -340 GB/s",
        "busbw 340 gb/s",
        "busbw 2.9 T",
        "busbw 95 GB",
        "busbw 340,500 GB/s",
        "300-340 GB/s",
        "1.2.3 GB/s",
    ],
)
def test_a_figure_that_is_open_is_kept_as_open(text: str) -> None:
    (run,) = read(text).benchmarks
    assert (run.rows, len(run.unread)) == ((), 1)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("两台机器，每台八张400G网卡", {"nodes": "2", "nics": "8", "nic rate": "400000000000"}),
        ("4 台 8 卡服务器,每台 8 张 400G 网卡", {"nodes": "4", "local ranks": "8", "nics": "8"}),
        ("十六台 8x400Gb", {"nodes": "16", "nics": "8"}),
        ("single H100 node -g 8", {"nodes": "1", "local ranks": "8"}),
        ("64 nodes x 8 GPUs", {"nodes": "64", "local ranks": "8"}),
        ("2 nodes, 8 GPUs each", {"nodes": "2", "local ranks": "8"}),
        ("32 DGX H100 (256 GPUs, 8 ConnectX-7 400G per node)", {"nodes": "32", "ranks": "256", "nics": "8"}),
    ],
)
def test_systems_as_people_tell_them(text: str, expected: dict[str, str]) -> None:
    said = settings(text)
    assert {name: said.get(name) for name in expected} == expected
    assert "ranks" in expected or "ranks" not in said


def test_a_rate_behind_expected_is_no_target() -> None:
    assert "target" not in settings("gives 197 Gb/s, expected 400G")
