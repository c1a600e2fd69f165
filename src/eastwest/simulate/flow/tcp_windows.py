"""The windows of TCP connections as links: a connection's link carries window / RTT, and the window changes in time.

A flow sends at most one window in a round trip. While its window holds it back (and not a real link), the window grows
at the end of every round trip: in slow start by what was acknowledged, above the threshold by one segment. Where a real
link holds it, the path is full: slow start ends there. A connection that sent nothing for longer than `idle_ps` begins
again from its first window. From the first expected loss on, the window is the mean window under that loss.

Source: RFC 5681, §3.1 (slow start, congestion avoidance) and §4.1 (restart after idle); RFC 2861, §3 (halved for each
time-out of idleness, as Linux does).
"""

from __future__ import annotations

import numpy as np

from eastwest.simulate.compiled import kernel
from eastwest.simulate.flow.crossing import touch
from eastwest.simulate.flow.heap import remove, settle
from eastwest.simulate.flow.records import AMOUNT_PER_BYTE, World

FULL_RATIO = 1.0 - 1e-9  # of a count of bytes: as good as all, in floating point
SMALL_STEP = 64  # above that many segments several round trips of congestion avoidance are one step


@kernel
def allowed_bps(connection: np.void) -> float:
    """What the window allows: a window in every round trip, bit/s."""
    return float(connection["window"] * AMOUNT_PER_BYTE / connection["rtt_ps"])


@kernel
def follow_rate(world: World, number: int, change_bps: float) -> None:
    """Count what a connection sent until now; from now on it sends `change_bps` more."""
    connection, now_ps = world.connections[number], world.state[0]["now_ps"]
    connection["sent"] += connection["rate_bps"] * (now_ps - connection["since_ps"]) / AMOUNT_PER_BYTE
    connection["since_ps"] = now_ps
    connection["rate_bps"] = max(connection["rate_bps"] + change_bps, 0.0)


@kernel
def connection_of(world: World, index: int) -> int:
    """The connection of a flow in a slot: its link is the last of the path; -1 without one."""
    slot = world.slots[index]
    if slot["hop_first"] == slot["hop_end"]:
        return -1
    last = world.hops[slot["hop_end"] - 1]["link"] - world.state[0]["first_window"]
    return int(last) if last >= 0 else -1


@kernel
def put_window(world: World, number: int, window: float) -> None:
    """Give a connection another window, if it is another one.

    Its link fills at no lower level than the lesser rate shared by all its flows: below nothing changes.
    """
    connection = world.connections[number]
    if window == connection["window"]:
        return
    least_bps = min(window, connection["window"]) * AMOUNT_PER_BYTE / connection["rtt_ps"]
    connection["window"] = window
    link = world.state[0]["first_window"] + number
    record = world.links[link]
    record["rate_bps"], record["is_changed"] = allowed_bps(connection), world.state[0]["stamp"]
    level = least_bps / (connection["weight"] * (connection["n_live"] + 1))
    touch(world.state, world.links, world.lists.touched, link, level)


@kernel
def window_after_idle(world: World, number: int, idle_ps: float) -> float:
    """The window after a pause: whole, halved for each time-out, or the first window again."""
    connection = world.connections[number]
    restart = min(connection["initial"], connection["window"])
    if world.state[0]["idle_halves"] == 0:
        return float(restart)
    window = float(connection["window"])
    idle_ps -= connection["idle_ps"]
    while idle_ps > 0.0 and window > restart:
        window *= 0.5
        idle_ps -= connection["idle_ps"]
    return float(max(window, restart))


@kernel
def open_window(world: World, index: int) -> None:
    """A flow starts on its connection: the first one after a pause may find the window closed again."""
    number = connection_of(world, index)
    if number < 0:
        return
    connection, now_ps = world.connections[number], world.state[0]["now_ps"]
    follow_rate(world, number, 0.0)
    if connection["n_live"] == 0 and connection["is_used"]:
        idle_ps = now_ps - connection["last_ps"]
        if idle_ps > connection["idle_ps"]:
            window = window_after_idle(world, number, idle_ps)
            if window < connection["window"]:
                connection["n_restarts"] += 1
                threshold = connection["window"] * 0.75  # Linux: tcp_current_ssthresh
                if connection["threshold"] < np.inf:
                    connection["threshold"] = max(connection["threshold"], threshold)
                put_window(world, number, window)
    connection["n_live"] += 1
    connection["is_used"] = 1


@kernel
def place_tick(world: World, number: int) -> None:
    """Give a connection its place in the heap of ticks: at the end of its round trip or at its expected loss."""
    connection, now = world.connections[number], world.state[0]
    key, at = min(connection["round_end_ps"], connection["loss_at_ps"]), int(connection["heap_at"])
    if key < np.inf:
        if at < 0:
            at = now["n_ticks"]
            world.ticks[at]["item"] = number
            now["n_ticks"] += 1
        world.ticks[at]["key"] = key
        settle(world.ticks, world.connections, now["n_ticks"], at)
    elif at >= 0:
        remove(world.ticks, world.connections, now["n_ticks"], at)
        now["n_ticks"] -= 1


@kernel
def close_window(world: World, index: int) -> None:
    """A flow has sent its last byte, or is taken off its path."""
    number = connection_of(world, index)
    if number < 0:
        return
    connection = world.connections[number]
    follow_rate(world, number, -world.slots[index]["rate_bps"])
    connection["n_live"] -= 1
    if connection["n_live"] == 0:
        connection["rate_bps"], connection["last_ps"] = 0.0, world.state[0]["now_ps"]
        connection["loss_at_ps"] = np.inf
        place_tick(world, number)


@kernel
def is_full(connection: np.void) -> bool:
    """Whether a connection sends all that its window allows."""
    return bool(connection["rate_bps"] >= allowed_bps(connection) * FULL_RATIO)


@kernel
def can_grow(connection: np.void) -> bool:
    """Whether a full window makes the next one larger."""
    most = min(connection["most"], connection["loss_window"] if connection["is_lossy"] else np.inf)
    return bool(connection["window"] < most * FULL_RATIO)


@kernel
def step_rounds(connection: np.void) -> float:
    """Round trips of the next step: more than one where each adds little to a large window in congestion avoidance."""
    if connection["window"] < connection["threshold"]:
        return 1.0
    return float(max(1.0, np.floor(connection["window"] / (SMALL_STEP * connection["segment"]))))


@kernel
def watch(world: World, number: int) -> None:
    """Note when to look again: at the end of a round trip in slow start or with a full window that may grow, and when a
    connection is expected to lose its first packet.
    """
    connection, now_ps = world.connections[number], world.state[0]["now_ps"]
    if connection["n_live"] == 0:
        return
    is_due = is_full(connection) or connection["window"] < connection["threshold"]
    if is_due and connection["round_end_ps"] == np.inf and can_grow(connection):
        connection["round_ps"], connection["round_sent"] = now_ps, connection["sent"]
        connection["round_end_ps"] = now_ps + step_rounds(connection) * connection["rtt_ps"]
    connection["loss_at_ps"] = np.inf
    if not connection["is_lossy"] and connection["rate_bps"] > 0.0:
        left = max(connection["until_loss"] - connection["sent"], 0.0)
        connection["loss_at_ps"] = now_ps + left * AMOUNT_PER_BYTE / connection["rate_bps"]
    place_tick(world, number)


@kernel
def watch_solved(world: World) -> None:
    """After a solve: look at the connections of all flows that may have another rate."""
    for row in range(world.state[0]["n_set_slots"]):
        number = connection_of(world, world.lists.set_slots[row])
        if number >= 0:
            watch(world, number)


@kernel
def lose(world: World, number: int) -> bool:
    """The first loss, when it is due: from now on the mean window under loss."""
    connection = world.connections[number]
    if connection["is_lossy"] or connection["sent"] < connection["until_loss"] * FULL_RATIO:
        return False
    connection["is_lossy"], connection["threshold"] = 1, connection["loss_window"]
    put_window(world, number, min(connection["loss_window"], connection["most"]))
    return True


@kernel
def end_round(world: World, number: int) -> None:
    """The end of a round trip: slow start adds what was sent in it, congestion avoidance a segment."""
    connection, now_ps = world.connections[number], world.state[0]["now_ps"]
    acked = connection["sent"] - connection["round_sent"]
    is_live = connection["n_live"] > 0
    window, most = connection["window"], connection["most"]
    if connection["is_lossy"]:
        most = min(most, connection["loss_window"])
    if window < connection["threshold"]:
        until_ps = now_ps if is_live else connection["last_ps"]
        connection["slow_ps"] += min(max(until_ps - connection["round_ps"], 0.0), connection["rtt_ps"])
        window = min(window + min(acked, window), connection["threshold"])
        if is_live and not is_full(
            connection
        ):  # the path is full: what is on the way and as much again waits at its bottleneck
            carried = 2.0 * connection["rate_bps"] * connection["rtt_ps"] / AMOUNT_PER_BYTE
            window = max(min(window, carried), connection["initial"])
            connection["threshold"] = window
    else:
        rounds = np.rint((now_ps - connection["round_ps"]) / connection["rtt_ps"])
        if acked >= rounds * window * FULL_RATIO:
            window += rounds * connection["segment"]
    put_window(world, number, min(window, most))


@kernel
def take_ticks(world: World, limit: float) -> None:
    """Look at every connection that is due until `limit`."""
    now = world.state[0]
    while now["n_ticks"] > 0 and world.ticks[0]["key"] <= limit:
        number = int(world.ticks[0]["item"])
        connection = world.connections[number]
        follow_rate(world, number, 0.0)
        is_round = connection["round_end_ps"] <= limit
        if is_round:
            connection["round_end_ps"] = np.inf
        connection["loss_at_ps"] = np.inf
        place_tick(world, number)
        if not lose(world, number) and is_round:
            end_round(world, number)
        watch(world, number)
