"""Every mistake in a pipeline file is named with its line, all at once, and without Spark."""

import subprocess
import sys

import pytest

import slidewheel as sw
from slidewheel.pipeline import InvalidPipeline, load

SOURCE = """\
[source]
kind = "csv"
path = "rows"
schema = "t TIMESTAMP, k STRING, x DOUBLE, n INT"
"""
QUERY = """\
[query]
time = "t"
keys = ["k"]
windows = ["sliding 1h every 5m"]
aggregates = [{aggregate = "mean", column = "x"}]
"""
GOOD = SOURCE + QUERY  # nine lines


def mistakes(tmp_path, text):
    file = tmp_path / "pipeline.toml"
    file.write_text(text)
    with pytest.raises(InvalidPipeline) as raised:
        load(file)
    assert isinstance(raised.value, sw.SlidewheelError)
    return raised.value


def test_what_the_others_are_made_of_is_right(tmp_path):
    (tmp_path / "pipeline.toml").write_text(GOOD)
    assert load(tmp_path / "pipeline.toml").query.keys == ("k",)


CASES = {
    # what is changed in GOOD, or added behind it; the line; words of the message
    "unknown table": ("+[qery]", 10, "the file has no 'qery': did you mean 'query'?"),
    "unknown key": ("+latness = '1s'", 10, "[query] has no 'latness': did you mean 'lateness'?"),
    "nothing like it": ("+colour = 'red'", 10, "[query] has no 'colour': there are aggregates, keys, late"),
    "not a table": ("checkpoint = 'c'\nspark = 3\n+", 2, "[spark] is a table, not 3"),
    "no source": (("[source]", "[trigger]"), 1, "needs a table [source]"),
    "no query": (("[query]", "[late]"), 1, "needs a table [query]"),
    "kind of source": (
        ("csv", "cvs"),
        2,
        "kind is one of parquet, csv, json, kafka, generator, not 'cvs': did you mean 'csv'?",
    ),
    "no kind": (('kind = "csv"', ""), 1, "[source] needs kind"),
    "no path": (('path = "rows"', ""), 1, "[source] needs path"),
    "path of another type": (('path = "rows"', "path = 3"), 3, "path is a text, not 3"),
    "no schema": (("schema =", "#"), 1, 'csv needs a schema, as in schema = "departed TIMESTAMP'),
    "type in the schema": (
        ("x DOUBLE", "x DUBLE"),
        4,
        "schema: the column 'x' has the unknown type 'DUBLE': did you mean 'DOUBLE'?",
    ),
    "schema without a type": (("x DOUBLE, n INT", "x"), 4, "the column 'x' has no type"),
    "schema with a gap": (("x DOUBLE", ""), 4, "a column is a name and a type"),
    "column twice": (("n INT", "T INT"), 4, "two columns are called 'T'"),
    "options": ("+[source.options]\nheader = [1]", 11, "header is a text, a number, true or false, not [1]"),
    "no time": (('time = "t"', ""), 5, "[query] needs time"),
    "unknown time": (('time = "t"', 'time = "tt"'), 6, "no column 'tt', which time= reads: did you mean 't'?"),
    "time that is none": (('time = "t"', 'time = "x"'), 6, "the time column 'x' is DOUBLE, but times are TIMESTAMP"),
    "unknown key column": (('["k"]', '["kk"]'), 7, "no column 'kk', which keys= reads"),
    "keys": (('["k"]', "[1]"), 7, "keys is a text or a list of texts, not [1]"),
    "no windows": (("windows", "# "), 5, "[query] needs windows"),
    "empty windows": (('["sliding 1h every 5m"]', "[]"), 8, "windows is empty"),
    "kind of window": (("sliding", "slidin"), 8, "unknown kind of window 'slidin': did you mean 'sliding'?"),
    "half a window": ((" every 5m", ""), 8, 'sliding needs every, as in "sliding 1h every 5m"'),
    "too much window": (("every 5m", "every 5m 7m"), 8, "'7m' is too much"),
    "duration": (("5m", "5x"), 8, "'5x' is not a duration"),
    "second window": (('5m"]', '5m",\n\n"tumbling"]'), 10, "tumbling needs range"),
    "table of a window": (
        ('["sliding 1h every 5m"]', '[{kind = "sliding", range = "1h", evry = "5m"}]'),
        8,
        "sliding has no 'evry': did you mean 'every'?",
    ),
    "window of no kind": (('["sliding 1h every 5m"]', "[3]"), 8, "a window is a text such as"),
    "number in a window": (("sliding 1h every 5m", "rows ten"), 8, "'ten' is not a whole number"),
    "no aggregates": (("aggregates =", "#"), 5, "[query] needs aggregates"),
    "aggregate": (('"mean"', '"man"'), 9, "unknown aggregate 'man': did you mean 'mean'?"),
    "not an aggregate": (('[{aggregate = "mean", column = "x"}]', '"mean"'), 9, "an aggregate is a table such as"),
    "key of an aggregate": (('column = "x"', 'colum = "x"'), 9, "mean has no 'colum': did you mean 'column'?"),
    "column of an aggregate": (('column = "x"', 'column = "y"'), 9, "no column 'y', which the aggregate mean_y reads"),
    "no column": ((', column = "x"', ""), 5, "mean: say which column it reads"),
    "argument of an aggregate": (('"mean", column = "x"', '"quantile", column = "x", q = 3'), 9, "quantile"),
    "second aggregate": (
        ('"x"}]', '"x"},\n {aggregate = "sum", column = 1}]'),
        10,
        "column of sum is the name of a column, not 1",
    ),
    "same name twice": (
        ('"x"}]', '"x"}, {aggregate = "mean", column = "x"}]'),
        5,
        "two output columns are called 'mean_x'",
    ),
    "lateness": ("+lateness = 'soon'", 10, "lateness: 'soon' is not a duration"),
    "late": ("+late = 'kep'", 10, "late is one of drop, keep, update, not 'kep': did you mean 'keep'?"),
    "update without repair": ("+late = 'update'", 5, 'late="update" and repair='),
    "late table": ("+[late]\npath = 'late'", 10, '[late] is where rows go that are kept: it needs late = "keep"'),
    "module": ("+module = 'nothing_like_it'", 10, "there is no module nothing_like_it"),
    "module's name": ("+module = 'a b'", 10, "module is the name of a Python module"),
    "one output": ("+[output]\nkind = 'console'", 10, "outputs are written as [[output]], with two brackets"),
    "kind of output": (
        "+[[output]]\nkind = 'parket'",
        11,
        "kind is one of parquet, kafka, console, memory, not 'parket': did you mean 'parquet'?",
    ),
    "output without a path": ("+[[output]]\nkind = 'parquet'", 10, "[output] needs path"),
    "second output": (
        "+[[output]]\nkind = 'console'\n[[output]]\nkind = 'parquet'\npat = 'x'",
        14,
        "[output] has no 'pat': did you mean 'path'?",
    ),
    "onto the source": ("+[[output]]\nkind = 'parquet'\npath = './rows'", 12, "are in each other's way"),
    "onto each other": (
        "+[[output]]\nkind='parquet'\npath='a'\n[[output]]\nkind='parquet'\npath='b/../a'",
        15,
        "are in each other's way",
    ),
    "into the source": ("+[[output]]\nkind = 'parquet'\npath = 'rows/answers'", 12, "rows/answers and the source ("),
    "rejects in an output": ("rejects = 'a/b'\n+[[output]]\nkind = 'parquet'\npath = 'a'", 13, "a and rejects ("),
    "mode of an output": (
        "+[[output]]\nkind='parquet'\npath='a'\nmode='replace'",
        13,
        "mode is one of error, append, overwrite",
    ),
    "mode in a stream": (
        "+[[output]]\nkind='parquet'\npath='a'\nmode='append'\n[trigger]\nmode='stream'",
        13,
        "mode is for batch pipelines",
    ),
    "rows of the console": ("+[[output]]\nkind='console'\nrows=0", 12, "rows is a whole number, 1 or more, not 0"),
    "memory and more": (
        "+[[output]]\nkind='memory'\n[[output]]\nkind='console'\n[trigger]\nevery='1s'",
        10,
        "memory is the only output of a stream",
    ),
    "name of a table": ("+[[output]]\nkind='memory'\nname='a b'", 12, "name is the name of a table"),
    "Kafka": ("+[[output]]\nkind='kafka'\ntopic='t'", 10, "[output] needs servers"),
    "trigger's mode": (
        "+[trigger]\nmode='streaming'",
        11,
        "mode is one of batch, stream, not 'streaming': did you mean 'stream'?",
    ),
    "every in a batch": ("+[trigger]\nmode='batch'\nevery='1s'", 12, "every is for streams"),
    "two triggers": (
        "+[trigger]\navailable_now=true\nevery='1s'",
        12,
        "either every so often, or over what is available now",
    ),
    "flag": ("+[trigger]\navailable_now='yes'", 11, "available_now is true or false, not 'yes'"),
    "too often": ("+[trigger]\nevery='10us'", 11, "every is 1ms or longer, not 10us"),
    "master and remote": ("+[spark]\nmaster='local[2]'\nremote='sc://host'", 12, "either a master or a remote"),
    "config": (
        "+[spark.config]\n'spark.ui.enabled' = []",
        11,
        "spark.ui.enabled is a text, a number, true or false, not []",
    ),
    "dotted config": (
        "+[spark.config]\nspark.ui.enabled = []",
        11,
        "spark.ui.enabled is a text, a number, true or false, not []",
    ),
    "store without a batch": ("+[store]\npath='s'", 10, "[store] needs batch, a number that rises"),
    "a batch in a stream": ("+[store]\npath='s'\nbatch=1\n[trigger]\nevery='1s'", 12, "batch is for batch pipelines"),
    "levels of a store": (
        "+[store]\npath='s'\nbatch=1\nlevels=['1m', '1s']",
        10,
        "do not divide those of the level above",
    ),
    "a store in the source": ("+[store]\npath='rows/s'\nbatch=1", 11, "are in each other's way"),
    "a store and memory": (
        "+[store]\npath='s'\n[[output]]\nkind='memory'\n[trigger]\nevery='1s'",
        10,
        "memory leaves no checkpoint",
    ),
    "rejects": ("rejects = true\n+", 1, "rejects is a text, not true"),
}


@pytest.mark.parametrize("name", CASES)
def test_mistake(tmp_path, name):
    change, line, words = CASES[name]
    if isinstance(change, tuple):
        assert change[0] in GOOD, "the test itself is wrong"
        text = GOOD.replace(*change)
    else:
        before, plus, behind = change.rpartition("+")
        assert plus, "the test itself is wrong"
        text = before + GOOD + behind
    found = mistakes(tmp_path, text).mistakes
    assert [mistake.line for mistake in found if words in mistake.text] == [line], found


SOURCES = {
    "Kafka needs all of it": (
        "kind = 'kafka'",
        [(1, "[source] needs schema"), (1, "[source] needs servers"), (1, "[source] needs topic")],
    ),
    "Kafka's format": (
        "kind='kafka'\nservers='h:1'\ntopic='t'\nformat='avro'\nschema='t TIMESTAMP, k STRING, x DOUBLE'",
        [(5, "format is one of json, csv, not 'avro'")],
    ),
    "Kafka's newest in a batch": (
        "kind='kafka'\nservers=['h:1', 'i:1']\ntopic='t'\nstarting='latest'\nschema='t TIMESTAMP, k STRING, x DOUBLE'",
        [(5, 'starting = "latest" is for streams')],
    ),
    "JSON over several lines": (
        "kind='json'\npath='p'\nschema='t TIMESTAMP, k STRING, x DOUBLE'\noptions={multiLine=true}",
        [(5, "json is read line by line")],
    ),
    "an endless batch": (
        "kind='generator'\nrate=-1\nstart='soon'\ndisorder='x'",
        [
            (1, "[source] needs rows"),
            (3, "rate is a whole number, 1 or more, not -1"),
            (4, "start: 'soon' is not an instant"),
            (5, "disorder: 'x' is not a duration"),
            (7, "no column 't', which time= reads"),
            (8, "no column 'k', which keys= reads"),
            (10, "no column 'x', which the aggregate mean_x reads"),
        ],
    ),
}


@pytest.mark.parametrize("name", SOURCES)
def test_mistakes_of_a_source(tmp_path, name):
    source, expected = SOURCES[name]
    found = mistakes(tmp_path, f"[source]\n{source}\n{QUERY}").mistakes
    assert [mistake.line for mistake in found] == [line for line, _ in expected], found
    for mistake, (_, words) in zip(found, expected, strict=True):
        assert words in mistake.text


def test_all_are_named_at_once_in_the_order_of_lines(tmp_path):
    text = GOOD.replace("csv", "cvs").replace("5m", "5x").replace("mean", "man") + "[[output]]\nkind = 'papyrus'\n"
    error = mistakes(tmp_path, text)
    assert [mistake.line for mistake in error.mistakes] == [2, 8, 9, 11]
    first, *rest = str(error).splitlines()
    assert first == f"{tmp_path}/pipeline.toml has 4 mistakes:"
    assert [line.strip().partition(":")[0] for line in rest] == ["line 2", "line 8", "line 9", "line 11"]


@pytest.mark.parametrize(
    ("text", "line"), [("a = 1\nb = \n", 2), ("a = 1\n\n[b", 3), ("a = 1\na = 2", 2), ('a = """\n\n', 3)]
)
def test_syntax(tmp_path, text, line):
    [mistake] = mistakes(tmp_path, text).mistakes
    assert mistake.line == line and "this is not TOML" in mistake.text


def test_a_file_that_is_not_there(tmp_path):
    with pytest.raises(sw.InvalidArgument, match=r"can't be read: .*No such file"):
        load(tmp_path / "nowhere.toml")


@pytest.mark.parametrize(
    ("module", "words"),
    [
        ("import nowhere_to_be_found", "the module own can't be imported: No module named 'nowhere_to_be_found'"),
        ("1 / 0", "the module own can't be imported: ZeroDivisionError: division by zero"),
        ("x = 1", "has no aggregate under @sw.aggregate"),
    ],
)
def test_modules_of_aggregates(tmp_path, module, words):
    (tmp_path / "own.py").write_text(module)
    text = GOOD.replace('"mean"', '"Own"') + 'module = "own"\n'
    [mistake] = mistakes(tmp_path, text).mistakes
    assert mistake.line == 10 and words in mistake.text


def test_nothing_of_it_needs_spark(tmp_path):
    (tmp_path / "pipeline.toml").write_text(GOOD)
    program = """if True:
        import sys
        sys.modules["pyspark"] = None
        from slidewheel.pipeline import load
        print(load(sys.argv[1]).explain())
    """
    done = subprocess.run(
        [sys.executable, "-c", program, str(tmp_path / "pipeline.toml")], capture_output=True, text=True, check=True
    )
    assert (
        done.stdout.splitlines()[1]
        == f"source      csv files in {tmp_path}/rows (t TIMESTAMP, k STRING, x DOUBLE, n INT)"
    )
