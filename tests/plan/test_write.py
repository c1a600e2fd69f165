"""The plan's folder: whole or not at all, and nothing of the user's is lost."""

import csv
import fcntl
import hashlib
import io
import os
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from eastwest.errors import UsageError
from eastwest.plan import write

FILES = {"plan.json": "{}\n", "sub/cables.csv": "a,b\n"}


def test_a_new_folder_holds_every_file(tmp_path):
    write.write_folder(tmp_path / "a b" / "plan", FILES)
    assert (tmp_path / "a b" / "plan" / "sub" / "cables.csv").read_text() == "a,b\n"
    assert [path.name for path in (tmp_path / "a b").iterdir()] == ["plan"]


def test_an_earlier_plan_is_replaced_whole(tmp_path):
    write.write_folder(tmp_path / "plan", {**FILES, "old.txt": "x"})
    write.write_folder(tmp_path / "plan", FILES)
    assert sorted(path.name for path in (tmp_path / "plan").iterdir()) == [write.LIST, "plan.json", "sub"]


def test_a_folder_of_the_user_is_refused_and_untouched(tmp_path):
    (tmp_path / "mine.txt").write_text("mine")
    with pytest.raises(UsageError, match="not empty"):
        write.write_folder(tmp_path, FILES)
    assert [path.name for path in tmp_path.iterdir()] == ["mine.txt"]


def test_a_file_in_the_place_is_refused(tmp_path):
    (tmp_path / "plan").write_text("x")
    with pytest.raises(UsageError, match="is a file"):
        write.write_folder(tmp_path / "plan", FILES)


def test_a_failure_half_way_leaves_the_old_plan_and_no_litter(tmp_path, monkeypatch):
    write.write_folder(tmp_path / "plan", FILES)
    real = Path.write_bytes

    def fail_at_cables(self, *arguments, **options):
        if self.name == "cables.csv":
            raise OSError(28, "No space left on device")
        return real(self, *arguments, **options)

    monkeypatch.setattr(Path, "write_bytes", fail_at_cables)
    with pytest.raises(UsageError, match="No space left"):
        write.write_folder(tmp_path / "plan", {"plan.json": "new", "sub/cables.csv": "new"})
    assert (tmp_path / "plan" / "plan.json").read_text() == "{}\n"
    assert [path.name for path in tmp_path.iterdir()] == ["plan"]


def test_a_failing_rename_puts_the_old_plan_back(tmp_path, monkeypatch):
    write.write_folder(tmp_path / "plan", FILES)
    real = Path.rename

    def fail_for_the_new_one(self, target):
        if Path(target).name == "plan" and ".old." not in self.name:
            raise OSError(5, "Input/output error")
        return real(self, target)

    monkeypatch.setattr(Path, "rename", fail_for_the_new_one)
    with pytest.raises(UsageError, match="Input/output"):
        write.write_folder(tmp_path / "plan", FILES)
    assert (tmp_path / "plan" / "plan.json").read_text() == "{}\n"


def test_csv_quotes_what_needs_it():
    assert write.csv_text(["a"], [["x,y"], ['"']]) == 'a\n"x,y"\n""""\n'


@pytest.mark.parametrize("odd", ["a,b", 'say "x"', "two\nlines", "a\rb", "", None, 0.1, 1e22, True, " x ", "服务器"])
def test_csv_is_what_the_standard_writer_writes(odd):
    rows = [(f"server-{i}", i, 2.5, None) for i in range(write.ROWS_AT_ONCE + 2)]
    rows[-1] = ("last", odd, "", None)
    for header, table in ((("name", "n", "m", "none"), rows), (("one",), [(odd,), ("",), ()])):
        buffer = io.StringIO()
        csv.writer(buffer, lineterminator="\n").writerows([header, *table])
        assert write.csv_text(header, iter(table)) == buffer.getvalue()


def test_a_note_beside_the_plan_was_deleted_with_it(tmp_path):
    write.write_folder(tmp_path / "plan", FILES)
    (tmp_path / "plan" / "sub" / "notes.md").write_text("mine")
    with pytest.raises(UsageError, match=r"holds sub/notes\.md, which no plan wrote"):
        write.write_folder(tmp_path / "plan", FILES)
    assert (tmp_path / "plan" / "sub" / "notes.md").read_text() == "mine"


def test_a_foreign_folder_with_a_plan_json_was_replaced(tmp_path):
    (tmp_path / "plan.json").write_text("{}")
    (tmp_path / "thesis.tex").write_text("mine")
    with pytest.raises(UsageError, match="holds thesis"):
        write.write_folder(tmp_path, FILES)


def test_a_symbolic_link_was_replaced_by_a_folder(tmp_path):
    (tmp_path / "real").mkdir()
    (tmp_path / "link").symlink_to("real")
    write.write_folder(tmp_path / "link", FILES)
    write.write_folder(tmp_path / "link", FILES)
    assert (tmp_path / "link").is_symlink()
    assert (tmp_path / "real" / "plan.json").exists()
    assert sorted(path.name for path in tmp_path.iterdir()) == ["link", "real"]


@pytest.mark.parametrize("place", ["", ".", ".."])
def test_the_working_folder_was_swapped_away_under_the_shell(tmp_path, monkeypatch, place):
    (tmp_path / "here").mkdir()
    monkeypatch.chdir(tmp_path / "here")
    with pytest.raises(UsageError, match="working folder"):
        write.check_folder(Path(place))


def test_a_place_that_cannot_be_is_a_usage_error(tmp_path):
    (tmp_path / "loop").symlink_to("loop")
    for place in (tmp_path / "loop", tmp_path / ("x" * 5000), tmp_path / "a\0b"):
        with pytest.raises(UsageError, match="cannot write"):
            write.check_folder(place)


def test_a_killed_run_does_not_disturb_the_next(tmp_path):
    write.write_folder(tmp_path / "plan", FILES)
    left = tmp_path / f"{write.HIDDEN}new.killed"
    left.mkdir()
    (left / "plan.json").write_text("{ half")
    write.write_folder(tmp_path / "plan", FILES)
    assert (tmp_path / "plan" / "plan.json").read_text() == "{}\n"
    assert not left.exists()


def test_runs_at_once_take_turns(tmp_path):
    with ThreadPoolExecutor(8) as pool:
        runs = [pool.submit(write.write_folder, tmp_path / "plan", FILES) for _ in range(64)]
    assert [run.exception() for run in runs] == [None] * 64
    assert [path.name for path in tmp_path.iterdir()] == ["plan"]


def test_nan_is_refused_before_it_is_written():
    with pytest.raises(ValueError, match="Out of range"):
        write.json_text({"step_time_s": float("nan")})


def test_one_file_is_replaced_whole(tmp_path, monkeypatch):
    write.write_file(tmp_path / "a.json", "old")
    monkeypatch.setattr(Path, "replace", lambda self, target: (_ for _ in ()).throw(OSError(5, "Input/output error")))
    with pytest.raises(OSError, match="Input/output"):
        write.write_file(tmp_path / "a.json", "new")
    assert [(path.name, path.read_text()) for path in tmp_path.iterdir()] == [("a.json", "old")]


def test_a_table_that_was_edited_by_hand_was_overwritten(tmp_path):
    write.write_folder(tmp_path / "plan", FILES)
    (tmp_path / "plan" / "sub" / "cables.csv").write_text("a,b\nmine,2\n")
    with pytest.raises(UsageError, match=r"holds sub/cables\.csv, which was changed after the plan wrote it"):
        write.check_folder(tmp_path / "plan")
    with pytest.raises(UsageError, match="which was changed"):
        write.write_folder(tmp_path / "plan", {**FILES, "plan.json": "new"})
    assert (tmp_path / "plan" / "sub" / "cables.csv").read_text() == "a,b\nmine,2\n"
    assert (tmp_path / "plan" / "plan.json").read_text() == "{}\n"


def test_the_list_has_the_form_of_sha256sum(tmp_path):
    write.write_folder(tmp_path / "plan", FILES)
    lines = (tmp_path / "plan" / write.LIST).read_text().splitlines()
    assert lines[0] == f"{hashlib.sha256(b'{}' + chr(10).encode()).hexdigest()}  plan.json"
    assert len(lines) == len(FILES)


def test_a_list_of_names_alone_is_still_read(tmp_path):
    write.write_folder(tmp_path / "plan", FILES)
    (tmp_path / "plan" / write.LIST).write_text("plan.json\nsub/cables.csv\n")
    (tmp_path / "plan" / "plan.json").write_text("edited")
    write.write_folder(tmp_path / "plan", FILES)
    assert (tmp_path / "plan" / "plan.json").read_text() == "{}\n"


def test_what_killed_runs_left_behind_is_removed_and_what_runs_is_left(tmp_path):
    write.write_folder(tmp_path / "plan", FILES)
    for name in ("new.dead", f"old.{hashlib.sha256(b'plan').hexdigest()[:12]}.dead", "old.other.dead"):
        (tmp_path / f"{write.HIDDEN}{name}").mkdir()
        (tmp_path / f"{write.HIDDEN}{name}" / "plan.json").write_text("{}")
    alive = tmp_path / f"{write.HIDDEN}new.alive"
    alive.mkdir()
    handle = os.open(alive, os.O_RDONLY)
    fcntl.flock(handle, fcntl.LOCK_EX)
    write.write_folder(tmp_path / "plan", FILES)
    os.close(handle)
    left = sorted(path.name.removeprefix(write.HIDDEN) for path in tmp_path.iterdir())
    assert left == ["new.alive", "old.other.dead", "plan"]


def test_a_folder_of_the_user_that_looks_hidden_is_left(tmp_path):
    (tmp_path / f"{write.HIDDEN}new.mine").write_text("a file")
    write.write_folder(tmp_path / "plan", FILES)
    assert (tmp_path / f"{write.HIDDEN}new.mine").read_text() == "a file"
