#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Compiles drawn convolutions (drawn.py) into a folder that is carried to the GPU machine.

usage: benchmarks/conv/compile_drawn.py [--seed=1 --count=100 | --cases=FILE] [--build=build] [--output=build/drawn] [--word=before] [-- FLAGS]

--cases: names of cases. --word: of a variant, which run_drawn.py races beside the others.
"""
import argparse
import os
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "race"))

from compiling import ROOT, copy_runtime  # noqa: E402
from drawn import case_of, drawn  # noqa: E402
from drawn_programs import drawn_program  # noqa: E402


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--count", type=int, default=100)
    parser.add_argument("--cases", default="")
    parser.add_argument("--build", default=os.path.join(ROOT, "build"))
    parser.add_argument("--output", default=os.path.join(ROOT, "build", "drawn"))
    parser.add_argument("--word", default="")
    parser.add_argument("--target", default="sm_90a")
    parser.add_argument("flags", nargs="*", help="behind --: more flags of tenon-compile")
    arguments = parser.parse_args()
    os.makedirs(arguments.output, exist_ok=True)
    if arguments.cases:
        with open(arguments.cases, encoding="utf-8") as file:
            cases = [case_of(name) for name in file.read().split()]
    else:
        cases = drawn(arguments.seed, arguments.count)

    def compile_one(case):
        source = os.path.join(arguments.output, case.name() + ".mlir")
        with open(source, "w", encoding="utf-8") as file:
            file.write(drawn_program(case))
        target = os.path.join(arguments.output, case.name() + (f".{arguments.word}" if arguments.word else "") + ".tenon")
        done = subprocess.run([os.path.join(arguments.build, "compiler/tools/tenon-compile"), source, "-o", target, "--jobs=1",
                               "--target=" + arguments.target, "--images=cubin", *case.flags(), *arguments.flags], capture_output=True, text=True, check=False)
        os.remove(source)
        return case.name(), done

    failed = 0
    with ThreadPoolExecutor(os.cpu_count()) as pool:
        for name, done in pool.map(compile_one, cases):
            if done.returncode != 0:
                failed += 1
                print(f"{name}: {done.stderr.strip()[:300]}", file=sys.stderr)
    copy_runtime(arguments.build, arguments.output)
    print(f"{len(cases) - failed} of {len(cases)} programs compiled into {arguments.output}")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
