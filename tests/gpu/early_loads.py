#!/usr/bin/env python3
# SPDX-FileCopyrightText: 2026 The videoconvolve developers
# SPDX-License-Identifier: LGPL-2.1-or-later
"""Finds what kernels access before they have waited for the launch before them: early_loads.py BUILD | OBJECT...

Programmatic dependent launch lets a kernel start while the one before it in the stream still writes the frame
(launch_pdl() and pdl_wait() in kernels/cuda/common/launch.hpp). ptxas may move loads by way of the read-only cache up past
the wait, so that this cannot be read in the source. This script reads the machine code: it follows the control flow of
each kernel that waits (ACQBULK) from its entry up to the wait, and lists the instructions on the way that access global
memory. Prefetches do no harm and are left out.

Exits with 1 where a kernel has such instructions that is not in TABLES. Kernels that are may read before the wait what
the stream copied before the plan's first launch; --all lists what they do, with the parameters of the kernel that the
addresses come from, as far as a look back over the instructions tells: those of tables, not of frames, should be there.

Needs the cuobjdump and nvdisasm of the CUDA toolkit, some two minutes for all objects of one chip, and no GPU.
"""

import argparse
import collections
import pathlib
import re
import subprocess
import sys

# Kernels that read tables of taps, levels or regions before the wait. sparse_kernel is launched without overlap; the
# warps of group_kernel that do not wait begin when the one that does has loaded the frame.
TABLES = re.compile(r"\d(bank|dense|packed|temporal|temporal_422|temporal_triples|temporal_u16|sparse|triples|wgmma|effect|means|group|"
                    r"strip|pair_strip|tensor|wide|wide_ring)_kernel")

INSTRUCTION = re.compile(r"\s*/\*([0-9a-f]{4,})\*/\s+(?:(@!?U?PT?\d*) )?([A-Z0-9_.]+)\s?(.*?)\s*;?\s*/\* 0x")
ACCESS = re.compile(r"(LDG|LDGSTS|LD|TLD|TEX|UBLKCP|UTMALDG|ATOM|ATOMG|RED|REDG|STG|ST|UTMASTG|UTMAREDG)(\.|$)")
Instruction = collections.namedtuple("Instruction", "address predicate name operands")


def kernels(text):
    """The chip, name and instructions of each function in the output of cuobjdump -sass."""
    chip, name, code = "", None, []
    for line in text.splitlines():
        if found := re.match(r"\s*Function : (\S+)", line):
            if name:
                yield chip, name, code
            name, code = found[1], []
        elif found := re.match(r"\s*(?:arch = |code for )(sm_\w+)", line):
            if name:
                yield chip, name, code
            chip, name = found[1], None
        elif name and (found := INSTRUCTION.match(line)):
            code.append(Instruction(int(found[1], 16), found[2], found[3], found[4]))
    if name:
        yield chip, name, code


def before_the_wait(code):
    """The indices of the instructions that a thread may take before it waits."""
    index = {instruction.address: i for i, instruction in enumerate(code)}
    ends = collections.defaultdict(list)  # where threads go on that meet again, by barrier
    for i, (_, _, name, operands) in enumerate(code):
        if name.startswith("BSSY") and (found := re.match(r"(B\d+), (0x[0-9a-f]+)", operands)):
            ends[found[1]].append((i, index[int(found[2], 16)]))
    seen, to_do = set(), [0]
    while to_do:
        i = to_do.pop()
        if i in seen or i >= len(code):
            continue
        seen.add(i)
        _, predicate, name, operands = code[i]
        if name.startswith("ACQBULK"):
            continue
        goes_on = bool(predicate)
        if name.startswith("BRA"):
            target = re.search(r"(!?U?P\d+, )?(0x[0-9a-f]+)", operands)
            goes_on = goes_on or bool(target[1]) or name != "BRA"
            to_do.append(index[int(target[2], 16)])
        elif name.startswith(("BRX", "JMX")):
            sys.exit("this script follows no jump tables")
        elif name.startswith("BSYNC"):
            of_barrier = ends[operands.split()[0]]
            to_do += [end for begin, end in of_barrier if begin < i][-1:] or [end for _, end in of_barrier]
        elif not name.startswith(("EXIT", "RET")):  # a call comes back
            goes_on = True
        if goes_on:
            to_do.append(i + 1)
    return sorted(seen)


def parameters_of(code, i):
    """The 64-bit parameters of the kernel that an address may come from: all on the way back, in the order of the code."""
    registers = lambda text: set(re.findall(r"\bU?R\d+\b", text))
    wanted, found = set(), set()
    for register in registers(re.sub(r"desc\[\w+\]", "", code[i].operands)):
        kind, number = re.match(r"(U?R)(\d+)", register).groups()
        wanted |= {register, f"{kind}{int(number) + 1}"}
    for _, _, name, operands in reversed(code[:i]):
        target, _, sources = operands.partition(", ")
        if target not in wanted or ACCESS.match(name) or name.startswith(("LDS", "LDL", "S2")):
            continue
        found |= {int(offset, 16) for offset in re.findall(r"c\[0x0\]\[(?:U?R\d+\+)?(0x[0-9a-f]+)\]", sources)}
        wanted |= registers(sources)
    return sorted(found)


def objects_of(path):
    path = pathlib.Path(path)
    return [path] if path.is_file() else sorted(o for o in path.rglob("*.o") if ".p" not in o.parent.suffix)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--all", action="store_true", help="list what kernels with tables do, too")
    parser.add_argument("paths", nargs="+")
    arguments = parser.parse_args()
    waiting = wrong = 0
    for object_file in (o for path in arguments.paths for o in objects_of(path)):
        text = subprocess.run(["cuobjdump", "-sass", object_file], check=True, capture_output=True, text=True).stdout
        for chip, name, code in kernels(text):
            if not any(instruction.name.startswith("ACQBULK") for instruction in code):
                continue
            waiting += 1
            early = [i for i in before_the_wait(code) if ACCESS.match(code[i].name)]
            known = TABLES.search(name)
            if not early or (known and not arguments.all):
                continue
            wrong += not known
            print(f"{object_file.name}: {chip} {name}")
            for i in early:
                offsets = " ".join(f"{offset:#x}" for offset in parameters_of(code, i))
                print(f"    {code[i].address:#06x} {code[i].name} {code[i].operands}    parameters at {offsets or '?'}")
    if not waiting:
        sys.exit("no kernel that waits")
    print(f"{waiting} kernels wait; {wrong} that have no tables access global memory before they do")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
