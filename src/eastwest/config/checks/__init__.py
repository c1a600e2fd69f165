"""One file an audit check: its inputs and `run`, which yields findings."""
