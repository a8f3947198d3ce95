"""`python -m figures` writes docs/figures/*.svg."""

import sys

from figures.gallery import FIGURES, FOLDER, file_of

if __name__ == "__main__":
    FOLDER.mkdir(exist_ok=True)
    for name in sys.argv[1:] or FIGURES:
        file_of(name).write_text(FIGURES[name]().svg(), encoding="utf-8", newline="\n")
        print(file_of(name).relative_to(FOLDER.parent.parent))
