#!/usr/bin/python3
# SPDX-FileCopyrightText: 2026 The videoconvolve developers
# SPDX-License-Identifier: LGPL-2.1-or-later
"""The table of docs/properties.md and the element say the same.

Each property has one row, which names the values of its enum and, where it gives a range or a number as the default,
those that the element has. No row speaks of a property that is not there.

Exit status 77: PyGObject is not there.
"""
import pathlib
import re
import sys

try:
    import gi

    gi.require_version("Gst", "1.0")
    from gi.repository import GObject, Gst
except (ImportError, ValueError) as error:
    print("skipped:", error)
    sys.exit(77)

PAGE = pathlib.Path(__file__).resolve().parents[2] / "docs/properties.md"
INHERITED = {"name", "parent", "qos"}
NOT_LISTED = {"algorithm"}  # the page points to gst-inspect-1.0
NUMBERS = {"gint", "guint", "gint64", "guint64", "gdouble", "gfloat"}


def rows():
    """The table's rows: type and default, and the whole row, by property."""
    table = PAGE.read_text(encoding="utf-8").split("\n## ")[0]
    found = {}
    for line in table.splitlines():
        cells = [cell.strip() for cell in line.strip("|").split("|")]
        if line.startswith("| `"):
            for name in re.findall(r"`([\w-]+)`", cells[0]):
                found[name] = (cells[1], line)
    return found


def close(text, value):
    return abs((int(text, 16) if text.startswith("0x") else float(text)) - float(value)) < 1e-9


def faults_of(element, spec, kind, line):
    kind_name = spec.value_type.name
    if GObject.type_is_a(spec.value_type, GObject.TYPE_ENUM) or GObject.type_is_a(spec.value_type, GObject.TYPE_FLAGS):
        if spec.name in NOT_LISTED:
            return
        values_type = type(element.get_property(spec.name))  # what spec itself tells differs between PyGObject's versions
        values = getattr(values_type, "__enum_values__", None) or values_type.__flags_values__
        for value in values.values():
            nick = value.value_nick if hasattr(value, "value_nick") else value.first_value_nick
            if nick and not re.search(rf"(?<![\w-]){re.escape(nick)}(?![\w-])", line):
                yield f"{spec.name}: the row does not name the value {nick}"
    if kind_name in NUMBERS:
        span = re.search(r"(-?[\d.]+)\.\.(-?[\d.]+)", kind)
        if span and not (close(span[1], spec.minimum) and close(span[2], spec.maximum)):
            yield f"{spec.name}: the row says {span[0]}, the element {spec.minimum}..{spec.maximum}"
        default = re.search(r"(0x[0-9a-f]+|-?[\d.]+)$", kind)
        if not default or not close(default[1], spec.default_value):
            yield f"{spec.name}: the row says '{kind}', and the element's default is {spec.default_value}"


def main():
    Gst.init(None)
    element = Gst.ElementFactory.make("videoconvolve")
    if element is None:
        sys.exit("GStreamer does not find videoconvolve; set GST_PLUGIN_PATH")
    page, wrong = rows(), []
    specs = {spec.name: spec for spec in element.list_properties() if spec.name not in INHERITED}
    wrong += [f"{name} has no row in docs/properties.md" for name in sorted(specs.keys() - page.keys())]
    wrong += [f"docs/properties.md has a row for {name}, which the element has not" for name in sorted(page.keys() - specs.keys())]
    for name in sorted(specs.keys() & page.keys()):
        wrong += faults_of(element, specs[name], *page[name])
    print("\n".join(wrong) or f"{len(specs)} properties")
    sys.exit(bool(wrong))


if __name__ == "__main__":
    main()
