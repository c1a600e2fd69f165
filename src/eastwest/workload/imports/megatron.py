"""Reads Megatron-LM launch arguments, as people paste them, into a training job of a site file.

The text may be a launch script (variables, arrays, comments, torchrun), one command line, the `MODEL_ARGS` of a YAML
recipe, or the argument dump that Megatron prints (`num_layers ....... 96`). What the network does not depend on is
ignored and listed.

Source: argument names and defaults of Megatron-LM (`megatron/training/arguments.py`, core 0.6 to 0.13).
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from pydantic import ValidationError

from eastwest.errors import InputError
from eastwest.finding import Evidence, Finding
from eastwest.spec.jobs import TrainingWish
from eastwest.spec.load import LoadedSite, load_site, read_text
from eastwest.spec.resolve import resolve_server
from eastwest.spec.site import Site
from eastwest.workload.imports.megatron_job import MAX_SHOWN, USED_FLAGS, USED_VALUES, job_of, whole_number
from eastwest.workload.imports.shell_words import Word, clean, commands

_DUMP = re.compile(r"^.*?\b(?P<name>[a-z][a-z0-9_]+) \.{2,} ?(?P<value>.*?)\s*$")
_OPTION = re.compile(r"^--[A-Za-z][\w-]*")
_NEGATIVE = re.compile(r"^-\d")
_LAUNCH = {
    "--nnodes": "nodes",
    "--nproc-per-node": "gpus_per_node",
    "--num-nodes": "nodes",
    "--num-gpus": "gpus_per_node",
    "--ntasks-per-node": "gpus_per_node",
    "--nodes": "nodes",
    "--gpus-per-node": "gpus_per_node",
}
_YES, _NO = frozenset({"true", "yes", "on"}), frozenset({"false", "no", "off", "none"})
MAX_MACHINES = 10_000_000  # nodes, or GPUs of a node; more is no launch
MIN_DUMP_LINES = 3  # fewer dotted lines are prose


@dataclass(frozen=True, slots=True)
class Argument:
    """One argument as written: name with dashes, value (None for a switch), line from 1."""

    name: str
    value: str | None
    line: int


@dataclass(frozen=True, slots=True)
class MegatronArguments:
    """What a launch says: `job` in the shape of a site's training job, machines where stated, and which arguments
    were used or ignored.
    """

    job: Mapping[str, Any]
    nodes: int | None = None
    gpus_per_node: int | None = None
    used: tuple[Evidence, ...] = ()
    unknown: tuple[Evidence, ...] = ()
    assumed: tuple[str, ...] = field(default=())

    @property
    def gpus(self) -> int | None:
        """GPUs of the launch, None when not stated."""
        return self.nodes * self.gpus_per_node if self.nodes and self.gpus_per_node else None


def read(text: str, source: str = "megatron arguments", gpus: int | None = None) -> MegatronArguments:
    """The training job of a Megatron-LM launch; `gpus` when the launch does not say how many and the caller knows.

    Raises InputError with one Finding per missing argument or value that cannot be read.

    >>> launch = "torchrun --nproc_per_node 8 --nnodes 2 pretrain_gpt.py --num-layers 32 --hidden-size 4096 --bf16 "
    >>> launch += "--num-attention-heads 32 --tensor-model-parallel-size 2 --global-batch-size 64 --seq-length 4096"
    >>> read(launch).job["parallel"]["tp"]
    2
    """
    arguments = tuple(arguments_of(text))
    launch, flaws = _launch(arguments, source)
    found = {argument.name: argument for argument in arguments}
    nodes, per_node = launch.get("nodes"), launch.get("gpus_per_node")
    world = nodes * per_node if nodes and per_node else gpus
    job, assumed, more = job_of(found, source, world)
    if flaws or more:
        raise InputError([*flaws, *more])
    names = USED_FLAGS | USED_VALUES | frozenset(_LAUNCH)
    used = _quote((a for a in arguments if a.name in names), source)
    unknown = _quote((a for a in arguments if a.name not in names), source)
    return MegatronArguments(job, nodes, per_node, used, unknown, assumed)


def arguments_of(text: str) -> Iterator[Argument]:
    """Every `--name value` of the commands that launch Megatron, or of the whole text when none does; a later one
    overrides.
    """
    dump = list(_dumped(text))
    if len(dump) >= MIN_DUMP_LINES:
        yield from dump
        return
    parsed = commands(text)
    launching = [command for command in parsed if any(_is_launch(word.text) for word in command.words)]
    for command in launching or parsed:
        yield from _pairs(command.words)


def _is_launch(word: str) -> bool:
    """Whether a word starts Python or a launcher; without one the text is a recipe or a bare list."""
    return word.endswith((".py", "torchrun"))


def _dumped(text: str) -> Iterator[Argument]:
    for number, line in enumerate(clean(text).split("\n"), start=1):
        match = _DUMP.match(line)
        if not match or match["value"].lower() in _NO or match["value"] == "":
            continue
        value = None if match["value"].lower() in _YES else match["value"]
        yield Argument("--" + match["name"].replace("_", "-"), value, number)


def _pairs(words: tuple[Word, ...]) -> Iterator[Argument]:
    index = 0
    while index < len(words):
        word = words[index]
        index += 1
        if not _OPTION.match(word.text):
            continue
        name, equals, value = word.text.partition("=")
        name = name.rstrip(":").replace("_", "-")
        if equals:
            yield Argument(name, value, word.line)
            continue
        follows = words[index].text if index < len(words) else "--"
        if follows.startswith("-") and not _NEGATIVE.match(follows):
            yield Argument(name, None, word.line)
        elif name in USED_FLAGS:  # a switch takes no value, but a YAML recipe says true or false behind it
            if follows.lower() in _NO:
                index += 1
                continue
            yield Argument(name, None, word.line)
        else:
            index += 1
            yield Argument(name, follows, word.line)


def _launch(arguments: tuple[Argument, ...], source: str) -> tuple[dict[str, int], list[Finding]]:
    """Nodes and GPUs per node; `1:4` (elastic) counts as its upper end, a variable that is not in the text as not
    stated.
    """
    found: dict[str, int] = {}
    flaws: list[Finding] = []
    for argument in arguments:
        key = _LAUNCH.get(argument.name)
        if key is None or argument.value is None:
            continue
        text = argument.value.rpartition(":")[2]
        number = whole_number(text)
        if number is not None and 0 < number <= MAX_MACHINES:
            found[key] = number
        elif "$" not in text and text not in ("gpu", "auto"):
            shown = argument.value[:MAX_SHOWN]
            evidence = (Evidence(source, argument.line, f"{argument.name} {shown}"),)
            args = {"name": argument.name, "line": argument.line}
            flaws.append(Finding("EW-WORK-041", "error", argument.name, "whole number", shown, "", args, evidence))
    return found, flaws


def _quote(arguments: Iterator[Argument], source: str) -> tuple[Evidence, ...]:
    return tuple(Evidence(source, a.line, a.name if a.value is None else f"{a.name} {a.value}") for a in arguments)


def site_with_arguments(source: str, arguments: Path) -> tuple[LoadedSite, MegatronArguments]:
    """The site of a file (`-`: standard input) with its first training job replaced by a launch's arguments, or with
    that job added; and what was read of the launch.

    The job keeps its name, and its gpus or share when the launch does not say how many GPUs it starts on. Raises
    InputError.
    """
    loaded = load_site(source)
    site, found = with_launch(loaded.site, read_text(arguments), str(arguments))
    return replace(loaded, site=site), found


def with_launch(site: Site, text: str, source: str) -> tuple[Site, MegatronArguments]:
    """The site with its first training job replaced by the launch in `text`, or with that job added. Raises
    InputError.
    """
    index = next((i for i, job in enumerate(site.jobs) if isinstance(job, TrainingWish)), None)
    before = site.jobs[index] if index is not None else None
    total = sum(server.count * server.gpus for server in map(resolve_server, site.servers))
    gpus = before and (before.gpus or (round(before.share * total) if before.share else None))
    found = read(text, source, gpus or total)
    job = training_wish(found, source, keep=before if isinstance(before, TrainingWish) else None)
    jobs = (*site.jobs, job) if index is None else (*site.jobs[:index], job, *site.jobs[index + 1 :])
    return site.model_copy(update={"jobs": jobs}), found


def training_wish(found: MegatronArguments, source: str, keep: TrainingWish | None = None) -> TrainingWish:
    """The launch as a site's training job, what a launch does not say taken from `keep`. Raises InputError when it
    is no valid job.
    """
    job = dict(found.job)
    if not found.gpus:
        job.pop("gpus", None)
    if keep is not None:
        kept: dict[str, Any] = {
            "name": keep.name,
            "jitter_tolerance": keep.jitter_tolerance,
            "checkpoint": keep.checkpoint,
        }
        if not found.gpus:
            kept |= {"gpus": keep.gpus, "share": keep.share}
        job |= {key: value for key, value in kept.items() if value is not None}
    try:
        return TrainingWish.model_validate(job)
    except ValidationError as error:
        flaws = [
            Finding(
                "EW-WORK-043",
                "error",
                ".".join(str(step) for step in flaw["loc"]),
                observed=str(flaw.get("input"))[:MAX_SHOWN],
                args={"source": source, "problem": flaw["msg"]},
            )
            for flaw in error.errors()
        ]
        raise InputError(flaws) from error
