"""Types at the border: from Spark's to Arrow's and back."""

import pyarrow as pa
from pyspark.sql import DataFrame
from pyspark.sql import functions as F
from pyspark.sql.pandas.types import from_arrow_schema, to_arrow_schema
from pyspark.sql.types import DateType, StructType

from slidewheel.engine.query import Query
from slidewheel.errors import Unsupported


def read_columns(query: Query, df: DataFrame) -> DataFrame:
    """The columns that the query reads; all of them where rows come back. A date is midnight in the session's zone."""
    if not query.plan.gives_rows:
        df = df.select(*(f"`{name}`" for name in df.columns if name in query.columns))
        if query.time in df.columns and isinstance(df.schema[query.time].dataType, DateType):
            df = df.withColumn(query.time, F.col(f"`{query.time}`").cast("timestamp"))
    return df


def arrow_schema(df: DataFrame) -> pa.Schema:
    """The types in which rows reach the workers; every column may hold nulls."""
    schema = to_arrow_schema(df.schema, timezone="UTC")
    return pa.schema([pa.field(field.name, field.type) for field in schema])


def output_type(query: Query, schema: pa.Schema) -> StructType:
    """The type of the answers, from those for a table without rows."""
    made = query.run(schema.empty_table()).schema
    for field in made:
        if pa.types.is_null(field.type) and field.name not in schema.names:
            raise Unsupported(
                f"Spark has to know the type of {field.name!r} before the first row: say what its lower returns, as in "
                f"def lower(s) -> str"
            )
    return from_arrow_schema(made, prefer_timestamp_ntz=True)
