"""eastwest: one description of an AI cluster's east-west network, planned, proved, configured, accepted, watched and
diagnosed.
"""

from eastwest.decision import Alternative, Decision
from eastwest.errors import CannotTell, EastwestError, InputError, InternalError, UsageError
from eastwest.finding import Evidence, Finding, verdict_of
from eastwest.targets import Target, Targets

__version__ = "0.1.0"

__all__ = [
    "Alternative",
    "CannotTell",
    "Decision",
    "EastwestError",
    "Evidence",
    "Finding",
    "InputError",
    "InternalError",
    "Target",
    "Targets",
    "UsageError",
    "__version__",
    "load_site",
    "make_plan",
    "parse_site",
    "verdict_of",
]


def __getattr__(name: str) -> object:
    """The names that need heavy libraries, imported when they are first used."""
    if name in ("load_site", "parse_site"):
        from eastwest.spec import load

        return getattr(load, name)
    if name == "make_plan":
        from eastwest.plan.plan import make_plan

        return make_plan
    raise AttributeError(f"module 'eastwest' has no attribute {name!r}")
