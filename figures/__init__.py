"""The pictures of the documentation: `python -m figures` draws docs/figures/*.svg, always the same bytes.

None of them is drawn by hand. Those of algorithms show the memory of a window that was run for them, those of windows
the answers of a query: if the code changes, so do the pictures, and a test says which.
"""
