"""Published measurements read as runs, judged against the step model: families, conversions, metrics, harness."""
