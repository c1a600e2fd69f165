"""The fluid engine: flows share links by max-min fairness.

`tables` says what a run reads and yields, `build` makes the tables, `engine.run_flows` runs them and
`max_min.max_min_rates` solves once. Nothing is imported here: `engine` brings numba, and is imported late.
"""
