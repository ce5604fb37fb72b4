#!/usr/bin/env python3
# SPDX-FileCopyrightText: 2026 The videoconvolve developers
# SPDX-License-Identifier: LGPL-2.1-or-later
"""Tells whether two builds hold the same machine code for every chip: compare_sass.py OLD_BUILD NEW_BUILD.

Disassembles every object that nvcc made in the two folders, with the cuobjdump and nvdisasm of the CUDA toolkit, and
compares functions by their instructions alone: a kernel may have moved to another file or have been renamed. Lists the
functions that one side alone has, and then exits with 1. Needs no GPU.

The compiler is not quite deterministic: with CUDA 13.0, some instantiations of single_kernel (separable/single.cuh) come
out a little differently in two runs over the same file, in PTX as in machine code. Where these alone differ, and no line
of theirs changed, that is why.

For a change that is to leave the machine code as it is, build before and after it with `meson setup -Dcuda=enabled`.
"""

import argparse
import collections
import pathlib
import re
import subprocess
import sys

INSTRUCTION = re.compile(r"\s*/\*[0-9a-f]{4,}\*/\s+(.*?)\s*/\* (0x[0-9a-f]+) \*/|\s+/\* (0x[0-9a-f]+) \*/")


def functions(text):
    """(chip, the encoded instructions) and the name of each function in the output of cuobjdump -sass."""
    chip, name, code = "", None, []
    for line in text.splitlines():
        if found := re.match(r"\s*(?:arch = |code for )(sm_\w+)", line):
            chip = found[1]
        elif found := re.match(r"\s*Function : (\S+)", line):
            if name:
                yield (chip_of_name, tuple(code)), name
            name, code, chip_of_name = found[1], [], chip
        elif name and (found := INSTRUCTION.match(line)):
            code.append(found[2] or found[3])
    if name:
        yield (chip_of_name, tuple(code)), name


def functions_of_build(folder):
    """How often each function is there, and one of its names."""
    objects = [o for pattern in ("*.o", "*.cubin") for o in pathlib.Path(folder).rglob(pattern) if ".p" not in o.parent.suffix]
    if not objects:
        sys.exit(f"{folder} holds no objects of CUDA kernels")
    counts, names = collections.Counter(), {}
    for object_file in objects:
        text = subprocess.run(["cuobjdump", "-sass", object_file], check=True, capture_output=True, text=True).stdout
        for code, name in functions(text):
            counts[code] += 1
            names[code] = name
    return counts, names


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("old")
    parser.add_argument("new")
    arguments = parser.parse_args()
    old, old_names = functions_of_build(arguments.old)
    new, new_names = functions_of_build(arguments.new)
    for folder, names, alone in (arguments.old, old_names, old - new), (arguments.new, new_names, new - old):
        for code in sorted(alone, key=lambda c: (c[0], names[c])):
            print(f"only in {folder}: {code[0]} {names[code]} ({len(code[1])} words)")
    if old != new:
        return 1
    print(f"the same machine code: {sum(new.values())} functions of {len({chip for chip, _ in new})} chips")
    return 0


if __name__ == "__main__":
    sys.exit(main())
