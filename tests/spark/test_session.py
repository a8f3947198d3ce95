"""A session has the settings that streams need, and the user's win."""

import sys

import pytest

import slidewheel as sw
from slidewheel.spark.session import STATE_STORE, NoSpark, session, settings_for


def test_settings_of_local_masters():
    made = settings_for("local[3]")
    assert "RocksDB" in made["spark.sql.streaming.stateStore.providerClass"]
    assert (made["spark.sql.shuffle.partitions"], made["spark.driver.host"]) == (3, "127.0.0.1")
    assert settings_for("local")["spark.sql.shuffle.partitions"] == 1
    assert settings_for("local[4,2]")["spark.sql.shuffle.partitions"] == 4
    assert settings_for("local[*]")["spark.sql.shuffle.partitions"] >= 1
    cluster = settings_for("local-cluster[2,1,1024]")
    assert "spark.sql.shuffle.partitions" not in cluster and cluster["spark.driver.host"] == "127.0.0.1"
    assert "spark.driver.host" not in settings_for("spark://host:7077")


FILES = "spark.sql.streaming.checkpointFileManagerClass"


def test_checkpoints_on_a_local_disk(monkeypatch, spark):
    assert FILES not in settings_for("local-cluster[2,1,1024]") and FILES not in settings_for("spark://host:7077")
    assert spark.conf.get(FILES).endswith(".FileSystemBasedCheckpointFileManager")
    monkeypatch.setattr("pyspark.__version__", "4.2.1")
    assert FILES not in settings_for("local[3]"), "the class may have had another name"


def test_the_session_of_these_tests(spark):
    made = session("local[2]", {"spark.sql.ansi.enabled": True})
    assert made.range(3).count() == 3
    assert spark.conf.get("spark.sql.ansi.enabled") == "true", "it is the same session"
    assert spark.conf.get(f"{STATE_STORE}.rocksdb.changelogCheckpointing.enabled") == "true"


def test_master_and_remote():
    with pytest.raises(sw.InvalidArgument, match=r"either a master .* or a remote"):
        session("local[2]", remote="sc://host")


def test_without_pyspark(monkeypatch):
    monkeypatch.setitem(sys.modules, "pyspark.sql", None)
    with pytest.raises(NoSpark, match=r"pip install 'slidewheel\[spark\]'"):
        session("local[2]")
