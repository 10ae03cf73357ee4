#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Random tensor programs, compiled and run, against NumPy in float64.

usage: fuzz.py --build=build [--count=1000] [--seed=1] [--jobs=N] [--keep=DIR] [--classes=reduce,pad] [--edges]

Each program has a number, which is its seed. A wrong result, a crash or a hang of the compiler, or a fault of the kernels is
made as small as it gets and written to KEEP/NUMBER.mlir and .txt; what the compiler refuses is counted by message. Exit status
1 when there was anything but right results and refusals.

    --compile-to=FILE    only compile, into one file; and then, where there is neither compiler nor build folder:
    --programs=FILE      run what was compiled there
    --edges --bounds-to=FILE    only ask tenon-opt for the bounds of plans; and then, where there is no tenon-opt:
    --edges --bounds=FILE       take them from there, and the seeds that it has bounds for
"""
import argparse
import multiprocessing
import os
import re
import subprocess
import sys
import tempfile
import time
import zlib
from collections import Counter

os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")
os.environ.setdefault("TENON_EMULATOR_QUIET", "1")
import numpy as np  # noqa: E402

import carry  # noqa: E402
from draws import convolution_forms  # noqa: E402
from draws import edge_programs  # noqa: E402
import elements  # noqa: E402
import judge  # noqa: E402  (puts scripts/ on the path)
from draws import random_program  # noqa: E402
import shrink  # noqa: E402
from elements import is_float, ulp  # noqa: E402
from nodes.node import Argument  # noqa: E402

SECONDS = 60  # for one program, in all
NAMED = "not supported|unsupported|; supported are|takes at most|[Dd]ialect .* not found"  # a refusal says what it is that cannot be compiled
VERDICTS = ("right", "refused", "empty", "wrong", "fault", "crash", "unnamed", "malformed")


def behind(program):
    """Of each input, how many elements lie in front of it in its memory."""
    return [node.behind for node in getattr(program, "nodes", ()) if isinstance(node, Argument)]


DONATED = " {tenon.donated}"


def giving_up(text):
    """The same program, whose caller gives up some of the tensors that he passes: which, its text decides."""
    head, rest = text.split("{", 1)
    draws = np.random.default_rng(zlib.crc32(text.encode()))
    takes, gives = head.split(" -> ", 1) if " -> " in head else (head, "")
    takes = re.sub(r"%\w+: tensor<[^>]*>", lambda argument: argument.group() + (DONATED if draws.random() < 0.7 else ""), takes)
    return takes + (" -> " + gives if gives else "") + "{" + rest


def given_up(text):
    """Numbers of the arguments that are."""
    head = text.split(" -> ", 1)[0].split(") {", 1)[0]
    return [i for i, argument in enumerate(re.findall(r"%\w+: [^%]*", head)) if DONATED in argument]


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
        self.device, self.seen, self.opened, self.compiled = None, {}, (None, None), (None, None)
        self.folder = tempfile.mkdtemp(prefix="tenon_fuzz_", dir=options["temporary"])

    def malformed(self, source, message):
        """Is it the program that is at fault? tenon-opt without passes reads and verifies, asked once for each message. Where
        there is none, it is not."""
        if not os.path.exists(self.options["reader"]):
            return False
        if stable(message) not in self.seen:
            done = subprocess.run([self.options["reader"], source], capture_output=True, timeout=SECONDS, check=False)
            self.seen[stable(message)] = done.returncode != 0
        return self.seen[stable(message)]

    def run(self, program, path=None, name="run"):
        """path: of a program that was compiled before, whose function `name` it is; the last one stays open. Gives (verdict, detail, known elements): right, wrong, refused, unnamed (refused, but by
        no name), malformed, crash or fault."""
        kept = path is not None
        if not kept:
            source, path = os.path.join(self.folder, "p.mlir"), os.path.join(self.folder, "p.tenon")
            text = giving_up(program.text()) if self.options.get("donate") else program.text()
            if text != self.compiled[0]:  # of edges, many are one text
                with open(source, "w", encoding="utf-8") as file:
                    file.write(text)
                self.compiled = text, self.compiler.compile(source, path)
            status, said = self.compiled[1]
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
            if not kept or self.opened[0] != path:
                if self.opened[1]:
                    self.opened[1].release()
                self.opened = path, self.device.open(path)
            results = self.device.call(self.opened[1], name, program.inputs(), behind(program), () if kept else given_up(text))
            if not kept:
                self.opened = self.opened[1].release(), None
        except judge.tenon_capi.TenonError as problem:
            return "fault", str(problem), 0
        wrong, known = difference(program, results)
        return ("wrong", wrong, known) if wrong else ("right", "", known)


def generator_of(options):
    if options.get("edges"):
        edge_programs.READER[:] = [options["reader"]]
        if options.get("bounds") and not edge_programs.BOUNDS:
            edge_programs.read_bounds(options["bounds"])
        return edge_programs.generate
    return (convolution_forms if options.get("convolutions") else random_program).generate


def work(options, pipe):
    """Answers one seed after the other: (seed, verdict, detail, known)."""
    runner = Runner(options)
    compiled = carry.Compiled(options["programs"], runner.folder) if options["programs"] else None
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
        program = generator_of(options)(task)
        if program is None:
            pipe.send((task, "empty", "", 0))
            continue
        missing = compiled.missing(task, program) if compiled else None
        where = (compiled.path(task), carry.name_of(task)) if compiled and not missing else ()
        answer = (*missing, 0) if missing else runner.run(program, *where)
        pipe.send((task, *answer))
        if answer[0] == "fault":
            return


class Worker:
    def __init__(self, options):
        self.options, self.seeds = options, []
        self.start()

    def start(self):
        context = multiprocessing.get_context("spawn")
        self.pipe, theirs = context.Pipe()
        self.process = context.Process(target=work, args=(self.options, theirs), daemon=True)
        self.process.start()
        theirs.close()
        self.task = None

    def more(self, shares):
        """The next seed, of the share that it has begun, or of a new one; None where there is none."""
        if not self.seeds and shares:
            self.seeds = shares.pop()
        return self.seeds.pop() if self.seeds else None

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


def answers(seeds, options, jobs, until):
    """(seed, verdict, detail, known) of each that was begun before time `until`, as they come. What was compiled together goes
    to one process."""
    workers = [Worker(options) for _ in range(jobs)]
    size = carry.TOGETHER if options["programs"] else edge_programs.SIZES if options.get("edges") else 1
    shares = {}
    for seed in reversed(seeds):
        shares.setdefault(seed // size, []).append(seed)
    waiting = list(shares.values())
    try:
        while waiting or any(worker.task is not None or worker.seeds for worker in workers):
            if time.monotonic() > until:
                waiting = []
                for worker in workers:
                    worker.seeds = []
            for worker in workers:
                if worker.task is None and (task := worker.more(waiting)) is not None:
                    worker.give(task)
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
    program = generator_of(options)(seed)
    if not options["programs"] and program.nodes:
        worker = Worker(options)
        program, detail = shrink.shrink(program, verdict, detail, worker.ask, stable if verdict != "wrong" else lambda _: "")
        worker.process.kill()
    os.makedirs(folder, exist_ok=True)
    base = os.path.join(folder, str(seed))
    with open(base + ".mlir", "w", encoding="utf-8") as file:
        file.write((giving_up(program.text()) if options.get("donate") else program.text()))
    with open(base + ".txt", "w", encoding="utf-8") as file:
        file.write(f"{verdict}: {detail}\nseed {seed}; nodes: {', '.join(map(repr, program.nodes)) or repr(program)}\n")
        for number, (kind, data) in enumerate(program.inputs()):
            shape = "x".join(map(str, data.shape + (kind,)))
            values = " ".join(map(str, data.ravel()[:64].tolist()))
            file.write(f"--input={shape}={values}{' ...' if data.size > 64 else ''}\n")
    for number, (kind, data) in enumerate(program.inputs()):
        if data.size > 64 and kind != "bf16":
            np.save(f"{base}_{number}.npy", data.astype(elements.STORED[kind]))
    return f"{base}.mlir ({len(program.nodes)} nodes): {detail}"


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
    parser.add_argument("--seconds", type=float, default=float("inf"), help="begin no program after so many")
    parser.add_argument("--jobs", type=int, default=os.cpu_count())
    parser.add_argument("--keep", default="build/fuzz-programs", help="folder for programs that fail")
    parser.add_argument("--most", type=int, default=20, help="stop after so many failures")
    parser.add_argument("--shrink", type=int, default=3, help="make so many of one message small, and four times as many wrong ones")
    parser.add_argument("--classes", default="", help="only these, of " + ", ".join(random_program.CLASSES))
    parser.add_argument("--convolutions", action="store_true", help="convolutions in every form, instead of programs of many operations")
    parser.add_argument("--donate", action="store_true", help="callers give up some of the tensors that they pass")
    parser.add_argument("--edges", action="store_true", help="programs whose sizes lie at the bounds of the compiler's plans")
    parser.add_argument("--bounds-to", default="", help="with --edges: write the bounds of plans, for --bounds")
    parser.add_argument("--bounds", default="", help="with --edges: bounds of plans, of seeds that are run")
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
    options.update(convolutions=arguments.convolutions, donate=arguments.donate, edges=arguments.edges, bounds=arguments.bounds, programs=arguments.programs, classes=[name for name in arguments.classes.split(",") if name])
    seeds = list(range(arguments.seed, arguments.seed + arguments.count))
    if arguments.bounds_to:
        generator_of({**options, "edges": True})
        return edge_programs.write_bounds(arguments.bounds_to, seeds)
    if arguments.bounds:
        edge_programs.read_bounds(arguments.bounds)
        seeds = [seed for seed in seeds if seed // edge_programs.SIZES in edge_programs.BOUNDS]
    if arguments.compile_to:
        return carry.compile_all(seeds, options, arguments.compile_to, arguments.jobs)
    begin, counts, refused, failures, known = time.monotonic(), Counter(), Counter(), [], 0
    with tempfile.TemporaryDirectory(prefix="tenon_fuzz_") as temporary:
        options["temporary"] = temporary
        told = begin
        for seed, verdict, detail, elements_known in answers(seeds, options, arguments.jobs, begin + arguments.seconds):
            counts[verdict] += 1
            if time.monotonic() > told + 60:
                told = time.monotonic()
                print(f"{sum(counts.values())} of {len(seeds)} after {told - begin:.0f} s", flush=True)
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
