"""Wheels at rest: partial states in a Delta table, which any range of time can be asked of later."""
