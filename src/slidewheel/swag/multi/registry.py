"""The forms for many ranges by name, and which one to take."""

import difflib
from types import ModuleType

from slidewheel.algebra.aggregate import Aggregate
from slidewheel.errors import UnknownAlgorithm, Unsupported
from slidewheel.swag.multi import b_int, flatfat, flatfit, recalc, slickdeque, slickdeque_inv
from slidewheel.swag.registry import lacking

_MODULES = (recalc, flatfat, b_int, flatfit, slickdeque_inv, slickdeque)
FORMS: dict[str, ModuleType] = {module.CARD.name: module for module in _MODULES}

_MISSING = {"inverse": "an inverse", "selective": "a selective combine"}


def form(name: str, aggregate: Aggregate) -> ModuleType:
    """The form of this name, which the aggregate must be fit for.

    SlickDeque is two algorithms: `slickdeque` is Non-Inv for a selective aggregate, and else Inv.
    """
    if name == "slickdeque" and not aggregate.selective:
        if not aggregate.invertible:
            raise Unsupported(
                f"slickdeque needs an inverse or a selective combine; {aggregate.name} has neither. "
                f"Use flatfit or flatfat, which work for every aggregate, or algorithm='auto'."
            )
        name = "slickdeque_inv"
    if name not in FORMS:
        known = [*FORMS, "auto"]
        near = difflib.get_close_matches(str(name), known, n=3, cutoff=0.5)
        hint = f"did you mean {' or '.join(near)}?" if near else f"there are {', '.join(known)}"
        raise UnknownAlgorithm(f"no algorithm {name!r} for many ranges: {hint}")
    for need in lacking(FORMS[name].CARD, aggregate):
        raise Unsupported(
            f"{name} needs {_MISSING[need]}; {aggregate.name} has none. "
            f"Use flatfit or flatfat, which work for every aggregate, or algorithm='auto'."
        )
    return FORMS[name]


def choose(aggregate: Aggregate) -> tuple[str, str]:
    """The form to take, and why.

    From `python -m bench slickdeque`, with all ranges from 1 to n: of those that take any aggregate, FlatFIT is the
    fastest from 16 ranges on, and from 64 on it takes less than a third of the time of the trees. With a few ranges it
    takes fewer combines than FlatFAT on average, but not evenly over the slides.
    """
    if aggregate.exact_inverse:
        return "slickdeque_inv", "it has an exact inverse: 2 combines for each range, always"
    if aggregate.selective:
        return "slickdeque", "its combine is selective: fewer than 2 combines a slide for all ranges together"
    return "flatfit", "any associative combine: what one range has combined, the others skip"
