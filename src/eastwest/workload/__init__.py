"""Who sends what to whom: the communication account between logical ranks, and its traffic profile."""
