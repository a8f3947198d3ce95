"""Aggregates: what they are, the built-in ones, and the laws they keep."""
