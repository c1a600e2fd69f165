"""How devices and tools speak: every text format has exactly one reader here, every switch OS one renderer."""
