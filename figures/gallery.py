"""All pictures by the names of their files."""

from collections.abc import Callable
from pathlib import Path

from figures import windows
from figures.blocks import blocks
from figures.canvas import Canvas
from figures.daba import daba, daba_lite
from figures.flatfit import flatfit
from figures.greedy import greedy
from figures.okasaki import foa, ioa
from figures.simple import recalc, subtract_on_evict
from figures.slices import shared_slices, slicing
from figures.slickdeque import slickdeque
from figures.trees import b_int, flatfat
from figures.two_stacks import two_stacks, two_stacks_lite
from figures.wheel import wheel, wheel_plan

FOLDER = Path(__file__).parent.parent / "docs" / "figures"

FIGURES: dict[str, Callable[[], Canvas]] = {
    "recalc": recalc,
    "subtract-on-evict": subtract_on_evict,
    "two-stacks": two_stacks,
    "two-stacks-lite": two_stacks_lite,
    "blocks": blocks,
    "daba": daba,
    "daba-lite": daba_lite,
    "flatfat": flatfat,
    "b-int": b_int,
    "flatfit": flatfit,
    "slickdeque": slickdeque,
    "foa": foa,
    "ioa": ioa,
    "greedy": greedy,
    "slicing": slicing,
    "shared-slices": shared_slices,
    "wheel": wheel,
    "wheel-plan": wheel_plan,
    "windows-tumbling": windows.tumbling,
    "windows-sliding": windows.sliding,
    "windows-session": windows.session,
    "windows-rows": windows.rows_every,
    "windows-punctuated": windows.punctuated,
    "windows-trailing": windows.trailing,
    "windows-last-rows": windows.last_rows,
    "windows-delta": windows.delta,
    "windows-watermark": windows.watermark,
}


def file_of(name: str) -> Path:
    return FOLDER / f"{name}.svg"
