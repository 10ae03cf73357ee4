#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Compiles the matrix products of shapes.py into a folder that is carried to the GPU machine.

usage: benchmarks/gemm/compile.py [--build=build] [--output=build/gemm] [--set=first] [--target=sm_90a]
"""
import argparse
import glob
import os
import shutil
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor

from shapes import SETS, program


def main():
    root = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..")
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--build", default=os.path.join(root, "build"))
    parser.add_argument("--output", default=os.path.join(root, "build", "gemm"))
    parser.add_argument("--set", default="first", choices=sorted(SETS))
    parser.add_argument("--target", default="sm_90a")
    parser.add_argument("flags", nargs="*", help="behind --: more flags of tenon-compile")
    arguments = parser.parse_args()
    os.makedirs(arguments.output, exist_ok=True)

    def compile_one(case):
        source, target = (os.path.join(arguments.output, case.name() + suffix) for suffix in (".mlir", ".tenon"))
        with open(source, "w", encoding="utf-8") as file:
            file.write(program(case))
        done = subprocess.run([os.path.join(arguments.build, "compiler/tools/tenon-compile"), source, "-o", target, "--jobs=1",
                               "--target=" + arguments.target, *case.flags(), *arguments.flags], capture_output=True, text=True, check=False)
        return case.name(), done

    failed = 0
    with ThreadPoolExecutor(os.cpu_count()) as pool:
        for name, done in pool.map(compile_one, SETS[arguments.set]):
            if done.returncode != 0 or done.stderr:
                failed += done.returncode != 0
                print(f"{name}: {done.stderr.strip()[:300]}", file=sys.stderr)
    for path in glob.glob(os.path.join(arguments.build, "runtime", "libtenon_runtime.so.*")):
        if os.path.isfile(path) and not os.path.islink(path) and not path.endswith(".p"):
            library = os.path.join(arguments.output, "libtenon_runtime.so")
            shutil.copyfile(path, library)
            subprocess.run(["strip", library], check=False)
    print(f"{len(SETS[arguments.set]) - failed} of {len(SETS[arguments.set])} programs compiled into {arguments.output}")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
