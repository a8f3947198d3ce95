"""Folders are tried before Spark starts, and left as they were."""

import errno
import os
from pathlib import Path

import pytest

from slidewheel.pipeline import PipelineFailed, places


def test_nothing_is_left_behind(tmp_path):
    places.check_writable(str(tmp_path / "a" / "b"), "an output")
    assert list(tmp_path.iterdir()) == []
    places.check_writable(f"file://{tmp_path}", "an output")
    places.check_writable("s3a://bucket/folder", "an output")
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("number", [errno.ENOSPC, errno.EROFS, errno.EACCES])
def test_what_the_system_says_is_passed_on(tmp_path, monkeypatch, number):
    def refuse(**_):
        raise OSError(number, os.strerror(number))

    monkeypatch.setattr(places.tempfile, "NamedTemporaryFile", refuse)
    words = os.strerror(number).lower()
    with pytest.raises(PipelineFailed, match=rf"folder of the checkpoint, .*, can't be written to \({words}\): choose"):
        places.check_writable(str(tmp_path / "a"), "the checkpoint")


@pytest.mark.skipif(not Path("/proc/self").exists(), reason="there is no folder that nobody can write to")
def test_a_folder_that_nobody_can_write_to():
    with pytest.raises(PipelineFailed, match="/proc/checkpoint, can't be written to"):
        places.check_writable("/proc/checkpoint", "the checkpoint")
