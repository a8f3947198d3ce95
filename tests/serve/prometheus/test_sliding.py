"""Windows put together from blocks."""

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from slidewheel.serve.prometheus.series import wide
from slidewheel.serve.prometheus.windows import sliding


@given(st.lists(st.integers(-100, 100), min_size=1, max_size=60), st.data())
def test_sliding(values, data):
    width = data.draw(st.integers(1, len(values)))
    rows = np.array([values, values[::-1]])
    for combine, plain in ((np.add, sum), (np.minimum, min), (np.maximum, max)):
        expected = [[plain(row[k : k + width]) for k in range(len(row) - width + 1)] for row in rows.tolist()]
        assert sliding(rows, width, combine).tolist() == expected


def test_sums_that_need_more_than_64_bits():
    large = np.full((1, 4), 2**62)
    assert wide(large, 1) == np.int64
    assert sliding(large.astype(wide(large, 4)), 4, np.add).tolist() == [[2**64]]
