"""Running a pipeline: checks that need no Spark, a session, then the batch or the stream."""

import time
from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING

from slidewheel.pipeline import checkpoint, kafka
from slidewheel.pipeline.mistakes import PipelineFailed
from slidewheel.pipeline.outputs import SPARKS_LOG, ToParquet
from slidewheel.pipeline.pipeline import Pipeline
from slidewheel.pipeline.places import check_writable, local
from slidewheel.pipeline.summary import Summary, Watch
from slidewheel.spark.failures import cause_of, is_sparks
from slidewheel.spark.noise import without_noise
from slidewheel.spark.session import session
from slidewheel.spark.shipping import ship

if TYPE_CHECKING:
    from pyspark.sql import SparkSession


def run(pipeline: Pipeline, spark: "SparkSession | None", watch: Watch | None) -> Summary:
    """See Pipeline.run."""
    if not pipeline.platform.is_elsewhere:
        check_writable_folders(pipeline)
        check_outputs(pipeline)
        checkpoint.check(pipeline)
    begin = time.monotonic()
    with _failures(pipeline), _session(pipeline, spark) as used:
        if pipeline.platform.has_executors:
            ship(used)
        if pipeline.module is not None:
            used.addArtifacts(str(pipeline.module), pyfile=True)
        if pipeline.trigger.stream:
            from slidewheel.pipeline.stream import run_stream

            summary = run_stream(pipeline, used, watch)
        else:
            from slidewheel.pipeline.batch import run_batch

            summary = run_batch(pipeline, used)
    summary.seconds = time.monotonic() - begin
    return summary


def check_writable_folders(pipeline: Pipeline) -> None:
    """That all folders can be written to."""
    if pipeline.trigger.stream:
        check_writable(pipeline.checkpoint, "the checkpoint")
        if pipeline.late_to:
            check_writable(pipeline.late_to, "late rows")
    if pipeline.rejects:
        check_writable(pipeline.rejects, "rejects")
    if pipeline.keeping:
        check_writable(pipeline.keeping.path, "the store")
    for output in pipeline.outputs:
        if output.folder:
            check_writable(output.folder, "an output")


def check_outputs(pipeline: Pipeline) -> None:
    """That folders hold nothing that does not go together with what comes."""
    here = local(pipeline.rejects) if pipeline.rejects and not pipeline.trigger.stream else None
    if here is not None and (here / SPARKS_LOG).exists():
        raise PipelineFailed(
            f'{here} has the rejects of a stream, which a batch would replace: write rejects = "..." at the top of the '
            f"file, with another folder"
        )
    for output in pipeline.outputs:
        if isinstance(output, ToParquet):
            if pipeline.trigger.stream:
                output.check(by_batch=pipeline.writes_by_batch)
            else:
                output.check_once()


@contextmanager
def _session(pipeline: Pipeline, given: "SparkSession | None") -> Iterator["SparkSession"]:
    before = checkpoint.settings_of(pipeline) if pipeline.trigger.stream else {}
    if given is not None:
        theirs = {name: given.conf.get(name) for name in before}
        for name, value in before.items():
            given.conf.set(name, value)
        try:
            yield given
        finally:
            for name, setting in theirs.items():
                given.conf.set(name, setting or "")
        return
    platform = pipeline.platform
    uses_kafka = "kafka" in (pipeline.source.kind, *(output.kind for output in pipeline.outputs))
    brings_jars = not platform.config.keys().isdisjoint(("spark.jars", "spark.jars.packages"))
    fetched = kafka.connector() if uses_kafka and not brings_jars else {}
    # What goes wrong is said in one line, by slidewheel; a log full of traces would bury it.
    config = {"spark.log.level": "OFF", **fetched, **platform.config, **before}
    with without_noise():
        made = session(platform.master, config, app_name=f"slidewheel {pipeline.file.stem}", remote=platform.remote)
    try:
        yield made
    finally:
        made.stop()


@contextmanager
def _failures(pipeline: Pipeline) -> Iterator[None]:
    """What Spark raises, in one line."""
    try:
        yield
    except Exception as error:
        if not is_sparks(error):
            raise
        raise PipelineFailed(f"{pipeline.file} failed: {_reason(pipeline, error)}") from error


def _reason(pipeline: Pipeline, error: Exception) -> str:
    """Spark does not always say that a disk is full, only that it could not write: look for ourselves."""
    try:
        if not pipeline.platform.is_elsewhere:
            check_writable_folders(pipeline)
    except PipelineFailed as found:
        return str(found)
    return cause_of(error)
