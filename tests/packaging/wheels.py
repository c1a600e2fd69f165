"""Synthetic wheels: enough of a package for pip to install it, made without a network or a build backend."""

import base64
import hashlib
import zipfile
from pathlib import Path


def make_wheel(folder: Path, name: str, files: dict[str, str], scripts: dict[str, str]) -> tuple[Path, str]:
    """A pure-Python wheel `name` 1.0 in `folder`, and its SHA-256: files by path, console scripts by name."""
    info = f"{name}-1.0.dist-info"
    entry_points = "[console_scripts]\n" + "".join(f"{script} = {target}\n" for script, target in scripts.items())
    contents = {
        **files,
        f"{info}/METADATA": f"Metadata-Version: 2.1\nName: {name}\nVersion: 1.0\n",
        f"{info}/WHEEL": "Wheel-Version: 1.0\nGenerator: synthetic\nRoot-Is-Purelib: true\nTag: py3-none-any\n",
        f"{info}/entry_points.txt": entry_points,
    }
    record = "".join(f"{path},sha256={_record_hash(text)},{len(text.encode())}\n" for path, text in contents.items())
    folder.mkdir(parents=True, exist_ok=True)
    wheel = folder / f"{name}-1.0-py3-none-any.whl"
    with zipfile.ZipFile(wheel, "w") as archive:
        for path, text in {**contents, f"{info}/RECORD": f"{record}{info}/RECORD,,\n"}.items():
            archive.writestr(zipfile.ZipInfo(path), text)
    return wheel, hashlib.sha256(wheel.read_bytes()).hexdigest()


def _record_hash(text: str) -> str:
    return base64.urlsafe_b64encode(hashlib.sha256(text.encode()).digest()).rstrip(b"=").decode()


# A build backend of one function, so that the synthetic project installs as an editable package without hatchling.
BACKEND = """
import hashlib, pathlib, zipfile

def build_editable(wheel_directory, config_settings=None, metadata_directory=None):
    info = "eastwest-0.0.dist-info"
    name = "eastwest-0.0-py3-none-any.whl"
    with zipfile.ZipFile(pathlib.Path(wheel_directory) / name, "w") as archive:
        archive.writestr("eastwest.pth", str(pathlib.Path("src").resolve()) + "\\n")
        archive.writestr(info + "/METADATA", "Metadata-Version: 2.1\\nName: eastwest\\nVersion: 0.0\\n")
        archive.writestr(info + "/WHEEL", "Wheel-Version: 1.0\\nRoot-Is-Purelib: true\\nTag: py3-none-any\\n")
        archive.writestr(info + "/entry_points.txt", "[console_scripts]\\neastwest = eastwest:main\\n")
        archive.writestr(info + "/RECORD", "")
    return name
"""

# Stands for ruff, mypy, lint-imports and pytest: prints how it was called; fails when FAILING_TOOL names it.
TOOL = """
import os, pathlib, sys

def main():
    name = {name!r} or pathlib.Path(sys.argv[0]).name
    print("called:", name, *sys.argv[1:], flush=True)
    sys.exit(name == os.environ.get("FAILING_TOOL"))

if __name__ == "__main__":
    main()
"""
