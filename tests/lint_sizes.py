#!/usr/bin/env python3
# SPDX-FileCopyrightText: 2026 The videoconvolve developers
# SPDX-License-Identifier: LGPL-2.1-or-later
"""lint_sizes.py FILE...: no file is over 400 lines, and no function over 60.

The code is formatted by clang-format, so that its indentation tells where functions begin and end: a function of a
namespace ends at a line that is "}" alone, one of a class at such a line indented by two, and both begin at the last
line before it of the same indentation. It tests itself first, on a function of each kind.
"""
import re
import sys

FILE_LINES, FUNCTION_LINES = 400, 60

# The body of a kernel must be one function: its loops share registers, and a call in their midst would spill them. None
# may grow: the numbers are their lengths today. What has become shorter is told, so that its number follows.
KERNELS = {
    "kernels/cuda/matrix/dense.cu make_tile": 82,
    "kernels/cuda/matrix/hopper/kernel.cuh wgmma_kernel": 75,
    "kernels/cuda/matrix/packed_422.cu make_tile": 73,
    "kernels/cuda/matrix/sparse.cu make_tile": 84,
    "kernels/cuda/matrix/temporal.cuh make_tile_from": 85,
    "kernels/cuda/regions/effect.cu treat_any": 68,
    "kernels/cuda/register/row_stream.cuh stream_strip": 94,
    "kernels/cuda/separable/tensor.cuh filter_tile": 159,
    "kernels/cuda/separable/triples.cuh filter_triples": 98,
}


def functions(lines):
    """(name, length) of each function."""
    begin = {"": None, "  ": None}
    for number, line in enumerate(lines, 1):
        for indent in begin:
            if line == indent + "}" and begin[indent]:
                # What is indented within a function is a block of it.
                if indent == "" or (begin[""] and re.match(r"(struct|class|union)\b", lines[begin[""][0] - 1])):
                    yield begin[indent][1], number - begin[indent][0] + 1
                begin[indent] = None
            elif re.match(indent + r"[\w~\[]", line):
                if "__launch_bounds__" in line:  # the kernel's name is in the next line
                    line = lines[number]
                names = re.findall(r"([\w~]+)\(", line)
                begin[indent] = (number, names[0] if names else line.strip())


def faults(path, lines):
    """What is too long in one file, and which entries of the tables above are out of date."""
    found = [(path, len(lines), FILE_LINES, None, "file")]
    longest = {}
    for name, length in functions(lines):
        key = f"{path} {name}"
        longest[key] = max(length, longest.get(key, 0))
    for key, length in longest.items():
        found.append((key, length, FUNCTION_LINES, KERNELS.get(key), "function"))
    for key, length, limit, exception, kind in found:
        if length > (exception or limit):
            yield f"{key}: {length} lines; a {kind} has at most {exception or limit}"
        elif exception and length < exception:
            yield f"{key}: {length} lines, and tests/lint_sizes.py still allows {exception}"
    for key in KERNELS:
        if key.startswith(path + " ") and key not in longest:
            yield f"{key}: there is none any more, and tests/lint_sizes.py still allows it"


def self_test():
    long = ["    x();"] * FUNCTION_LINES
    code = ["namespace a {", "struct S {", "  int f() {", *long, "  }", "  int g() { return 1; }", "};",
            "int one_liner() { return 1; }", "void h(int a,", "       int b) {", "  if (a) {", *long, "  }", "}",
            "template <class T>", "void T::k() {", "}", "TEST(Suite, case) {", *long, "}", "}  // namespace a"]
    lengths = [("f", FUNCTION_LINES + 2), ("h", FUNCTION_LINES + 5), ("k", 2), ("TEST", FUNCTION_LINES + 2)]
    assert list(functions(code)) == lengths, list(functions(code))
    assert len(list(faults("new.cpp", code))) == 3
    assert len(list(faults("new.cpp", ["//"] * (FILE_LINES + 1)))) == 1
    path, name = next(iter(KERNELS)).split(" ")
    shorter = [f"void {name}() {{", *long[:FUNCTION_LINES], "}"]
    assert any("still allows" in fault for fault in faults(path, shorter))
    assert any("there is none any more" in fault for fault in faults(path, ["//"]))


def main():
    self_test()
    found = []
    for path in sys.argv[1:]:
        with open(path, encoding="utf-8") as file:
            found += faults(path, file.read().splitlines())
    print(*found, sep="\n", end="\n" if found else "")
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main())
