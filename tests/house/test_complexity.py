"""The complexity limit is in force: ruff, with the project's own settings, refuses a function with eleven paths."""

import subprocess
import sys

import pytest

from tests.house.tree import ROOT

MAX_COMPLEXITY = 10  # conventions, rule 7


def _function_with(n_paths: int) -> str:
    branches = "".join(f"    if value == {number}:\n        return {number}\n" for number in range(1, n_paths))
    return f'"""Sample."""\n\n\ndef choose(value: int) -> int:\n    """Choice."""\n{branches}    return 0\n'


@pytest.mark.parametrize("n_paths", [MAX_COMPLEXITY, MAX_COMPLEXITY + 1])
def test_a_function_may_have_ten_paths_and_no_more(n_paths: int) -> None:
    command = [sys.executable, "-m", "ruff", "check", "--no-cache", "--output-format", "concise"]
    command += ["--stdin-filename", "src/eastwest/sample.py", "-"]
    verdict = subprocess.run(command, cwd=ROOT, input=_function_with(n_paths), capture_output=True, text=True)
    assert ("C901" in verdict.stdout) == (n_paths > MAX_COMPLEXITY), verdict.stdout + verdict.stderr
