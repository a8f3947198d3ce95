"""A wheel in memory that takes in what is committed to a store."""

import threading
from typing import TYPE_CHECKING, Any

from slidewheel.engine.entries import Entries
from slidewheel.errors import SlidewheelError
from slidewheel.store.choosing import chosen_keys
from slidewheel.store.loading import put, wheel_of
from slidewheel.store.log import Snapshot
from slidewheel.times import InstantLike
from slidewheel.wheel.keyed import KeyedWheel

if TYPE_CHECKING:
    from slidewheel.store.store import Store


class Following:
    """Ask `following.wheel`: it ends before the newest slot, which may still be filling, and the query's lateness.

    Rows that come later than that are merged into the wheel, which takes longer.

    >>> import tempfile, slidewheel as sw
    >>> query = sw.query(time="at", keys="zone", windows=[sw.tumbling("1h")], aggregates=[sw.sum("fare")])
    >>> store = sw.create_store(tempfile.mkdtemp() + "/fares", query)
    >>> _ = store.append({"at": [0, 2_000_000], "zone": ["a", "a"], "fare": [3.5, 4.0]})
    >>> following = store.follow()
    >>> _ = store.append({"at": [2_000_000, 5_000_000], "zone": ["a", "a"], "fare": [1.5, 7.0]})
    >>> following.refresh()
    True
    >>> following.wheel.query(0, 5_000_000).to_pylist()
    [{'zone': 'a', 'sum_fare': 9.0}]
    """

    def __init__(self, store: "Store", start: InstantLike | None, keys: Any, level: str | None) -> None:
        self._store, self._from, self._keys, self._level = store, start, keys, level
        self._alone = threading.RLock()
        self._ending = threading.Event()
        self._thread: threading.Thread | None = None
        self.failure: Exception | None = None
        """What stopped the thread that keeps it fresh."""
        self._reload(store.snapshot())

    def _reload(self, snapshot: Snapshot) -> None:
        store = self._store
        levels = store.levels_from(self._level)
        low, high = store.slots_of(snapshot, self._from, None, levels[0].length)
        entries = store.partials_in(snapshot, low, high, self._keys, levels[0])
        until = max(self._finished(snapshot, levels[0].length), low)
        ready, self._ahead = _split(entries, until)
        self.wheel: KeyedWheel = wheel_of(store.reading().partials, ready, levels, low, until)
        """It is another one after a compaction of the store."""
        self._levels = levels
        self._remember(snapshot)

    def _remember(self, snapshot: Snapshot) -> None:
        self._seen, self.version = {file.path for file in snapshot.files}, snapshot.version

    def _finished(self, snapshot: Snapshot, length: int) -> int:
        """Where the wheel ends: before the newest slot, and before what may still come late."""
        newest = max((file.last for file in snapshot.files), default=0)
        return (newest - self._store.definition.query.lateness) // length * length

    def refresh(self) -> bool:
        """Take in what was committed since; whether there was anything."""
        with self._alone:
            snapshot = self._store.snapshot()
            if snapshot.version == self.version:
                return False
            if any(file.folded and file.path not in self._seen for file in snapshot.files):
                # What was folded may hold partials that were never seen here.
                self._reload(snapshot)
                return True
            reading = self._store.reading()
            with reading.lock:
                chosen = chosen_keys(reading.partials, self._keys)
            parts = [reading.whole(file) for file in snapshot.fresh if file.path not in self._seen]
            if chosen is not None:
                parts = [part.take(chosen.holds(part.codes)) for part in parts]
            if self._take(reading.partials, parts, snapshot):
                self._remember(snapshot)
            else:
                self._reload(snapshot)
            return True

    def _take(self, partials: Any, parts: list[Entries], snapshot: Snapshot) -> bool:
        """New partials into the wheel; False if that can't be done, as they come late and their order matters."""
        wheel, tick = self.wheel, self._levels[0].length
        new = partials.rolled_up(partials.folded(parts), tick)
        late, new = _split(new.take(new.ids >= wheel.start), wheel.watermark)
        if len(late) and self._store.definition.ordered:
            return False
        until = max(self._finished(snapshot, tick), wheel.watermark)
        ready, self._ahead = _split(partials.folded([self._ahead, new]), until)
        put(wheel, partials, ready, until)
        if len(late):
            wheel.merge(wheel_of(partials, late, self._levels, wheel.start, wheel.watermark))
        return True

    def start(self, every: float = 1.0) -> "Following":
        """Refresh every so many seconds, in a thread, until `close`."""
        if self._thread is None:
            run = threading.Thread(target=self._keep_fresh, args=(every,), name="slidewheel-follow", daemon=True)
            self._thread = run
            run.start()
        return self

    def _keep_fresh(self, every: float) -> None:
        while not self._ending.wait(every):
            try:
                self.refresh()
            except SlidewheelError as error:
                self.failure = error
                return

    def close(self) -> None:
        """Stop refreshing."""
        self._ending.set()
        if self._thread is not None:
            self._thread.join()

    def __enter__(self) -> "Following":
        return self.start()

    def __exit__(self, *_: Any) -> None:
        self.close()


def _split(entries: Entries, at: int) -> tuple[Entries, Entries]:
    """What is before an instant, and the rest."""
    before = entries.ids < at
    return entries.take(before), entries.take(~before)
