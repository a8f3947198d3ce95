"""One file for each suite, with `write(page)`, and `headline(page)` where the index shows the suite."""
