"""Functions inside functions: right answers, no machine code of their own, and Numba's own way where this one fails."""

import importlib
import re
import sys

import numpy as np
import pytest
from numba import njit

from slidewheel.compiler import runtime
from slidewheel.compiler.inner import InnerLibrary


@runtime.jit
def added(a, b):
    if b > 1e300:
        raise OverflowError("too much")
    return a + b


@runtime.jit
def twice(a):
    return added(a, a)


@njit(**runtime.OPTIONS)
def total(values):
    found = 0.0
    for v in values:
        found = added(found, twice(v))
    return found


@runtime.jit
def bits_of(values, first, last):
    found = np.int64(0)
    for k in range(first, last):
        found |= values[np.uint64(k)]
    return found


@njit(**runtime.OPTIONS)
def bits_in_blocks(values):
    found = np.int64(0)
    for first in range(0, len(values), 100):
        found |= bits_of(values, first, min(first + 100, len(values)))
    return found


def libraries(function):
    return [compiled.library for compiled in function.overloads.values()]


def test_answers():
    assert total(np.array([1.0, 2.5])) == 7.0
    assert total(np.array([1, 2])) == 6.0  # compiled once more, for other types
    with pytest.raises(OverflowError, match="too much"):
        total(np.array([1e301]))


def test_only_what_python_calls_becomes_machine_code():
    total(np.array([1.0]))
    for function in (added, twice):
        assert libraries(function)
        for library in libraries(function):
            assert isinstance(library, InnerLibrary)
            assert library.get_pointer_to_function(next(library.get_defined_functions()).name) == 0
    for library in libraries(total):
        assert not isinstance(library, InnerLibrary)
        assert library.get_pointer_to_function(next(library.get_defined_functions()).name) != 0


def test_a_loop_inside_goes_through_vectors():
    assert bits_in_blocks(np.arange(1000)) == 1023
    (code,) = (library.get_llvm_str() for library in libraries(bits_in_blocks))
    assert re.search(r"load <\d+ x i64>", code)
    assert "gather" not in code  # as it is done where the loop was unrolled before


def test_a_numba_that_is_built_otherwise(monkeypatch):
    monkeypatch.setitem(sys.modules, "slidewheel.compiler.inner", None)
    plain = importlib.util.module_from_spec(importlib.util.find_spec("slidewheel.compiler.runtime"))
    plain.__spec__.loader.exec_module(plain)
    assert "pipeline_class" not in plain.INNER
    assert "pipeline_class" in runtime.INNER

    inner = plain.jit(lambda a: a + 1)
    assert njit(lambda a: inner(a) * 2)(3) == 8
