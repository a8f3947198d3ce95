"""The command `slidewheel`."""
