#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Checks that every #include follows the plan of the house, and prints each breach as file:line.

A *floor* is a top-level folder, a *room* a folder of it. FLOORS names what a floor may include of other floors; ROOMS
lists the rooms of each floor in their order: a room includes only itself and rooms in front of it, so that two rooms
can never include each other in a circle. Inside a room x.h and x.cpp are one *pair*, and pairs include each other in no
circle either. Only compiler/ sees LLVM. Exit status 1 where anything is wrong.
"""
import collections
import pathlib
import re
import sys

# Which floors a floor may include, itself left out.
FLOORS = {
    "support": set(),
    "abi": {"support"},
    "ptx": {"support", "abi"},
    "linker": {"support", "abi", "ptx"},
    "compiler": {"support", "abi", "ptx", "linker"},
    "runtime": {"support", "abi"},
    "tuner": {"support", "abi", "linker", "compiler", "runtime"},
    "emulator": {"support", "abi", "ptx"},
}
# The rooms of each floor, in order. "." is the floor's own folder.
ROOMS = {
    "support": [".", "text", "files", "process", "pch"],
    "abi": ["include/tenon/runtime", "include/tenon", ".", "format", "format/verify", "format/views"],
    "ptx": ["words", ".", "parse/simple", "parse"],
    "linker": ["job", "access", "access/plan", "access/trace", "assembler", "object", "symbol", "source", "declare", "passes",
               "writer", ".", "replace", "tools/dump", "tools"],
    "compiler": ["pch", "dialect/shared", "dialect/hal", "dialect/flow", "dialect/util", "dialect/check", "dialect/linalg_ext", "dialect",
                 "input/tensors", "input/tensors/linalg_ext", "input/types", "input/steps", "input", "dialect/transforms",
                 "dispatch/analysis", "dispatch/analysis/products", "dispatch/analysis/convolutions", "dispatch/analysis/groups", "dispatch/products/orders", "dispatch/products/images", "dispatch/products/patches", "dispatch/products", "dispatch/quantized", "dispatch/experts", "dispatch/winograd",
                 "dispatch/prepare/loops", "dispatch/prepare/reads", "dispatch/prepare",
                 "dispatch/splits", "dispatch/forming", "dispatch", "dispatch/in_place", "dispatch/attention/forms", "dispatch/attention/chains", "dispatch/attention",
                 "codegen/kernel", "codegen/kernel/narrow", "codegen/kernel/bodies", "codegen/ptx/rewrites", "codegen/ptx", "codegen/families", "codegen/contraction", "codegen/contraction/operands", "codegen/contraction/kernels", "codegen/contraction/kernels/skinny", "codegen/contraction/kernels/warpgroup", "codegen/grouped", "codegen/grouped/bands",
                 "codegen/tuning", "codegen/plan", "codegen/attention", "codegen/attention/hopper", "codegen/attention/hopper/chain", "codegen/attention/few_queries", "codegen/strategies/rows", "codegen/strategies/columns", "codegen/strategies/windows",
                 "codegen/strategies/transposes", "codegen/strategies/products/plans/tiles", "codegen/strategies/products/plans", "codegen/strategies/products", "codegen/strategies", "codegen/along/lines", "codegen/along/sorting", "codegen/along", "codegen/decisions", "codegen", "editions",
                 "host/program", "host/scalars", "host", "bridge", ".", "tools"],
    "runtime": ["cuda", "device", "memory", "executable", "commands", "queue", "values", "program/plan", "program", "c_api", "tools",
                "tools/check_kernel"],
    "tuner": ["."],
    "emulator": ["machine", "memory", "check", "async", "matrix", "lanes", "handlers", "schedule", "decode", "decode/families",
                 "driver", "driver/module", "driver/memory", "driver/work", "driver/work/calls", "driver/graph",
                 "driver/api"],
}
INCLUDE = re.compile(r'^\s*#\s*include\s*[<"]([^>"]+)[>"]')
SUFFIXES = {".h", ".cpp", ".inc", ".cu", ".cuh", ".td"}


def split_place(path):
    """("emulator", "driver/graph", "capture") of "emulator/driver/graph/capture.cpp"."""
    floor, *rooms, name = path.split("/")
    return floor, "/".join(rooms) or ".", name.split(".")[0]


def circles(edges):
    """The strongly connected parts of more than one node, each sorted (Tarjan)."""
    index, low, stack, found = {}, {}, [], []

    def visit(node):
        index[node] = low[node] = len(index)
        stack.append(node)
        for other in sorted(edges.get(node, ())):
            if other not in index:
                visit(other)
                low[node] = min(low[node], low[other])
            elif other in stack:
                low[node] = min(low[node], index[other])
        if low[node] == index[node]:
            at = stack.index(node)
            part = stack[at:]
            del stack[at:]
            if len(part) > 1:
                found.append(sorted(part))

    for node in sorted(edges):
        if node not in index:
            visit(node)
    return found


def check(root):
    """Each breach as text, and the number of files that were read."""
    breaches, files = [], 0
    pairs = collections.defaultdict(set)  # (floor, room, name) -> those that it includes
    lines = {}  # (pair, pair) -> the include that ties them
    for floor in FLOORS:
        for path in sorted((root / floor).rglob("*")):
            if path.suffix not in SUFFIXES:
                continue
            files += 1
            relative = path.relative_to(root).as_posix()
            here = split_place(relative)
            if here[1] not in ROOMS[floor]:
                breaches.append(f"{relative}:1: error: {floor}/{here[1]} is no room of ROOMS in scripts/check_layers.py")
                continue
            for number, line in enumerate(path.read_text().splitlines(), 1):
                match = INCLUDE.match(line)
                if not match or "/" not in match.group(1):
                    continue
                at, what = f"{relative}:{number}: error:", match.group(1)
                head = what.split("/")[0]
                if head in {"llvm", "mlir", "llvm-c", "mlir-c"} and floor != "compiler":
                    breaches.append(f"{at} {floor}/ includes {head}/; only compiler/ sees LLVM")
                if head not in FLOORS:
                    continue
                there = split_place(what)
                if head != floor:
                    if head not in FLOORS[floor]:
                        may = ", ".join(sorted(FLOORS[floor])) or "no other floor"
                        breaches.append(f"{at} {floor}/ includes {head}/; it may include {may}")
                    continue
                if there[1] not in ROOMS[floor]:
                    breaches.append(f"{at} {floor}/{there[1]} is no room of ROOMS in scripts/check_layers.py")
                elif ROOMS[floor].index(there[1]) > ROOMS[floor].index(here[1]):
                    breaches.append(f"{at} room {floor}/{here[1]} includes {floor}/{there[1]}, which comes after it in ROOMS")
                elif there[:2] == here[:2] and there != here:
                    pairs[here].add(there)
                    lines.setdefault((here, there), f"{relative}:{number}")
    for circle in circles(pairs):
        floor, room, _ = circle[0]
        breaches.append(f"{floor}/{room}: error: circle between " + ", ".join(name for _, _, name in circle))
        for one in circle:
            for other in sorted(pairs[one] & set(circle)):
                breaches.append(f"  {lines[one, other]}: includes {other[2]}.h")
    return breaches, files


def main(root):
    breaches, files = check(root)
    for breach in breaches:
        print(breach)
    count = sum(": error:" in breach for breach in breaches)
    print(f"layers: {files} files, {count} breaches")
    return 1 if count or not files else 0


if __name__ == "__main__":
    sys.exit(main(pathlib.Path(sys.argv[1]) if len(sys.argv) > 1 else pathlib.Path(__file__).resolve().parent.parent))
