# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The cases of the suite of operations, in groups of one operation and type, and these in batches that become one program."""
import re
import zlib
from collections import Counter, defaultdict

from cases import (along, attention, boundary, choice, convolutions, elementwise, few_sums, guarded, loops, maps, movement, named, norms,
                   products, reduction, together)
from cases.case import SIZES, SMALL

MODULES = (*attention.MODULES, boundary, *products.MODULES, *convolutions.MODULES, choice, elementwise, few_sums, guarded, loops, norms,
           reduction, movement, named, along, maps, together)
MOST = 150  # functions of one program


def all_cases(grid, pattern, modules=MODULES):
    sizes = SMALL if grid == "small" else SIZES
    for module in modules:
        for case in module.cases(sizes):
            if not pattern or re.search(pattern, f"{case.operation} {case.kind}"):
                yield case


class Group:
    """The cases of one operation and type, each a function; cases whose text is the same share one."""

    def __init__(self, number, operation, kind):
        self.number, self.operation, self.kind = number, operation, kind
        self.cases, self.names, self.functions = [], {}, {}

    def add(self, case):
        text = case.program.text("NAME")
        name = self.names.setdefault(text, f"g{self.number}_{len(self.names)}")
        self.functions.setdefault(name, text.replace("@NAME(", f"@{name}(", 1))
        self.cases.append((name, case))


def share(part, of):
    """The modules of one of several suites that are run beside each other: making all cases takes a minute, and in several processes
    less."""
    return MODULES[part - 1::of]


def groups(grid, pattern, modules=MODULES):
    """In the order of the modules. Sizes that a program does not know take kernels for each kind of row, and most of the time:
    the small grid has them for one in three types of an operation that takes several."""
    cases = defaultdict(list)
    for case in all_cases(grid, pattern, modules):
        cases[case.operation, case.kind].append((case, "?" in case.program.text("NAME")))
    found, seen = [], Counter()
    for (operation, kind), of_group in cases.items():
        number, seen[operation] = seen[operation], seen[operation] + 1
        known = [case for case, unknown in of_group if not unknown]
        is_left_out = grid == "small" and known and number and (number + zlib.crc32(operation.encode())) % 3
        group = Group(len(found), operation, kind)
        for case, _ in of_group if not is_left_out else [(case, False) for case in known]:
            group.add(case)
        found.append(group)
    return found


def batches(found, most=MOST):
    """Groups that become one program: so many functions, or one group."""
    made, count = [[]], 0
    for group in found:
        if made[-1] and count + len(group.functions) > most:
            made.append([])
            count = 0
        made[-1].append(group)
        count += len(group.functions)
    return made
