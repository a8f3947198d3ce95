"""Compressed blocks: the words of 64 states each as the least of them and their distances from it, in few bits.

Integers that are alike, such as counts, take some bits instead of 64. A state is read without unpacking its block. In
`packed`, a block has two places for each word of a state: the least, and 128 * (where the distances begin) + bits.
"""

import numpy as np

from slidewheel.wheel.names import BLOCKS_AT, WORDS_AT, load

BLOCK = 64


def _bits(packed, place, shift, width):
    """`width` bits from bit `shift` of this word on."""
    if width == 0:
        return np.uint64(0)
    found = np.uint64(packed[np.uint64(place)]) >> np.uint64(shift)
    if shift + width > 64:
        found |= np.uint64(packed[np.uint64(place + 1)]) << np.uint64(64 - shift)
    return found if width == 64 else found & ((np.uint64(1) << np.uint64(width)) - np.uint64(1))


def _unpacked(view, level, row):
    """The state of a row that lies in a block."""
    _, _, packed, _, book, _, _, _, spare, words = view
    block, k = row >> 6, row & 63
    at, start = book[level, BLOCKS_AT] + 2 * len(words) * block, book[level, WORDS_AT]
    for j in range(len(words)):
        least, where = packed[np.uint64(at + 2 * j)], packed[np.uint64(at + 2 * j + 1)]
        width = where & 127
        bit = k * width
        found = _bits(packed, start + (where >> 7) + (bit >> 6), bit & 63, width)
        words[np.uint64(j)] = np.int64(np.uint64(least) + found)
    return load(spare, 0)


def pack(states, directory, out):
    """Blocks of 64 states, each a row of words: their list into `directory`, their bits into `out`.

    Returns how many words of `out` are used.
    """
    used = 0
    words = states.shape[1]
    for block in range(len(states) // 64):
        for j in range(words):
            least = most = states[block * 64, j]
            for k in range(1, 64):
                least, most = min(least, states[block * 64 + k, j]), max(most, states[block * 64 + k, j])
            span, width = np.uint64(most) - np.uint64(least), 0
            while span > np.uint64(0):
                span >>= np.uint64(1)
                width += 1
            directory[2 * (block * words + j)] = least
            directory[2 * (block * words + j) + 1] = used * 128 + width
            for k in range(width):
                out[used + k] = 0
            for k in range(64):
                away = np.uint64(states[block * 64 + k, j]) - np.uint64(least)
                place, shift = used + ((k * width) >> 6), (k * width) & 63
                if width > 0:
                    out[place] = np.int64(np.uint64(out[place]) | (away << np.uint64(shift)))
                    if shift + width > 64:
                        rest = away >> np.uint64(64 - shift)
                        out[place + 1] = np.int64(np.uint64(out[place + 1]) | rest)
            used += width
    return used
