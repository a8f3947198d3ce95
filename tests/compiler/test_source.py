"""The text of a function: only what stands in it may decide what the function does."""

import ast
import enum
import functools
import importlib.util
import math
import math as mathematics

import numpy as np
import pytest

from slidewheel.compiler.source import NoText, definition, surroundings, text_of

RATE = 2.5
COUNT = 3
FLAG = True
INFINITE = math.inf
NEGATIVE_ZERO = -0.0
PAIR = (1, 2)
WIDE = np.float64(1.5)


class Level(enum.IntEnum):
    LOW = 3


LOW = Level.LOW


def written(function, name="f"):
    return ast.unparse(text_of(function, name).definition)


def test_the_definition_gets_the_new_name():
    def plain(x, y):
        return x + y

    text = text_of(plain, "lift")
    assert written(plain, "lift") == "def lift(x, y):\n    return x + y"
    assert not text.imports and not text.constants


def test_numbers_from_around_are_written_down():
    factor = 7

    def scaled(x):
        return x * factor + RATE - COUNT if FLAG else x

    found = text_of(scaled, "lift").constants
    assert {name: eval(value) for name, value in found.items()} == {"factor": 7, "RATE": 2.5, "COUNT": 3, "FLAG": True}


def test_special_floats_are_written_down():
    def special(x):
        return x * INFINITE + NEGATIVE_ZERO

    found = {name: eval(value) for name, value in text_of(special, "f").constants.items()}
    assert found["INFINITE"] == math.inf and math.copysign(1, found["NEGATIVE_ZERO"]) == -1


def test_a_number_that_changed_is_read_anew():
    factor = 1

    def scaled(x):
        return x * factor

    assert text_of(scaled, "f").constants == {"factor": "1"}
    factor = 2
    assert text_of(scaled, "f").constants == {"factor": "2"}


def test_math_and_numpy_are_imported_under_their_names():
    def both(x):
        return mathematics.log(x) + np.exp(x)

    assert text_of(both, "f").imports == {"import math as mathematics", "import numpy as np"}


def test_an_attribute_is_not_the_global_of_the_same_name():
    def root(x):
        return np.sqrt(x)

    assert surroundings(root) == {"np": np}
    assert text_of(root, "f").imports == {"import numpy as np"}


def decorated(function):
    return function


def test_decorators_and_annotations_are_left_out():
    @decorated
    def lift(x: Level, y: "int") -> Level:
        return x

    class Holder:
        @staticmethod
        def lift(x):
            return x

    assert written(lift) == "def f(x, y):\n    return x"
    assert written(Holder.lift) == "def f(x):\n    return x"


def test_annotations_of_all_kinds_of_arguments_are_left_out():
    def lift(x: Level, /, *, y: Level = 1, **rest: Level):
        return x

    assert "Level" not in written(lift)


def test_functions_inside_functions():
    def outer(x):
        def twice(y):
            return y * 2 * COUNT

        return twice(x)

    assert "def twice(y)" in written(outer)


def helper(x):
    return x + 1


def calls_a_helper(x):
    return helper(x)


def reads_a_pair(x):
    return x + PAIR[0]


def reads_a_numpy_number(x):
    return x * WIDE


def reads_a_function_of_math(x):
    return logarithm(x)


logarithm = math.log
sqrt = math.sqrt


def closing_over(value):
    def lift(x):
        return x * value[0]

    return lift


def make(factor): return lambda x: x * factor  # fmt: skip


spaces: dict = {}
exec("def lift(x):\n    return x", spaces)

WITHOUT = {
    "a helper": calls_a_helper,
    "a tuple": reads_a_pair,
    "a numpy number": reads_a_numpy_number,
    "a function of math": reads_a_function_of_math,
    "a list in a closure": closing_over([2.0]),
    "an array in a closure": closing_over(np.array([2.0])),
    "a lambda": lambda x: x,
    "a lambda on the line of a def": make(2.0),
    "exec": spaces["lift"],
    "a builtin": math.sqrt,
    "a class": list,
    "partial": functools.partial(helper, 1),
}


@pytest.mark.parametrize("function", WITHOUT.values(), ids=WITHOUT)
def test_what_has_no_text(function):
    with pytest.raises(NoText):
        text_of(function, "f")


def reads_an_enum(x):
    return x * LOW


def test_a_number_with_a_name_of_its_own_is_a_number_or_has_no_text():
    try:
        found = text_of(reads_an_enum, "f").constants
    except NoText:
        return
    assert eval(found["LOW"]) == 3


def test_surroundings_are_what_the_function_reads():
    assert surroundings(calls_a_helper) == {"helper": helper}
    assert surroundings(reads_a_pair) == {"PAIR": (1, 2)}
    with pytest.raises(NoText, match="not a Python function"):
        surroundings(math.sqrt)


EDITS = {
    "another body": ("return x + 1", "return x + 2"),
    "moved": ("def lift", "\n\ndef lift"),
    "another name": ("x", "y"),
    "gone": ("def lift(x):\n    return x + 1\n", ""),
    "broken": ("return", "return return"),
}


@pytest.mark.parametrize("edit", EDITS.values(), ids=EDITS)
def test_a_file_that_was_edited_after_it_was_loaded(tmp_path, edit):
    path = tmp_path / "aggregate_of_a_user.py"
    path.write_text("def lift(x):\n    return x + 1\n")
    spec = importlib.util.spec_from_file_location("aggregate_of_a_user", path)
    loaded = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(loaded)
    assert written(loaded.lift, "lift") == "def lift(x):\n    return x + 1"
    path.write_text(path.read_text().replace(*edit) + "# another size\n")
    with pytest.raises(NoText):
        definition(loaded.lift)
    path.unlink()
    with pytest.raises(NoText):
        definition(loaded.lift)
