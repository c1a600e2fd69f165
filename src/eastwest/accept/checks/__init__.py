"""One file an acceptance check: what it needs and `run(evidence)`, which yields findings."""
