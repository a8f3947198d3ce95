"""Data files: Parquet, written whole under a name that holds a checksum of all bytes, which every reader looks at."""

import json
import os
import secrets
import time
import zlib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

from slidewheel.errors import InvalidStore
from slidewheel.store.definition import FOLDED, LEVEL, START
from slidewheel.times import format_instant

GROUP = 1 << 12
"""Rows of a row group: what is read and kept at a time."""
LONGEST_STATISTIC = 64
"""The longest text that the log holds as the least or greatest of a file."""
FAR = 60_000_000_000_000_000
"""Microseconds from 1970 to the years 68 and 3871: other times have no text that every reader of logs knows."""
NOTHING = (None, None)


@dataclass(frozen=True)
class Written:
    """A file that is there, but not in the log yet."""

    path: str
    level: str
    folded: bool
    size: int
    statistics: str

    def said(self) -> tuple[Any, ...]:
        return self.path, self.level, self.folded, self.size, self.statistics


class Folder:
    """Where the files of a store are: a local folder, or any address that deltalake takes."""

    def __init__(self, path: str, options: Mapping[str, str] | None = None) -> None:
        self.path, self.options = path, dict(options) if options else None
        self.local = local_path(path)
        self._remote: Any = None

    def _handler(self) -> Any:
        if self._remote is None:
            from deltalake._internal import DeltaFileSystemHandler

            self._remote = DeltaFileSystemHandler(self.path, self.options)
        return self._remote

    def write(self, name: str, data: pa.Buffer | bytes) -> None:
        """A new file, on disk when this returns."""
        if self.local is None:
            stream = self._handler().open_output_stream(name, None)
            stream.write(bytes(data))
            stream.close()
            return
        full = os.path.join(self.local, name)
        os.makedirs(os.path.dirname(full), exist_ok=True)
        with open(full, "wb") as file:
            file.write(data)
            file.flush()
            os.fsync(file.fileno())

    def read(self, name: str) -> pa.Buffer:
        """All bytes of a file, as they were written, or an error that names it."""
        where = f"{self.path.rstrip('/')}/{name}"
        try:
            if self.local is not None:
                # Not mapped: a file that somebody cuts short meanwhile would end the process.
                with open(os.path.join(self.local, name), "rb") as file:
                    data = pa.py_buffer(file.read())
            else:
                data = pa.py_buffer(bytes(self._handler().open_input_file(name).read(None)))
        except OSError as error:
            raise InvalidStore(f"the file {where} is in the log of the store, but can't be read: {error}") from None
        wanted = name.rpartition("-")[2].partition(".")[0]
        if f"{zlib.crc32(data):08x}" != wanted:
            raise InvalidStore(f"the file {where} is damaged: its {data.size} bytes are not those that were written")
        return data


def local_path(path: str) -> str | None:
    """The folder that an address means on this machine, if any."""
    if path.startswith("file://"):
        from urllib.parse import unquote, urlparse

        return unquote(urlparse(path).path)
    return None if "://" in path else path


def write_rows(folder: Folder, level: str, folded: bool, table: pa.Table, keys: Sequence[str]) -> Written:
    """Rows of a level as a file, in the order in which they are."""
    sink = pa.BufferOutputStream()
    pq.write_table(
        table,
        sink,
        compression="zstd",
        row_group_size=GROUP,
        use_dictionary=[name for name in table.column_names if name != START],
        column_encoding={START: "DELTA_BINARY_PACKED"},
        write_page_checksum=True,
        store_schema=False,
    )
    data = sink.getvalue()
    # Names rise with time: partials of one slot are folded in the order in which they were written.
    unique = f"{time.time_ns():019d}-{secrets.token_hex(4)}"
    name = f"{LEVEL}={level}/{FOLDED}={str(folded).lower()}/{unique}-{zlib.crc32(data):08x}.parquet"
    folder.write(name, data)
    return Written(name, level, folded, data.size, _statistics(table, keys))


def _statistics(table: pa.Table, keys: Sequence[str]) -> str:
    """What the log says of a file, so that readers who need nothing of it need not open it."""
    low, high, nulls = {}, {}, {}
    if table.num_rows:
        for name in (*keys, START):
            column = table[name]
            nulls[name] = column.null_count
            least, most = _ends(column.cast(pa.int64()).to_numpy() if name == START else column, name == START)
            if least is not None:
                low[name], high[name] = least, most
    return json.dumps({"numRecords": table.num_rows, "minValues": low, "maxValues": high, "nullCount": nulls})


def _ends(column: Any, instant: bool) -> tuple[Any, Any]:
    if instant:
        ends = int(np.min(column)), int(np.max(column))
        return (f"{format_instant(ends[0])}Z", f"{format_instant(ends[1])}Z") if max(map(abs, ends)) < FAR else NOTHING
    kind = column.type
    if not (pa.types.is_string(kind) or pa.types.is_integer(kind)):
        return NOTHING
    ends = pa.compute.min_max(column).as_py()
    if any(end is None or (isinstance(end, str) and len(end) > LONGEST_STATISTIC) for end in ends.values()):
        return NOTHING
    return ends["min"], ends["max"]
