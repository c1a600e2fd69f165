"""The house rules about source text, as functions from text to complaints, so that each can be tried on a bad sample.

A complaint is `(line, what)`; a rule that yields none is content.
"""

import ast
import re
from collections.abc import Iterator

MAX_FILE_LINES = 400  # conventions, rule 7
MAX_FUNCTION_LINES = 40  # conventions, rule 7; the docstring is not counted, a full docstring must cost nothing
FORBIDDEN_MODULE_NAMES = frozenset({"utils", "util", "helpers", "helper", "common", "misc", "manager", "base"})
BROAD = frozenset({"Exception", "BaseException"})

type_of_function = (ast.FunctionDef, ast.AsyncFunctionDef)
Complaint = tuple[int, str]

# Written in pieces, or this very file would break its own rule.
LEAKS = {
    "a path of one machine": re.compile(
        r"(?<![\w.])/(?:wo" r"rk/(?:main|shared)|ro" r"ot/|home/(?!\$|<)\w+|tmp/br" r"ief)"
    ),
    "a package index": re.compile(r"index" r"-url|://\S+/sim" r"ple\b|--find" r"-links[ =]+[\"']?\w+://"),
}


def long_file(text: str) -> Iterator[Complaint]:
    """Complaint about a file with more than `MAX_FILE_LINES` lines."""
    n_lines = len(text.splitlines())
    if n_lines > MAX_FILE_LINES:
        yield n_lines, f"{n_lines} lines, the limit is {MAX_FILE_LINES}: split it by mechanism"


def long_functions(text: str) -> Iterator[Complaint]:
    """Complaints about functions with more than `MAX_FUNCTION_LINES` lines from `def` on, less the docstring."""
    for node in ast.walk(ast.parse(text)):
        if isinstance(node, type_of_function):
            n_lines = node.end_lineno - node.lineno + 1 - _docstring_lines(node)
            if n_lines > MAX_FUNCTION_LINES:
                yield node.lineno, f"{node.name} has {n_lines} lines, the limit is {MAX_FUNCTION_LINES}"


def _docstring_lines(node: ast.FunctionDef | ast.AsyncFunctionDef) -> int:
    if ast.get_docstring(node) is None:
        return 0
    first = node.body[0]
    return first.end_lineno - first.lineno + 1


def missing_docstrings(text: str) -> Iterator[Complaint]:
    """Complaints about the module, public classes, functions and methods without a docstring."""
    tree = ast.parse(text)
    if text.strip() and ast.get_docstring(tree) is None:
        yield 1, "the module has no docstring"
    yield from _undocumented(tree)


def _undocumented(parent: ast.Module | ast.ClassDef) -> Iterator[Complaint]:
    for node in parent.body:
        if not isinstance(node, (*type_of_function, ast.ClassDef)) or node.name.startswith("_"):
            continue
        if ast.get_docstring(node) is None and not _is_overload(node):
            yield node.lineno, f"{node.name} is public and has no docstring"
        if isinstance(node, ast.ClassDef):
            yield from _undocumented(node)


def _is_overload(node: ast.AST) -> bool:
    return any(ast.unparse(name).split(".")[-1] == "overload" for name in getattr(node, "decorator_list", []))


def broad_excepts(text: str) -> Iterator[Complaint]:
    """Complaints about `except:`, `except Exception` (alone or in a tuple) and `suppress(Exception)`."""
    for node in ast.walk(ast.parse(text)):
        if isinstance(node, ast.ExceptHandler) and (node.type is None or _names_broad(node.type)):
            yield node.lineno, "a broad except: catch the narrowest error"
        elif isinstance(node, ast.Call) and _suppresses_broadly(node):
            yield node.lineno, "a broad suppress: name the narrowest error"


def _suppresses_broadly(call: ast.Call) -> bool:
    is_suppress = ast.unparse(call.func).split(".")[-1] == "suppress"
    return is_suppress and any(_names_broad(argument) for argument in call.args)


def _names_broad(expression: ast.expr) -> bool:
    return any(isinstance(node, ast.Name) and node.id in BROAD for node in ast.walk(expression))


def silenced_complexity(text: str) -> Iterator[Complaint]:
    """Complaints about lines that switch the complexity limit off."""
    for number, line in enumerate(text.splitlines(), start=1):
        if re.search(r"noqa(?!:)|noqa:.*C901", line):
            yield number, "the complexity limit is switched off here: split the function"


def leaks(text: str) -> Iterator[Complaint]:
    """Complaints about text that ties the project to one machine or to one package index."""
    for number, line in enumerate(text.splitlines(), start=1):
        for what, pattern in LEAKS.items():
            if pattern.search(line):
                yield number, f"{what}: {line.strip()[:80]}"


def forbidden_module_name(path: str) -> Iterator[Complaint]:
    """Complaint about a file or folder whose name says nothing (conventions, rule 3)."""
    for part in path.removesuffix(".py").split("/"):
        if part in FORBIDDEN_MODULE_NAMES:
            yield 0, f"'{part}' says nothing: name the thing"
