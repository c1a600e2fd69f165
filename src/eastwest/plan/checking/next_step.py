"""The command that answers what a text leaves open: the size of a fabric from what is known of it."""

from __future__ import annotations

from eastwest.plan.checking.shape import Shape
from eastwest.plan.checking.sheet import Sheet
from eastwest.plan.designs.design import USUAL_GPUS
from eastwest.plan.designs.written import ratio_text
from eastwest.units import format_port_rate


def next_step(sheet: Sheet, shape: Shape) -> str:
    """`eastwest size` with the numbers of the text; "" where it names neither GPUs nor a switch.

    Without a number of GPUs the fabric of one full group of leaves is asked for: half of a leaf's ports face servers.
    """
    whole = sheet.whole
    ports, port_bps = shape.leaf_ports or shape.spine_ports, shape.leaf_bps or shape.spine_bps or shape.nic_bps
    per_server = whole("gpus_per_server") or USUAL_GPUS
    gpus = whole("gpus") or (whole("servers") or 0) * per_server
    if not gpus and not ports:
        return ""
    nic_bps = shape.nic_bps or port_bps
    if not gpus and ports:
        split = port_bps // nic_bps if port_bps and nic_bps and port_bps % nic_bps == 0 else 1
        ratio = sheet.ratio("ratio") or 1.0
        gpus = int(ports * split * ratio / (1 + ratio)) * per_server
    words = [f"eastwest size --gpus {gpus} --gpus-per-server {per_server}"]
    words += [f"--nics-per-server {whole('nics_per_server') or whole('rails') or per_server}"]
    words += [f"--nic {format_port_rate(nic_bps)}"] if nic_bps else []
    words += [f"--switch {ports}x{format_port_rate(port_bps)}"] if ports and port_bps else []
    words += [f"--oversubscription {ratio_text(sheet.ratio('ratio') or 1.0)}"] if sheet.ratio("ratio") else []
    words += ["--rail-optimized"] if whole("rails") or not whole("gpus") else []
    return " ".join(words)
