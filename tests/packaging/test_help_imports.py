"""`eastwest --help` answers at once because it imports no verb's body: no heavy library is loaded for it."""

import subprocess
import sys

import pytest

HEAVY = {"jinja2", "numba", "numpy", "plotly", "pydantic", "ruamel", "scipy", "duckdb", "pyarrow", "nicegui"}

PROGRAM = """
import sys
sys.argv = ["eastwest", *sys.argv[1:]]
from eastwest.cli.main import main
try:
    main()
except SystemExit as end:
    assert end.code in (0, None), end.code
print("loaded:", *sorted({name.partition(".")[0] for name in sys.modules}))
"""


@pytest.mark.parametrize("option", ["--help", "--version"])
def test_no_heavy_library_is_loaded(option: str) -> None:
    done = subprocess.run([sys.executable, "-c", PROGRAM, option], capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    loaded = set(done.stdout.splitlines()[-1].removeprefix("loaded:").split())
    assert "eastwest" in loaded
    assert loaded & HEAVY == set()
