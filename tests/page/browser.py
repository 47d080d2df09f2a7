# SPDX-License-Identifier: BSD-2-Clause
"""A headless Chromium that says what is wrong with a page: driven over its DevTools pipe."""
import base64
import json
import os
import select
import shutil
import subprocess
import sys
import tempfile
import time

sys.path.insert(0, os.path.join(os.path.dirname(__file__), "../tidy"))
from tree import Skip  # noqa: E402

PHONE = (360, 740)
DESK = (1280, 900)
# Generous: a machine that is busy takes long, and a page that never loads is wrong all the same.
TIMEOUT_S = 60


class Browser:
    """Use with `with`. A page is opened by open(); problems are those since then."""

    def __init__(self):
        program = shutil.which("chromium") or shutil.which("chromium-browser")
        if not program:
            raise Skip("no chromium; make check-full installs it")
        self.profile = tempfile.TemporaryDirectory(prefix="softmrc-browser-", ignore_cleanup_errors=True)
        (there, self.out), (self.inn, here) = os.pipe(), os.pipe()
        # The browser reads descriptor 3 and writes 4.
        command = f'exec "$0" "$@" 3<&{there} 4>&{here}'
        self.process = subprocess.Popen(
            ["bash", "-c", command, program, "--headless", "--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage",
             "--no-first-run", "--remote-debugging-pipe", f"--user-data-dir={self.profile.name}", "about:blank"],
            pass_fds=(there, here), stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
        )
        os.close(there)
        os.close(here)
        self.buffer = b""
        self.number = 0
        self.problems = []
        self.loaded = False
        self.session = None
        target = self.call("Target.createTarget", url="about:blank")["targetId"]
        self.session = self.call("Target.attachToTarget", targetId=target, flatten=True)["sessionId"]
        for domain in ("Page", "Runtime", "Log", "Network"):
            self.call(f"{domain}.enable")

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.process.kill()
        self.process.wait()
        os.close(self.inn)
        os.close(self.out)
        self.profile.cleanup()

    def _message(self, deadline):
        while b"\0" not in self.buffer:
            if not select.select([self.inn], [], [], max(0, deadline - time.monotonic()))[0]:
                raise RuntimeError(f"the browser said nothing for {TIMEOUT_S} s")
            piece = os.read(self.inn, 1 << 16)
            if not piece:
                raise RuntimeError("the browser has ended")
            self.buffer += piece
        text, self.buffer = self.buffer.split(b"\0", 1)
        return json.loads(text)

    def _note(self, message):
        """What the page did meanwhile."""
        method, about = message.get("method"), message.get("params", {})
        if method == "Page.loadEventFired":
            self.loaded = True
        elif method == "Runtime.exceptionThrown":
            detail = about["exceptionDetails"]
            self.problems.append(detail.get("exception", {}).get("description", detail["text"]))
        elif method == "Runtime.consoleAPICalled" and about["type"] in ("error", "warning", "assert"):
            self.problems.append("console: " + " ".join(str(a.get("value")) for a in about["args"]))
        elif method == "Log.entryAdded" and about["entry"]["level"] in ("error", "warning"):
            self.problems.append(f"{about['entry']['text']} {about['entry'].get('url', '')}")
        elif method == "Network.loadingFailed" and not about.get("canceled"):
            self.problems.append(f"not loaded: {about['errorText']}")

    def call(self, method, **params):
        """The result of a call of the DevTools protocol."""
        self.number += 1
        request = {"id": self.number, "method": method, "params": params}
        if self.session:
            request["sessionId"] = self.session
        os.write(self.out, json.dumps(request).encode() + b"\0")
        deadline = time.monotonic() + TIMEOUT_S
        while True:
            message = self._message(deadline)
            if message.get("id") == self.number:
                if "error" in message:
                    raise RuntimeError(f"{method}: {message['error']}")
                return message["result"]
            self._note(message)

    def look(self, size=DESK, dark=False):
        """How pages are shown from now on."""
        self.call("Emulation.setDeviceMetricsOverride", width=size[0], height=size[1], deviceScaleFactor=1, mobile=size == PHONE)
        self.call("Emulation.setEmulatedMedia", features=[{"name": "prefers-color-scheme", "value": "dark" if dark else "light"}])

    def open(self, url):
        """Loads a page."""
        self.problems, self.loaded = [], False
        said = self.call("Page.navigate", url=url).get("errorText")
        if said:
            self.problems.append(f"{url}: {said}")
            return
        deadline = time.monotonic() + TIMEOUT_S
        while not self.loaded:
            self._note(self._message(deadline))

    def value(self, script):
        """What a script in the page comes to; a promise is waited for."""
        done = self.call("Runtime.evaluate", expression=script, returnByValue=True, awaitPromise=True)
        if "exceptionDetails" in done:
            self.problems.append(f"{script}: {done['exceptionDetails']}")
        return done["result"].get("value")

    def too_wide(self):
        """The elements that make the page wider than its window, as text; empty if none does."""
        return self.value("""(() => {
            const root = document.documentElement;
            if (root.scrollWidth <= root.clientWidth) return "";
            return [...document.querySelectorAll("body *")].filter((e) => e.getBoundingClientRect().right > root.clientWidth + 1)
                .filter((e) => { for (let p = e.parentElement; p; p = p.parentElement) if (getComputedStyle(p).overflowX === "auto") return false; return true; })
                .slice(-3).map((e) => e.outerHTML.slice(0, 120)).join(" ") || "the page";
        })()""")

    def picture(self, path):
        """What is shown, as a PNG."""
        with open(path, "wb") as file:
            file.write(base64.b64decode(self.call("Page.captureScreenshot", format="png")["data"]))
