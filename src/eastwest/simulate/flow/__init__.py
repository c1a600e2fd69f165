"""The fluid engine: flows share links by max-min fairness."""
