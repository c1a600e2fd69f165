"""How loss, classes and thresholds are wished for; what is not said follows the documented rules of `policy`."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Annotated, Literal

from pydantic import Field

from eastwest.spec.quantities import Duration, Share, Size, Wish, sized

MIN_MTU_BYTES, MAX_MTU_BYTES = (
    68,
    65_535,
)  # RFC 791: least that every host passes, most that the length field says
Transport = Literal["roce", "infiniband", "tcp"]
LossRegime = Literal["lossless", "ecn-only", "spray-trim", "infiniband", "tcp"]
LoadBalancing = Literal["ecmp", "flowlet", "adaptive", "spray"]
# Loss regimes that go with a transport; the first is assumed when none is given.
REGIMES_OF_TRANSPORT: Mapping[Transport, tuple[LossRegime, ...]] = {
    "roce": ("lossless", "ecn-only", "spray-trim"),
    "infiniband": ("infiniband",),
    "tcp": ("tcp",),
}
Dscp = Annotated[int, Field(ge=0, le=63, strict=True)]
Priority = Annotated[int, Field(ge=0, le=7, strict=True)]
Mtu = Annotated[
    int,
    sized(),
    Field(ge=MIN_MTU_BYTES, le=MAX_MTU_BYTES, description="MTU in bytes, written 9000 or 9216", examples=["9216"]),
]


class QosWish(Wish):
    """Marks, priorities, MTU and thresholds; each has a default with a reason."""

    dscp: Dscp | None = Field(None, description="DSCP of RDMA data")
    priority: Priority | None = Field(None, description="lossless priority of RDMA data")
    cnp_dscp: Dscp | None = Field(None, description="DSCP of congestion notification packets")
    inference_dscp: Dscp | None = Field(
        None, description="DSCP of inference traffic when it is separated from training"
    )
    separate_inference: bool | None = Field(None, description="whether inference has its own class beside training")
    mtu_bytes: Mtu | None = Field(None, alias="mtu", description="L3 MTU of hosts")
    kmin_bytes: Size | None = Field(None, alias="kmin", description="ECN low threshold")
    kmax_bytes: Size | None = Field(None, alias="kmax", description="ECN high threshold")
    pmax_ratio: Share | None = Field(None, alias="pmax", description="ECN marking probability at kmax, 0 to 1")
    watchdog_detect_s: Duration | None = Field(
        None, alias="watchdog_detect", description="pause time until the watchdog acts"
    )
    load_balancing: LoadBalancing | None = Field(None, description="how flows are spread over equal paths")
