"""Shares of the bill: what monitoring, storage and management cost beside the fabric, and what nobody priced."""

from __future__ import annotations

from eastwest.decision import Decision
from eastwest.finding import Finding
from eastwest.plan.advice.case import Advice, Case
from eastwest.plan.bill_totals import GroupTotal
from eastwest.units import format_percent, format_power

SIDE_GROUPS = ("storage", "out_of_band", "monitoring")
SHOWN_PARTS = 3  # parts without price that the sentence names
SOURCE = "seed text 000, section 5.2: monitoring and diagnosis belong into the total budget"


def advise(case: Case) -> Advice:
    """A share of power (and of cost, when there are prices) for each side network in the bill."""
    rows = [group for name in SIDE_GROUPS if (group := case.bill.group(name))]
    return Advice(tuple(_share(case, row) for row in rows), tuple(_unpriced(case)))


def _share(case: Case, row: GroupTotal) -> Decision:
    bill = case.bill
    by_price = row.price_share_ratio is not None
    power = (
        f"{format_power(row.power_w)} of {format_power(bill.power_w)} ({format_percent(row.power_share_ratio or 0)})"
    )
    cost = f"; {row.price:,.0f} of {bill.price:,.0f} {bill.currency}" if by_price else "; no part of it has a price"
    return Decision(
        f"bill.{row.group}.share",
        row.price_share_ratio if by_price else row.power_share_ratio,
        "ratio",
        f"{'of the priced cost' if by_price else 'of the power'}: {power}{cost}",
        "price of the group / price of the bill" if by_price else "power of the group / power of the bill",
        {
            "price": row.price,
            "total_price": bill.price,
            "currency": bill.currency,
            "power_w": row.power_w,
            "total_power_w": bill.power_w,
            "unpriced_parts": row.unpriced,
        },
        SOURCE,
    )


def _unpriced(case: Case) -> list[Finding]:
    """Parts that the price file leaves out, when there is a price file."""
    bill = case.bill
    if bill.price is None or not bill.unpriced:
        return []
    more = len(bill.unpriced) - SHOWN_PARTS
    names = ", ".join(bill.unpriced[:SHOWN_PARTS]) + (f", … (+{more})" if more > 0 else "")
    args = {"parts": names, "price": f"{bill.price:,.2f}", "currency": bill.currency}
    return [Finding("EW-ADV-018", "info", "bill", 0, len(bill.unpriced), "parts", args)]
