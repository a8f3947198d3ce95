"""Wheels against their model: random scripts with every aggregate, every setting and every plan."""

import pytest

from tests.wheel.scripts import Script, few_forms, forms

FEW = range(3)
MANY = range(3, 200)


@pytest.mark.parametrize(("name", "kind"), few_forms())
def test_any_script(name, kind):
    for seed in FEW:
        Script(name, kind, seed).run()


@pytest.mark.slow
@pytest.mark.parametrize(("name", "kind"), forms())
def test_many_scripts(name, kind):
    for seed in MANY:
        Script(name, kind, seed).run(steps=40)
