#!/usr/bin/python3
# SPDX-FileCopyrightText: 2026 The videoconvolve developers
# SPDX-License-Identifier: LGPL-2.1-or-later
"""test.py [--picture PNG]: pipelines/tune.py and its page in a headless Chromium; GST_PLUGIN_PATH holds the plugin.

With --picture it only writes the screenshot that docs/tune.md shows.
"""
import argparse
import http.client
import json
import os
import pathlib
import signal
import subprocess
import sys
import tempfile

from chromium import Page

TUNE = pathlib.Path(__file__).parents[2] / "pipelines" / "tune.py"

# In the page: how much neighbouring pixels differ, and the mean level; both of the picture's green.
MEASURE = """(() => {
  const canvas = document.getElementById("after"), w = canvas.width, h = canvas.height;
  const p = canvas.getContext("2d").getImageData(0, 0, w, h).data;
  let steps = 0, sum = 0;
  for (let y = 0; y < h; y += 3) for (let x = 1; x < w; x++) {
    const i = 4 * (y * w + x) + 1;
    steps += Math.abs(p[i] - p[i - 4]);
    sum += p[i];
  }
  return {steps: steps / (w * h / 3), mean: sum / (w * h / 3)};
})()"""


class Tune:
    def __init__(self, *arguments):
        self.process = subprocess.Popen([sys.executable, TUNE, "--port", "0", *arguments], stdout=subprocess.PIPE, text=True)
        self.address = self.process.stdout.readline().strip()
        assert self.address.startswith("http://127.0.0.1:"), self.address

    def __enter__(self):
        return self

    def __exit__(self, *_):
        if self.process.poll() is None:
            self.process.kill()
        self.process.wait()

    def request(self, method, path, body=None, **headers):
        connection = http.client.HTTPConnection(self.address[7:-1], timeout=10)
        connection.request(method, path, body, headers)
        reply = connection.getresponse()
        return reply.status, reply.read()

    def interrupt(self):
        self.process.send_signal(signal.SIGINT)
        return self.process.wait(10)


def measure_until(page, what, true_of):
    """Pictures come with a delay: waits for one of which `true_of` holds."""
    for _ in range(100):
        found = page.run(MEASURE)
        if true_of(found):
            return found
        page.run("new Promise(done => setTimeout(done, 50))")
    raise AssertionError(f"{what}: {found}")


def open_page(page, tune):
    page.call("Page.navigate", url=tune.address)
    page.wait("pictures", "document.getElementById('after')?.dataset.seen > 0 && document.getElementById('before').dataset.seen > 0")


def choose(page, name, value):
    page.run(f"""(() => {{ const s = document.getElementById("field-{name}"); s.value = "{value}";
      s.dispatchEvent(new Event("change", {{bubbles: true}})); }})()""")


def test_properties(page, tune):
    """The page has what the element declares, told by another reader of it: gst-inspect-1.0."""
    told = subprocess.run(["gst-inspect-1.0", "videoconvolve"], capture_output=True, text=True, check=True).stdout
    declared = {line.split(":")[0].strip() for line in told.split("Element Properties:")[1].splitlines()
                if line.startswith("  ") and line[2:3].strip()}
    declared -= {"name", "parent", "qos", "active-backend", "active-algorithm"}
    on_page = set(page.run("[...document.querySelectorAll('[data-name]')].map(row => row.dataset.name)"))
    assert len(declared) > 30 and on_page == declared, on_page ^ declared


def test_slider(page, tune):
    sharp = page.run(MEASURE)
    assert sharp["steps"] > 1, sharp
    choose(page, "preset", "box-blur")
    page.run("document.querySelector('[data-name=radius] input[type=range]').focus()")
    page.key("End")
    page.wait("the slider's number", "document.getElementById('field-radius').value === '127'")
    blurred = measure_until(page, "a box of radius 127 levels the picture", lambda m: m["steps"] < sharp["steps"] / 4)
    page.key("Home")
    measure_until(page, "radius 0 leaves it as it was", lambda m: m["steps"] > sharp["steps"] * 0.8)
    page.run("document.querySelector('[data-name=bias] input[type=range]').focus()")
    for _ in range(40):
        page.key("ArrowRight")
    measure_until(page, "bias brightens", lambda m: m["mean"] > blurred["mean"] + 40)


def test_preset(page, tune):
    page.run("document.getElementById('reset').click()")
    plain = measure_until(page, "reset", lambda m: m["steps"] > 1)
    choose(page, "preset", "sobel")
    measure_until(page, "edges alone are dark", lambda m: m["mean"] < plain["mean"] / 2)


def test_grid(page, tune):
    page.run("document.getElementById('reset').click()")
    plain = measure_until(page, "reset", lambda m: m["mean"] > 60)
    page.type_into("#grid input:nth-child(5)", "1/4")
    measure_until(page, "a quarter of the light", lambda m: m["mean"] < plain["mean"] / 2)
    assert page.run("document.getElementById('field-kernel').value") == "<<0,0,0>,<0,1/4,0>,<0,0,0>>"


def test_bad_values(page, tune):
    message = "document.getElementById('message').textContent"
    page.type_into("#grid input:nth-child(1)", "seven")
    page.wait("the element's words", f"{message}.includes('tap 1 in row 1 of the kernel is seven; taps are finite numbers')")
    page.type_into("#field-radius", "2")
    page.wait("the fault stays named", f"{message}.includes('tap 1 in row 1 of the kernel is seven')")
    page.type_into("#grid input:nth-child(1)", "0")
    page.wait("the message goes", f"{message} === ''")
    page.type_into("#field-radius", "500")
    page.wait("the range", f"{message}.includes('radius: 500 is not within 0 to 127')")
    page.type_into("#field-radius", "1")
    page.wait("the message goes", f"{message} === ''")
    page.type_into("#field-kernel", "<<1,")
    page.wait("no array", f"{message}.includes('could not set property')")


def test_line(page, tune):
    """The line runs in a shell, and its filter gives what the same values give when set by gst_util_set_object_arg()."""
    page.run("document.getElementById('reset').click()")
    hard = """svg:order="3" kernelMatrix='0 -1 0 -1 5 -1 0 -1 0' divisor="1" edgeMode="duplicate" """.strip()
    page.type_into("#field-kernel-string", hard)
    page.type_into("#field-border-value", "0.25")
    page.run("document.querySelectorAll('details').forEach(group => { group.open = true; })")
    page.type_into("#field-region-types", "a $HOME `b` \\\\ \"c\" 'd' !")
    page.wait("the line", "document.getElementById('line').textContent.includes('region-types') && "
                          "document.getElementById('line').textContent.includes('border-value=0.25')")
    assert page.run("document.getElementById('message').textContent") == ""
    line = page.run("document.getElementById('line').textContent")

    # The shell's words, as gst-launch-1.0 gets them, to GStreamer's own parser.
    words = subprocess.run(["bash", "-c", "printf '%s\\0' " + line], capture_output=True,
                           text=True, check=True).stdout.split("\0")[:-1]
    import gi
    gi.require_version("Gst", "1.0")
    from gi.repository import Gst
    Gst.init(None)
    pipeline = Gst.parse_launchv(words[1:-1] + ["fakesink"])  # without gst-launch-1.0's own name and autovideosink
    element = next(e for e in pipeline.children if e.get_factory().get_name() == "videoconvolve")
    assert element.get_property("kernel-string") == hard, element.get_property("kernel-string")
    assert element.get_property("region-types") == "a $HOME `b` \\\\ \"c\" 'd' !", element.get_property("region-types")
    assert element.get_property("border-value") == 0.25

    # And its pixels: the line as it stands, but for three frames into a file, beside a sharpening kernel in taps.
    with tempfile.TemporaryDirectory() as folder:
        def pixels(text, name):
            file = pathlib.Path(folder) / name
            text = text.replace("pattern=", "num-buffers=3 pattern=", 1).replace("autovideosink", f"filesink location={file}")
            subprocess.run(["bash", "-c", text], check=True, capture_output=True)
            return file.read_bytes()
        start, end = line[:line.index("! videoconvolve")], " ! videoconvert ! autovideosink"
        filtered = pixels(line, "line")
        assert filtered == pixels(start + '! videoconvolve kernel="<<0,-1,0>,<-1,5,-1>,<0,-1,0>>"' + end, "taps")
        assert filtered != pixels(start + "! identity" + end, "plain") and len(filtered) >= 3 * 640 * 360


def test_copy(page, tune):
    page.run("document.getElementById('copy').click()")
    page.wait("the button says so", "/Copied|Selected/.test(document.getElementById('copy').textContent)")


def test_strangers(page, tune):
    assert tune.request("GET", "/")[0] == 200
    assert tune.request("GET", "/", Host="evil.example:80")[0] == 403
    assert tune.request("POST", "/set", b"{}", Host="evil.example")[0] == 403
    assert tune.request("POST", "/set", b'{"radius": "3"}', Origin="http://evil.example")[0] == 403
    for body in (b"", b"[", b"[1]", b"\xff", b"[" * 100000):
        assert tune.request("POST", "/set", body)[0] == 400, body
    for changes in ({"no-such": "1"}, {"radius": 3}, {"radius": "three"}, {"active-backend": "x"},
                    {"kernel": "<<1,2,1>>,<<2,4,2>>"}, {"region-boxes": "<<1,2,30,40>> x"}, {"kernel-string": "a\0b"},
                    {"kernel-location": "\ud800"}):
        status, said = tune.request("POST", "/set", json.dumps(changes).encode())
        assert status == 422 and "refused" in json.loads(said), (changes, said)
    assert tune.request("GET", "/../tune.py")[0] == 404


def all_tests():
    tests = [test for name, test in globals().items() if name.startswith("test_")]
    with Tune() as tune, Page() as page:
        open_page(page, tune)
        for test in tests:
            test(page, tune)
            print(f"ok: {test.__name__}", flush=True)
        assert not page.errors, page.errors
        page.call("Page.navigate", url="about:blank")
        assert tune.interrupt() == 0
    missing = subprocess.run([sys.executable, TUNE, "/no/such/file"], capture_output=True, text=True)
    assert missing.returncode == 1 and "/no/such/file is not there" in missing.stderr, missing
    print(f"{len(tests) + 2} tests passed")


def picture(path, dark=False, width=1280, height=1000):
    with Tune() as tune, Page(width, height) as page:
        page.dark(dark)
        open_page(page, tune)
        page.type_into("#grid input:nth-child(1)", "-2")
        page.type_into("#grid input:nth-child(5)", "1")
        page.type_into("#grid input:nth-child(9)", "2")
        page.wait("the filter", "document.getElementById('line').textContent.includes('-2,0,0')")
        page.run("new Promise(done => setTimeout(done, 1000))")
        page.screenshot(path)


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--picture")
    parser.add_argument("--dark", action="store_true")
    parser.add_argument("--width", type=int, default=1280)
    arguments = parser.parse_args()
    os.environ.pop("GST_DEBUG", None)
    if arguments.picture:
        picture(arguments.picture, arguments.dark, arguments.width)
    else:
        all_tests()
