"""What workers do before they work."""

import gc
import subprocess
import sys

from slidewheel.spark.workers import FEW, Kept

FREEZES = """
import gc
from slidewheel.spark.workers import FEW, Kept

kept, held, counts = Kept(), [], []
gc.collect()
for many in (2 * FEW, FEW // 2, 40 * FEW, 2 * FEW, 4 * FEW):
    held.append([[] for _ in range(many)])
    before = gc.get_freeze_count()
    kept.more()
    counts.append(gc.get_freeze_count() > before)
assert kept.count >= 48 * FEW, kept.count
print(counts)
"""


def test_objects_that_stay_are_not_looked_through_after_each_task():
    """In a process of its own, as its objects stay for good."""
    ran = subprocess.run([sys.executable, "-c", FREEZES], capture_output=True, text=True)
    assert ran.stdout.split("\n")[0] == "[True, False, True, False, True]", ran.stderr


def test_few_objects_do_not_stay(monkeypatch):
    monkeypatch.setattr(gc, "get_objects", lambda: [None] * FEW)
    monkeypatch.setattr(gc, "freeze", lambda: 1 / 0)
    Kept().more()


def test_a_worker_of_spark_keeps_what_it_has_loaded(spark):
    def frozen(batches):
        from slidewheel.spark.workers import ready_to_work

        ready_to_work()
        import pyarrow as pa

        for _ in batches:
            yield pa.record_batch({"frozen": [gc.get_freeze_count()]})

    found = spark.range(1, numPartitions=1).mapInArrow(frozen, "frozen long").toArrow()["frozen"].to_pylist()
    assert found[0] > FEW
