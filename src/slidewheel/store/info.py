"""What is in a store, at a glance."""

from dataclasses import dataclass

from slidewheel.store.log import FOREVER, Snapshot
from slidewheel.times import format_duration, format_instant


@dataclass(frozen=True)
class LevelInfo:
    """A level: its slots, what is kept of it, and what that takes."""

    name: str
    length: int
    keep: str | int
    since: int | None
    """Since when it is kept; None for all."""
    files: int
    rows: int
    bytes: int


@dataclass(frozen=True)
class Info:
    """A version of a store."""

    path: str
    version: int
    keys: tuple[str, ...]
    aggregates: tuple[str, ...]
    span: tuple[int, int] | None
    levels: tuple[LevelInfo, ...]
    fresh_files: int
    """Files that compaction has not folded yet, which count to the finest level, and their rows."""
    fresh_rows: int

    def __str__(self) -> str:
        covered = "nothing yet" if self.span is None else " to ".join(map(format_instant, self.span))
        lines = [
            f"{self.path}, version {self.version}",
            f"  aggregates  {', '.join(self.aggregates)}" + (f" by {', '.join(self.keys)}" if self.keys else ""),
            f"  time        {covered}",
        ]
        for level in self.levels:
            since = "" if level.since is None else f", kept since {format_instant(level.since)}"
            lines.append(
                f"  {level.name:<11} {format_duration(level.length)} slots: {level.files} files, {level.rows:,} rows, "
                f"{level.bytes / 2**20:,.1f} MiB{since}"
            )
        lines.append(f"  not folded  {self.fresh_files} files, {self.fresh_rows:,} rows")
        return "\n".join(lines)


def info(snapshot: Snapshot, path: str) -> Info:
    query = snapshot.definition.query
    levels = []
    for level in snapshot.definition.levels:
        files = [file for file in snapshot.files if file.level == level.name]
        since = snapshot.kept[level.name]
        levels.append(
            LevelInfo(
                level.name,
                level.length,
                level.keep,
                None if since == FOREVER else since,
                len(files),
                sum(file.rows for file in files),
                sum(file.size for file in files),
            )
        )
    fresh = snapshot.fresh
    names = tuple(aggregate.output for aggregate in query.aggregates)
    rows = sum(file.rows for file in fresh)
    return Info(path, snapshot.version, query.keys, names, snapshot.span, tuple(levels), len(fresh), rows)
