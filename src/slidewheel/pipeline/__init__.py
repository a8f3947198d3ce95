"""Pipelines: a source, a query and outputs in a TOML file, checked as a whole and run on Spark."""

from slidewheel.pipeline.load import load
from slidewheel.pipeline.mistakes import InvalidPipeline, PipelineFailed
from slidewheel.pipeline.pipeline import Pipeline
from slidewheel.pipeline.summary import Summary

__all__ = ["InvalidPipeline", "Pipeline", "PipelineFailed", "Summary", "load"]
