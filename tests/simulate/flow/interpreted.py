"""Kernels as plain Python: what Python may not call when compiled is tried in its own source."""

from collections.abc import Callable
from types import FunctionType, ModuleType
from typing import Any


def interpreted(module: ModuleType, kernel: Any) -> Callable[..., Any]:
    """A kernel of a module as a Python function that calls the module's other kernels as Python functions."""
    plain = {name: getattr(value, "py_func", value) for name, value in vars(module).items()}
    for name, value in plain.items():
        if isinstance(value, FunctionType) and value.__module__ == module.__name__:
            plain[name] = FunctionType(value.__code__, plain, name, value.__defaults__)
    return plain[getattr(kernel, "py_func", kernel).__name__]
