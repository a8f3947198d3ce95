"""The compressed rows of a level, in blocks that are added and dropped as a whole."""

import numpy as np

from slidewheel.compiler.fixed import compiled
from slidewheel.engine.columns import Array
from slidewheel.wheel import packing

BLOCK = 64


class Blocks:
    """`directory` and `words` as packing.py has them."""

    def __init__(self, words: int) -> None:
        self.width = words
        self.directory, self.words = np.zeros(0, dtype=np.int64), np.zeros(0, dtype=np.int64)

    def __len__(self) -> int:
        return len(self.directory) // (2 * self.width)

    def add(self, states: Array) -> None:
        """Blocks of 64 states, each a row of words."""
        directory = np.zeros(2 * self.width * (len(states) // BLOCK), dtype=np.int64)
        words = np.zeros(states.size, dtype=np.int64)
        used = compiled(packing).pack(states, directory, words)
        directory[1::2] += len(self.words) * 128
        self.directory = np.concatenate([self.directory, directory])
        self.words = np.concatenate([self.words, words[:used]])

    def drop(self, blocks: int) -> None:
        """Forget the oldest ones."""
        if blocks == 0:
            return
        self.directory = self.directory[2 * self.width * blocks :].copy()
        begin = int(self.directory[1]) >> 7 if len(self.directory) else len(self.words)
        self.words = self.words[begin:].copy()
        self.directory[1::2] -= begin * 128
