"""A small client of the DevTools protocol: one headless Chromium, a tab for each test."""

import base64
import contextlib
import itertools
import json
import shutil
import subprocess
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

from websockets.sync.client import ClientConnection, connect

NAMES = ("chromium", "chromium-browser", "google-chrome", "chrome")
FLAGS = (
    "--headless --no-sandbox --disable-gpu --disable-dev-shm-usage --hide-scrollbars --no-first-run "
    "--disable-background-networking --disable-component-update --disable-sync --mute-audio --remote-debugging-port=0"
)
KEYS = {"Backspace": 8, "Tab": 9, "Escape": 27, "ArrowLeft": 37, "ArrowUp": 38, "ArrowRight": 39, "ArrowDown": 40}


def found() -> str | None:
    return next((path for name in NAMES if (path := shutil.which(name))), None)


class Browser:
    """A process, and the connection to it."""

    def __init__(self, program: str) -> None:
        self._folder = tempfile.TemporaryDirectory(ignore_cleanup_errors=True)
        command = [program, *FLAGS.split(), f"--user-data-dir={self._folder.name}", "about:blank"]
        self._process = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        port = Path(self._folder.name) / "DevToolsActivePort"
        until(lambda: port.exists() and len(port.read_text().split()) == 2, 30)
        number, path = port.read_text().split()
        self._open = contextlib.ExitStack()
        self._socket: ClientConnection = self._open.enter_context(
            connect(f"ws://127.0.0.1:{number}{path}", max_size=None)
        )
        self._ids = itertools.count(1)
        self.events: list[dict[str, Any]] = []

    def call(self, method: str, session: str | None = None, **parameters: Any) -> dict[str, Any]:
        """A command and its result; events that come meanwhile are kept."""
        number = next(self._ids)
        message: dict[str, Any] = {"id": number, "method": method, "params": parameters}
        if session is not None:
            message["sessionId"] = session
        self._socket.send(json.dumps(message))
        while True:
            said = json.loads(self._socket.recv(timeout=20))
            if said.get("id") == number:
                if "error" in said:
                    raise RuntimeError(f"{method}: {said['error']['message']}")
                return dict(said["result"])
            self.events.append(said)

    def close(self) -> None:
        with contextlib.suppress(Exception):
            self.call("Browser.close")
        with contextlib.suppress(Exception):
            self._open.close()
        try:
            self._process.wait(10)
        except subprocess.TimeoutExpired:
            self._process.kill()
        self._folder.cleanup()


class Tab:
    """A page with storage of its own."""

    def __init__(self, browser: Browser) -> None:
        self._browser = browser
        self._context = browser.call("Target.createBrowserContext")["browserContextId"]
        target = browser.call("Target.createTarget", url="about:blank", browserContextId=self._context)["targetId"]
        self._session = browser.call("Target.attachToTarget", targetId=target, flatten=True)["sessionId"]
        for domain in ("Page", "Runtime", "Network", "Log"):
            self._call(f"{domain}.enable")
        self.size(1280, 800)

    def _call(self, method: str, **parameters: Any) -> dict[str, Any]:
        return self._browser.call(method, self._session, **parameters)

    def close(self) -> None:
        self._browser.call("Target.disposeBrowserContext", browserContextId=self._context)
        self._browser.events = [event for event in self._browser.events if event.get("sessionId") != self._session]

    def events(self, *methods: str) -> list[dict[str, Any]]:
        self._call("Runtime.evaluate", expression="0")
        said = [event for event in self._browser.events if event.get("sessionId") == self._session]
        return [event["params"] for event in said if event["method"] in methods]

    def complaints(self) -> list[str]:
        """Errors and warnings of the console, and exceptions."""
        console = [e for e in self.events("Runtime.consoleAPICalled") if e["type"] in ("error", "warning", "assert")]
        entries = [e["entry"]["text"] for e in self.events("Log.entryAdded") if e["entry"]["level"] == "error"]
        return entries + [str(e) for e in (*console, *self.events("Runtime.exceptionThrown"))]

    def requests(self) -> list[str]:
        return [event["request"]["url"] for event in self.events("Network.requestWillBeSent")]

    def size(self, width: int, height: int) -> None:
        # Not `mobile`: that lays a page out wider than the screen where it does not fit, and hides that it does not.
        self._call("Emulation.setDeviceMetricsOverride", width=width, height=height, deviceScaleFactor=1, mobile=False)

    def touch(self) -> None:
        """Be a device with a touch screen."""
        self._call("Emulation.setTouchEmulationEnabled", enabled=True, maxTouchPoints=2)

    def prefer(self, scheme: str) -> None:
        self._call("Emulation.setEmulatedMedia", features=[{"name": "prefers-color-scheme", "value": scheme}])

    def block(self, pattern: str) -> None:
        self._call("Network.setBlockedURLs", urls=[pattern])

    def open(self, address: str) -> None:
        self._call("Page.navigate", url=address)

    def reload(self) -> None:
        self._call("Page.reload")
        # What is asked next must not hit the page that leaves.
        until(lambda: self.value("performance.now() < 5000 && document.readyState === 'complete'"))

    def value(self, expression: str) -> Any:
        result = self._call("Runtime.evaluate", expression=expression, returnByValue=True, awaitPromise=True)
        if "exceptionDetails" in result:
            raise RuntimeError(str(result["exceptionDetails"]))
        return result["result"].get("value")

    def text(self, selector: str) -> str:
        return str(self.value(f"document.querySelector({json.dumps(selector)})?.innerText ?? ''"))

    def until(self, expression: str, seconds: float = 8) -> None:
        """Wait until an expression of the page is true."""
        try:
            until(lambda: self.value(expression), seconds)
        except TimeoutError:
            raise AssertionError(f"never true: {expression}; the page says {self.text('body')[:600]!r}") from None

    def click(self, selector: str) -> None:
        self.value(f"document.querySelector({json.dumps(selector)}).click()")

    def press(self, key: str) -> None:
        text = {"text": key} if len(key) == 1 else {}
        code = {"windowsVirtualKeyCode": KEYS[key]} if key in KEYS else {}
        self._call("Input.dispatchKeyEvent", type="keyDown", key=key, **text, **code)
        self._call("Input.dispatchKeyEvent", type="keyUp", key=key, **code)

    def type(self, text: str) -> None:
        self._call("Input.insertText", text=text)

    def mouse(self, kind: str, x: float, y: float, **more: Any) -> None:
        self._call("Input.dispatchMouseEvent", type=kind, x=x, y=y, **more)

    def drag(self, selector: str, start: float, end: float) -> None:
        """From one part of an element's width to another, at half its height."""
        box = self.value(f"document.querySelector({json.dumps(selector)}).getBoundingClientRect().toJSON()")
        y = box["y"] + box["height"] / 2
        first, last = box["x"] + start * box["width"], box["x"] + end * box["width"]
        self.mouse("mouseMoved", first, y)
        self.mouse("mousePressed", first, y, button="left", buttons=1, clickCount=1)
        for part in (0.3, 0.7, 1.0):
            self.mouse("mouseMoved", first + part * (last - first), y, button="left", buttons=1)
        self.mouse("mouseReleased", last, y, button="left", clickCount=1)

    def swipe(self, selector: str, *fingers: tuple[float, float]) -> None:
        """Each finger moves from one part of an element's width to another."""
        box = self.value(f"document.querySelector({json.dumps(selector)}).getBoundingClientRect().toJSON()")
        y = box["y"] + box["height"] / 2
        for kind, part in (("touchStart", 0.0), ("touchMove", 0.3), ("touchMove", 0.7), ("touchMove", 1.0)):
            places = [box["x"] + (a + part * (b - a)) * box["width"] for a, b in fingers]
            points = [{"x": x, "y": y, "id": k} for k, x in enumerate(places)]
            self._call("Input.dispatchTouchEvent", type=kind, touchPoints=points)
        self._call("Input.dispatchTouchEvent", type="touchEnd", touchPoints=[])

    def screenshot(self, path: Path) -> None:
        path.write_bytes(base64.b64decode(self._call("Page.captureScreenshot", format="png")["data"]))


def until(ready: Callable[[], Any], seconds: float = 8) -> None:
    end = time.monotonic() + seconds
    while True:
        with contextlib.suppress(RuntimeError):  # a page that is being left has nothing to ask
            if ready():
                return
        if time.monotonic() > end:
            raise TimeoutError
        time.sleep(0.02)
