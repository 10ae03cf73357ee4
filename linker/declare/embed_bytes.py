#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""embed_bytes.py OUT NAME FILE: writes the bytes of FILE as one C++ array NAME."""
import sys

out, name, file = sys.argv[1:]
data = open(file, "rb").read()
with open(out, "w", encoding="utf-8") as target:
    target.write(f"alignas(8) inline constexpr unsigned char {name}[] = {{\n")
    for at in range(0, len(data), 32):
        target.write("    " + ", ".join(str(byte) for byte in data[at:at + 32]) + ",\n")
    target.write("};\n")
