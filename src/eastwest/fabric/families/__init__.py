"""One file a topology family: `build(site, ledger)` yields the fabric."""
