"""The NCCL environment: each variable with its reason, and what is wrong with an environment found somewhere."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from eastwest.policy import tc
from eastwest.policy.host import device_names
from eastwest.policy.settings_host import EnvironmentVariable
from eastwest.registry import nearest
from eastwest.spec.qos import LoadBalancing, LossRegime
from eastwest.units import US_PER_S, format_time

ACK_TIMEOUT_UNIT_S = 4.096 / US_PER_S  # InfiniBand architecture 12.7.34: timeout = 4.096 us x 2**t
TIMEOUT, RETRY_CNT = 20, 7  # NCCL defaults since 2.23
SEED_TIMEOUT = 22  # seed text 001, section 3.2
OLD_TIMEOUT = 14  # NCCL before 2.14
QPS_ECMP = 4  # entropy for ECMP: four flows per connection; NCCL allows 1-128
LONG_ERROR_S = 60.0  # a job that waits longer than this for an error hides its cause: our threshold
RAIL_FAMILIES = ("rail_optimized", "rail_only")
SOCKET_IFNAME = "=eth0"
KNOWN = frozenset(
    [
        "NCCL_ALGO",
        "NCCL_BUFFSIZE",
        "NCCL_COMM_ID",
        "NCCL_CROSS_NIC",
        "NCCL_DEBUG",
        "NCCL_DEBUG_FILE",
        "NCCL_DEBUG_SUBSYS",
        "NCCL_DMABUF_ENABLE",
        "NCCL_GIN_IB_TC",
        "NCCL_GRAPH_DUMP_FILE",
        "NCCL_IB_ADAPTIVE_ROUTING",
        "NCCL_IB_ADDR_FAMILY",
        "NCCL_IB_ADDR_RANGE",
        "NCCL_IB_AR_THRESHOLD",
        "NCCL_IB_CUDA_SUPPORT",
        "NCCL_IB_DISABLE",
        "NCCL_IB_ECE_ENABLE",
        "NCCL_IB_FIFO_TC",
        "NCCL_IB_GID_INDEX",
        "NCCL_IB_HCA",
        "NCCL_IB_MERGE_NICS",
        "NCCL_IB_MERGE_VFS",
        "NCCL_IB_OOO_RQ",
        "NCCL_IB_PCI_RELAXED_ORDERING",
        "NCCL_IB_PKEY",
        "NCCL_IB_QPS_PER_CONNECTION",
        "NCCL_IB_RESILIENCY_PORT_FAILOVER",
        "NCCL_IB_RESILIENCY_PORT_RECOVERY",
        "NCCL_IB_RETRY_CNT",
        "NCCL_IB_RETURN_ASYNC_EVENTS",
        "NCCL_IB_ROCE_VERSION_NUM",
        "NCCL_IB_SL",
        "NCCL_IB_SPLIT_DATA_ON_QPS",
        "NCCL_IB_SUBNET_AWARE_ROUTING",
        "NCCL_IB_SUBNET_PREFIX_LEN",
        "NCCL_IB_TC",
        "NCCL_IB_TIMEOUT",
        "NCCL_IB_USE_INLINE",
        "NCCL_IB_WARN_RAIL_LOCAL",
        "NCCL_MAX_NCHANNELS",
        "NCCL_MIN_NCHANNELS",
        "NCCL_NCHANNELS_PER_NET_PEER",
        "NCCL_NET",
        "NCCL_NET_GDR_C2C",
        "NCCL_NET_GDR_LEVEL",
        "NCCL_NET_GDR_READ",
        "NCCL_NET_MERGE_LEVEL",
        "NCCL_NET_PLUGIN",
        "NCCL_NET_SHARED_BUFFERS",
        "NCCL_NSOCKS_PERTHREAD",
        "NCCL_NVLS_ENABLE",
        "NCCL_P2P_DISABLE",
        "NCCL_P2P_LEVEL",
        "NCCL_PROTO",
        "NCCL_PXN_DISABLE",
        "NCCL_SHM_DISABLE",
        "NCCL_SOCKET_FAMILY",
        "NCCL_SOCKET_IFNAME",
        "NCCL_SOCKET_NTHREADS",
        "NCCL_TOPO_DUMP_FILE",
        "NCCL_TOPO_FILE",
        "NCCL_TUNER_PLUGIN",
    ]
)
RENAMED = {"NCCL_IB_ENABLE": "NCCL_IB_DISABLE=0"}  # the seeds' variable does not exist, so setting it does nothing


@dataclass(frozen=True, slots=True)
class Doubt:
    """One variable that does not do what its author believes: what was found and what to write."""

    variable: str
    found: str
    problem: str
    remedy: str


def time_to_error_s(timeout: int = TIMEOUT, retries: int = RETRY_CNT) -> float:
    """Seconds until a dead path becomes an error: 4.096 us x 2**timeout x retries.

    Source: InfiniBand architecture, volume 1, 12.7.34 (Local Ack Timeout).

    >>> round(time_to_error_s(22, 7)), round(time_to_error_s(20, 7))
    (120, 30)
    """
    return ACK_TIMEOUT_UNIT_S * float(2**timeout) * retries


def environment(
    regime: LossRegime, n_nics: int, family: str, balancing: LoadBalancing, dscp: int
) -> tuple[EnvironmentVariable, ...]:
    """The NCCL environment of every job, in the order in which an engineer checks it; None is left unset on purpose."""
    rows = [
        EnvironmentVariable("NCCL_DEBUG", "INFO", "shows the transport, the NICs and the rings really used"),
        EnvironmentVariable(
            "NCCL_SOCKET_IFNAME", SOCKET_IFNAME, "bootstrap stays on the management network; = is an exact name"
        ),
    ]
    if regime == "tcp":
        return (
            *rows,
            EnvironmentVariable("NCCL_IB_DISABLE", "1", "the regime is TCP: no silent use of an RDMA device"),
        )
    rows += [
        EnvironmentVariable("NCCL_IB_DISABLE", "0", "RDMA is wanted; NCCL_IB_ENABLE does not exist"),
        EnvironmentVariable("NCCL_IB_HCA", "=" + ",".join(device_names(n_nics)), _why_hca(n_nics)),
        EnvironmentVariable("NCCL_IB_TIMEOUT", str(TIMEOUT), _why_timeout()),
        EnvironmentVariable("NCCL_IB_RETRY_CNT", str(RETRY_CNT), "the largest that the three-bit field holds"),
        EnvironmentVariable("NCCL_CROSS_NIC", *_cross_nic(family)),
        EnvironmentVariable("NCCL_IB_QPS_PER_CONNECTION", *_qps(regime, balancing)),
    ]
    if regime == "infiniband":
        return (*rows, EnvironmentVariable("NCCL_IB_SL", "0", "service level of training; it chooses the virtual lane"))
    return (*rows, *_roce(dscp, balancing))


def _roce(dscp: int, balancing: LoadBalancing) -> tuple[EnvironmentVariable, ...]:
    byte = tc.decode(tc.encode(dscp))
    mark = (
        f"the whole byte: DSCP {byte.dscp} with {byte.ecn_name}; no ECT, no marks; the host-wide file misses some QPs"
    )
    rows = [
        EnvironmentVariable("NCCL_IB_TC", str(byte.value), mark),
        EnvironmentVariable(
            "NCCL_IB_GID_INDEX",
            None,
            "NCCL finds the RoCE v2 entry itself; a fixed number breaks when addresses change",
        ),
    ]
    if balancing in ("adaptive", "spray"):
        rows.append(
            EnvironmentVariable(
                "NCCL_IB_ADAPTIVE_ROUTING", "1", "off by default on RoCE; lets the NIC accept any order"
            )
        )
    return tuple(rows)


def _why_hca(n_nics: int) -> str:
    return f"all {n_nics} east-west NICs and no other; = is exact, without it mlx5_1 also takes mlx5_10"


def _why_timeout() -> str:
    ours, seeds = format_time(time_to_error_s()), format_time(time_to_error_s(SEED_TIMEOUT))
    return (
        f"a dead path becomes an error after {ours}: longer than rerouting, shorter than the {seeds} of {SEED_TIMEOUT}"
    )


def _cross_nic(family: str) -> tuple[str, str]:
    if family in RAIL_FAMILIES:
        return "0", "rings keep their rail, so traffic stays under one leaf"
    return "2", "NCCL's default: the same NIC where it can, crossing where that helps"


def _qps(regime: LossRegime, balancing: LoadBalancing) -> tuple[str, str]:
    if regime != "infiniband" and balancing in ("ecmp", "flowlet"):
        return str(QPS_ECMP), "more flows per connection give ECMP something to spread"
    return "1", "the network spreads packets itself; more QPs only cost NIC state"


def doubts(found: Mapping[str, str], nics: Sequence[str] = ()) -> tuple[Doubt, ...]:
    """What is wrong with an NCCL environment, variable by variable; `nics` are the server's east-west RDMA devices
    when known.

    >>> doubts({"NCCL_IB_ENABLE": "1"})[0].remedy
    'write NCCL_IB_DISABLE=0'
    """
    rows: list[Doubt] = []
    for name, value in found.items():
        if name.startswith("NCCL_") and name not in KNOWN:
            rows.append(_unknown(name, value))
    rows += _hca_doubts(found.get("NCCL_IB_HCA"), nics)
    rows += _mark_doubts(found.get("NCCL_IB_TC"))
    rows += _timeout_doubts(found)
    return tuple(rows)


def _unknown(name: str, value: str) -> Doubt:
    near = nearest(name, KNOWN)
    remedy = f"write {RENAMED[name]}" if name in RENAMED else (f"did you mean {near}?" if near else "remove it")
    return Doubt(name, value, "NCCL has no such variable, so it does nothing", remedy)


def _hca_doubts(value: str | None, nics: Sequence[str]) -> list[Doubt]:
    if not value or not nics:
        return []
    exact, listed = value.startswith("="), [part.split(":")[0] for part in value.lstrip("=^").split(",") if part]
    rows = []
    if not exact and not value.startswith("^"):
        greedy = [
            (one, nic) for one in listed for nic in nics if nic.startswith(one) and nic != one and nic not in listed
        ]
        rows += [
            Doubt("NCCL_IB_HCA", value, f"{one} also matches {nic}", f"write ={','.join(listed)}")
            for one, nic in greedy[:1]
        ]
    if not value.startswith("^"):
        missing = [
            nic for nic in nics if nic not in listed and (exact or not any(nic.startswith(one) for one in listed))
        ]
        if missing:
            problem = f"{len(nics) - len(missing)} of {len(nics)} NICs are listed; without {', '.join(missing)}"
            rows.append(Doubt("NCCL_IB_HCA", value, problem, "write =" + ",".join(nics)))
    return rows


def _mark_doubts(value: str | None) -> list[Doubt]:
    if value is None or not value.strip().isdigit() or int(value) > tc.MAX_BYTE:
        return []
    return [Doubt("NCCL_IB_TC", value, text, "eastwest tc VALUE shows the byte") for text in tc.suspicions(int(value))]


def _timeout_doubts(found: Mapping[str, str]) -> list[Doubt]:
    texts = found.get("NCCL_IB_TIMEOUT", str(TIMEOUT)), found.get("NCCL_IB_RETRY_CNT", str(RETRY_CNT))
    if not all(text.strip().isdigit() for text in texts):
        return []
    wait_s = time_to_error_s(int(texts[0]), int(texts[1]))
    if wait_s <= LONG_ERROR_S:
        return []
    problem = f"a dead path becomes an error only after {format_time(wait_s)}"
    return [Doubt("NCCL_IB_TIMEOUT", texts[0], problem, f"{TIMEOUT} gives {format_time(time_to_error_s())}")]
