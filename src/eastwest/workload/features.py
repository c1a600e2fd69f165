"""The table *traffic feature -> congestion control, load balancing, queueing*, with the reason of each row, in English
and Chinese.

The seed text announces this table and lost it in extraction. This one is our reconstruction from the sentences around
it (sections 1.2, 2.1, 2.2 and 4 of the two texts) and from public practice; it is not the lost table.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from eastwest.workload.ledger import ProfileRow

RECONSTRUCTION = {
    "en": "Our reconstruction: the table in the source text was lost.",
    "zh": "此表为我们的重建：原文中的表已丢失。",
}
COLUMNS = ("feature", "observed", "congestion_control", "load_balancing", "queueing", "because")

_TABLE: Mapping[str, Mapping[str, tuple[str, str, str, str, str, str]]] = {
    "bursts": {
        "en": (
            "periodic bursts in step with the iteration",
            "bursts at line rate, {peak_text} times the average",
            "start at line rate; mark early (ECN), pause (PFC) only as the last resort; no slow start",
            "spread the burst over all uplinks at once, since it ends before a reroute helps",
            "shared buffer with headroom sized for line rate; ECN thresholds on the burst, not on the average",
            "a window that starts low and climbs is still climbing when the burst is over",
        ),
        "zh": (
            "与迭代同步的周期性突发",
            "突发达到线速，为均值的 {peak_text} 倍",
            "以线速起步；尽早标记（ECN），PFC 暂停只作最后手段；不用慢启动",
            "让突发同时分散到所有上行链路，因为它在重新选路起效之前就已结束",
            "共享缓存加按线速计算的 headroom；ECN 阈值按突发而不是按均值设定",
            "从低窗口爬升的发送方，窗口还没爬上去，突发就已经结束",
        ),
    },
    "elephants": {
        "en": (
            "few, long and large flows (elephants)",
            "{traffic}: {bytes_text} a GPU and step in a group of {group_size}",
            "rate-based control in the NIC (DCQCN or alike), reacting to marks within a round trip",
            "per-packet or adaptive spraying; else several QPs a connection and a hash that sees them",
            "one queue of its own for RDMA",
            "few flows have little entropy, so plain ECMP puts two on one link while others stay empty",
        ),
        "zh": (
            "数量少、持续久、体量大的流（大象流）",
            "{traffic}：每卡每步 {bytes_text}，组内 {group_size} 个 rank",
            "网卡内基于速率的控制（DCQCN 一类），在一个往返内对标记作出反应",
            "逐包或自适应喷洒；否则每连接用多个 QP，并让哈希能区分它们",
            "RDMA 独占一个队列",
            "流少则熵低，普通 ECMP 会把两条流放到同一链路，而其他链路空着",
        ),
    },
    "incast": {
        "en": (
            "many to one (all-to-all of experts)",
            "{fan_in} senders to one receiver, messages of {bytes_text}",
            "receiver-aware control or a window of one bandwidth-delay product; marks at the last hop",
            "spraying helps the core but not the last hop: keep expert groups small or inside a rail",
            "deep enough last-hop queue; headroom for every sender",
            "the queue builds at the receiver's port, where there is no second path",
        ),
        "zh": (
            "多打一（专家并行的 all-to-all）",
            "{fan_in} 个发送方对一个接收方，消息 {bytes_text}",
            "由接收方参与的控制，或一个带宽时延积的窗口；在最后一跳标记",
            "喷洒能缓解核心层，但帮不了最后一跳：专家组要小，或留在同一 rail 内",
            "最后一跳的队列要足够深；为每个发送方留 headroom",
            "队列堆在接收方端口，那里没有第二条路径",
        ),
    },
    "kv_transfer": {
        "en": (
            "one-way bulk between prefill and decode",
            "{bytes_text} a GPU and request",
            "rate limit below the line rate so that decode rounds are not held up",
            "several QPs; any path, order does not matter",
            "a lower class than decode rounds, above storage",
            "it is in the path of the first token, but decode rounds of other requests suffer first",
        ),
        "zh": (
            "prefill 到 decode 的单向大块传输",
            "每卡每请求 {bytes_text}",
            "限速在线速以下，避免拖住 decode 轮次",
            "多个 QP；任意路径均可，顺序无关",
            "等级低于 decode 轮次，高于存储",
            "它在首 token 的路径上，但先受影响的是其他请求的 decode 轮次",
        ),
    },
    "lockstep": {
        "en": (
            "all ranks wait for the slowest (collective in lockstep)",
            "{group_size} ranks wait for one; the business's tolerance of jitter is {tolerance}",
            "no loss on the training class: lossless or fast selective retransmission",
            "remove hot links: one collision slows everybody",
            "strict separation from TCP; the same mapping at every hop",
            "a lost packet or a paused port stops all GPUs of the group, not one connection",
        ),
        "zh": (
            "所有 rank 等最慢的一个（集合通信步调一致）",
            "{group_size} 个 rank 等一个；业务对抖动的容忍度：{tolerance}",
            "训练等级不允许丢包：无损，或快速选择性重传",
            "消除热点链路：一次碰撞拖慢所有人",
            "与 TCP 严格隔离；每一跳的映射一致",
            "丢一个包或暂停一个端口，停下的是整组 GPU，而不是一条连接",
        ),
    },
    "mixed": {
        "en": (
            "training and inference on one fabric",
            "{training} beside {inference}",
            "separate control loops: thresholds of the inference class lower than those of training",
            "the same paths, so isolation must come from queues",
            "inference in a class of its own above training, with a bandwidth guarantee",
            "small latency-bound messages behind a training burst become its victims",
        ),
        "zh": (
            "训练与推理共用一张网",
            "{training} 与 {inference} 并存",
            "控制回路分开：推理等级的阈值低于训练等级",
            "路径相同，隔离只能靠队列",
            "推理单独一个等级，高于训练，并保证带宽",
            "排在训练突发后面的小而敏感的消息会成为受害者",
        ),
    },
    "small_messages": {
        "en": (
            "small messages in the critical path (decode rounds)",
            "{messages} messages of {bytes_text} a round and GPU",
            "hardly any: messages end before control acts; keep queues short with a low Kmin",
            "stay inside the scale-up domain; else the shortest path, no detours",
            "highest data class, short queue",
            "each message costs latency, not bandwidth, and every token waits for all of them",
        ),
        "zh": (
            "关键路径上的小消息（decode 轮次）",
            "每卡每轮 {messages} 条消息，每条 {bytes_text}",
            "几乎不起作用：消息在控制生效前就结束；用较低的 Kmin 保持队列短",
            "留在 scale-up 域内；否则走最短路径，不绕行",
            "最高的数据等级，短队列",
            "每条消息的代价是时延而不是带宽，每个 token 都要等齐它们",
        ),
    },
    "storage_writes": {
        "en": (
            "checkpoint writes",
            "{bytes_text} a GPU and checkpoint from {group_size} GPUs",
            "no lossless class needed: TCP, or RDMA with its own rate limit",
            "spread over storage targets; own network where there is one",
            "lowest data class, never the training queue",
            "many writers to few targets: an incast that must not pause training ports",
        ),
        "zh": (
            "Checkpoint 写入",
            "每卡每次 {bytes_text}，来自 {group_size} 卡",
            "不需要无损等级：TCP，或单独限速的 RDMA",
            "分散到各存储目标；有独立存储网就走独立网",
            "最低的数据等级，绝不进训练队列",
            "多个写入方对少数目标：这种 incast 不能让训练端口被暂停",
        ),
    },
}
FEATURES = tuple(_TABLE)
TOLERANCE_ZH = {"low": "低", "medium": "中", "high": "高"}


def feature_row(feature_id: str, args: Mapping[str, Any], lang: str = "en") -> ProfileRow:
    """One row of the table with this traffic's numbers filled in. Raises KeyError for an unknown feature or language.

    >>> feature_row("storage_writes", {"bytes_text": "1 GB", "group_size": 64}).observed
    '1 GB a GPU and checkpoint from 64 GPUs'
    """
    words = dict(args)
    if lang == "zh" and "tolerance" in words:
        words["tolerance"] = TOLERANCE_ZH[words["tolerance"]]
    feature, observed, control, balancing, queueing, because = _TABLE[feature_id][lang]
    return ProfileRow(feature, observed.format(**words), control, balancing, queueing, because, feature_id, dict(args))


def translated(row: ProfileRow, lang: str) -> ProfileRow:
    """The same row in another language (`en`, `zh`)."""
    return feature_row(row.id, row.args, lang)
