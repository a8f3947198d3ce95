"""The second half of `make demo`: flights kept as a store, by a batch and a stream, and a server over it."""

import json
import os
import re
import subprocess
import sys
import time
from pathlib import Path
from typing import Any
from urllib.parse import urlencode
from urllib.request import urlopen

import pyarrow as pa

import slidewheel as sw
from slidewheel.spark import write_store


def kept(spark: Any, query: sw.Query, folder: Path, files: int, windows: pa.Table) -> bool:
    """Half of the flights as history, the others as a stream; whether the store gives the windows of the batch."""
    path = folder / "store"
    store = sw.create_store(path, query, levels=["1m", "1h", "1d"], tick="1m")
    flights = sorted((folder / "flights").iterdir())
    history = spark.read.parquet(*map(str, flights[: files // 2]))
    began = time.perf_counter()
    done = write_store(history, store, query, batch=("history", 2013))
    again = write_store(history, store, query, batch=("history", 2013))
    print(
        f"  a batch over history: {done.partials:,} partials in {time.perf_counter() - began:.1f} s; once more: ",
        end="",
    )
    print("the store has it" if not again.committed else "ADDED TWICE")
    rest = folder / "rest"
    rest.mkdir()
    for file in flights[files // 2 :]:
        (rest / file.name).symlink_to(file.resolve())
    stream = spark.readStream.schema(history.schema).option("maxFilesPerTrigger", 2).parquet(str(rest))
    write_store(stream, store, query, checkpoint=str(folder / "store.checkpoint"), trigger={"availableNow": True})
    for running in spark.streams.active:
        running.awaitTermination()
    print(f"  a stream from then on, {store.version} versions so far")
    print(f"  compaction {store.compact()}")
    found = store.check()
    print(f"  check: {found}")
    order = [(name, "ascending") for name in ("window_end", "origin", "window")]
    mine, theirs = (
        table.sort_by(order).to_pylist() for table in (store.windows(), windows.cast(store.windows().schema))
    )
    equal = mine == theirs
    print(f"  its windows against those of the batch, row for row: {'equal' if equal else 'DIFFERENT'}\n")
    low, high = "2013-07-04T12:00", "2013-07-11T09:31"
    print(f"  any range, such as {low} to {high}:")
    for row in store.query(low, high).to_pylist():
        print(f"    {row['origin']}: {row['flights']:,} flights, mean delay {row['mean_delay']:.1f} min")
    print("    " + str(store.explain(low, high)).replace("\n", "\n    ") + "\n")
    return equal and found.ok and not again.committed


def served(folder: Path) -> bool:
    """The same over HTTP. With SERVE=1 the server stays until Ctrl-C."""
    stays = os.environ.get("SERVE") == "1"
    program = [str(Path(sys.executable).with_name("slidewheel")), "serve", str(folder / "store")]
    process = subprocess.Popen([*program, "--port", "8080" if stays else "0"], stdout=subprocess.PIPE, text=True)
    try:
        assert process.stdout is not None
        line = process.stdout.readline()
        address = re.search(r"http://\S+", line)
        if address is None:
            print(f"  the server did not start: {line}")
            return False
        base = address[0].rstrip("/")
        print(f"  the page: {base}/")
        question = {"start": "2013-12-24", "end": "2013-12-27", "every": "day", "timezone": "America/New_York"}
        asked = f"{base}/query?{urlencode(question)}&key=origin%3DJFK&aggregate=flights&aggregate=mean_delay"
        answer = json.load(urlopen(asked, timeout=30))
        print(f"  {asked}\n    {answer['rows']} rows in {answer['plan']['milliseconds']:.1f} ms:")
        for row in zip(*answer["data"], strict=True):
            print("    " + "  ".join(f"{v:.1f}" if isinstance(v, float) else str(v) for v in row))
        grafana = "avg_over_time(store_mean_delay{origin='JFK'}[1d])"
        asked = f"{base}/api/v1/query?{urlencode({'query': grafana, 'time': '2013-12-25T05:00:00Z'})}"
        result = json.load(urlopen(asked, timeout=30))
        print(f"  as Prometheus, {grafana}: {result['data']['result']}\n")
        if stays:
            print("  Ctrl-C ends it.", flush=True)
            process.wait()
        return bool(answer["rows"]) and result["status"] == "success"
    except KeyboardInterrupt:
        return True
    finally:
        process.terminate()
        process.wait()
