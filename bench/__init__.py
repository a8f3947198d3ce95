"""Benchmarks of slidewheel: `python -m bench [suite ...] [--quick] [--json FILE]`."""
