#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Random programs with control flow through tenon-compile and tenon-check, against what Python computed. README.md."""
import argparse
import os
import re
import subprocess
import sys

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
import random_control


def tool(build, *path):
    return os.path.join(build, *path)


def run(command, environment, seconds):
    try:
        done = subprocess.run(command, capture_output=True, text=True, env=environment, timeout=seconds)
    except subprocess.TimeoutExpired:
        return None, "no end after %d s" % seconds
    return done.returncode, done.stdout + done.stderr


def falsified(text):
    """With another first element than is right."""
    found = re.search(r"check\.expect_eq_const\(%r#1, dense<\[(-?[0-9]+)", text)
    value = int(found[1])
    return text[:found.start(1)] + str(value - 1 if value > 0 else value + 1) + text[found.end(1):]


def check(options, seed, environment):
    """Lines that say what is wrong; none."""
    source = os.path.join(options.keep, "seed_%d.mlir" % seed)
    program = source[:-5] + ".tenon"
    text = random_control.module(seed, options.functions)
    if options.wrong:
        text = falsified(text)
    with open(source, "w") as file:
        file.write(text)
    status, said = run([tool(options.build, "compiler", "tools", "tenon-compile"), source, "-o", program,
                        "--target=sm_80", "--images=ptx"], environment, options.seconds)
    if status != 0:
        return ["tenon-compile: %s" % status] + said.splitlines()[:20]
    status, said = run([tool(options.build, "runtime", "tools", "tenon-check"), program, "--device=" + options.device],
                       environment, options.seconds)
    rows = said.splitlines()
    if status != 0:
        return ["tenon-check: %s" % status] + [row for row in rows if not row.startswith("PASS")][:20]
    if not any("%d functions: " % (2 * options.functions) in row for row in rows):
        return ["tenon-check called other functions than were made: "] + rows[-1:]
    os.remove(source)
    os.remove(program)
    options.held += sum(row.startswith("PASS") for row in rows)
    return []


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--build", required=True, help="a build folder, with the compiler and the emulator")
    parser.add_argument("--keep", required=True, help="where the programs that fail are written")
    parser.add_argument("--seed", type=int, default=0, help="of the first module")
    parser.add_argument("--count", type=int, default=8, help="modules")
    parser.add_argument("--functions", type=int, default=12, help="of each module; each is called twice")
    parser.add_argument("--device", default="emulator")
    parser.add_argument("--seconds", type=int, default=120, help="for one module to compile, and to run")
    parser.add_argument("--wrong", action="store_true", help="expect one wrong element of each, and that it is found")
    options = parser.parse_args()
    options.held = 0
    os.makedirs(options.keep, exist_ok=True)
    environment = dict(os.environ, TENON_EMULATOR_QUIET="1",
                       TENON_EMULATOR_LIBRARY=tool(options.build, "emulator", "libtenon_emulator.so"))
    failed = 0
    for seed in range(options.seed, options.seed + options.count):
        wrong = check(options, seed, environment)
        if options.wrong:
            wrong = [] if any("1 of 4 elements differ" in line for line in wrong) else ["nothing was found"] + wrong
        if wrong:
            failed += 1
            print("seed %d: %s" % (seed, "\n  ".join(wrong)), flush=True)
    print("%d modules of %d functions, each called twice: %d expectations held, %d modules failed" % (
        options.count, options.functions, options.held, failed))
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
