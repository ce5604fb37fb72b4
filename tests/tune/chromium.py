# SPDX-FileCopyrightText: 2026 The videoconvolve developers
# SPDX-License-Identifier: LGPL-2.1-or-later
"""A headless Chromium with one page, driven by its DevTools protocol over a pair of pipes (--remote-debugging-pipe)."""
import base64
import json
import os
import shutil
import subprocess
import tempfile
import time

PROGRAMS = ("chromium-headless-shell", "chromium", "google-chrome")
KEYS = {"Enter": (13, "\r"), "Tab": (9, ""), "End": (35, ""), "Home": (36, ""), "ArrowRight": (39, ""), "ArrowDown": (40, "")}


class Page:
    """Use as a context manager. Errors of the page's scripts are collected in `errors`."""

    def __init__(self, width=1280, height=900):
        program = next((p for p in PROGRAMS if shutil.which(p)), None)
        if program is None:
            raise FileNotFoundError(f"none of {', '.join(PROGRAMS)} is installed")
        self.home = tempfile.mkdtemp()
        to_read, self.to_browser = os.pipe()
        self.from_browser, to_write = os.pipe()

        # The browser reads commands from descriptor 3 and answers on 4. The pipes move out of the way of both first.
        high = [os.dup2(fd, fd + 50) for fd in (to_read, to_write)]
        shell = f'exec 3<&{high[0]} 4>&{high[1]}; exec "$@"'
        self.process = subprocess.Popen(
            ["bash", "-c", shell, "bash", program, "--headless", "--remote-debugging-pipe", "--no-sandbox", "--disable-gpu",
             "--disable-dev-shm-usage", "--no-first-run", f"--user-data-dir={self.home}", "about:blank"],
            pass_fds=high, stderr=subprocess.DEVNULL, stdout=subprocess.DEVNULL)
        for fd in (to_read, to_write, *high):
            os.close(fd)
        self.pending, self.number, self.errors, self.session = b"", 0, [], None
        target = self.call("Target.createTarget", url="about:blank")["targetId"]
        self.session = self.call("Target.attachToTarget", targetId=target, flatten=True)["sessionId"]
        self.call("Runtime.enable")
        self.call("Page.enable")
        self.resize(width, height)

    def __enter__(self):
        return self

    def __exit__(self, *_):
        os.close(self.to_browser)
        try:
            self.process.wait(5)
        except subprocess.TimeoutExpired:
            self.process.kill()
            self.process.wait()
        os.close(self.from_browser)
        shutil.rmtree(self.home, ignore_errors=True)

    def call(self, method, **parameters):
        self.number += 1
        message = {"id": self.number, "method": method, "params": parameters}
        if self.session:
            message["sessionId"] = self.session
        os.write(self.to_browser, json.dumps(message).encode() + b"\0")
        while True:
            while b"\0" not in self.pending:
                data = os.read(self.from_browser, 1 << 16)
                if not data:
                    raise RuntimeError("the browser has ended")
                self.pending += data
            text, self.pending = self.pending.split(b"\0", 1)
            reply = json.loads(text)
            if reply.get("method") == "Runtime.exceptionThrown":
                self.errors.append(reply["params"]["exceptionDetails"])
            if reply.get("id") == self.number:
                if "error" in reply:
                    raise RuntimeError(f"{method}: {reply['error']}")
                return reply["result"]

    def resize(self, width, height):
        self.call("Emulation.setDeviceMetricsOverride", width=width, height=height, deviceScaleFactor=1, mobile=False)

    def dark(self, dark):
        self.call("Emulation.setEmulatedMedia", features=[{"name": "prefers-color-scheme", "value": "dark" if dark else "light"}])

    def run(self, script):
        """The value of a JavaScript expression; a promise is waited for."""
        reply = self.call("Runtime.evaluate", expression=script, awaitPromise=True, returnByValue=True)
        if "exceptionDetails" in reply:
            raise RuntimeError(f"{script}: {reply['exceptionDetails']}")
        return reply["result"].get("value")

    def wait(self, what, script, seconds=10):
        """Waits until the expression is true."""
        end = time.monotonic() + seconds
        while not self.run(script):
            if time.monotonic() > end:
                raise AssertionError(f"{what}: not within {seconds} s")
            time.sleep(0.05)

    def key(self, name):
        code, text = KEYS[name]
        for kind in ("keyDown", "keyUp"):
            self.call("Input.dispatchKeyEvent", type=kind, key=name, code=name, windowsVirtualKeyCode=code,
                      **({"text": text} if text and kind == "keyDown" else {}))

    def type_into(self, selector, text):
        """Replaces a field's text as a user does, and leaves it by Tab."""
        self.run(f"document.querySelector({json.dumps(selector)}).focus(), document.activeElement.select(), 0")
        self.call("Input.insertText", text=text)
        self.key("Tab")

    def screenshot(self, path):
        data = self.call("Page.captureScreenshot", format="png")["data"]
        with open(path, "wb") as file:
            file.write(base64.b64decode(data))
