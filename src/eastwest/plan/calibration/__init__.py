"""Fitting the constants of the step model to measured training runs."""
