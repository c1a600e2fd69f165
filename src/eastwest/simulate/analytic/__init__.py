"""Closed forms: the floor below which no other engine may fall."""
