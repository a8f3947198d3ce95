"""From an aggregate and an algorithm to something that runs: compiled kernels, and specialised Python."""
