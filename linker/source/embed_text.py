#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""embed_text.py OUT NAME FILE...: writes the FILEs, one after the other without their include lines, as one C++ string
constant NAME. Long texts are split, since a string literal has a length limit in C++."""
import sys

out, name, *files = sys.argv[1:]
lines = [line for file in files for line in open(file, encoding="utf-8") if not line.startswith("include ")]
with open(out, "w", encoding="utf-8") as target:
    target.write(f"inline constexpr char {name}[] =\n")
    for line in lines:
        escaped = line.rstrip("\n").replace("\\", "\\\\").replace('"', '\\"')
        target.write(f'    "{escaped}\\n"\n')
    target.write("    ;\n")
