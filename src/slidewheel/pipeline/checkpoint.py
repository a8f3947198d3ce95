"""The checkpoint folder of a stream: what it belongs to is written down in it, so that no other pipeline takes it over.

stream/      Spark's: offsets and state of the query
rejecting/   Spark's: offsets of the stream that keeps unusable rows aside
rejects/     those rows, unless they go elsewhere
late/        rows that came too late, with late = "keep", unless they go elsewhere
"""

import json
from pathlib import Path
from typing import Any

from slidewheel.pipeline.mistakes import PipelineFailed
from slidewheel.pipeline.pipeline import Pipeline
from slidewheel.pipeline.places import local

FILE = "pipeline.json"
PARTITIONS = "spark.sql.shuffle.partitions"


def settings_of(pipeline: Pipeline) -> dict[str, int]:
    """The settings that a stream which goes on must have as it had them at first; none if it is new."""
    found = _read(pipeline)
    return {PARTITIONS: int(found["partitions"])} if "partitions" in found else {}


def check(pipeline: Pipeline) -> None:
    """Raise if the checkpoint is of a pipeline that can't go on as this one.

    Windows, lateness and the names of outputs may change: whether the state can be taken over, it says itself.
    """
    found = _read(pipeline)
    if not found:
        return
    for what, now in _facts(pipeline).items():
        if found.get(what) != now:
            raise PipelineFailed(
                f"the checkpoint {pipeline.checkpoint} is of a pipeline with other {what}: {found.get(what)}, and not "
                f"{now}. Choose another checkpoint, or remove this one to begin from the start of the source"
            )


def write(pipeline: Pipeline, partitions: int) -> None:
    """Note whose checkpoint it is."""
    file = _file(pipeline)
    if file is not None and not file.exists():
        file.parent.mkdir(parents=True, exist_ok=True)
        draft = file.with_suffix(".draft")
        draft.write_text(json.dumps({**_facts(pipeline), "partitions": partitions}, indent=1))
        draft.replace(file)


def _facts(pipeline: Pipeline) -> dict[str, Any]:
    said = pipeline.query.to_dict()
    aggregates = [{key: value for key, value in one.items() if key != "alias"} for one in said["aggregates"]]
    facts = {"source": pipeline.source.origin, "time": said["time"], "keys": said["keys"], "aggregates": aggregates}
    return dict(json.loads(json.dumps(facts)))


def _file(pipeline: Pipeline) -> Path | None:
    folder = None if pipeline.platform.is_elsewhere else local(pipeline.checkpoint)
    return None if folder is None else folder / FILE


def _read(pipeline: Pipeline) -> dict[str, Any]:
    file = _file(pipeline)
    try:
        return {} if file is None else dict(json.loads(file.read_text()))
    except FileNotFoundError:
        return {}
    except (OSError, ValueError, TypeError) as error:
        raise PipelineFailed(f"the checkpoint {pipeline.checkpoint} can't be read: {error}") from None
