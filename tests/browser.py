"""A real browser without a window: Chromium, spoken to over its own debugging pipe.

`CHROMIUM` names one; else one that is installed is taken; else one is installed from npm's
index into a folder that is kept. Node.js and npm must be there for that.
"""

import base64
import fcntl
import json
import os
import select
import shutil
import subprocess
import sys
import tarfile
import time
from collections.abc import Callable, Generator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, Final

PACKAGE: Final = "@sparticuz/chromium"
VERSION: Final = "153.0.0"
INSTALLED: Final = ("chromium", "chromium-browser", "google-chrome", "chrome")

PATIENCE: Final = 30.0
"""Seconds after which what was waited for is not coming: a failure, never a pace."""

FLAGS: Final = (
    "--headless=shell",
    "--no-sandbox",
    "--disable-gpu",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
    "--remote-debugging-pipe",
    "--window-size=1280,800",
)

UNPACK: Final = """
const fs = require("fs"), zlib = require("zlib"), {pipeline} = require("stream/promises");
(async () => {
  for (const name of ["chromium", "al2023.tar"])
    await pipeline(fs.createReadStream(`${process.argv[1]}/${name}.br`),
      zlib.createBrotliDecompress(), fs.createWriteStream(`${process.argv[2]}/${name}`));
})();
"""

TAKE_ENDS: Final = """
import os, sys
os.dup2(int(sys.argv[1]), 3)  # it reads from this descriptor
os.dup2(int(sys.argv[2]), 4)  # and writes to this one
os.execv(sys.argv[3], sys.argv[3:])
"""

WATCHING: Final = """
window.seen = {violations: [], errors: []};
document.addEventListener("securitypolicyviolation",
  (e) => window.seen.violations.push(`${e.violatedDirective} ${e.blockedURI}`));
window.addEventListener("error", (e) => window.seen.errors.push(String(e.message)));
"""

SETTLED: Final = """
new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(() => done(0))))
"""

CODES: Final = {"Tab": 9, "Enter": 13, "Escape": 27}


def chromium(folder: Path) -> Path:
    """The program: an installed one, or one that is installed into this folder."""
    found = os.environ.get("CHROMIUM") or next(
        filter(None, map(shutil.which, INSTALLED)), None
    )
    return Path(found) if found else _unpacked(folder)


def _unpacked(folder: Path) -> Path:
    program = folder / "chromium"
    if not program.is_file():
        node, npm = shutil.which("node"), shutil.which("npm")
        assert node, "these tests need Chromium, or Node.js to install one"
        assert npm, "these tests need Chromium, or npm to install one"
        install = [npm, "install", "--no-audit", "--no-fund", "--prefix", str(folder)]
        _do(*install, f"{PACKAGE}@{VERSION}")
        packed = folder / "node_modules" / PACKAGE / "bin"
        new = folder / "new"
        new.mkdir(exist_ok=True)
        _do(node, "-e", UNPACK, str(packed), str(new))
        with tarfile.open(new / "al2023.tar") as libraries:
            libraries.extractall(folder, filter="data")
        (new / "chromium").chmod(0o755)
        (new / "chromium").replace(program)
    return program


def _do(*command: str) -> None:
    subprocess.run(command, check=True, stdout=subprocess.DEVNULL)  # noqa: S603  # npm, node


class Tab:
    """One page in the browser.

    `asked` are the addresses that it asked for; `dialogs` what it said in alerts.
    """

    def __init__(self, browser: "Browser", session: str) -> None:
        self._browser, self._session = browser, session
        self.asked: list[str] = []
        self.dialogs: list[str] = []

    def send(self, method: str, **params: Any) -> dict[str, Any]:
        """Give a command of the debugging protocol, and wait for what it gives."""
        return self._browser.send(method, params, self._session)

    def does(self, script: str) -> Any:
        """What an expression comes to, promises kept; it must be JSON."""
        told = self.send(
            "Runtime.evaluate",
            expression=script,
            awaitPromise=True,
            returnByValue=True,
        )
        assert "exceptionDetails" not in told, told["exceptionDetails"]
        return told["result"].get("value")

    def opens(self, file: Path, at: str = "") -> None:
        """Open a file, and wait until it is drawn."""
        self.asked.clear()
        self._browser.loaded.discard(self._session)
        self.send("Page.navigate", url=f"{file.as_uri()}{at}")
        self._browser.until(lambda: self._session in self._browser.loaded)
        self.settles()

    def settles(self) -> None:
        """Wait until what was asked for is drawn."""
        self.does(SETTLED)

    def presses(self, *keys: str) -> None:
        """Press these keys, one after the other."""
        for key in keys:
            text = key if len(key) == 1 else ""
            code = CODES.get(key, 0)
            more = {"windowsVirtualKeyCode": code} if code else {}
            self.send(
                "Input.dispatchKeyEvent", type="keyDown", key=key, text=text, **more
            )
            self.send("Input.dispatchKeyEvent", type="keyUp", key=key, **more)
        self.settles()

    def types(self, text: str) -> None:
        """Type this where the focus is."""
        self.send("Input.insertText", text=text)
        self.settles()

    def clicks(self, selector: str) -> None:
        """Click the middle of an element."""
        x, y = self.does(
            f"(() => {{ const e = document.querySelector({json.dumps(selector)});"
            "e.scrollIntoView({block: 'nearest'}); const r = e.getBoundingClientRect();"
            "return [r.x + r.width / 2, r.y + r.height / 2]; })()"
        )
        for kind in ("mousePressed", "mouseReleased"):
            self.send(
                "Input.dispatchMouseEvent",
                type=kind,
                x=x,
                y=y,
                button="left",
                clickCount=1,
            )
        self.settles()

    def prefers(self, scheme: str) -> None:
        """A person who prefers "light" or "dark"."""
        features = [{"name": "prefers-color-scheme", "value": scheme}]
        self.send("Emulation.setEmulatedMedia", features=features)
        self.settles()

    def is_sized(self, width: int, height: int, scale: float = 1) -> None:
        """Make it so large, in its own pixels; `scale` is how many of a screen's those are."""
        self.send(
            "Emulation.setDeviceMetricsOverride",
            width=width,
            height=height,
            deviceScaleFactor=scale,
            mobile=False,
        )
        self.settles()

    def picture(self) -> bytes:
        """How it looks, as a PNG."""
        return base64.b64decode(self.send("Page.captureScreenshot")["data"])

    def text(self, selector: str) -> str:
        """The text of an element."""
        return str(
            self.does(f"document.querySelector({json.dumps(selector)}).innerText")
        )

    def texts(self, selector: str) -> list[str]:
        """The texts of all such elements."""
        wanted = json.dumps(selector)
        return list(
            self.does(
                f"[...document.querySelectorAll({wanted})].map((e) => e.innerText)"
            )
        )

    def count(self, selector: str) -> int:
        """How many such elements there are."""
        return int(
            self.does(f"document.querySelectorAll({json.dumps(selector)}).length")
        )


class Browser:
    """A running Chromium."""

    def __init__(self, write: int, read: int) -> None:
        self._write, self._read = write, read
        self._data, self._number = b"", 0
        self._answers: dict[int, dict[str, Any]] = {}
        self._tabs: dict[str, Tab] = {}
        self.loaded: set[str] = set()

    def tab(self) -> Tab:
        """A new page."""
        target = self.send("Target.createTarget", {"url": "about:blank"})["targetId"]
        attach = {"targetId": target, "flatten": True}
        session = self.send("Target.attachToTarget", attach)["sessionId"]
        tab = self._tabs[session] = Tab(self, session)
        for domain in ("Page", "Runtime", "Network"):
            tab.send(f"{domain}.enable")
        tab.send("Page.addScriptToEvaluateOnNewDocument", source=WATCHING)
        return tab

    def send(
        self, method: str, params: dict[str, Any], session: str = ""
    ) -> dict[str, Any]:
        """Give a command, and wait for what it gives."""
        number = self._put(method, params, session)
        self.until(lambda: number in self._answers)
        answer = self._answers.pop(number)
        assert "error" not in answer, f"{method}: {answer['error']}"
        return dict(answer["result"])

    def until(self, holds: Callable[[], bool]) -> None:
        """Hear what the browser says until this holds."""
        end = time.monotonic() + PATIENCE
        while not holds():
            left = max(end - time.monotonic(), 0)
            ready, _, _ = select.select([self._read], [], [], left)
            assert ready, "the browser does not answer"
            data = os.read(self._read, 1 << 20)
            assert data, "the browser is gone"
            *told, self._data = (self._data + data).split(b"\0")
            for one in told:
                self._hears(json.loads(one))

    def _put(self, method: str, params: dict[str, Any], session: str) -> int:
        self._number += 1
        said: dict[str, Any] = {"id": self._number, "method": method, "params": params}
        if session:
            said["sessionId"] = session
        data = json.dumps(said).encode() + b"\0"
        while data:
            data = data[os.write(self._write, data) :]
        return self._number

    def _hears(self, told: dict[str, Any]) -> None:
        if "id" in told:
            self._answers[told["id"]] = told
            return
        session = told.get("sessionId", "")
        tab, params = self._tabs.get(session), told["params"]
        match told["method"]:
            case "Page.loadEventFired":
                self.loaded.add(session)
            case "Network.requestWillBeSent" if tab:
                tab.asked.append(params["request"]["url"])
            case "Page.javascriptDialogOpening" if tab:
                tab.dialogs.append(params["message"])
                self._put("Page.handleJavaScriptDialog", {"accept": True}, session)
            case _:
                pass


def _pipe() -> tuple[int, int]:
    """A pipe whose ends are not among the descriptors that the browser is to find."""
    read, write = os.pipe()
    high = fcntl.fcntl(read, fcntl.F_DUPFD, 10), fcntl.fcntl(write, fcntl.F_DUPFD, 10)
    os.close(read)
    os.close(write)
    return high


@contextmanager
def browsing(program: Path, profile: Path) -> Generator[Browser]:
    """A browser with a profile of its own, which lies in this folder."""
    (heard, write), (read, said) = _pipe(), _pipe()
    libraries = os.pathsep.join(
        filter(None, (os.environ.get("LD_LIBRARY_PATH"), str(program.parent / "lib")))
    )
    first = [sys.executable, "-c", TAKE_ENDS, str(heard), str(said), str(program)]
    process = subprocess.Popen(  # noqa: S603  # the browser
        [*first, *FLAGS, f"--user-data-dir={profile}", "about:blank"],
        pass_fds=(heard, said),
        env={**os.environ, "LD_LIBRARY_PATH": libraries},
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
        start_new_session=True,
    )
    os.close(heard)
    os.close(said)
    try:
        yield Browser(write, read)
    finally:
        os.close(write)
        os.close(read)
        process.kill()
        process.wait()
