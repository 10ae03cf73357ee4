#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Checks that every source file names its licence in its first three lines. REUSE.toml covers what carries no such line:
documents, recorded data, and the inputs of tests and samples. Prints each breach as file:line; exit status 1 for any."""
import os
import pathlib
import sys

LINE = "SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception"
SUFFIXES = {".h", ".cpp", ".inc", ".cu", ".cuh", ".td", ".fbs", ".py", ".sh"}
NAMES = {"meson.build", "meson_options.txt", "dev"}
# Inputs, whose line numbers are part of what is tested and which users copy.
INPUTS = ("samples/", "tests/lit/", "tests/e2e/", "tests/abi_conformance/corpus/", "tests/abi_conformance/rules/",
          "tests/golden/", "tests/mutants/", "tests/fuzz/seeds/", "tests/unit/ptx/corpus/")


def sources(root):
    for folder, folders, files in os.walk(root):
        at_top = pathlib.Path(folder) == pathlib.Path(root)
        folders[:] = sorted(name for name in folders if not name.startswith(".") and name != "__pycache__"
                            and not (at_top and (name.startswith("build") or name == "bundle")))
        for name in sorted(files):
            path = pathlib.Path(folder, name)
            relative = path.relative_to(root).as_posix()
            if (path.suffix in SUFFIXES or name in NAMES) and not relative.startswith(INPUTS):
                yield path, relative


def main(root):
    count = breaches = 0
    for path, relative in sources(root):
        count += 1
        with open(path, encoding="utf-8") as file:
            if not any(LINE in file.readline() for _ in range(3)):
                print(f"{relative}:1: error: no line '{LINE}' at the top")
                breaches += 1
    print(f"licence lines: {count} files, {breaches} breaches")
    return 1 if breaches or not count else 0


if __name__ == "__main__":
    sys.exit(main(pathlib.Path(sys.argv[1] if len(sys.argv) > 1 else pathlib.Path(__file__).resolve().parent.parent)))
