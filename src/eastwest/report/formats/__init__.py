"""One file an output format of a report: HTML, CSV, JSON and others."""
