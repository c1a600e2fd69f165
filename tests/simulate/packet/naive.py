"""Packets through first-in-first-out links with endless memory: one heap, one deque a link, nothing clever.

Hosts send answers before data and let their flows take turns; a flow sends as fast as its link. Written from the
definition, sharing no code with the engine.
"""

from __future__ import annotations

import heapq
from collections import deque
from dataclasses import dataclass, field
from itertools import count


@dataclass
class Link:
    rate_bps: int
    delay_ps: int
    free_ps: int = 0
    queue: deque = field(default_factory=deque)
    flows: deque = field(default_factory=deque)
    has_event: bool = False


class Simulation:
    """Links by number, flows as (start, sizes of packets, path, path of answers)."""

    def __init__(self, links, flows, answer_bytes):
        self.ports = [Link(rate, delay) for rate, delay in links]
        self.flows, self.answer_bytes = flows, answer_bytes
        self.left = [deque(sizes) for _, sizes, _, _ in flows]
        self.arrived, self.ended = [0] * len(flows), [-1] * len(flows)
        self.heap, self.order = [], count()

    def run(self):
        for flow, row in enumerate(self.flows):
            self.at(row[0], self.start, flow)
        while self.heap:
            now, _, action, what = heapq.heappop(self.heap)
            action(now, *what)
        return self.ended

    def at(self, time, action, *what):
        heapq.heappush(self.heap, (time, next(self.order), action, what))

    def wake(self, now, number):
        port = self.ports[number]
        if not port.has_event:
            port.has_event = True
            self.at(max(now, port.free_ps), self.send, number)

    def send(self, now, number):
        port = self.ports[number]
        port.has_event = False
        if port.queue:
            packet = port.queue.popleft()
        elif port.flows:
            flow = port.flows.popleft()
            packet = (self.left[flow].popleft(), flow, "data", self.flows[flow][2], 0)
            if self.left[flow]:
                port.flows.append(flow)
        else:
            return
        port.free_ps = now + -(-packet[0] * 8 * 10**12 // port.rate_bps)
        self.at(port.free_ps + port.delay_ps, self.arrive, packet)
        if port.queue or port.flows:
            self.wake(now, number)

    def arrive(self, now, packet):
        size, flow, kind, path, hop = packet
        if hop + 1 < len(path):
            self.ports[path[hop + 1]].queue.append((size, flow, kind, path, hop + 1))
            self.wake(now, path[hop + 1])
        elif kind == "data":
            self.arrived[flow] += 1
            if self.arrived[flow] == len(self.flows[flow][1]):
                self.ended[flow] = now
            back = self.flows[flow][3]
            self.ports[back[0]].queue.append((self.answer_bytes, flow, "answer", back, 0))
            self.wake(now, back[0])

    def start(self, now, flow):
        first = self.flows[flow][2][0]
        self.ports[first].flows.append(flow)
        self.wake(now, first)


def finish_times(links, flows, answer_bytes):
    """Time at which each flow's last packet arrives."""
    return Simulation(links, flows, answer_bytes).run()
