"""The test suite: mirrors src/eastwest, plus house rules, packaging, corpus and naive oracles."""
