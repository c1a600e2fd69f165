"""Whether a run still moves: a cycle of paused queues that wait for each other, named, instead of a silent hang.

A queue that is paused waits for memory at the next switch; that memory is held by packets in queues there, and when
those are paused too and the chain closes, nothing moves until something is dropped. Source: Hu et al. 2016 (deadlocks
in data centers: a cyclic buffer dependency with all its queues paused).
"""

from __future__ import annotations

from eastwest.simulate.packet.kernel import NONE
from eastwest.simulate.packet.queues import N_LANES
from eastwest.simulate.packet.world import World


def paused_queues(world: World) -> list[int]:
    """Rows of the queues that hold packets and may not send."""
    links = world.links
    return [
        link * N_LANES + lane
        for link in (links["waiting"] & links["paused"]).nonzero()[0].tolist()
        for lane in range(N_LANES)
        if int(links["waiting"][link] & links["paused"][link]) >> lane & 1
    ]


def waits_for(world: World, paused: list[int]) -> dict[int, set[int]]:
    """For each paused queue, the paused queues that hold the memory it waits for."""
    holders: dict[int, set[int]] = {}
    for queue in paused:
        packet = int(world.queues[queue]["first"])
        while packet != NONE:
            group = int(world.packets[packet]["ingress"])
            if group != NONE:
                holders.setdefault(group, set()).add(queue)
            packet = int(world.packets[packet]["next"])
    return {queue: holders.get(queue, set()) for queue in paused}


def find_cycle(world: World) -> list[int]:
    """Links of one cycle of paused queues, in the order in which each waits for the next; empty when there is none."""
    edges = waits_for(world, paused_queues(world))
    done: set[int] = set()
    for start in edges:
        trail: list[int] = []
        place: dict[int, int] = {}
        stack = [(start, 0)]
        while stack:
            queue, turn = stack.pop()
            if turn == 0:
                if queue in done:
                    continue
                place[queue] = len(trail)
                trail.append(queue)
            following = sorted(edges.get(queue, ()))
            if turn < len(following):
                stack.append((queue, turn + 1))
                after = following[turn]
                if after in place:
                    return [row // N_LANES for row in trail[place[after] :]]
                if after not in done:
                    stack.append((after, 0))
                continue
            done.add(queue)
            trail.pop()
            del place[queue]
    return []
