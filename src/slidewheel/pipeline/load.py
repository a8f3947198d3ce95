"""From a TOML file to a pipeline. Everything is looked at before Spark starts, and all mistakes are named at once."""

import os
import re
import tomllib
from dataclasses import replace
from pathlib import Path, PurePath
from typing import Any

from slidewheel.errors import InvalidArgument
from slidewheel.pipeline.asking import check_columns, read_query
from slidewheel.pipeline.files import Files
from slidewheel.pipeline.generator import Generator
from slidewheel.pipeline.kafka import Messages, ToKafka
from slidewheel.pipeline.keeping import Keeping
from slidewheel.pipeline.lines import Place, lines_of
from slidewheel.pipeline.mistakes import InvalidPipeline, Mistake, Mistakes
from slidewheel.pipeline.outputs import Output, ToConsole, ToMemory, read_output
from slidewheel.pipeline.pipeline import Pipeline, Platform, Source
from slidewheel.pipeline.places import resolved
from slidewheel.pipeline.table import Table, shown
from slidewheel.pipeline.trigger import Trigger

SOURCES = ("parquet", "csv", "json", "kafka", "generator")


def load(path: str | os.PathLike[str]) -> Pipeline:
    """The pipeline that a TOML file describes. Raises InvalidPipeline with every mistake and its line."""
    file = Path(path)
    try:
        text = file.read_bytes().decode()
    except (OSError, UnicodeDecodeError) as error:
        raise InvalidArgument(f"the pipeline {file} can't be read: {error}") from None
    try:
        data = tomllib.loads(text)
    except tomllib.TOMLDecodeError as error:
        raise InvalidPipeline(str(file), (_of_syntax(str(error), text),)) from None
    return _Loading(file, data, Mistakes(str(file), lines_of(text))).pipeline()


class _Loading:
    def __init__(self, file: Path, data: dict[str, Any], mistakes: Mistakes) -> None:
        self.file, self.folder, self.mistakes = file, file.resolve().parent, mistakes
        self.top = Table(data, (), mistakes)

    def table(self, key: str) -> Table:
        found = self.top.get(key)
        return Table({} if found is None else found, (key,), self.mistakes)

    def pipeline(self) -> Pipeline:
        checkpoint = resolved(self.top.text("checkpoint", f"{self.file.stem}.checkpoint"), self.folder)
        rejects = self._rejects(checkpoint)
        trigger = Trigger.read(self.table("trigger"))
        source = self._source(trigger)
        asked = self._asked(source, trigger)
        outputs = self._outputs(trigger)
        late_to = self._late(checkpoint)
        keeping = self._keeping(asked, outputs, trigger)
        platform = self._platform()
        self._check_apart(source, outputs, rejects, keeping)
        self.top.refuse_others()
        self.mistakes.check()
        assert source is not None and asked is not None
        return Pipeline(
            file=self.file,
            source=source,
            query=asked.query,
            module=asked.module,
            null_keys=asked.null_keys,
            outputs=tuple(replace(o, keys=asked.query.keys) if isinstance(o, ToKafka) else o for o in outputs if o),
            trigger=trigger,
            checkpoint=checkpoint,
            rejects=rejects if source.keeps_rejects else None,
            keeping=keeping,
            late_to=late_to if asked.query.late == "keep" else None,
            platform=platform,
        )

    def _rejects(self, checkpoint: str) -> str | None:
        if self.top.data.get("rejects") is False:
            self.top.known.append("rejects")
            return None
        return resolved(self.top.text("rejects", f"{checkpoint}/rejects"), self.folder)

    def _source(self, trigger: Trigger) -> Source | None:
        if "source" not in self.top:
            self.top.known.append("source")
            self.top.wrong(None, f"the file needs a table [source] with a kind: {', '.join(SOURCES)}")
            return None
        table = self.table("source")
        source: Source
        match table.choice("kind", SOURCES):
            case "kafka":
                source = Messages.read(table)
                if not trigger.stream and source.starting == "latest":
                    table.wrong("starting", 'starting = "latest" is for streams: a batch would read nothing')
            case "generator":
                source = _paced(Generator.read(table), trigger)
                if not trigger.stream and source.rows_in_all is None:
                    table.wrong(None, "[source] needs rows: a batch of made-up rows has an end")
            case "":
                return None
            case kind:
                source = Files.read(kind, table, self.folder)
        table.refuse_others()
        return source

    def _asked(self, source: Source | None, trigger: Trigger) -> Any:
        if "query" not in self.top:
            self.top.known.append("query")
            self.top.wrong(None, "the file needs a table [query] with time, windows and aggregates")
            return None
        table = self.table("query")
        asked = read_query(table, self.folder)
        if asked is not None and source is not None and source.columns is not None:
            check_columns(asked.query, table, source.columns, stream=trigger.stream)
        return asked

    def _outputs(self, trigger: Trigger) -> list[Output | None]:
        """In the order of the file; None where something is wrong with one."""
        said = self.top.get("output")
        if said is None or said == []:
            return [ToConsole(20)]
        if not isinstance(said, list):
            self.top.wrong("output", "outputs are written as [[output]], with two brackets: there may be several")
            return []
        tables = [Table(item, ("output", index), self.mistakes) for index, item in enumerate(said)]
        outputs = [read_output(table, self.folder, stream=trigger.stream) for table in tables]
        for table, output in zip(tables, outputs, strict=True):
            if isinstance(output, ToMemory) and trigger.stream and len(tables) > 1:
                table.wrong(None, "memory is the only output of a stream, or none: leave it out, or the others")
        return outputs

    def _keeping(self, asked: Any, outputs: list[Output | None], trigger: Trigger) -> Keeping | None:
        if "store" not in self.top:
            self.top.known.append("store")
            return None
        table = self.table("store")
        keeping = Keeping.read(table, self.folder, self.file.stem, stream=trigger.stream)
        if asked is not None:
            keeping.check(table, asked.query)
        if trigger.stream and outputs and isinstance(outputs[0], ToMemory):
            table.wrong(
                None, "memory leaves no checkpoint, which a store needs: choose another output, or leave it out"
            )
        return keeping

    def _check_apart(
        self, source: Source | None, outputs: list[Output | None], rejects: str | None, keeping: Keeping | None
    ) -> None:
        """Folders that are written to lie neither in each other nor in what is read."""
        places: list[tuple[Place, str, str]] = []
        if isinstance(source, Files) and source.path:
            places.append((("source", "path"), source.path, "the source"))
        if rejects:
            places.append((("rejects",), rejects, "rejects"))
        if keeping and keeping.path:
            places.append((("store", "path"), keeping.path, "the store"))
        for index, output in enumerate(outputs):
            if output is not None and output.folder:
                places.append((("output", index, "path"), output.folder, "an output"))
        for number, (place, path, _) in enumerate(places):
            for _, other, whose in places[:number]:
                if PurePath(path).is_relative_to(other) or PurePath(other).is_relative_to(path):
                    self.mistakes.add(
                        place, f"{path} and {whose} ({other}) are in each other's way: choose another path"
                    )

    def _late(self, checkpoint: str) -> str:
        table = self.table("late")
        path = resolved(table.text("path", f"{checkpoint}/late"), self.folder)
        table.refuse_others()
        query = self.top.data.get("query")
        if "late" in self.top and not (isinstance(query, dict) and query.get("late") == "keep"):
            self.top.wrong("late", '[late] is where rows go that are kept: it needs late = "keep" in [query]')
        return path

    def _platform(self) -> Platform:
        table = self.table("spark")
        master, remote = table.text("master") or None, table.text("remote") or None
        if master and remote:
            table.wrong("remote", "[spark] has either a master or a remote, not both")
        config = table.scalars("config")
        table.refuse_others()
        return Platform(master, remote, config)


def _paced(source: Generator, trigger: Trigger) -> Generator:
    """Rows of a micro-batch: as many as event time has in the time from one to the next; all if there is only one."""
    if trigger.available_now and source.rows_in_all is not None:
        return replace(source, at_once=source.rows_in_all)
    return replace(source, at_once=max(1, source.rate * trigger.every // 1_000_000))


def _of_syntax(message: str, text: str) -> Mistake:
    """A mistake in the syntax; `tomllib` says where only in words."""
    found = re.fullmatch(r"(.*) \(at (?:line (\d+), column \d+|end of document)\)", message, re.DOTALL)
    if found is None:
        return Mistake(1, shown(message))
    return Mistake(int(found[2]) if found[2] else text.count("\n") + 1, f"this is not TOML: {found[1]}")
