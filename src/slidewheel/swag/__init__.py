"""Sliding-window aggregation: one algorithm per file, one protocol, and windows to use them."""

from slidewheel.swag.multi import MultiWindow, multi
from slidewheel.swag.timed import MissingTime, TimedWindow
from slidewheel.swag.window import Window, window

__all__ = ["MissingTime", "MultiWindow", "TimedWindow", "Window", "multi", "window"]
