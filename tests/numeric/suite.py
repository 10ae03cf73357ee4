#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Every operation on every type it takes, at ragged sizes that the program knows and that it does not, against NumPy in float64.

usage: suite.py --build=build [--grid=small|whole] [--filter=REGEX] [--csv=FILE] [--device=emulator|cuda]

Each line of the table is an operation on a type: the worst error in units of the last place, of the element itself and of the
result's largest element, beside PyTorch's on the same inputs where PyTorch is there. What is refused is counted by message. Exit
status 1 where a result is wrong, a kernel faults, the compiler crashes, or what is refused is not in --expect-refused.

    --compile-to=FOLDER  only compile; and then, where there is neither compiler nor build folder:
    --programs=FOLDER    run what was compiled there (--library: folder of libtenon_runtime.so)
    --part=K/N           only the K-th of N shares of the operations: suites of the others run beside it, and each makes its own
                         cases, which takes one process a minute for all of them
    --seconds=N          begin no program after so long. They are taken in an order that --seed makes, so that runs that
                         are too short for all of them see different ones; how many were not begun is printed.
"""
import argparse
import concurrent.futures
import csv
import json
import multiprocessing
import os
import random
import re
import sys
import tempfile
import time
import zipfile
from collections import Counter

import fuzz  # first: it sets up NumPy
import judge
import numpy as np
import suite_cases
from elements import is_float, ulp

SECONDS = 120  # for one case


class Errors:
    """Worst errors over cases, in units of the last place: of an element, and of the largest element of its result."""

    def __init__(self):
        self.own = self.largest = 0.0

    def add(self, kind, got, wanted, sure):
        if sure.any():
            with np.errstate(all="ignore"):
                gap = np.where(sure, np.abs(got - wanted.v), 0)
                gap = np.where(np.isnan(gap), np.inf, gap)
                self.own = max(self.own, float((gap / ulp(kind, np.where(sure, wanted.v, 1))).max()))
                self.largest = max(self.largest, float(gap.max() / ulp(kind, np.abs(np.where(sure, wanted.v, 0)).max())))


def wrong_specials(case, results):
    """NaNs and infinities: where NumPy's own result is one, it is one here, too."""
    if case.raw is None or not is_float(case.kind):
        return ""
    arrays = [data for _, data in case.program.inputs()]
    with np.errstate(all="ignore"):
        wanted = np.asarray(case.raw(*arrays), dtype=np.float64)
    got = results[0][1]
    # A value that is too large for the type only is infinite as well; its bound is not looked at here.
    bad = (np.isnan(wanted) != np.isnan(got)) | (np.isinf(wanted) & (got != wanted))
    if not bad.any():
        return ""
    at = int(np.argmax(bad.ravel()))
    return (f"{[float(a.ravel()[at]) for a in arrays if a.size == got.size]} gives {got.ravel()[at]}, wanted {wanted.ravel()[at]} "
            f"({int(bad.sum())} such elements)")


class Peer:
    """PyTorch's results on the same inputs, where there is PyTorch; on its GPU, where there is one."""

    def __init__(self, wanted):
        self.torch = self.device = None
        if wanted:
            try:
                import torch
                self.torch = torch
            except ImportError:
                pass

    def results(self, case):
        torch = self.torch
        if torch is None or case.torch is None:
            return None
        if self.device is None:  # in the process that uses it
            self.device = "cuda" if torch.cuda.is_available() else "cpu"
            torch.backends.cuda.matmul.allow_tf32 = torch.backends.cudnn.allow_tf32 = False
        types = {"f16": torch.float16, "bf16": torch.bfloat16, "f32": torch.float32, "f64": torch.float64,
                 "i64": torch.int64, "i32": torch.int32, "i16": torch.int16, "i8": torch.int8, "i1": torch.bool}
        try:
            given = [torch.from_numpy(np.array(data)).to(types[kind]).to(self.device) for kind, data in case.program.inputs()]
            made = case.torch(torch, *given)
        except (RuntimeError, TypeError, ValueError, NotImplementedError):  # not for this type or shape
            return None
        return [t.double().cpu().numpy() for t in (made if isinstance(made, (tuple, list)) else [made])]


class Judged:
    """What is known of a group."""

    def __init__(self, group):
        self.group = group
        self.right = self.elements = 0
        self.seconds = 0.0
        self.problems, self.refused = [], Counter()
        self.errors, self.peer, self.has_peer = Errors(), Errors(), False

    def row(self):
        return {"operation": self.group.operation, "type": self.group.kind, "cases": len(self.group.cases), "right": self.right,
                "refused": sum(self.refused.values()), "wrong": len(self.problems), "elements": self.elements,
                "ulp": f"{self.errors.own:.3g}", "ulp_of_largest": f"{self.errors.largest:.3g}",
                "torch_ulp": f"{self.peer.own:.3g}" if self.has_peer else "",
                "torch_ulp_of_largest": f"{self.peer.largest:.3g}" if self.has_peer else "", "seconds": f"{self.seconds:.2f}",
                "message": "; ".join([*self.refused, *self.problems[:1]])[:300]}


class Batch:
    """Some groups, compiled into one program, and run, in a process of their own: after a fault a process cannot use the device
    any more, and the next one goes on with the next case."""

    def __init__(self, found, path, refused, crashed):
        self.groups, self.path, self.refused, self.crashed = found, path, refused, crashed

    def judge(self):
        """A Judged of each group."""
        made, items = [Judged(group) for group in self.groups], []
        for judged, group in zip(made, self.groups):
            for name, case in group.cases:
                if name in self.refused:
                    judged.refused[fuzz.stable(self.refused[name])] += 1
                elif name in self.crashed:
                    judged.problems.append(f"crash: {group.operation} {group.kind}: {self.crashed[name]}")
                else:
                    items.append((judged, name, case))
        begin, context = 0, multiprocessing.get_context("fork")
        while begin < len(items):
            pipe, theirs = context.Pipe(duplex=False)
            process = context.Process(target=self.run, args=(items[begin:], theirs))
            process.start()
            theirs.close()
            try:
                while begin < len(items):
                    if not pipe.poll(SECONDS):
                        raise EOFError
                    fault = pipe.recv()(items[begin][0])
                    begin += 1
                    if fault:
                        break
            except EOFError:
                hangs = process.is_alive()
                process.kill()
                process.join()
                judged, name, case = items[begin]
                judged.problems.append(f"{self.what(judged.group, name, case)}: " +
                                       (f"more than {SECONDS} s" if hangs else f"the process died: {process.exitcode}"))
                begin += 1
            process.join()
        return made

    @staticmethod
    def what(group, name, case):
        shapes = ", ".join("x".join(map(str, data.shape)) or "scalar" for _, data in case.program.inputs()[:3])
        return f"{group.operation} {group.kind}, {shapes}{', unknown sizes' if '?' in group.functions[name] else ''}"

    def run(self, items, pipe):
        """In the process: an Answer for each item."""
        np.seterr(all="ignore")
        program = None
        for judged, name, case in items:
            answer, begin = Answer(), time.monotonic()
            try:
                device = STATE.setdefault("device", None) or judge.Device(judge.find_library(STATE["library"]), STATE["driver"])
                STATE["device"] = device
                program = program or device.open(self.path)
                results = device.call(program, name, case.program.inputs(), fuzz.behind(case.program))
            except judge.tenon_capi.TenonError as problem:
                answer.problem, answer.fault = f"fault: {self.what(judged.group, name, case)}: {problem}", True
                pipe.send(answer)
                return
            wrong, answer.known = fuzz.difference(case.program, results)
            wrong = wrong or wrong_specials(case, results)
            if wrong:
                answer.problem = f"{self.what(judged.group, name, case)}: {wrong}"
            else:
                theirs = STATE["peer"].results(case)
                for number, ((kind, got), wanted) in enumerate(zip(results, case.program.expected())):
                    if is_float(kind):
                        sure = np.isfinite(wanted.e)
                        answer.errors.add(kind, got, wanted, sure)
                        if theirs and number < len(theirs) and theirs[number].shape == got.shape:
                            answer.peer.add(kind, theirs[number], wanted, sure)
                            answer.has_peer = True
            answer.seconds = time.monotonic() - begin
            pipe.send(answer)
        if program is not None:
            program.release()


class Answer:
    """Of one case."""

    def __init__(self):
        self.problem, self.fault, self.known, self.seconds = "", False, 0, 0.0
        self.errors, self.peer, self.has_peer = Errors(), Errors(), False

    def __call__(self, judged):
        """Adds it to what is known of its group. Gives whether the process is of no use any more."""
        judged.elements += self.known
        judged.seconds += self.seconds
        if self.problem:
            judged.problems.append(self.problem)
        else:
            judged.right += 1
        for mine, its in ((judged.errors, self.errors), (judged.peer, self.peer)):
            mine.own, mine.largest = max(mine.own, its.own), max(mine.largest, its.largest)
        judged.has_peer |= self.has_peer
        return self.fault


STATE = {}


def start(options):
    """Of a process: its compiler, its device. The cases are its parent's: making them takes ten seconds."""
    STATE.update(options, folder=tempfile.mkdtemp(dir=options["temporary"]))
    STATE["peer"] = Peer(options["torch"])
    STATE["compiled"] = zipfile.ZipFile(options["programs"]) if options["programs"] else None


def compiled(number):
    """A batch as a program."""
    found, path = STATE["batches"][number], os.path.join(STATE["folder"], f"{number}.tenon")
    if STATE["compiled"]:
        refused, crashed, names = json.loads(STATE["compiled"].read(f"{number}.json"))
        if names != [name for group in found for name in group.functions]:
            raise SystemExit("the programs were compiled from other cases: compile with the same --grid, --filter and sources")
        if f"{number}.tenon" in STATE["compiled"].namelist():
            with open(path, "wb") as file:
                file.write(STATE["compiled"].read(f"{number}.tenon"))
        return Batch(found, path, refused, crashed)
    compiler = judge.Compiler(STATE["compiler"], STATE["flags"], 600)
    functions = {name: text for group in found for name, text in group.functions.items()}
    return Batch(found, path, *compiler.compile_functions(functions, os.path.join(STATE["folder"], "batch.mlir"), path))


def judged(number):
    """(row, problems, refused) of each group of a batch; None: there was no time to begin it."""
    if time.monotonic() > STATE["deadline"]:
        return None
    batch = compiled(number)
    try:
        return [(group.row(), group.problems, group.refused) for group in batch.judge()]
    finally:
        if os.path.exists(batch.path):
            os.remove(batch.path)


def made(number):
    """What --compile-to keeps of a batch."""
    batch, data = compiled(number), None
    if os.path.exists(batch.path):
        with open(batch.path, "rb") as file:
            data = file.read()
    return number, data, batch.refused, batch.crashed, [name for group in batch.groups for name in group.functions]


def table(rows):
    names = ("operation", "type", "cases", "right", "refused", "wrong", "ulp", "ulp_of_largest", "torch_ulp", "torch_ulp_of_largest")
    widths = [max(len(str(row[name])) for row in rows + [dict(zip(names, names))]) for name in names]
    for row in [dict(zip(names, names))] + rows:
        print("  ".join(str(row[name]).ljust(width) for name, width in zip(names, widths)).rstrip())


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--build", default="build", help="build folder: compiler, runtime library, emulator")
    parser.add_argument("--grid", choices=("small", "whole"), default="whole")
    parser.add_argument("--filter", default="", help="regular expression over 'operation type'")
    parser.add_argument("--part", default="1/1", help="K/N: the K-th of N shares of the operations, for suites beside each other")
    parser.add_argument("--jobs", type=int, default=os.cpu_count())
    parser.add_argument("--csv", default="")
    parser.add_argument("--quiet", action="store_true", help="no table")
    parser.add_argument("--device", default="emulator")
    parser.add_argument("--checks", default="", help="TENON_EMULATOR_CHECK, such as races,uninitialised")
    parser.add_argument("--flags", default="--target=sm_80 --images=ptx", help="of tenon-compile")
    parser.add_argument("--no-torch", action="store_true")
    parser.add_argument("--expect-refused", default="", help="regular expression over messages of what may be refused; default: what says what is not supported")
    parser.add_argument("--compile-to", default="")
    parser.add_argument("--programs", default="")
    parser.add_argument("--library", default="", help="folder of libtenon_runtime.so (default: the build folder)")
    parser.add_argument("--seconds", type=float, default=0, help="begin no program after so long (default: all of them)")
    parser.add_argument("--seed", type=int, default=0, help="of their order, with --seconds")
    arguments = parser.parse_args()
    if arguments.checks:
        os.environ["TENON_EMULATOR_CHECK"] = arguments.checks
    begin = time.monotonic()
    # Small programs end soon after the time is over.
    part, parts = (int(number) for number in arguments.part.split("/"))
    if not 1 <= part <= parts <= len(suite_cases.MODULES):
        raise SystemExit(f"--part={arguments.part}: K/N is wanted, 1 <= K <= N <= {len(suite_cases.MODULES)}")
    modules = suite_cases.share(part, parts)
    found = suite_cases.batches(suite_cases.groups(arguments.grid, arguments.filter, modules), *([30] if arguments.seconds else []))
    numbers = list(range(len(found)))
    if not numbers and parts > 1:
        print(f"no case of part {arguments.part} has such a name")
        return 0
    if not numbers:
        raise SystemExit("no case has such a name")
    if arguments.seconds:
        random.Random(arguments.seed).shuffle(numbers)
    rows, refused, problems, left = [], Counter(), [], 0
    with tempfile.TemporaryDirectory(prefix="tenon_suite_") as temporary:
        options = {**fuzz.options_of(arguments.build, arguments.device, arguments.flags, arguments.library), "temporary": temporary,
                   "batches": found, "programs": arguments.programs,
                   "deadline": begin + arguments.seconds if arguments.seconds else float("inf"),
                   "torch": not arguments.no_torch and not arguments.compile_to}
        with concurrent.futures.ProcessPoolExecutor(arguments.jobs, multiprocessing.get_context("fork"), start, (options,)) as pool:
            if arguments.compile_to:
                crashes = 0
                with zipfile.ZipFile(arguments.compile_to, "w", zipfile.ZIP_LZMA) as out:
                    for number, data, no, crashed, names in pool.map(made, numbers):
                        out.writestr(f"{number}.json", json.dumps([no, crashed, names]))
                        if data is not None:
                            out.writestr(f"{number}.tenon", data)
                        crashes += len(crashed)
                print(f"{arguments.compile_to}: {len(numbers)} programs, {crashes} crashes, {os.path.getsize(arguments.compile_to) >> 20} MiB")
                return 1 if crashes else 0
            # As they end, so that one that takes long hides no other's problem.
            for future in concurrent.futures.as_completed([pool.submit(judged, number) for number in numbers]):
                groups = future.result()
                left += groups is None
                for row, wrong, no in groups or ():
                    rows.append(row)
                    refused.update(no)
                    problems += wrong
                    for problem in wrong[:3]:
                        print(f"wrong: {problem[:400]}", flush=True)
    order = {(group.operation, group.kind): group.number for batch in found for group in batch}
    rows.sort(key=lambda row: order[row["operation"], row["type"]])
    if left:
        print(f"skipped: {left} of {len(numbers)} programs were not begun within {arguments.seconds:g} s")
    for module in modules:
        name, reason = getattr(module, "LEFT_OUT", ("", ""))
        if any(row["operation"].startswith(name) for row in rows) and reason:
            print(f"skipped: {reason}")
    if not rows and not left:  # a short time may end before the first is begun, which was said
        print(f"no case of part {arguments.part} has such a name")
    if not rows:
        return 0 if left or parts > 1 else 1
    if arguments.csv:
        with open(arguments.csv, "w", newline="", encoding="utf-8") as file:
            writer = csv.DictWriter(file, list(rows[0]))
            writer.writeheader()
            writer.writerows(rows)
    if not arguments.quiet:
        table(rows)
    for message, count in refused.most_common():
        print(f"  refused {count}: {message}")
    totals = {name: sum(row[name] for row in rows) for name in ("cases", "right", "refused", "wrong", "elements")}
    print(f"{totals['cases']} cases of {len(rows)} operations and types in {time.monotonic() - begin:.0f} s: {totals['right']} right, "
          f"{totals['refused']} refused, {totals['wrong']} wrong; {totals['elements']} elements compared")
    named = arguments.expect_refused or fuzz.NAMED
    unexpected = [m for m in refused if not re.search(named, m)]
    for message in unexpected:
        print(f"not to be refused: {message}")
    return 1 if problems or unexpected or not totals["right"] else 0


if __name__ == "__main__":
    sys.exit(main())
