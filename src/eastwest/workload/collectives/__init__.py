"""One file a collective algorithm: the transfers it makes and its closed form for bytes and time."""
