#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Two headers of one namespace define no type and no constant of the same name.

A compiler sees one of them at a time and says nothing. The linker takes both for the same: a constant is then read where the
other one lies, and what a template makes of one type is called with the other.
usage: check_names.py [ROOT]
"""
import collections
import pathlib
import re
import sys

from check_layers import FLOORS

NAMESPACE = re.compile(r"^namespace ([\w:]+) *\{", re.MULTILINE)
TYPE = re.compile(r"^(?:struct|class|enum class|enum|union) (\w+)\b[^;\n]*\{", re.MULTILINE)
CONSTANTS = re.compile(r"^inline constexpr [^;]*;", re.MULTILINE)


def names_of(text):
    """(name, place) of what a header defines at the level of its namespace: lines that begin there."""
    for match in TYPE.finditer(text):
        yield match.group(1), match.start()
    for match in CONSTANTS.finditer(text):
        depth = 0
        for part in re.finditer(r"[{}()]|\b(\w+)(?:\[\w*\])? *(?==[^=])", match.group(0)):
            if part.group(0) in "{(":
                depth += 1
            elif part.group(0) in "})":
                depth -= 1
            elif depth == 0:
                yield part.group(1), match.start() + part.start()


def check(root):
    """Each breach as text, and the number of names."""
    places = collections.defaultdict(list)
    for floor in FLOORS:
        for path in sorted((root / floor).rglob("*.h")):
            text = path.read_text()
            namespace = NAMESPACE.search(text)
            for name, at in names_of(text):
                line = text.count("\n", 0, at) + 1
                places[namespace.group(1) if namespace else "", name].append(f"{path.relative_to(root).as_posix()}:{line}")
    breaches = [f"{where[-1]}: error: '{name}' of {namespace or 'no namespace'} is defined in {where[0]}, too: give one another name"
                for (namespace, name), where in places.items() if len({place.split(':')[0] for place in where}) > 1]
    return breaches, len(places)


def main(root):
    breaches, count = check(root)
    for breach in breaches:
        print(breach)
    print(f"names: {count} of headers, {len(breaches)} breaches")
    return 1 if breaches or not count else 0


if __name__ == "__main__":
    sys.exit(main(pathlib.Path(sys.argv[1]) if len(sys.argv) > 1 else pathlib.Path(__file__).resolve().parent.parent))
