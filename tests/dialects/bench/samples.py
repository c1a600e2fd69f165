"""Synthetic benchmark outputs in the real shapes, written from the formats' definitions; every number is made up."""

from collections.abc import Sequence

FACTORS = {
    "all_reduce": 2.0,
    "all_gather": 1.0,
    "reduce_scatter": 1.0,
    "alltoall": 1.0,
    "sendrecv": 0.0,
    "broadcast": 0.0,
}
REDUCED = {"all_reduce", "reduce_scatter"}
PART_SIZED = {"all_gather", "reduce_scatter", "alltoall"}
SIZES = tuple(2**power for power in range(3, 34))


def time_us(busbw_gbps: float, size: int, factor: float, latency_us: float) -> float:
    """Time of one operation that levels off at that bus bandwidth."""
    return latency_us + size * factor / (busbw_gbps * 1e3)


def number(value: float) -> str:
    """A time as nccl-tests prints it: four to five digits."""
    return f"{value:.0f}" if value >= 10_000 else f"{value:.1f}" if value >= 100 else f"{value:.2f}"


def rows(
    collective="all_reduce",
    ranks=16,
    busbw=190.0,
    sizes: Sequence[int] = SIZES,
    version="new",
    wrong="0",
    latency_us=40.0,
    in_place=True,
    levels=None,
):
    """Rows of a table: `levels` are bus bandwidths by size where they differ from the law."""
    top = FACTORS[collective]
    factor = top * (ranks - 1) / ranks if top else 1.0
    lines = []
    for size in sizes:
        level = (levels or {}).get(size, busbw)
        count = size // 4 // (ranks if collective in PART_SIZED else 1)
        text = number(time_us(level, size, factor, latency_us))
        algbw = size / float(text) / 1e3
        block = f"{text:>8}  {algbw:6.2f}  {algbw * factor:6.2f}"
        redop = "sum" if collective in REDUCED else ("none" if version == "new" else "")
        root = f"{'0' if collective == 'broadcast' else '-1':>6}  " if version == "new" else ""
        error = f"{wrong:>5}"
        lines.append(
            f"{size:>12}  {count:>12}  {'float':>8}  {redop:>6}  {root}{block}  {error}"
            + (f"  {block}  {error}" if in_place else "")
        )
    return lines


def header(version="new"):
    root, wrong = ("    root ", "#wrong") if version == "new" else ("", " error")
    block = f"    time   algbw   busbw {wrong}"
    return [
        "#                                                              out-of-place                       in-place",
        f"#       size         count      type   redop {root}{block} {block}",
        "#        (B)    (elements)                               (us)  (GB/s)  (GB/s)            (us)  (GB/s)  (GB/s)",
    ]


def ranks_of(hosts: Sequence[str], each=8, gpu="NVIDIA H100 80GB HBM3", first=0, group=True):
    words = " Group  0" if group else ""
    return [
        f"#  Rank {first + index * each + device:>2}{words} Pid {1000 + index * 100 + device:>6} on {host:>10} device"
        f" {device:>2} [0x{16 + device:02x}] {gpu}"
        for index, host in enumerate(hosts)
        for device in range(each)
    ]


def banner(gpus=1, largest=8 * 2**30, smallest=8):
    return (
        f"# nThread 1 nGpus {gpus} minBytes {smallest} maxBytes {largest} step: 2(factor) warmup iters: 5 iters: 20 "
        "agg iters: 1 validation: 1 graph: 0"
    )


def footer(average="71.3", wrong=0):
    return [
        f"# Out of bounds values : {wrong} {'FAILED' if wrong else 'OK'}",
        f"# Avg bus bandwidth    : {average} ",
        "#",
    ]


def nccl_tests(hosts=("node-a", "node-b"), each=8, gpu="NVIDIA H100 80GB HBM3", average="71.3", own=None, **table):
    """A whole output of one job."""
    version = table.get("version", "new")
    table.setdefault("ranks", len(hosts) * each)
    lines = [banner(1 if len(hosts) > 1 else each), "#", "# Using devices", *ranks_of(hosts, each, gpu), "#"]
    return "\n".join([*lines, *header(version), *(own or rows(**table)), *footer(average)]) + "\n"


def perftest(
    rate="Gb", sizes=(65536,), level=98.0, device="mlx5_0", mtu=4096, link="Ethernet", title="RDMA_Write BW", ends="ab"
):
    """One end's output of a bandwidth test: `level` in the header's unit, `ends` the digits of both LIDs."""
    factor = 1e9 / 8 if rate == "Gb" else 2**20
    lines = [
        "-" * 87,
        f"                    {title} Test",
        f" Dual-port       : OFF\t\tDevice         : {device}",
        " Number of qps   : 1\t\tTransport type : IB",
        " Connection type : RC\t\tUsing SRQ      : OFF",
        f" Mtu             : {mtu}[B]",
        f" Link type       : {link}",
        " rdma_cm QPs\t : OFF",
        "-" * 87,
        f" local address: LID 0x0{ends[0]} QPN 0x0093 PSN 0xbf9bfe",
        f" remote address: LID 0x0{ends[1]} QPN 0x0094 PSN 0x62655e",
        "-" * 87,
        f" #bytes     #iterations    BW peak[{rate}/sec]    BW average[{rate}/sec]   MsgRate[Mpps]",
    ]
    for size in sizes:
        bandwidth = min(level, size * 3e6 / factor)  # three million messages a second
        lines.append(
            f" {size:<10} 5000             {bandwidth:.2f}              {bandwidth:.2f}  \t\t   "
            f"{bandwidth * factor / size / 1e6:.6f}"
        )
    return "\n".join([*lines, "-" * 87]) + "\n"
