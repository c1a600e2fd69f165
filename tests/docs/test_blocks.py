"""The docs tool renews a marked block, leaves the rest alone, and refuses what it cannot keep true."""

from __future__ import annotations

import sys
from pathlib import Path
from types import ModuleType

import pytest

ROOT = Path(__file__).resolve().parents[2]


@pytest.fixture
def blocks(monkeypatch: pytest.MonkeyPatch) -> ModuleType:
    monkeypatch.syspath_prepend(str(ROOT / "tools"))
    monkeypatch.setenv("XDG_STATE_HOME", "/nowhere")  # so that the tool's own value is taken back
    sys.modules.pop("docs_blocks", None)
    import docs_blocks

    return docs_blocks


def renewed(blocks: ModuleType, text: str) -> str:
    return str(blocks.refreshed(text, "page.md", ROOT))


def test_a_missing_block_is_put_in_and_a_second_run_changes_nothing(blocks: ModuleType) -> None:
    once = renewed(blocks, "before\n\n<!-- run: echo hello -->\n\nafter\n")
    assert once == "before\n\n<!-- run: echo hello -->\n```text\n$ echo hello\nhello\n```\n\nafter\n"
    assert renewed(blocks, once) == once


def test_a_stale_block_is_replaced(blocks: ModuleType) -> None:
    stale = "<!-- run (first 1 lines): printf 'a\\nb\\n' -->\n```text\nold\n```\n"
    assert renewed(blocks, stale).splitlines()[2:] == ["$ printf 'a\\nb\\n'", "a", "[…]", "```"]


def test_the_status_must_be_the_one_that_the_marker_names(blocks: ModuleType) -> None:
    assert "$ echo $?\n3\n" in renewed(blocks, "<!-- run (exit 3): exit 3 -->\n")
    with pytest.raises(blocks.BlockError, match=r"page.md:1: `exit 3` left with status 3, expected 0"):
        renewed(blocks, "<!-- run: exit 3 -->\n")


def test_files_are_written_and_edited_in_the_working_folder(blocks: ModuleType) -> None:
    page = "<!-- write: a.txt -->\n```text\none\ntwo\n```\n\n<!-- edit: a.txt -->\n```diff\n-two\n+three\n```\n\n"
    assert renewed(blocks, page + "<!-- run: cat a.txt -->\n").endswith("$ cat a.txt\none\nthree\n```\n")
    with pytest.raises(blocks.BlockError, match="0 times, expected once"):
        renewed(blocks, page.replace("-two", "-four"))


def test_python_blocks_share_their_names_and_show_what_they_print(blocks: ModuleType) -> None:
    page = "<!-- run-python -->\n```python\nx = 2\n```\n\n<!-- run-python -->\n```python\nprint(x)\n```\n"
    assert renewed(blocks, page) == page + "\n```text\n2\n```\n"
    with pytest.raises(blocks.BlockError, match="NameError"):
        renewed(blocks, "<!-- run-python -->\n```python\nprint(y)\n```\n")


def test_a_path_of_this_machine_is_refused(blocks: ModuleType) -> None:
    with pytest.raises(blocks.BlockError, match="a path of this machine"):
        renewed(blocks, "<!-- run: pwd -->\n")
