"""Published designs: rows of inputs and printed counts, read as people write them, and the counts that ports allow."""
