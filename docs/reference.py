#!/usr/bin/python3
# SPDX-FileCopyrightText: 2026 The videoconvolve developers
# SPDX-License-Identifier: LGPL-2.1-or-later
"""Prints the reference of the element, as Markdown, from GStreamer's registry: pads and formats, properties, enums.

GStreamer must find the element (GST_PLUGIN_PATH). docs/hooks.py makes a page of it whenever the documentation is built.
"""
import sys

import gi

gi.require_version("Gst", "1.0")
from gi.repository import GObject, Gst  # noqa: E402

INHERITED = {"name", "parent", "qos"}
CONTROLLABLE, MUTABLE_PLAYING = 1 << 9, 1 << 12  # GST_PARAM_CONTROLLABLE, GST_PARAM_MUTABLE_PLAYING


def values_of(spec):
    """Name, number and description of each value of an enum or of flags; none of other types."""
    if GObject.type_is_a(spec.value_type, GObject.TYPE_ENUM):
        return [(v.value_nick, int(v), v.value_name) for _, v in sorted(spec.enum_class.__enum_values__.items())]
    if GObject.type_is_a(spec.value_type, GObject.TYPE_FLAGS):
        return [(v.first_value_nick, int(v), v.first_value_name) for _, v in sorted(spec.flags_class.__flags_values__.items())]
    return []


def default_of(spec):
    value = spec.default_value
    if GObject.type_is_a(spec.value_type, GObject.TYPE_ENUM):
        return value.value_nick
    if GObject.type_is_a(spec.value_type, GObject.TYPE_FLAGS):
        return "+".join(value.value_nicks)
    if spec.value_type == GObject.TYPE_BOOLEAN:
        return str(value).lower()
    if isinstance(value, float):
        return f"{value:g}"
    if spec.name.endswith("-color"):
        return f"{value:#010x}"
    return "" if value is None else str(value)


def type_of(spec):
    if values_of(spec):
        return "flags" if GObject.type_is_a(spec.value_type, GObject.TYPE_FLAGS) else "enum"
    name = {"gchararray": "string", "gboolean": "boolean", "gdouble": "double", "gint": "int", "guint": "unsigned int",
            "guint64": "unsigned 64-bit int", "GstValueArray": "array"}.get(spec.value_type.name, spec.value_type.name)
    if hasattr(spec, "minimum"):
        return f"{name}, {spec.minimum:g} to {spec.maximum:g}" if isinstance(spec.minimum, float) else f"{name}, {spec.minimum} to {spec.maximum}"
    return name


def escape(text):
    return text.replace("|", "\\|").replace("<", "&lt;").replace(">", "&gt;").replace("*", "\\*")


def changes(spec):
    if not spec.flags & GObject.ParamFlags.WRITABLE:
        return "read-only"
    words = ["while playing" if spec.flags & MUTABLE_PLAYING else "at the next start"]
    if spec.flags & CONTROLLABLE:
        words.append("by a controller")
    return ", ".join(words)


def print_pads(factory):
    print("## Pads\n")
    for template in factory.get_static_pad_templates():
        caps = template.get_caps()
        print(f"### {template.name_template}\n\n{template.presence.value_nick} {template.direction.value_nick} pad, "
              f"{caps.get_size()} kind(s) of memory:\n")
        for index in range(caps.get_size()):
            text = caps.get_structure(index).to_string()
            features = caps.get_features(index)
            names = [] if "format=" not in text else [
                word.strip() for word in text.split("format=(string)")[1].lstrip("{ ").split("}")[0].split(",")]
            print(f"- `{features.to_string()}`, {len(names)} formats: " + ", ".join(f"`{name}`" for name in names))
        print()


def print_properties(element):
    specs = [spec for spec in element.list_properties() if spec.name not in INHERITED]
    print("## Properties\n\n| property | type | default | may change | description |\n|---|---|---|---|---|")
    for spec in specs:
        link = f"[{type_of(spec)}](#{spec.name})" if values_of(spec) else type_of(spec)
        default = default_of(spec)
        shown = f"`{default}`" if default else ""
        print(f"| `{spec.name}` | {link} | {shown} | {changes(spec)} | {escape(spec.blurb)} |")
    print("\n## Values\n")
    for spec in specs:
        if values := values_of(spec):
            print(f"### {spec.name}\n\n| value | number | meaning |\n|---|---|---|")
            for nick, number, name in values:
                print(f"| `{nick}` | {number:#x} | {escape(name)} |" if type_of(spec) == "flags" else f"| `{nick}` | {number} | {escape(name)} |")
            print()


def main():
    Gst.init(None)
    element = Gst.ElementFactory.make("videoconvolve")
    if element is None:
        sys.exit("GStreamer does not find videoconvolve; set GST_PLUGIN_PATH")
    factory = element.get_factory()
    plugin = factory.get_plugin()
    version = ".".join(map(str, Gst.version()[:2]))
    print(f"# Reference\n\nMade from the element itself, version {plugin.get_version()}, built for and run under GStreamer {version}. "
          "What the properties mean together is told in [properties](properties.md); `gst-inspect-1.0 videoconvolve` prints the "
          "same as this page.\n\nBuilds for later versions of GStreamer have more formats, and more sources of regions.\n")
    print("| | |\n|---|---|")
    for key in ("long-name", "klass", "description", "author"):
        if value := factory.get_metadata(key):
            print(f"| {key} | {escape(value)} |")
    print(f"| plugin | {plugin.get_name()} |\n| rank | {factory.get_rank()} |\n| implements | "
          f"{', '.join(i.name for i in element.__gtype__.interfaces) or 'nothing'} |\n")
    print_properties(element)
    print_pads(factory)


if __name__ == "__main__":
    main()
