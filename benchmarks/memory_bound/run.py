#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Runs the memory-bound cases on the GPU of this machine: Tenon beside PyTorch eager and torch.compile, interleaved.

usage: benchmarks/memory_bound/run.py [--programs=build/memory_bound] [--output=DIR] [--set=first] [--filter=softmax,add]

Needs a CUDA driver and PyTorch; what Tenon runs was compiled before by compile.py. Writes DIR/memory_bound.csv row by row, and
at the end memory_bound.md and, where there is matplotlib, memory_bound.png. A case that was refused by tenon-compile is a row
of the table with the compiler's message; `--refused` measures PyTorch on it all the same. Cases run in a process of their own
that is begun again when one hangs or breaks the device, and what took too long is a row, too.
"""
import argparse
import csv
import glob
import json
import multiprocessing
import os
import random
import sys
import time

from cases import case_name, cases as listed, dynamic_name
import report

FIELDS = ["operation", "shape", "kind", "participant", "status", "us", "least_us", "most_us", "gbps", "bytes", "l2", "sets",
          "calls", "rounds", "mode", "max_error", "scale", "host_us", "once_us", "message"]


def torch_settings():
    import torch
    import torch._dynamo
    torch.set_grad_enabled(False)
    torch._dynamo.config.recompile_limit = torch._dynamo.config.accumulated_recompile_limit = 100000
    return torch


def worker(pipe, folder, files, how):
    """Takes cases from the pipe: (case, participants to leave out). Answers ("begin", name) and ("rows", rows)."""
    import measure
    import tenon_capi as tenon
    torch = torch_settings()
    torch.cuda.init()
    torch.empty(1, device="cuda")
    runtime = tenon.Runtime(os.path.join(folder, "libtenon_runtime.so"))
    pipe.send(("ready", torch.cuda.get_device_name(0)))
    while True:
        case, skip = pipe.recv()
        try:
            rows = measure.measure(case, runtime, folder, files, skip, lambda name: pipe.send(("begin", name)), **how)
        except Exception as problem:  # pylint: disable=broad-except
            rows = [{"operation": case.operation, "shape": "x".join(map(str, case.shape)), "kind": case.kind,
                     "participant": "case", "status": "failed", "message": f"{type(problem).__name__}: {problem}"[:300]}]
        pipe.send(("rows", rows))


def warm(cases, share, shares):
    """torch.compile of a share of the cases, into its cache on disk."""
    import measure
    from workloads import workload_of
    torch = torch_settings()
    for i, case in enumerate(cases):
        if i % shares != share or not workload_of(case).compiled:
            continue
        try:
            inputs = workload_of(case).inputs(case, "cuda")
            if sum(t.nbytes for t in inputs) <= 3 << 30:
                measure.compiled(workload_of(case))(*inputs)
            del inputs
        except Exception as problem:  # pylint: disable=broad-except
            print(f"warm {case_name(case)}: {str(problem)[:200]}", file=sys.stderr)
        torch.cuda.empty_cache()


def warm_all(cases, processes):
    """In parallel, since most of it is compilation on the CPU. What was tuned meanwhile is forgotten: timings were disturbed."""
    context = multiprocessing.get_context("spawn")
    os.environ["TORCHINDUCTOR_COMPILE_THREADS"] = "1"
    running = [context.Process(target=warm, args=(cases, i, processes)) for i in range(processes)]
    for process in running:
        process.start()
    for process in running:
        process.join()
    for path in glob.glob(os.path.join(os.environ["TORCHINDUCTOR_CACHE_DIR"], "**", "*.best_config"), recursive=True):
        os.remove(path)


class Worker:
    def __init__(self, folder, files, how):
        context = multiprocessing.get_context("spawn")
        self.pipe, theirs = context.Pipe()
        self.process = context.Process(target=worker, args=(theirs, folder, files, how), daemon=True)
        self.process.start()
        theirs.close()
        self.device = self.answer(120)[1]

    def answer(self, seconds):
        """The next message; None when it takes too long or the process has died."""
        try:
            return self.pipe.recv() if self.pipe.poll(seconds) else None
        except EOFError:
            return None

    def run(self, case, skip, seconds):
        """(rows, None) or (None, the participant during which it hung or died)."""
        self.pipe.send((case, skip))
        name, end = "inputs", time.monotonic() + seconds
        while True:
            message = self.answer(max(end - time.monotonic(), 0))
            if message is None:
                died = not self.process.is_alive()
                self.process.kill()
                return None, (name, "the process died" if died else f"more than {seconds} s")
            if message[0] == "rows":
                return message[1], None
            name = message[1]


def refused_rows(case, files):
    rows = []
    for name, file in (("tenon", files.get(case_name(case))), ("tenon-dynamic", files.get(dynamic_name(case)))):
        if file is None or "file" not in file:
            file = file or {"refused": "not compiled: run compile.py with this set"}
            rows.append({"operation": case.operation, "shape": "x".join(map(str, case.shape)), "kind": case.kind,
                         "participant": name, "status": "refused" if "refused" in file else "crashed",
                         "message": file.get("refused") or file.get("crashed")})
    return rows


def run_case(state, case, arguments, files):
    """Rows of one case, also when a participant hangs: the case is tried again without it."""
    rows, skip = refused_rows(case, files), list(filter(None, arguments.skip.split(",")))
    rows = [row for row in rows if row["participant"] not in skip]
    if len(rows) == 2 and not arguments.refused:
        return rows
    for _ in range(4):
        if state.get("worker") is None:
            state["worker"] = Worker(arguments.programs, files,
                                     {"seconds": arguments.round_seconds, "host": not arguments.no_host})
            state["device"] = state["worker"].device
        measured, hung = state["worker"].run(case, skip, arguments.case_seconds)
        if measured is not None:
            if any("CUDA" in row.get("message", "") for row in measured):  # the context may be lost
                state["worker"].process.kill()
                state["worker"] = None
            return rows + measured
        state["worker"] = None
        rows.append({"operation": case.operation, "shape": "x".join(map(str, case.shape)), "kind": case.kind,
                     "participant": hung[0], "status": "hung", "message": hung[1]})
        if hung[0] in skip or hung[0] in ("inputs", "rounds"):
            break
        skip.append(hung[0])
    return rows


def main():
    root = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..")
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--programs", default=os.path.join(root, "build", "memory_bound"), help="what compile.py wrote")
    parser.add_argument("--output", default=os.environ.get("OUT", "."), help="folder for csv, md and png")
    parser.add_argument("--set", default="first", choices=["first", "full", "smoke", "everyday", "misses", "random"])
    parser.add_argument("--seed", type=int, default=29, help="of --set=random")
    parser.add_argument("--count", type=int, default=80, help="groups of --set=random")
    parser.add_argument("--filter", default="", help="only operations that are named here, separated by commas")
    parser.add_argument("--kinds", default="", help="only these types, separated by commas")
    parser.add_argument("--warm", type=int, default=8, help="processes that compile for torch.compile before; 0: none")
    parser.add_argument("--case-seconds", type=float, default=45)
    parser.add_argument("--seconds", type=float, default=0, help="begin no case after so many; 0: no limit")
    parser.add_argument("--round-seconds", type=float, default=0.4, help="for the rounds of one case, at least 3")
    parser.add_argument("--no-host", action="store_true", help="no times of the host")
    parser.add_argument("--shuffle", action="store_true", help="cases in an order that has nothing to do with what they are, "
                        "so that those which --seconds leaves time for are a sample")
    parser.add_argument("--skip", default="", help="participants that are left out, separated by commas: tenon, tenon-dynamic, ...")
    parser.add_argument("--refused", action="store_true", help="measure PyTorch also where Tenon has no program")
    arguments = parser.parse_args()
    begin = time.monotonic()
    os.environ.setdefault("TORCHINDUCTOR_CACHE_DIR", os.path.abspath(os.path.join(arguments.output, "..", "inductor_cache")))
    os.makedirs(arguments.output, exist_ok=True)
    with open(os.path.join(arguments.programs, "programs.json"), encoding="utf-8") as file:
        files = json.load(file)
    only, kinds = (set(filter(None, text.split(","))) for text in (arguments.filter, arguments.kinds))
    cases = [case for case in listed(arguments.set, arguments.seed, arguments.count)
             if (not only or case.operation in only) and (not kinds or case.kind in kinds)]
    if arguments.shuffle:
        random.Random(1).shuffle(cases)
    measured = [case for case in cases if arguments.refused or len(refused_rows(case, files)) < 2]
    if arguments.warm:
        warm_all(measured, arguments.warm)
        print(f"torch.compile warmed in {time.monotonic() - begin:.0f} s", flush=True)

    path, state = os.path.join(arguments.output, "memory_bound.csv"), {}
    with open(path, "w", newline="", encoding="utf-8") as file:
        table = csv.DictWriter(file, FIELDS, extrasaction="ignore")
        table.writeheader()
        for i, case in enumerate(cases):
            if arguments.seconds and time.monotonic() - begin > arguments.seconds:
                rows = [{"operation": case.operation, "shape": "x".join(map(str, case.shape)), "kind": case.kind,
                         "participant": "case", "status": "no time", "message": f"after {arguments.seconds:.0f} s"}]
            else:
                rows = run_case(state, case, arguments, files)
            for row in rows:
                if "us" in row and row.get("bytes"):
                    row["gbps"] = row["bytes"] / row["us"] / 1e3
                table.writerow({key: f"{value:.6g}" if isinstance(value, float) else value for key, value in row.items()})
            file.flush()
            said = "  ".join(f"{row['participant']} {row['us']:.1f}" if "us" in row else f"{row['participant']}: {row['status']}"
                             for row in rows)
            print(f"[{i + 1}/{len(cases)}] {case_name(case)}: {said}", flush=True)
    if state.get("worker"):
        state["worker"].process.kill()
    report.write(path, state.get("device", "no device"))


if __name__ == "__main__":
    main()
