"""The Aggregate: a named monoid over columns, which takes the form that the types of those columns ask for."""

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any

from slidewheel.algebra.monoid import Monoid
from slidewheel.errors import InvalidArgument

Variant = Callable[[tuple[str, ...], bool], Monoid]


@dataclass(frozen=True)
class Aggregate:
    """An aggregate over columns. Made by `sw.sum(...)` and its like, or by a class under `@sw.aggregate`.

    >>> import slidewheel as sw
    >>> sw.mean("delay").output
    'mean_delay'
    >>> sw.mean("delay").alias("typical").output
    'typical'
    >>> sw.max("delay").selective, sw.max("delay").invertible
    (True, False)
    """

    name: str
    columns: tuple[str | None, ...]
    variant: Variant
    """From the kinds of the columns ("i" integer, "f" float, "O" anything) and whether an inverse is wanted."""
    commutative: bool = False
    selective: bool = False
    invertible: bool = False
    exact_inverse: bool = False
    """Taking away is exact whatever the values, so it may be used without being asked for."""
    arithmetic: bool = False
    """Computes with its values, so they must be numbers."""
    positional: bool = False
    """Its second column only names rows: it is never computed with."""
    verbatim: bool = False
    """Its answers contain values of its column, so times and booleans must not be taken for integers."""
    skips_nulls: bool = True
    prepare: Callable[[Any], Any] | None = None
    """From a column of any kind to the integers that the compiled form takes, under the kind "hash"."""
    finish: Callable[[Any], Any] | None = None
    """From compiled answers to the objects that users see."""
    parameters: tuple[tuple[str, Any], ...] = ()
    """The other arguments that it was made with, by name."""
    named: str | None = None

    @property
    def arity(self) -> int:
        return max(1, len(self.columns))

    @property
    def built_in(self) -> bool:
        return self.monoid().combine.__module__.startswith("slidewheel.")

    @property
    def output(self) -> str:
        """The name of the output column."""
        return self.named or "_".join([self.name, *(c for c in self.columns if c is not None)])

    def alias(self, name: str) -> "Aggregate":
        """The same aggregate with another output column name."""
        if not isinstance(name, str) or not name:
            raise InvalidArgument(f"alias needs a non-empty name, not {name!r}")
        return replace(self, named=name)

    def monoid(self, *kinds: str, invertible: bool = False) -> Monoid:
        """The monoid for columns of these kinds; without kinds, for any Python values."""
        return self.variant(kinds or ("O",) * self.arity, invertible)
