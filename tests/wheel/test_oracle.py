"""Wheels against their model: random scripts with every aggregate, every setting and every plan."""

import pytest

from tests.wheel.scripts import Script, forms

FEW = range(3)
MANY = range(3, 200)
COMPILED = {
    ("count", "i8"),
    ("sum", "i8"),
    ("sum", "f8"),
    ("mean", "f8"),
    ("max", "f8"),
    ("last", "i8"),
    ("argmax", "f8"),
    ("bloom", "i8"),
}
"""Each of the others takes its time to compile: they run interpreted here, and compiled under `slow`."""


@pytest.mark.parametrize(("name", "kind"), [form for form in forms() if form[1] == "O" or form in COMPILED])
def test_any_script(name, kind):
    for seed in FEW:
        Script(name, kind, seed).run()


@pytest.mark.slow
@pytest.mark.parametrize(("name", "kind"), forms())
def test_many_scripts(name, kind):
    for seed in MANY:
        Script(name, kind, seed).run(steps=40)
