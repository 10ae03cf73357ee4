#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Compiles the models that export.py wrote, where it wrote them.

usage: benchmarks/models/compile.py [--build=build] [--output=build/models] [--set=first] [--target=sm_90a]
"""
import os
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "race"))

import compiling  # noqa: E402
import models  # noqa: E402

if __name__ == "__main__":
    FOLDER = next((flag.split("=", 1)[1] for flag in sys.argv if flag.startswith("--output=")), "build/models")

    def program(case):
        with open(os.path.join(FOLDER, case.name() + ".mlir"), encoding="utf-8") as file:
            return file.read()

    def exported(case):
        found = os.path.exists(os.path.join(FOLDER, case.name() + ".mlir"))
        if not found:
            print(f"{case.name()}: export.py has not written it", file=sys.stderr)
        return found
    CHOSEN = next((flag.split("=", 1)[1] for flag in sys.argv if flag.startswith("--set=")), "first")
    CASES = {name: [case for case in cases if name != CHOSEN or exported(case)] for name, cases in models.SETS.items()}
    sys.exit(compiling.main(__doc__.splitlines()[0], "models", CASES, program))
