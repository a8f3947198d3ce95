"""A query on its way to the workers: plain data, and the functions of aggregates of one's own."""

from functools import lru_cache

import pyspark.cloudpickle as cloudpickle

from slidewheel.algebra.define import AggregateType
from slidewheel.engine.query import Query


class Carried:
    """Pickled small, and made into a query once in each process."""

    def __init__(self, query: Query) -> None:
        own = [AggregateType(a.monoid(), None) for a in query.aggregates if not a.built_in]
        self.data: bytes = cloudpickle.dumps((query.to_dict(), own))  # type: ignore[no-untyped-call]

    def query(self) -> Query:
        return _made(self.data)


@lru_cache(maxsize=32)
def _made(data: bytes) -> Query:
    definition, own = cloudpickle.loads(data)
    return Query.from_dict(definition, own)
