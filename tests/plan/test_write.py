"""The plan's folder: whole or not at all, and nothing of the user's is lost."""

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
    assert sorted(path.name for path in (tmp_path / "plan").iterdir()) == ["plan.json", "sub"]


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
    real = Path.write_text

    def fail_at_cables(self, *arguments, **options):
        if self.name == "cables.csv":
            raise OSError(28, "No space left on device")
        return real(self, *arguments, **options)

    monkeypatch.setattr(Path, "write_text", fail_at_cables)
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
