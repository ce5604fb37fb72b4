#!/usr/bin/python3
# SPDX-FileCopyrightText: 2026 The videoconvolve developers
# SPDX-License-Identifier: LGPL-2.1-or-later
"""tune.py [--port N] [FILE | /dev/videoN]: a page on this machine on which the element's properties are set while it plays.

Without an input it shows a test picture that moves. The page (tune.html) is made from the properties that the element's
class declares; nothing about them is written down here. It listens on 127.0.0.1 alone; Ctrl-C ends it.
"""
import argparse
import http.server
import json
import pathlib
import shlex
import signal
import sys
import threading
from urllib.parse import parse_qs, urlsplit

import gi

gi.require_version("Gst", "1.0")
from gi.repository import GLib, GObject, Gst  # noqa: E402

FACTORY = "videoconvolve"
PAGE = pathlib.Path(__file__).with_suffix(".html")
MUTABLE_PLAYING = 1 << 12  # GST_PARAM_MUTABLE_PLAYING, which introspection does not offer on a GParamSpec
KINDS = {"gboolean": "bool", "gint": "int", "guint": "int", "gint64": "int", "guint64": "int", "gfloat": "float",
         "gdouble": "float", "GEnum": "enum", "GFlags": "flags", "gchararray": "string", "GstValueArray": "array"}
QUEUE = "queue max-size-buffers=20 max-size-bytes=0 max-size-time=0"  # longer than the deepest window of frames
CAMERA_QUEUE = "queue max-size-buffers=2 leaky=downstream"
SLIDERS = {"bias": (-4, 4)}  # of a property whose whole range is too wide for a slider: a bias as a fraction
LARGEST_REQUEST = 1 << 20
WAIT_S = 5.0  # how long a request for a newer picture or state may wait


class Refused(Exception):
    """A value that cannot be set; the message is for the user."""


def parse_quoted(value):
    """`value` as one word of gst_parse_launch()'s language."""
    return '"' + value.replace("\\", "\\\\").replace('"', '\\"') + '"'


def source(where):
    """What produces the input's frames: a list of arguments as gst-launch-1.0 has them from the shell."""
    if where is None:
        return ["videotestsrc", "pattern=smpte", "horizontal-speed=2", "!",
                "video/x-raw,width=640,height=360,framerate=25/1"]
    if where.startswith("/dev/video"):
        return ["v4l2src", f"device={where}", "!", "decodebin"]
    return ["filesrc", "location=" + parse_quoted(str(pathlib.Path(where).resolve())), "!", "decodebin"]


def describe(spec, element):
    """What the page needs to know of one property, or None where it can be neither set nor shown."""
    kind = KINDS.get(spec.value_type.name) or KINDS.get(spec.value_type.fundamental.name)
    if kind is None or not spec.flags & GObject.ParamFlags.READABLE:
        return None
    told = {"name": spec.name, "kind": kind, "blurb": spec.blurb, "writable": bool(spec.flags & GObject.ParamFlags.WRITABLE),
            "live": bool(int(spec.flags) & MUTABLE_PLAYING)}
    if kind in ("int", "float"):
        told |= {"min": spec.minimum, "max": spec.maximum, "default": format_number(spec.default_value)}
        least, most = SLIDERS.get(spec.name, (spec.minimum, spec.maximum))
        told["slider"] = {"min": least, "max": most}
    elif kind == "bool":
        told["default"] = "true" if spec.default_value else "false"
    elif kind == "enum":
        values = type(spec.default_value).__enum_values__.values()
        told |= {"values": [{"nick": v.value_nick, "blurb": v.value_name} for v in values],
                 "default": spec.default_value.value_nick}
    elif kind == "flags":
        value = element.get_property(spec.name)
        told |= {"values": [{"nick": v.value_nicks[0], "blurb": v.value_names[0]}
                            for v in type(value).__flags_values__.values()],
                 "default": "+".join(value.value_nicks)}
    else:
        told["default"] = "<>" if kind == "array" else ""
    return told


def format_number(value):
    return repr(value) if isinstance(value, int) else f"{value:.12g}"


def declared_properties():
    """The properties of the element's own class, in its order; those of its base classes are left out."""
    element = Gst.ElementFactory.make(FACTORY)
    own = (s for s in element.list_properties() if s.owner_type == element.__gtype__)
    return [told for told in (describe(spec, element) for spec in own) if told]


def array_end(text):
    """Where the first bracket of an array is closed; the end of the text where it is not."""
    depth = 0
    for at, character in enumerate(text):
        depth += (character == "<") - (character == ">")
        if depth == 0 and character == ">":
            return at + 1
    return len(text)


def check(told, text):
    """Raises Refused where the value cannot be read, which gst_parse_launch() says in its own words, or where GObject
    would clamp it without a word."""
    name = told["name"]
    if any(c == "\0" or "\ud800" <= c <= "\udfff" for c in text):
        raise Refused(f"{name}: the text holds characters that no text of GObject's has")
    if told["kind"] == "string":
        return
    if told["kind"] == "array" and array_end(text) < len(text.rstrip()):
        raise Refused(f'{name}: GStreamer drops "{text[array_end(text):].strip()}", behind the bracket that closes the array')
    if told["kind"] in ("int", "float"):
        try:
            number = int(text, 0) if told["kind"] == "int" else float(text)
        except ValueError as error:
            raise Refused(f'{name}: "{text}" is no number') from error
        if not told["min"] <= number <= told["max"]:
            raise Refused(f"{name}: {text} is not within {format_number(told['min'])} to {format_number(told['max'])}")
    try:
        Gst.parse_launchv([FACTORY, f"{name}={parse_quoted(text)}"])
    except GLib.GError as error:
        raise Refused(error.message) from error


class Latest:
    """The newest of a row of things, numbered from 1; readers wait for one newer than they have seen."""

    def __init__(self, value=None):
        self.value, self.number, self.changed = value, 0, threading.Condition()

    def put(self, value):
        with self.changed:
            self.value, self.number = value, self.number + 1
            self.changed.notify_all()

    def newer_than(self, seen):
        with self.changed:
            self.changed.wait_for(lambda: self.number > seen, WAIT_S)
            return self.number, self.value


class Player:
    """The pipeline, the values set on its element, and what it last said. Public methods are safe from any thread."""

    def __init__(self, where):
        self.where, self.lock = where, threading.RLock()
        self.properties = {told["name"]: told for told in declared_properties()}
        self.values = {name: told["default"] for name, told in self.properties.items() if told["writable"]}
        self.pictures = {"before": Latest(), "after": Latest()}
        self.message = Latest("")
        self.broken = self.ending = False
        camera = where is not None and where.startswith("/dev/video")
        tail = "videoconvert ! jpegenc quality=92 ! appsink max-buffers=1 drop=true"
        # gst_parse_launchv() is what gst-launch-1.0 calls: the words are then those of the line that is copied.
        self.pipeline = Gst.parse_launchv(source(where) + (
            f"! videoconvert ! tee name=tee tee. ! {CAMERA_QUEUE if camera else QUEUE} ! {FACTORY} name=filter ! {tail} name=after "
            f"tee. ! {QUEUE} ! {tail} name=before").split())
        self.element = self.pipeline.get_by_name("filter")
        self.threads = [threading.Thread(target=self._watch)]
        self.threads += [threading.Thread(target=self._collect, args=(name,)) for name in self.pictures]

    def start(self):
        self.pipeline.set_state(Gst.State.PLAYING)
        for thread in self.threads:
            thread.start()

    def stop(self):
        self.ending = True
        with self.lock:
            self.pipeline.set_state(Gst.State.NULL)
        for thread in self.threads:
            thread.join()

    def set(self, changes):
        """Sets several properties, all or, where one is refused, none. Those that the element takes only when it
        stands restart the pipeline, and so does the first change after an error."""
        with self.lock:
            for name, text in changes.items():
                if name not in self.values or not isinstance(text, str):
                    raise Refused(f"{name}: the element has no such property to set")
                check(self.properties[name], text)
            # The element complains of a fault once. Where it has, it looks at all of its values anew: another change
            # must not hide that the fault is still there.
            restart = self.broken or self.message.value or not all(self.properties[name]["live"] for name in changes)
            self.message.put("")
            if restart:
                self.pipeline.set_state(Gst.State.READY if not self.broken else Gst.State.NULL)
                self.broken = False
            for name, text in changes.items():
                if self.properties[name]["kind"] == "string":
                    self.element.set_property(name, text or None)
                else:
                    Gst.util_set_object_arg(self.element, name, text)
                self.values[name] = text
            if restart:
                self.pipeline.set_state(Gst.State.PLAYING)

    def launch_line(self):
        """A line for a shell that plays the same input through the same filter."""
        words = ["gst-launch-1.0", *source(self.where), "!", "videoconvert", "!", FACTORY]
        for name, text in self.values.items():
            if text != self.properties[name]["default"]:
                plain = all(c.isalnum() or c in "+-./_" for c in text) and text
                words.append(f"{name}={text if plain else parse_quoted(text)}")
        words += ["!", "videoconvert", "!", "autovideosink"]
        return " ".join(word if word == "!" else shlex.quote(word) for word in words)

    def state(self, seen):
        number, message = self.message.newer_than(seen)
        with self.lock:
            shown = {name: self.element.get_property(name) or "" for name, told in self.properties.items()
                     if not told["writable"]}
            return {"number": number, "message": message, "values": self.values, "shown": shown, "line": self.launch_line()}

    def _collect(self, name):
        sink = self.pipeline.get_by_name(name)
        while not self.ending:
            sample = sink.emit("try-pull-sample", Gst.SECOND // 5)
            if sample is not None:
                data = sample.get_buffer()
                self.pictures[name].put(data.extract_dup(0, data.get_size()))
            elif sink.get_property("eos") or sink.current_state < Gst.State.PAUSED:
                threading.Event().wait(0.02)  # a stopped sink answers at once

    def _watch(self):
        bus = self.pipeline.get_bus()
        while not self.ending:
            message = bus.timed_pop_filtered(
                Gst.SECOND // 5, Gst.MessageType.EOS | Gst.MessageType.ERROR | Gst.MessageType.WARNING)
            if message is None:
                continue
            if message.type == Gst.MessageType.EOS:
                self.pipeline.seek_simple(Gst.Format.TIME, Gst.SeekFlags.FLUSH, 0)
                continue
            error, debug = message.parse_error() if message.type == Gst.MessageType.ERROR else message.parse_warning()
            self.broken = self.broken or message.type == Gst.MessageType.ERROR
            # The element's own words come second in the debug text, below the line of the source that posted it.
            more = "\n".join((debug or "").splitlines()[1:])
            self.message.put(error.message if not more or more in error.message else f"{error.message}\n{more}")


class Handler(http.server.BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    player = None  # set by serve()
    hosts = ()  # the values of Host that mean this server

    def log_message(self, *_):
        pass

    def _send(self, status, kind, body, **headers):
        self.send_response(status)
        self.send_header("Content-Type", kind)
        self.send_header("Content-Length", str(len(body)))
        self.send_header("Cache-Control", "no-store")
        self.send_header("X-Content-Type-Options", "nosniff")
        for name, value in headers.items():
            self.send_header(name.replace("_", "-"), value)
        self.end_headers()
        self.wfile.write(body)

    def _json(self, value, status=200):
        self._send(status, "application/json", json.dumps(value).encode())

    def _refuses_stranger(self):
        """A page of another site may make the browser ask us under that site's name, or post to us: neither is answered."""
        origin = self.headers.get("Origin")
        if self.headers.get("Host") in self.hosts and (origin is None or urlsplit(origin).netloc in self.hosts):
            return False
        self.close_connection = True
        self._send(403, "text/plain; charset=utf-8", f"only for {' or '.join(self.hosts)}\n".encode())
        return True

    def do_GET(self):  # noqa: N802
        if self._refuses_stranger():
            return
        url = urlsplit(self.path)
        try:
            seen = int(parse_qs(url.query).get("seen", ["-1"])[0])
        except ValueError:
            seen = -1
        if url.path == "/":
            self._send(200, "text/html; charset=utf-8", PAGE.read_bytes())
        elif url.path == "/properties":
            self._json(list(self.player.properties.values()))
        elif url.path == "/state":
            self._json(self.player.state(seen))
        elif url.path in ("/before.jpg", "/after.jpg"):
            number, picture = self.player.pictures[url.path[1:-4]].newer_than(seen)
            if picture is None or number <= seen:
                self._send(204, "image/jpeg", b"")
            else:
                self._send(200, "image/jpeg", picture, X_Number=str(number))
        else:
            self._send(404, "text/plain", b"no such page\n")

    def do_POST(self):  # noqa: N802
        if self._refuses_stranger():
            return
        try:
            length = int(self.headers.get("Content-Length", ""))
            if self.path != "/set" or not 0 <= length <= LARGEST_REQUEST:
                raise ValueError
            changes = json.loads(self.rfile.read(length))
            if not isinstance(changes, dict):
                raise ValueError
        except (ValueError, RecursionError):
            self.close_connection = True
            self._send(400, "text/plain", b"POST /set takes a JSON object of at most 1 MiB: names and values as text\n")
            return
        try:
            self.player.set(changes)
            self._json({})
        except Refused as refused:
            self._json({"refused": str(refused)}, 422)


class Server(http.server.ThreadingHTTPServer):
    daemon_threads = True
    block_on_close = False

    def handle_error(self, request, client_address):
        if not isinstance(sys.exc_info()[1], ConnectionError):  # a page that is closed amid a picture is no fault
            super().handle_error(request, client_address)


def serve(where, port):
    player = Player(where)
    Handler.player = player
    server = Server(("127.0.0.1", port), Handler)
    Handler.hosts = tuple(f"{name}:{server.server_port}" for name in ("127.0.0.1", "localhost"))
    player.start()
    print(f"http://127.0.0.1:{server.server_port}/", flush=True)
    for ending in (signal.SIGINT, signal.SIGTERM):  # SIGINT is ignored in what a script starts in the background
        signal.signal(ending, signal.default_int_handler)
    try:
        server.serve_forever()
    except KeyboardInterrupt:
        pass
    finally:
        server.server_close()
        player.stop()


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n\n")[0])
    parser.add_argument("input", nargs="?", help="a video file or /dev/videoN; a test picture where left out")
    parser.add_argument("--port", type=int, default=8311, help="0 takes any that is free (default: 8311)")
    arguments = parser.parse_args()
    if arguments.input is not None and not pathlib.Path(arguments.input).exists():
        sys.exit(f"tune: {arguments.input} is not there")
    Gst.init(None)
    if Gst.ElementFactory.find(FACTORY) is None:
        sys.exit(f"tune: GStreamer does not find {FACTORY}; set GST_PLUGIN_PATH to the folder that ./setup.sh --plugin prints last")
    try:
        serve(arguments.input, arguments.port)
    except (GLib.GError, OSError) as error:
        sys.exit(f"tune: {error}")


if __name__ == "__main__":
    main()
