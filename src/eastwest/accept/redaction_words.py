"""What of a user's line may be shown in public: words of the benchmarks, units, and numbers that a known word explains.

Nothing else is kept by `redaction`: a word that is missing here becomes a placeholder, which costs a little reading and
gives nothing away. Names of people, hosts, clusters, partitions and files must never be added.
"""

from __future__ import annotations

import re

_TOOLS = """
nccl nccl-tests rccl rccl-tests perftest osu gpcnet networktests network_test network_load_test mpi mpi-cuda mpirun
prterun srun torchrun ib_write_bw ib_read_bw ib_send_bw ib_write_lat ib_read_lat ib_send_lat ib_atomic_bw all_reduce
all_gather reduce_scatter all_to_all alltoall allreduce allgather reducescatter broadcast sendrecv gather scatter
reduce hypercube all-reduce all-gather reduce-scatter all-to-all all_reduce_perf all_gather_perf reduce_scatter_perf
alltoall_perf broadcast_perf sendrecv_perf gather_perf scatter_perf reduce_perf hypercube_perf float half bfloat16
double int8 int32 int64 uint8 uint32 uint64 bf16 fp16 fp8 sum prod max min avg mulsum none nan inf n/a
"""
_TABLES = """
nthread ngpus minbytes maxbytes step factor bytes warmup iters agg validation validate graph rank group pid on device
using devices size count type redop root time algbw busbw #wrong wrong error out-of-place in-place elements us gb/s
out of bounds values ok failed avg bus bandwidth average collective test starting concluded reducing due to memory
limitation #bytes #iterations iterations bw peak msgrate mpps t_min t_max t_typical t_avg t_stdev usec dual-port off
number qps transport connection rc uc ud srq pcie relax order ibv_wr api tx rx depth cq moderation mtu link ethernet
ib roce gid index max inline data rdma_cm ex method rdma_write rdma_read send write read latency bidirectional local
remote address lid qpn psn rkey vaddr rr two-sided lat sync bw+sync multiple nat get put isolated congestion tests
network impact factors key results name units mib/s/rank lines allreduce alltoall uni
"""
_ERRORS = """
completion with error at client server failed status wr_id syndrom syndrome scnt ccnt failure unhandled system cuda
hip test common.cu common.c remote process exited or there was a network unable find connect init couldn't listen port
initialize not found did detect exchange transport retry counter exceeded got state is this application must be run
least nodes errors warn info trace version mpi_abort invoked primary job terminated normally non-zero exit code no
such file directory permission denied the cannot read packed broken more than mib cut its alone check path --nic
--nics --nics-per-server --gpus-per-server --nodes --gpu --collective --algorithm --pcie --mtu --target --target-ratio
--pass-ratio --site --redact --out --lang below above number rate example none share between both give lists no. page
redacted mistakes see them input invalid folder holds files name standard pass for hint
"""
_SENTENCES = """
we i our see get gets got have has had only just about around approx is are was were be of on in at per node nodes
server servers host hosts machine machines gpu gpus rank ranks nic nics hca hcas card cards cluster with without and
or but for from to the a an each all between over using while when then than not no yes it its this that expected
expect target theory theoretical should goal want good bad normal slow fast yesterday today now before after peaks
peak reaches gives shows result results message messages bus bandwidth busbw algbw link links rail rails leaf spine
switch two one single three four eight sixteen hello test what why how please help max roce rocev2 infiniband efa tcp
socket ethernet hdr ndr xdr edr dgx hgx connectx-5 connectx-6 connectx-7 connectx-8 cx5 cx6 cx7 cx8 nvidia amd
instinct tesla sxm pcie nvl hbm2 hbm2e hbm3 hbm3e x
"""
WORDS = frozenset((_TOOLS + _TABLES + _ERRORS + _SENTENCES).lower().split())
CHINESE = re.compile(
    "每台|每节点|服务器|机器|节点|网卡|网口|消息大小|消息|总线带宽|算法带宽|带宽|总线|算法|只有|仅有|正常吗|正常|目标|期望|预期|理论|大约|达到|实测"
    "|单台|单机|[一二两三四五六七八九十]{1,3}(?:台|张|块|个|片|卡|节点)|的|吗"
)  # no letter alone that a name may hold

_UNITS = (
    r"(?:[KMGT]i?[Bb](?:ytes?|its?)?/s(?:ec)?(?:/rank)?|[KMGT]i?[Bb]ps|gbps|[KMGT]i?B?|G[bB]E?|us|usec|ms|ns|%|B|Mpps"
    r"|[xX])"
)
_COUNTED = (
    r"(?:nodes?|servers?|hosts?|machines?|GPUs?|ranks?|NICs?|HCAs?|cards?|MPI|iters|bytes|lines|DGX|HGX|ConnectX-\d|台|卡|张|块|个|片"
    r"|节点)"
)
_KEYS = (
    r"(?:Rank|Group|Pid|device|nThread|nGpus|minBytes|maxBytes|step|iters|validation|validate|graph|values|bandwidth"
    r"|busbw|algbw|bus bw|status|syndrom|wr_id|Mtu|scnt|ccnt|nNodes|nRanks|nranks|localRanks|root|GID index|qps"
    r"|TX depth|RX depth|CQ Moderation)"
)
_NUMBER = r"-?\d+(?:[.,]\d+)*(?:[eE][+-]?\d+)?"
# A number is kept with what explains it: a key before it, a unit or a noun behind it, a count of servers in brackets.
KEPT = re.compile(
    rf"(?<![\w.@/-])(?:{_KEYS}\s*[:=]?\s*(?:0x[0-9a-fA-F]{{1,4}}|{_NUMBER})(?![\w.-])"
    rf"|\d{{1,3}}\s?[x×*X]\s?\d{{1,4}}\s?G(?:b/s|bps|bE|b|E)?(?![\w-])"
    rf"|{_NUMBER}\s?{_UNITS}(?![\w/-])"
    rf"|{_NUMBER}[ -]?{_COUNTED}(?![A-Za-z0-9_-])"
    rf"|{_NUMBER}\s\(\d{{1,4}}(?:\s?[-–]\s?\d{{1,4}})?(?:\s(?:nodes?|servers?))?\)"
    r"|-[bedfgnw] \d{1,4}[KMG]?(?![\w.-]))"
    r"|\[0x[0-9a-fA-F]{1,4}\]|\[(?:[0-9a-fA-F]{4,8}:)?[0-9a-fA-F]{2}:[0-9a-fA-F]{2}(?:\.\d)?\]|<std(?:out|err)>"
)
GPU = re.compile(
    r"(?:A100|A800|A30|A40|H100|H200|H800|H20|B200|B300|GB200|GB300|GH200|V100|L4|L40S?|MI2\d0X?|MI3\d{2}[AX])"
    r"(?:-(?:SXM\d?|PCIE|PCIe|NVL|\d{2,3}GB|HBM\d?e?))*$"
)
ROW_WORD = re.compile(rf"(?:{_NUMBER}|-?nan|-?inf|N/A|\|)$", re.IGNORECASE)
