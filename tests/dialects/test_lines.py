"""What launchers, collectors and terminals put around a line comes off; what belongs to the tool stays."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from eastwest.dialects.lines import lines_of

ROW = "           8             2     float     sum      -1    99.09    0.00    0.00    N/A"
WRAPPED = {
    "mpirun": "[1,0]<stdout>:{}",
    "prterun": "[prterun-node-a-77@1,0]<stdout>: {}",
    "mpirun with time": "Mon Jan  6 10:11:12 2025[1,3]<stdout>:{}",
    "srun": "0: {}",
    "srun, wide": " 12: {}",
    "kubectl": "[pod/nccl-test-launcher-x7/mpi] {}",
    "kubectl with time": "2025-01-06T10:11:12.123456789Z {}",
    "log collector": "2025-01-06 10:11:12,123 {}",
    "rank": "[0] {}",
    "rank of torchrun": "[rank3]: {}",
    "ray": "(RayWorker pid=123, ip=192.0.2.7) {}",
    "colour": "\x1b[32m{}\x1b[0m",
    "windows": "{}\r",
    "progress bar": "10 %\r50 %\r{}",
    "quoted": "> {}",
    "several": "2025-01-06T10:11:12Z [1,0]<stdout>:0: {}",
}


@pytest.mark.parametrize("wrapper", WRAPPED.values(), ids=WRAPPED.keys())
@pytest.mark.parametrize("line", [ROW, "# Avg bus bandwidth    : 56.4"])
def test_a_prefix_comes_off(wrapper: str, line: str) -> None:
    (found,) = lines_of(wrapper.format(line) + "\n")
    assert found.text.split() == line.split()
    assert found.number == 1


@pytest.mark.parametrize(
    "line",
    [
        "node-a:77:90 [0] NCCL INFO NET/IB : Using [0]mlx5_0:1/RoCE",
        " GID: 00:00:00:00:00:00:00:00:00:00:255:255:10:00:04:233",
        " Dual-port       : OFF\t\tDevice         : mlx5_5",
        "Mtu             : 4096[B]",
        " 65536      20000            98.01              98.01  \t\t   0.186932",
    ],
)
def test_a_line_of_the_tool_stays(line: str) -> None:
    assert lines_of(line)[0].text.split() == line.split()


def test_line_numbers_are_those_of_the_text_and_the_end_is_known() -> None:
    lines = lines_of("a\n\nb\x0bc\nd")
    assert [(line.number, line.text) for line in lines] == [(1, "a"), (2, ""), (3, "b\x0bc"), (4, "d")]
    assert [line.is_ended for line in lines] == [True, True, True, False]


def test_line_ends_of_old_systems_are_line_ends() -> None:
    assert [line.text for line in lines_of("a\rb\r")] == ["a", "b"]


@given(st.text(max_size=200))
def test_any_text_has_as_many_lines_as_line_ends(text: str) -> None:
    lines = lines_of(text)
    ends = text.count("\n") if "\n" in text else text.count("\r")
    assert len(lines) in (ends, ends + 1)
    assert [line.number for line in lines] == list(range(1, len(lines) + 1))
