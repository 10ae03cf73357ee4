#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Random tensor programs, compiled and run, against NumPy in float64.

usage: fuzz.py --build=build [--count=1000] [--seed=1] [--jobs=N] [--keep=DIR] [--classes=reduce,pad]

Each program has a number, which is its seed. A wrong result, a crash or a hang of the compiler, or a fault of the kernels is
made as small as it gets and written to KEEP/NUMBER.mlir and .txt; what the compiler refuses is counted by message. Exit status
1 when there was anything but right results and refusals.

    --compile-to=FILE    only compile, into one file; and then, where there is neither compiler nor build folder:
    --programs=FILE      run what was compiled there
"""
import argparse
import hashlib
import json
import multiprocessing
import os
import re
import subprocess
import sys
import tempfile
import time
import zipfile
from collections import Counter

os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")
os.environ.setdefault("TENON_EMULATOR_QUIET", "1")
import numpy as np  # noqa: E402

import elements  # noqa: E402
import judge  # noqa: E402  (puts scripts/ on the path)
import random_program  # noqa: E402
import shrink  # noqa: E402
from elements import is_float, ulp  # noqa: E402

SECONDS = 60  # for one program, in all
NAMED = "not supported|unsupported|; supported are|takes at most|[Dd]ialect .* not found"  # a refusal says what it is that cannot be compiled
VERDICTS = ("right", "refused", "empty", "wrong", "fault", "crash", "unnamed", "malformed")


def difference(program, results):
    """"" where every element that is known is within its bound; else which is not. Also how many are known."""
    expected = program.expected()
    if len(results) != len(expected):
        return f"{len(results)} results, wanted {len(expected)}", 0
    known = 0
    for number, ((kind, got), wanted) in enumerate(zip(results, expected)):
        if kind != wanted.kind or tuple(got.shape) != tuple(wanted.shape):
            return f"result {number} is {got.shape} {kind}, wanted {wanted.shape} {wanted.kind}", known
        sure = np.isfinite(wanted.e)
        known += int(sure.sum())
        with np.errstate(all="ignore"):
            if is_float(kind):
                bound = 2 * wanted.e + ulp(kind, np.abs(wanted.v) + np.where(sure, wanted.e, 0))
                bad = sure & ~(np.abs(got - wanted.v) <= bound)
            else:
                bound = np.zeros(got.shape)
                bad = sure & (got != wanted.v)
        if bad.any():
            at = tuple(int(i) for i in np.argwhere(bad)[0])
            return (f"result {number} ({'x'.join(map(str, got.shape))}x{kind}): {int(bad.sum())} of {got.size} elements differ; "
                    f"[{', '.join(map(str, at))}]: got {got[at]!r}, wanted {wanted.v[at]!r} +- {bound[at]:.3g}"), known
    return "", known


def stable(message):
    """Without what differs from program to program, for counting."""
    return re.sub(r"%\w+|\b\d+(x\d+)*\b|tensor<[^>]*>|affine_map<\(.*?\)>", "_", message)[:160]


class Runner:
    """In a process of its own, which may die."""

    def __init__(self, options):
        self.options = options
        self.compiler = judge.Compiler(options["compiler"], options["flags"], SECONDS // 2)
        self.device, self.seen = None, {}
        self.folder = tempfile.mkdtemp(prefix="tenon_fuzz_", dir=options["temporary"])

    def malformed(self, source, message):
        """Is it the program that is at fault? tenon-opt without passes reads and verifies, asked once for each message."""
        if stable(message) not in self.seen:
            done = subprocess.run([self.options["reader"], source], capture_output=True, timeout=SECONDS, check=False)
            self.seen[stable(message)] = done.returncode != 0
        return self.seen[stable(message)]

    def run(self, program, path=None):
        """(verdict, detail, known elements): right, wrong, refused, unnamed (refused, but by no name), malformed, crash or
        fault."""
        if path is None:
            source, path = os.path.join(self.folder, "p.mlir"), os.path.join(self.folder, "p.tenon")
            with open(source, "w", encoding="utf-8") as file:
                file.write(program.text())
            status, said = self.compiler.compile(source, path)
            if status == 1 and "error: " in said and "bug in" not in said:
                message = said.split("error: ", 1)[1].splitlines()[0]
                if not re.search(NAMED, message):
                    return ("malformed" if self.malformed(source, message) else "unnamed"), message, 0
                return "refused", message, 0
            if status != 0:
                return "crash", f"tenon-compile: exit status {status}: {said[-600:]}", 0
        if self.device is None:
            self.device = judge.Device(judge.find_library(self.options["library"]), self.options["driver"])
        try:
            opened = self.device.open(path)
            try:
                results = self.device.call(opened, "run", program.inputs())
            finally:
                opened.release()
        except judge.tenon_capi.TenonError as problem:
            return "fault", str(problem), 0
        wrong, known = difference(program, results)
        return ("wrong", wrong, known) if wrong else ("right", "", known)


def generate(seed):
    with np.errstate(all="ignore"):
        return random_program.grow(seed)


def work(options, pipe):
    """Answers one seed after the other: (seed, verdict, detail, known)."""
    runner = Runner(options)
    compiled = Compiled(options["programs"], runner.folder) if options["programs"] else None
    classes = compiled.index["classes"] if compiled else options["classes"]
    random_program.CLASSES = tuple(classes or random_program.CLASSES)
    while True:
        task = pipe.recv()
        if task is None:
            return
        if isinstance(task, tuple):  # (program): a candidate of the shrinker
            answer = runner.run(task[0])
            pipe.send(answer)
            if answer[0] == "fault":
                return  # CUDA does not work any more in this process
            continue
        program = generate(task)
        if program is None:
            pipe.send((task, "empty", "", 0))
            continue
        missing = compiled.extract(task, program) if compiled else None
        answer = (*missing, 0) if missing else runner.run(program, compiled.path if compiled else None)
        pipe.send((task, *answer))
        if answer[0] == "fault":
            return


class Worker:
    def __init__(self, options):
        self.options = options
        self.start()

    def start(self):
        context = multiprocessing.get_context("spawn")
        self.pipe, theirs = context.Pipe()
        self.process = context.Process(target=work, args=(self.options, theirs), daemon=True)
        self.process.start()
        theirs.close()
        self.task = None

    def give(self, task):
        self.task, self.since = task, time.monotonic()
        self.pipe.send(task)

    def lost(self):
        """What became of a task whose process died or hangs, or None."""
        if self.process.is_alive() and time.monotonic() - self.since < SECONDS + 10:
            return None
        detail = f"more than {SECONDS + 10} s" if self.process.is_alive() else f"the process died: {self.process.exitcode}"
        self.process.kill()
        self.process.join()
        return detail

    def ask(self, program):
        """A verdict for one program, whatever it does to the process."""
        self.give((program,))
        while not self.pipe.poll(0.2):
            detail = self.lost()
            if detail:
                self.start()
                return "crash", detail, 0
        try:
            answer = self.pipe.recv()
            if answer[0] == "fault":
                self.start()
            return answer
        except EOFError:
            self.process.join()
            detail = f"the process died: {self.process.exitcode}"
            self.start()
            return "crash", detail, 0


def answers(seeds, options, jobs):
    """(seed, verdict, detail, known) of each, as they come."""
    workers, waiting = [Worker(options) for _ in range(jobs)], list(reversed(seeds))
    try:
        while waiting or any(worker.task is not None for worker in workers):
            for worker in workers:
                if worker.task is None and waiting:
                    worker.give(waiting.pop())
            ready = multiprocessing.connection.wait([worker.pipe for worker in workers if worker.task is not None], 1.0)
            for worker in workers:
                if worker.task is None:
                    continue
                try:
                    if worker.pipe in ready:
                        answer = worker.pipe.recv()
                        worker.task = None
                        if answer[1] == "fault":
                            worker.start()
                        yield answer
                        continue
                except EOFError:
                    worker.process.join()
                detail = worker.lost()
                if detail:
                    task = worker.task
                    worker.start()
                    yield task, "crash", detail, 0
    finally:
        for worker in workers:
            worker.process.kill()


def keep(seed, verdict, detail, options, folder):
    """Shrinks and writes a program that failed."""
    random_program.CLASSES = tuple(options["classes"] or random_program.CLASSES)
    program = generate(seed)
    if not options["programs"]:
        worker = Worker(options)
        program, detail = shrink.shrink(program, verdict, detail, worker.ask, stable if verdict != "wrong" else lambda _: "")
        worker.process.kill()
    os.makedirs(folder, exist_ok=True)
    base = os.path.join(folder, str(seed))
    with open(base + ".mlir", "w", encoding="utf-8") as file:
        file.write(program.text())
    with open(base + ".txt", "w", encoding="utf-8") as file:
        file.write(f"{verdict}: {detail}\nseed {seed}; nodes: {', '.join(map(repr, program.nodes))}\n")
        for number, (kind, data) in enumerate(program.inputs()):
            shape = "x".join(map(str, data.shape + (kind,)))
            values = " ".join(map(str, data.ravel()[:64].tolist()))
            file.write(f"--input={shape}={values}{' ...' if data.size > 64 else ''}\n")
    for number, (kind, data) in enumerate(program.inputs()):
        if data.size > 64 and kind != "bf16":
            np.save(f"{base}_{number}.npy", data.astype(elements.STORED[kind]))
    return f"{base}.mlir ({len(program.nodes)} nodes): {detail}"


def digest(program):
    return hashlib.sha256(program.text().encode()).hexdigest()[:16]


def compile_share(task):
    """One process's part of compile_all: (seed, digest or None, message, bytes) of each."""
    seeds, options, folder = task
    random_program.CLASSES = tuple(options["classes"] or random_program.CLASSES)
    compiler, made = judge.Compiler(options["compiler"], options["flags"]), []
    source, target = (os.path.join(folder, f"{os.getpid()}.{end}") for end in ("mlir", "tenon"))
    for seed in seeds:
        program = generate(seed)
        if program is None:
            continue
        with open(source, "w", encoding="utf-8") as file:
            file.write(program.text())
        status, said = compiler.compile(source, target)
        if status == 0:
            with open(target, "rb") as file:
                made.append((seed, digest(program), "", file.read()))
        else:
            message = said.split("error: ", 1)[1].splitlines()[0] if "error: " in said else said[-300:]
            made.append((seed, None, f"exit status {status}: {message}" if status != 1 else message, b""))
    return made


def compile_all(seeds, options, target, jobs):
    """Programs for a machine without compiler, in one file: SEED.tenon each, and index.json with what was refused."""
    index, crashes = {"classes": options["classes"], "programs": {}, "refused": {}}, 0
    with zipfile.ZipFile(target, "w", zipfile.ZIP_LZMA) as out, tempfile.TemporaryDirectory() as folder, \
            multiprocessing.Pool(jobs) as pool:
        shares = [(seeds[i:i + 50], options, folder) for i in range(0, len(seeds), 50)]
        for made in pool.imap(compile_share, shares):
            for seed, text, message, data in made:
                if text is None:
                    index["refused"][seed] = message
                    if message.startswith("exit status"):
                        crashes += 1
                        print(f"crash {seed}: {message}", flush=True)
                else:
                    index["programs"][seed] = text
                    out.writestr(f"{seed}.tenon", data)
        out.writestr("index.json", json.dumps(index))
    print(f"{target}: {len(index['programs'])} compiled, {len(index['refused']) - crashes} refused, {crashes} crashes; "
          f"{os.path.getsize(target) >> 20} MiB")
    return 1 if crashes else 0


class Compiled:
    """What compile_all made."""

    def __init__(self, path, folder):
        self.zip, self.path = zipfile.ZipFile(path), os.path.join(folder, "p.tenon")
        self.index = json.loads(self.zip.read("index.json"))

    def extract(self, seed, program):
        """(verdict, detail) where there is nothing to run, else None; the program then stands at `path`."""
        wanted = self.index["programs"].get(str(seed))
        if wanted is None:
            return "refused", self.index["refused"].get(str(seed), "it was not compiled")
        if wanted != digest(program):
            return "malformed", "this NumPy draws other numbers than the one that the programs were compiled with"
        with open(self.path, "wb") as file:
            file.write(self.zip.read(f"{seed}.tenon"))
        return None


def options_of(build, device="emulator", flags="--target=sm_80 --images=ptx", library=""):
    """What a Runner needs, from a build folder; `library`: where the runtime's is, without one."""
    build = os.path.abspath(build)
    emulator = os.path.join(build, "emulator", "libtenon_emulator.so")
    if os.path.exists(emulator):
        os.environ.setdefault("TENON_EMULATOR_LIBRARY", emulator)
    tools = os.path.join(build, "compiler", "tools")
    return {"compiler": os.path.join(tools, "tenon-compile"), "reader": os.path.join(tools, "tenon-opt"), "flags": flags.split(),
            "driver": device, "library": library or build, "programs": "", "classes": [], "temporary": None}


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--build", default="build", help="build folder: compiler, runtime library, emulator")
    parser.add_argument("--count", type=int, default=1000)
    parser.add_argument("--seed", type=int, default=1, help="number of the first program")
    parser.add_argument("--jobs", type=int, default=os.cpu_count())
    parser.add_argument("--keep", default="build/fuzz-programs", help="folder for programs that fail")
    parser.add_argument("--most", type=int, default=20, help="stop after so many failures")
    parser.add_argument("--shrink", type=int, default=3, help="make so many of one message small, and four times as many wrong ones")
    parser.add_argument("--classes", default="", help="only these, of " + ", ".join(random_program.CLASSES))
    parser.add_argument("--device", default="emulator")
    parser.add_argument("--checks", default="", help="TENON_EMULATOR_CHECK, such as races,uninitialised")
    parser.add_argument("--flags", default="--target=sm_80 --images=ptx", help="of tenon-compile")
    parser.add_argument("--compile-to", default="")
    parser.add_argument("--programs", default="")
    parser.add_argument("--library", default="", help="folder of libtenon_runtime.so (default: the build folder)")
    arguments = parser.parse_args()
    if arguments.checks:
        os.environ["TENON_EMULATOR_CHECK"] = arguments.checks
    options = options_of(arguments.build, arguments.device, arguments.flags, arguments.library)
    options.update(programs=arguments.programs, classes=[name for name in arguments.classes.split(",") if name])
    seeds = list(range(arguments.seed, arguments.seed + arguments.count))
    if arguments.compile_to:
        return compile_all(seeds, options, arguments.compile_to, arguments.jobs)
    begin, counts, refused, failures, known = time.monotonic(), Counter(), Counter(), [], 0
    with tempfile.TemporaryDirectory(prefix="tenon_fuzz_") as temporary:
        options["temporary"] = temporary
        for seed, verdict, detail, elements_known in answers(seeds, options, arguments.jobs):
            counts[verdict] += 1
            known += elements_known
            if verdict == "refused":
                refused[stable(detail)] += 1
            elif verdict not in ("right", "empty"):
                print(f"{verdict} {seed}: {detail[:300]}", flush=True)
                failures.append((seed, verdict, detail))
                if len(failures) >= arguments.most:
                    print(f"stopped after {len(failures)} failures")
                    break
        kinds = Counter()
        for seed, verdict, detail in failures:
            kind = verdict if verdict == "wrong" else verdict + stable(detail)
            kinds[kind] += 1
            if kinds[kind] <= (arguments.shrink * 4 if verdict == "wrong" else arguments.shrink):
                print("shrunk: " + keep(seed, verdict, detail, options, arguments.keep), flush=True)
    for message, count in refused.most_common():
        print(f"  refused {count}: {message}")
    total = sum(counts.values())
    print(f"{total} programs in {time.monotonic() - begin:.0f} s: " +
          ", ".join(f"{counts[name]} {name}" for name in VERDICTS) +
          f"; {known} elements compared")
    return 1 if failures or not counts["right"] else 0


if __name__ == "__main__":
    sys.exit(main())
