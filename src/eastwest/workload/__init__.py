"""Who sends what to whom: the communication account between logical ranks, and its traffic profile."""

from __future__ import annotations

from eastwest.workload.account import account
from eastwest.workload.ledger import (
    Grid,
    JobLedger,
    Ledger,
    LedgerRow,
    Memory,
    MemoryTerm,
    Profile,
    ProfileRow,
)

__all__ = ["Grid", "JobLedger", "Ledger", "LedgerRow", "Memory", "MemoryTerm", "Profile", "ProfileRow", "account"]
