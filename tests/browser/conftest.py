"""A server with made-up answers, and a browser that looks at it."""

import os
from collections.abc import Iterator

import pytest

from tests.browser.chrome import Browser, Tab, found
from tests.browser.fake import PAGE, Fake

NO_BROWSER = "there is no Chromium here: apt-get install chromium"
NO_CHARTS = "the page's chart library is not here: make page"


@pytest.fixture(scope="session")
def browser() -> Iterator[Browser]:
    program = found()
    missing = NO_BROWSER if program is None else "" if (PAGE / "vendor" / "uPlot.iife.min.js").exists() else NO_CHARTS
    if missing:
        pytest.fail(missing) if os.environ.get("CI") else pytest.skip(missing)
    assert program is not None
    browser = Browser(program)
    yield browser
    browser.close()


@pytest.fixture(scope="session")
def serving() -> Fake:
    return Fake()


@pytest.fixture
def fake(serving: Fake) -> Fake:
    serving.reset()
    return serving


@pytest.fixture
def tab(browser: Browser) -> Iterator[Tab]:
    tab = Tab(browser)
    yield tab
    tab.close()
