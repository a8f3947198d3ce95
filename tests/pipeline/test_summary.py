"""What is read out of Spark's progress."""

from types import SimpleNamespace

from slidewheel.pipeline.summary import Summary


class Row:
    def __init__(self, **values) -> None:
        self.values = values

    def asDict(self):
        return self.values


def progress(batch, rows=0, ran=True, **observed):
    operator = SimpleNamespace(numRowsTotal=7, memoryUsedBytes=2_000_000)
    return SimpleNamespace(
        batchId=batch,
        numInputRows=rows,
        durationMs={"addBatch": 5} if ran else {"triggerExecution": 1},
        observedMetrics={name: Row(**values) for name, values in observed.items()},
        processedRowsPerSecond=1234.5,
        eventTime={"watermark": f"2024-01-01T00:00:0{batch}.000Z"},
        stateOperators=[operator, operator],
        sources=[SimpleNamespace(startOffset=f'{{"offset": {10 * batch}}}'), SimpleNamespace(startOffset=None)],
    )


LATE = {"late_rows": 3, "open_windows": 5, "open_sessions": 2}


def test_counts_are_added_up_and_states_are_the_last():
    summary = Summary()
    counts = {"rows": 10, "malformed": 2, "without_time": 1, "values": 30}
    assert summary.add_progress(progress(0, 10, slidewheel_input=counts, slidewheel_output={"rows": 4}))
    assert summary.add_progress(
        progress(1, 10, slidewheel_input=counts, slidewheel_output={"rows": 5}, slidewheel=LATE)
    )
    assert (summary.batches, summary.rows, summary.answers, summary.late) == (2, 20, 9, 3)
    assert (summary.malformed, summary.without_time, summary.rejected) == (4, 2, 6)
    assert (summary.watermark, summary.state_rows, summary.state_bytes) == ("2024-01-01T00:00:01.000Z", 14, 4_000_000)
    assert summary.offsets == ({"offset": 10}, None)
    assert summary.line() == (
        "batch 1  rows 20  answers 9  rows/s 1,234  watermark 2024-01-01T00:00:01.000Z  open windows 7  state 14 rows, "
        "4.0 MB  late 3  rejected 6"
    )
    summary.seconds = 2.5
    assert summary.text().splitlines() == [
        "20 rows, 9 answers in 2 batches, 2.5 s",
        "left out: 4 malformed rows, 2 without a time, 0 without a key",
        "3 rows came too late for a window",
    ]


def test_one_of_each():
    assert Summary(batches=1, rows=1, answers=1, malformed=1, late=1).text().splitlines() == [
        "1 row, 1 answer in 1 batch, 0.0 s",
        "left out: 1 malformed row, 0 without a time, 0 without a key",
        "1 row came too late for a window",
    ]


def test_counts_by_spark_connect():
    names = [{"name": name, "type": "long"} for name in ("rows", "malformed", "without_time", "values")]
    summary = Summary()
    summary.add_progress(progress(0, 10, slidewheel_input={"values": [10, 2, 1, 30], "schema": {"fields": names}}))
    assert (summary.rows, summary.malformed, summary.without_time) == (10, 2, 1)


def test_what_is_known_or_nothing_is_not_counted():
    summary = Summary()
    seen = [progress(0, 10, slidewheel_input={"rows": 10}), progress(1, ran=False), progress(1, 5), progress(1, 5)]
    assert [summary.add_progress(p) for p in seen] == [True, False, True, False]
    assert [summary.add_progress(p) for p in seen] == [False, False, False, False]
    assert (summary.batches, summary.rows) == (2, 10)


def test_a_batch_without_rows_counts_if_it_ran():
    summary = Summary()
    nulls = dict.fromkeys(LATE)
    assert summary.add_progress(progress(3, 0, slidewheel_output={"rows": 2}, slidewheel=nulls))
    assert (summary.batches, summary.answers, summary.late) == (1, 2, 0)
