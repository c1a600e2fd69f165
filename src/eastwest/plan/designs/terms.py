"""The words of a network in one language: Chinese terms, number words and thousands made English words and digits."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Mapping

PIECE = "~"  # stands for a measure word (台, 张, 条): the number before it counts the thing named
_CHINESE: tuple[tuple[str, str], ...] = (  # longest first: 网卡 before 卡, 叶节点 before 节点
    ("无收敛|无阻塞", " 1:1 "),
    ("收敛比|收敛", " oversubscription "),
    ("叶脊|叶-脊|脊叶", " leaf-spine "),
    ("(?:叶子|叶|接入层|接入)(?:节点|交换机)?|置顶交换机", " leaf switch "),
    ("超级脊(?:节点|交换机)?|(?:核心层|核心)(?:节点|交换机)?", " core switch "),
    ("(?:脊柱|脊|骨干|汇聚层|汇聚)(?:节点|交换机)?", " spine switch "),
    ("每台服务器|每个节点|每节点|每服务器|每机|单机|单台服务器|单节点", " each server "),
    ("交换机", " switch "),
    ("服务器|节点|主机|训练机|计算机", " server "),
    ("网卡", " NIC "),
    ("GPU卡|显卡|加速卡|卡", " GPU "),
    ("光模块|模块", " module "),
    ("线缆|电缆|光缆|网线|跳线|连接线|连线|光纤", " cable "),
    ("链路", " link "),
    ("下行|下联|下连", " down "),
    ("上行|上联|上连", " up "),
    ("端口|口", " port "),
    ("每台|每个|每张|每|单台|单个|各有|各", " each "),
    ("总共|一共|共计|合计|总计|共", " total "),
    ("备件|备用", " spare "),
    ("平面", " plane "),
    ("轨道|轨", " rail "),
    ("没有|不设|不用|取消|无", " no "),
    ("以及|和|与|及|、", " and "),
    ("到|至|连", " to "),
    ("米", " m "),
    ("台|个|张|条|根|块|套|只|颗", f" {PIECE} "),
    ("。", ". "),
)
_DOWN_UP = re.compile(r"(\d+)\s*下[、,，/]?\s*(\d+)\s*上(?![行联连])")  # 32下32上
_TERMS = re.compile("|".join(f"({pattern})" for pattern, _ in _CHINESE))
_DIGITS = {char: n for n, char in enumerate("零一二三四五六七八九")} | {"〇": 0, "两": 2}
_POWERS = {"十": 10, "百": 100, "千": 1000}
_TEN_THOUSAND = 10_000
_NUMERAL = re.compile(
    "[零〇一二两三四五六七八九十百千万]*[十百千万][零〇一二两三四五六七八九十百千万]*(?!兆)"
    "|[一二两三四五六七八九](?=\\s*(?:台|个|张|条|根|块|套|只|颗|口|卡|端口|服务器|交换机|网卡|轨|平面))"
)
_WORDS: Mapping[str, int] = {
    **{
        word: n
        for n, word in enumerate(
            ["two", "three", "four", "five", "six", "seven", "eight", "nine", "ten", "eleven", "twelve"], 2
        )
    },
    "sixteen": 16,
    "twenty": 20,
    "twenty-four": 24,
    "thirty-two": 32,
    "forty": 40,
    "forty-eight": 48,
    "sixty-four": 64,
}
_NUMBER_WORD = re.compile(rf"\b(?:{'|'.join(sorted(_WORDS, key=len, reverse=True))})\b(?!-)", re.IGNORECASE)
_THOUSANDS = re.compile(r"(?<![\d.,])\d{1,3}(?:[,_]\d{3})+(?![\d,])")
_FACING = re.compile(
    r"(\b(?:ports?|[GT]|them|those)|(?:\band|[,/])\s*\d+)\s+(?:(?:are|is|that|which)\s+)*(?:facing|face|towards?|to|for)\s+(?:the\s+|all\s+)?"
    r"(?:(?P<down>servers?|nodes?|hosts?|nics?|gpus?)|(?P<up>spines?))\b",
    re.IGNORECASE,
)


def plain(text: str) -> str:
    """A text in plain words: wide characters narrow, Chinese terms English, numbers as digits.

    >>> plain("接入交换机 十六 台，下行32口").split()
    ['leaf', 'switch', '16', '~', ',', 'down', '32', 'port']
    """
    if not text.isascii():
        text = _NUMERAL.sub(lambda found: str(_numeral(found[0])), unicodedata.normalize("NFKC", text))
        text = _DOWN_UP.sub(r"\1 下行 \2 上行", text)
        text = _TERMS.sub(lambda found: _CHINESE[(found.lastindex or 1) - 1][1], text).replace(",", ", ")
        text = text.replace("×", "x").replace("→", " to ").replace("–", "-")
    text = _THOUSANDS.sub(lambda found: re.sub("[,_]", "", found[0]), re.sub(r"(?<=\d), (?=\d{3}\b)", ",  ", text))
    text = _FACING.sub(lambda found: f"{found[1]} {'down' if found['down'] else 'up'}", text.replace("_", " "))
    text = re.sub(r"\bof (?:them|those|which) (down|up)\b", r"\1", text)
    return _NUMBER_WORD.sub(lambda found: str(_WORDS[found[0].lower()]), text)


def _numeral(text: str) -> int:
    """The number of a Chinese numeral: 1536 of 一千五百三十六."""
    total = section = digit = 0
    for char in text:
        if char == "万":
            total, section, digit = total + (section + digit or 1) * _TEN_THOUSAND, 0, 0
        elif char in _POWERS:
            section, digit = section + (digit or 1) * _POWERS[char], 0
        else:
            digit = _DIGITS[char]
    return total + section + digit
