"""A pipeline as a stream: a streaming query for the answers, one that keeps unusable rows aside, one for a store.

Each has its own offsets in the checkpoint, and reads the source for itself. So both outlive a crash, and every rejected
row is kept exactly once, too.
"""

import time
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, cast

from slidewheel.pipeline import checkpoint
from slidewheel.pipeline.keeping import Keeping
from slidewheel.pipeline.mistakes import PipelineFailed
from slidewheel.pipeline.outputs import ByBatch, Sink
from slidewheel.pipeline.pipeline import Pipeline
from slidewheel.pipeline.rejects import readable, rejected, usable
from slidewheel.pipeline.stopping import Stopping, stop_on_signals
from slidewheel.pipeline.summary import ANSWERS, Summary, Watch
from slidewheel.spark.failures import cause_of

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

POLL = 0.2
"""Seconds between two looks at the progress."""


def run_stream(pipeline: Pipeline, spark: "SparkSession", watch: Watch | None) -> Summary:
    """Run until the source ends, a signal asks to stop, or something fails."""
    summary, kept = Summary(), Summary()
    with stop_on_signals() as stopping:
        queries: list[Any] = []
        try:
            queries.append(_start(pipeline, _answers(pipeline, spark)))
            if pipeline.goes_on:
                checkpoint.write(pipeline, int(spark.conf.get(checkpoint.PARTITIONS) or 200))
            if pipeline.keeping:
                queries.append(_start_keeping(pipeline, spark, pipeline.keeping))
            if pipeline.rejects:
                queries.append(_start_rejecting(pipeline, spark, pipeline.rejects))
            far = [summary, *([kept] if pipeline.keeping else [])]
            while not (stopping.asked or _is_through(pipeline, queries, far)):
                _wait(queries)
                _look(queries[0], summary, watch)
                if pipeline.keeping:
                    _look(queries[1], kept, None)
            for query in queries:
                _settle(query, stopping)
                query.stop()
            _look(queries[0], summary, watch)
        finally:
            for query in queries:
                query.stop()
    summary.signal = stopping.signal
    return summary


def _answers(pipeline: Pipeline, spark: "SparkSession") -> Any:
    """A writer for the answers."""
    from slidewheel.spark.observing import observe

    good, _ = readable(pipeline.source.rows(spark, stream=True), pipeline.reasons)
    answers, _ = observe(pipeline.query.spark(good, late_to=pipeline.late_to), ANSWERS, {"rows": "count(*)"})
    if pipeline.writes_by_batch:
        return answers.writeStream.foreachBatch(ToAll(cast(Sequence[ByBatch], pipeline.outputs)))
    return cast(Sink, pipeline.outputs[0]).stream(answers)


class ToAll:
    """Writes the answers of a batch to several outputs, computed once."""

    def __init__(self, outputs: Sequence[ByBatch]) -> None:
        self.outputs = outputs

    def __call__(self, answers: "DataFrame", batch: int) -> None:
        answers = answers.persist()
        try:
            # Counting computes every part, as the state needs it; an output might be content with some.
            if answers.count():
                for output in self.outputs:
                    output.each(answers, batch)
        except Exception as error:
            # Spark searches the text of what is raised here, and loses its way in one as long as a trace of Java's.
            raise PipelineFailed(cause_of(error)) from None
        finally:
            answers.unpersist()


def _start(pipeline: Pipeline, writer: Any) -> Any:
    writer = writer.outputMode("update" if pipeline.query.late == "update" else "append")
    if pipeline.goes_on:
        writer = writer.option("checkpointLocation", f"{pipeline.checkpoint}/stream")
    return writer.trigger(**pipeline.trigger.options()).start()


def _start_keeping(pipeline: Pipeline, spark: "SparkSession", keeping: Keeping) -> Any:
    """Rows that can be used, to the store. They are counted where they are answered."""
    rows = usable(pipeline.source.rows(spark, stream=True), pipeline.reasons)
    return keeping.start(rows, pipeline.query, f"{pipeline.checkpoint}/storing", pipeline.trigger.options())


def _start_rejecting(pipeline: Pipeline, spark: "SparkSession", path: str) -> Any:
    bad = rejected(pipeline.source.rows(spark, stream=True), pipeline.reasons)
    writer = bad.writeStream.format("parquet").option("path", path)
    writer = writer.option("checkpointLocation", f"{pipeline.checkpoint}/rejecting")
    return writer.trigger(**pipeline.trigger.options()).start()


def _wait(queries: list[Any]) -> None:
    """Wait a moment, and raise what has failed."""
    for query in queries:
        query.awaitTermination(POLL / len(queries))


def _look(query: Any, summary: Summary, watch: Watch | None) -> None:
    """Take in what is new. Only where batches were missed, all that Spark remembers is fetched: that takes long."""
    last = query.lastProgress
    if last is None:
        return
    missed = last.batchId > summary.last_batch + 1
    news = [summary.add_progress(progress) for progress in (query.recentProgress if missed else [last])]
    if watch is not None and any(news):
        watch.update(summary)


def _is_through(pipeline: Pipeline, queries: list[Any], far: Sequence[Summary]) -> bool:
    """Whether there is nothing more to come. Raises what has failed."""
    active = [query.isActive for query in queries]
    if not all(active):
        _wait(queries)
        if not pipeline.trigger.available_now:
            raise PipelineFailed(f"{pipeline.file} failed: a streaming query of Spark ended, and did not say why")
    return not any(active) or all(pipeline.source.is_through(summary.offsets) for summary in far)


def _settle(query: Any, stopping: Stopping) -> None:
    """Let the batch that is running come to its end, unless somebody insists.

    The next one may begin at once. It is no loss if it is broken off, since it will be repeated, as long as its answers
    are not being written yet; so there is no long sleep here.
    """
    before = _last_batch(query)
    while query.isActive and query.status["isTriggerActive"] and _last_batch(query) == before and not stopping.at_once:
        time.sleep(POLL / 10)


def _last_batch(query: Any) -> int:
    progress = query.lastProgress
    return -1 if progress is None else int(progress.batchId)
