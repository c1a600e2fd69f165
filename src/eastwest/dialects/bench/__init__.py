"""How benchmarks speak: one file a tool, each with `detect(text)` and `read(text, source)`."""

from eastwest.dialects.bench import gpcnet, nccl_tests, osu, perftest
from eastwest.registry import Registry

READERS = Registry(
    "benchmark",
    [
        ("gpcnet", gpcnet),
        ("nccl_tests", nccl_tests),
        ("osu", osu),
        ("perftest", perftest),
    ],
)
