"""The generated reference pages of finding codes and of the hardware catalogue."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Literal

from eastwest import units
from eastwest.cli import hardware_sheet
from eastwest.finding import messages

AREAS: Mapping[str, tuple[str, str]] = {
    "SITE": ("The site file", "站点文件"),
    "FAB": ("Fabric, ports and placement", "网络、端口与放置"),
    "WORK": ("Model, layout and memory", "模型、并行方式与显存"),
    "POL": ("Policy of switches and hosts", "交换机与主机的策略"),
    "PLAN": ("The plan", "规划"),
    "CHK": ("Published designs and bills", "公开设计与清单"),
    "SCO": ("Benchmark results", "测试结果"),
    "VAL": ("Validation against published rows", "与公开数据对照验证"),
    "CAL": ("Calibration on own measurements", "用自己的测量标定"),
}
CODES_HEAD = {
    "en": """\
# Finding codes

Every finding has a stable code; `eastwest explain CODE` prints its entry, and a team may refer to it in tickets and
waivers. A name in braces is filled in at output. Severity (error, warning, note) is decided where the finding is made:
an error makes the verdict FAIL and the exit status 1; codes of the site file (`EW-SITE`) end with status 2.
Generated from the messages.
""",
    "zh": """\
# 问题代码

发现的每个问题都有固定的代码；`eastwest explain CODE --lang zh` 打印对应说明，工单和豁免记录中可以直接引用代码。
花括号里的名字在输出时填入实际值。严重程度（错误、警告、提示）由判断处决定：出现错误则结论为“不通过”，退出码为 1；
站点文件的代码（`EW-SITE`）以退出码 2 结束。本页由消息文件生成。
""",
}
CODE_LABELS = {"en": ("Says", "To do"), "zh": ("输出", "处理")}
FIGURES: Mapping[str, tuple[tuple[str, str], ...]] = {
    "asic": (("rate", "rate_bps"), ("packet memory", "buffer_total_bytes"), ("cell", "cell_bytes")),
    "cable": (("medium", "medium"), ("rate", "rate_bps"), ("ends", "ends"), ("reach", "reach_m")),
    "gpu": (
        ("memory", "memory_bytes"),
        ("memory bandwidth", "memory_bytes_per_s"),
        ("bf16 dense", "peak_flops.bf16"),
        ("scale-up, one way", "scale_up_bytes_per_s"),
        ("power", "power_w"),
    ),
    "model": (("parameters", "params"), ("layers", "layers"), ("hidden", "hidden"), ("heads", "heads")),
    "nic": (
        ("ports", "ports"),
        ("port rate", "port_rate_bps"),
        ("PCIe generation", "pcie_generation"),
        ("lanes", "pcie_lanes"),
        ("transports", "transports"),
    ),
    "optic": (("medium", "medium"), ("rate", "rate_bps"), ("reach", "reach_m"), ("power", "power_w")),
    "pcie": (("generation", "generation"), ("lane rate", "lane_rate_bps"), ("encoding", "encoding_ratio")),
    "server": (
        ("GPU", "gpu"),
        ("GPUs", "gpus"),
        ("NICs", "nics"),
        ("NIC rate", "nic_rate_bps"),
        ("scale-up domain, GPUs", "scale_up_domain"),
        ("power", "power_w"),
    ),
    "switch": (
        ("ports", "ports"),
        ("port rate", "port_rate_bps"),
        ("packet memory", "buffer_total_bytes"),
        ("PFC", "pfc"),
        ("ECN", "ecn"),
        ("class", "switch_class"),
    ),
}
PLURALS = {
    "asic": "Switch chips",
    "cable": "Cables",
    "gpu": "GPUs",
    "model": "Models (presets for jobs)",
    "nic": "NICs",
    "optic": "Optics",
    "pcie": "PCIe",
    "server": "Servers",
    "switch": "Switches",
}
HARDWARE_HEAD = """\
# Hardware catalogue

`eastwest hardware MODEL` prints every value of a model with its unit and source. The last column counts the values
whose source was at hand when they were entered (*checked*); the rest are *recalled* from the named source: check those
before you buy. Rates are bit/s of one direction, sizes decimal bytes. – means that no value is known. Generated from
the catalogue.
"""


def pages() -> dict[str, str]:
    """File name in docs/reference -> text."""
    return {
        "codes.md": codes_page("en"),
        "codes.zh-CN.md": codes_page("zh"),
        "hardware.md": hardware_page(),
    }


def codes_page(lang: Literal["en", "zh"]) -> str:
    """Every finding code of one language, by area."""
    known = messages(lang)
    parts, last = [CODES_HEAD[lang]], ""
    for code in sorted(known, key=lambda code: (_area_rank(code), code)):
        area = code.split("-")[1]
        if area != last:
            title = AREAS.get(area, (area, area))[0 if lang == "en" else 1]
            parts.append(f"## {title}\n")
            last = area
        parts.append(_code(code, known[code], lang))
    return "\n".join(parts)


def _area_rank(code: str) -> int:
    area = code.split("-")[1]
    return list(AREAS).index(area) if area in AREAS else len(AREAS)


def _code(code: str, entry: Mapping[str, str], lang: str) -> str:
    says, to_do = CODE_LABELS[lang]
    colon = ": " if lang == "en" else "："
    lines = [f"### {code}", "", f"**{entry['title']}**", "", entry["explain"].strip(), ""]
    lines.append(f"- {says}{colon}`{_one_line(entry['message']).replace('`', chr(39))}`")
    if entry.get("hint"):
        lines.append(f"- {to_do}{colon}{_one_line(entry['hint'])}")
    return "\n".join([*lines, ""])


def _one_line(text: str) -> str:
    return " ".join(text.replace("{{", "{").replace("}}", "}").split())


def hardware_page() -> str:
    """The catalogue as one table a kind."""
    parts = [HARDWARE_HEAD]
    for kind, columns in FIGURES.items():
        models = hardware_sheet.document(kind=kind)["models"]
        rows = [_hardware_row(kind, model["id"], columns) for model in models]
        header = ["id", "name", *(title for title, _ in columns), "checked"]
        parts.append(f"## {PLURALS[kind]}\n\n{_table(header, rows)}\n")
    return "\n".join(parts)


def _hardware_row(kind: str, model: str, columns: Sequence[tuple[str, str]]) -> list[str]:
    sheet = hardware_sheet.document(model, kind)["models"][0]
    values = sheet["values"]
    checked = len(values) - sheet["unchecked"]
    return [
        f"`{model}`",
        sheet["name"],
        *(_figure(key, values[key]["value"]) if key in values else "–" for _, key in columns),
        f"{checked} of {len(values)}",
    ]


def _figure(key: str, value: Any) -> str:
    """One value as an engineer writes it."""
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, list):
        return ", ".join(str(item) for item in value)
    if key.startswith("peak_flops"):
        return f"{value / units.TERA:,.6g} TFLOP/s"
    if key.endswith("_bps"):
        return units.format_port_rate(int(value)) if float(value).is_integer() else units.format_rate(value)
    writers = (
        ("_bytes_per_s", units.format_bandwidth),
        ("_bytes", units.format_size),
        ("_w", units.format_power),
        ("_m", units.format_length),
    )
    for suffix, write in writers:
        if key.endswith(suffix):
            return write(value)
    return units.format_count(value) if key == "params" else str(value)


def _table(header: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    lines = ["| " + " | ".join(header) + " |", "|" + "---|" * len(header)]
    return "\n".join([*lines, *("| " + " | ".join(row) + " |" for row in rows)])
