"""Kernels that tests compile are kept in the checkout, not in the user's cache."""

import os
from pathlib import Path

os.environ.setdefault("SLIDEWHEEL_CACHE_DIR", str(Path(__file__).parent / ".cache" / "slidewheel"))
