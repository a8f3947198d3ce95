"""A pipeline over what is there, once."""

from typing import TYPE_CHECKING

from slidewheel.pipeline.pipeline import Pipeline
from slidewheel.pipeline.rejects import readable, rejected, usable
from slidewheel.pipeline.summary import ANSWERS, Summary

if TYPE_CHECKING:
    from pyspark.sql import SparkSession


def run_batch(pipeline: Pipeline, spark: "SparkSession") -> Summary:
    """Write the answers to all outputs, and then the rows that could not be used."""
    from slidewheel.spark.observing import observe

    query, summary = pipeline.query, Summary()
    rows = pipeline.source.rows(spark, stream=False)
    good, counted = readable(rows, pipeline.reasons)
    answers, given = observe(query.spark(good), ANSWERS, {"rows": "count(*)"})
    # Several outputs are written from answers that were computed once. The console does not ask for all of them, and
    # Spark does not observe what it writes to Kafka: there the counts would be wrong, or waited for in vain.
    kept = len(pipeline.outputs) > 1 or pipeline.outputs[0].kind in ("console", "kafka")
    if kept:
        answers = answers.persist()
        answers.count()
    try:
        for output in pipeline.outputs:
            output.once(answers)
    finally:
        if kept:
            answers.unpersist()
    if pipeline.keeping:
        pipeline.keeping.once(usable(rows, pipeline.reasons), query)
    summary.add_input(counted.get)
    summary.answers = given.get["rows"] or 0
    if pipeline.rejects and summary.rejected:
        rejected(rows, pipeline.reasons).write.mode("overwrite").parquet(pipeline.rejects)
    return summary
