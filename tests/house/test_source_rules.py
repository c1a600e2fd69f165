"""The house rules hold for the whole tree, and each of them notices a bad sample (a rule that cannot fail is none)."""

from collections.abc import Callable, Iterator

import pytest

from tests.house import source_rules as rules
from tests.house.tree import name_of, project_files, python_files, text_files

Rule = Callable[[str], Iterator[rules.Complaint]]

# Files that may catch everything, and why. Anything else catches the narrowest error (conventions, rule 18).
BROAD_EXCEPT_ALLOWED = {
    "src/eastwest/cli/output.py": "the outermost runner turns any bug of ours into exit status 70",
}

APPLIES: list[tuple[Rule, tuple[str, ...]]] = [
    (rules.long_file, ("src", "tests", "tools", "benchmarks")),
    (rules.long_functions, ("src", "tools", "benchmarks")),
    (rules.missing_docstrings, ("src", "tools")),
    (rules.silenced_complexity, ("src", "tools")),
]

BAD_SAMPLES: list[tuple[Rule, str, str]] = [
    (rules.long_file, "x = 1\n" * 401, "401 lines"),
    (rules.long_functions, "def grow():\n" + "    x = 1\n" * 40, "grow has 41 lines"),
    (rules.long_functions, "class A:\n    async def grow(self):\n" + "        x = 1\n" * 40, "grow has 41 lines"),
    (rules.missing_docstrings, "x = 1\n", "the module has no docstring"),
    (rules.missing_docstrings, '"""M."""\ndef links():\n    return 1\n', "links is public"),
    (rules.missing_docstrings, '"""M."""\nclass Port:\n    """P."""\n    def speed(self): ...\n', "speed is public"),
    (rules.broad_excepts, "try:\n    f()\nexcept:\n    pass\n", "broad except"),
    (rules.broad_excepts, "try:\n    f()\nexcept (OSError, Exception) as error:\n    pass\n", "broad except"),
    (rules.broad_excepts, "with contextlib.suppress(BaseException):\n    f()\n", "broad suppress"),
    (rules.silenced_complexity, "def f():  # no" + "qa: C901\n    pass\n", "switched off"),
    (rules.silenced_complexity, "def f():  # no" + "qa\n    pass\n", "switched off"),
    (rules.leaks, "see /wo" + "rk/shared/x", "a path of one machine"),
    (rules.leaks, "log: /ro" + "ot/nccl.log", "a path of one machine"),
    (rules.leaks, "--extra-index" + "-url x", "a package index"),
    (rules.leaks, "pip install --find" + "-links https:" + "//wheels.example/", "a package index"),
    (rules.leaks, "https:" + "//mirror.example/py/sim" + "ple numpy", "a package index"),
    (rules.forbidden_module_name, "src/eastwest/fabric/utils.py", "'utils' says nothing"),
    (rules.forbidden_module_name, "src/eastwest/common/ports.py", "'common' says nothing"),
]

GOOD_SAMPLES: list[tuple[Rule, str]] = [
    (rules.long_file, "x = 1\n" * 400),
    (rules.long_functions, "def grow():\n" + '    """Grow.\n' + "    line\n" * 50 + '    """\n' + "    x = 1\n" * 39),
    (rules.missing_docstrings, ""),
    (rules.missing_docstrings, '"""M."""\n@overload\ndef get(kind: int) -> int: ...\n'),
    (rules.missing_docstrings, '"""M."""\ndef _links():\n    return 1\n'),
    (rules.broad_excepts, "try:\n    f()\nexcept (OSError, ValueError):\n    pass\n"),
    (rules.silenced_complexity, "import os  # no" + "qa: F401\n"),
    (rules.leaks, "tests/corpus reads ../shared/data; pip install --no-index --find" + '-links "$(WHEELHOUSE)"'),
    (rules.forbidden_module_name, "src/eastwest/fabric/baseline.py"),
]


def _complaints(rule: Rule, folders: tuple[str, ...]) -> list[str]:
    return [
        f"{name_of(path)}:{line}: {what}"
        for path in python_files(*folders)
        for line, what in rule(path.read_text(encoding="utf-8"))
    ]


@pytest.mark.parametrize(("rule", "folders"), APPLIES, ids=lambda value: getattr(value, "__name__", ""))
def test_the_tree_keeps_the_rule(rule: Rule, folders: tuple[str, ...]) -> None:
    assert _complaints(rule, folders) == []


def test_broad_excepts_stand_exactly_where_a_reason_is_given() -> None:
    found = {complaint.split(":")[0] for complaint in _complaints(rules.broad_excepts, ("src", "tools"))}
    assert found == set(BROAD_EXCEPT_ALLOWED)


def test_no_file_names_a_machine_or_a_package_index() -> None:
    found = [
        f"{name_of(path)}:{line}: {what}"
        for path in text_files()
        for line, what in rules.leaks(path.read_text(encoding="utf-8"))
    ]
    assert found == []


def test_module_names_say_something() -> None:
    found = [
        f"{name_of(path)}: {what}" for path in project_files() for _, what in rules.forbidden_module_name(name_of(path))
    ]
    assert found == []


@pytest.mark.parametrize(("rule", "sample", "complaint"), BAD_SAMPLES)
def test_the_rule_notices_a_bad_sample(rule: Rule, sample: str, complaint: str) -> None:
    assert complaint in " ".join(what for _, what in rule(sample))


@pytest.mark.parametrize(("rule", "sample"), GOOD_SAMPLES)
def test_the_rule_leaves_a_good_sample_alone(rule: Rule, sample: str) -> None:
    assert list(rule(sample)) == []


def test_the_rules_read_this_tree() -> None:
    names = {name_of(path) for path in python_files("src", "tests", "tools")}
    assert {"src/eastwest/units.py", "tests/house/test_source_rules.py", "tools/install.py"} <= names
