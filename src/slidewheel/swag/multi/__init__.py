"""Many ranges over one stream of items: the algorithms' multi-query forms, one per file."""

from slidewheel.swag.multi.window import MultiWindow, multi

__all__ = ["MultiWindow", "multi"]
