"""What every file of kernels shares: types of tables, small numbers that numba must not compile twice."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, cast

import numpy as np
from numpy.typing import NDArray

from eastwest.simulate.compiled import entry_kernel, kernel

__all__ = ["NONE", "Bytes", "Int32s", "Records", "entry_kernel", "kernel", "record", "table"]

Records = NDArray[np.void]
Int32s = NDArray[np.int32]
Bytes = NDArray[np.uint8]
NONE = -1  # no packet, no link, no flow
LINE_BYTES = 64  # of a processor's cache


def record(*fields: tuple[str, type]) -> np.dtype[np.void]:
    """The type of a table's rows: fields one behind the other, and room to whole lines of the cache."""
    plain = np.dtype(list(fields), align=True)
    places = cast("Mapping[str, tuple[Any, int]]", plain.fields)
    return np.dtype(
        {
            "names": [name for name, _ in fields],
            "formats": [kind for _, kind in fields],
            "offsets": [places[name][1] for name, _ in fields],
            "itemsize": -(-plain.itemsize // LINE_BYTES) * LINE_BYTES,
        },
        align=True,
    )


def table(n_rows: int, row: np.dtype[np.void]) -> Records:
    """(n_rows,) zeros that begin with a line of the cache."""
    room = np.zeros(n_rows * row.itemsize + LINE_BYTES, np.uint8)
    skip = -room.ctypes.data % LINE_BYTES
    return room[skip : skip + n_rows * row.itemsize].view(row)
