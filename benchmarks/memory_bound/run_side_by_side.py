#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Like run.py, for many cases in little time of a GPU: torch.compile works in processes side by side, the GPU serves one of them at a time.

usage: benchmarks/memory_bound/run_side_by_side.py [--programs=build/memory_bound] [--before=DIR] [--sets=misses,random:29] [--output=DIR]

A process takes a case, compiles it, and takes the lock of the GPU to choose between configurations and to measure. --before: programs of
another compiler, in the same rounds as participants tenon-before and tenon-dynamic-before.
"""
import argparse
import csv
import json
import multiprocessing
import os
import queue
import time

from cases import case_name, cases as listed, random_case
import report
from run import FIELDS, refused_rows, torch_settings


def with_lock(lock, function):
    def locked(*given, **named):
        with lock:
            return function(*given, **named)
    return locked


def work(taken, found, lock, arguments, files, others):
    import measure
    import tenon_capi as tenon
    from workloads import workload_of
    torch = torch_settings()
    from torch._inductor.runtime.triton_heuristics import CachingAutotuner
    CachingAutotuner.benchmark_all_configs = with_lock(lock, CachingAutotuner.benchmark_all_configs)
    runtime = tenon.Runtime(os.path.join(arguments.programs, "libtenon_runtime.so"))
    device = torch.cuda.get_device_name(0)
    while (case := taken.get()) is not None:
        base = {"operation": case.operation, "shape": "x".join(map(str, case.shape)), "kind": case.kind}
        rows, skip = refused_rows(case, files), list(filter(None, arguments.skip.split(",")))
        if arguments.compiled and case.operation not in arguments.compiled.split(","):
            skip.append("compile")
        try:
            workload = workload_of(case)
            if "compile" not in skip and workload.compiled:
                with lock:
                    inputs = workload.inputs(case, "cuda")
                    torch.cuda.synchronize()
                measure.compiled(workload)(*inputs)
                del inputs
                torch.cuda.empty_cache()
            with lock:
                rows += measure.measure(case, runtime, arguments.programs, files, skip, seconds=arguments.round_seconds, host=False, others=others)
        except Exception as problem:  # pylint: disable=broad-except
            rows.append(dict(base, participant="case", status="failed", message=f"{type(problem).__name__}: {problem}"[:300]))
            torch.cuda.empty_cache()
        found.put((device, rows))


def programs_in(folder):
    with open(os.path.join(folder, "programs.json"), encoding="utf-8") as file:
        return json.load(file)


def cases_of(name, count):
    """Those of a set; of random:29:3+7 the groups 3 and 7 of seed 29."""
    if not name.startswith("random:"):
        return listed(name)
    seed, *numbers = name.split(":")[1:]
    return [random_case(f"random_{seed}_{n}") for n in (numbers[0].split("+") if numbers else range(count))]


def main():
    root = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..")
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--programs", default=os.path.join(root, "build", "memory_bound"), help="what compile.py wrote")
    parser.add_argument("--before", default="", help="what another compile.py wrote")
    parser.add_argument("--output", default=os.environ.get("OUT", "."), help="folder for csv and md")
    parser.add_argument("--sets", default="random:29", help="sets of cases.py, separated by commas; random:SEED, or random:SEED:3+7 of some numbers")
    parser.add_argument("--count", type=int, default=80, help="groups of random:SEED")
    parser.add_argument("--filter", default="", help="only operations that are named here, separated by commas, beside random ones")
    parser.add_argument("--compiled", default="", help="operations that torch.compile takes part in, separated by commas; empty: all")
    parser.add_argument("--skip", default="", help="participants that are left out, separated by commas")
    parser.add_argument("--processes", type=int, default=12)
    parser.add_argument("--seconds", type=float, default=300, help="what is not there after so many is not measured")
    parser.add_argument("--round-seconds", type=float, default=0.05, help="for the rounds of one case, at least 3")
    arguments = parser.parse_args()
    os.makedirs(arguments.output, exist_ok=True)
    os.environ.setdefault("TORCHINDUCTOR_CACHE_DIR", os.path.abspath(os.path.join(arguments.output, "..", "inductor_cache")))
    os.environ["TORCHINDUCTOR_COMPILE_THREADS"] = "1"
    files = programs_in(arguments.programs)
    others = (("-before", arguments.before, programs_in(arguments.before)),) if arguments.before else ()
    named = set(filter(None, arguments.filter.split(",")))
    cases = [case for name in arguments.sets.split(",") for case in cases_of(name, arguments.count)
             if not named or case.operation.startswith("random_") or case.operation in named]

    context = multiprocessing.get_context("spawn")
    taken, found, lock = context.Queue(), context.Queue(), context.RLock()
    for case in cases:
        taken.put(case)
    for _ in range(arguments.processes):
        taken.put(None)
    workers = [context.Process(target=work, args=(taken, found, lock, arguments, files, others), daemon=True)
               for _ in range(arguments.processes)]
    begin = time.monotonic()
    for worker in workers:
        worker.start()
    path, device = os.path.join(arguments.output, "memory_bound.csv"), "no device"
    left = {(c.operation, "x".join(map(str, c.shape)), c.kind): c for c in cases}
    with open(path, "w", newline="", encoding="utf-8") as file:
        table = csv.DictWriter(file, FIELDS, extrasaction="ignore")
        table.writeheader()

        def write(rows):
            for row in rows:
                if "us" in row and row.get("bytes"):
                    row["gbps"] = row["bytes"] / row["us"] / 1e3
                table.writerow({key: f"{value:.6g}" if isinstance(value, float) else value for key, value in row.items()})
            file.flush()

        while left:
            try:
                device, rows = found.get(timeout=max(begin + arguments.seconds - time.monotonic(), 0.01))
            except queue.Empty:
                break
            write(rows)
            case = left.pop((rows[0]["operation"], rows[0]["shape"], rows[0]["kind"]))
            said = "  ".join(f"{row['participant']} {row['us']:.1f}" if "us" in row else f"{row['participant']}: {row['status']} {row.get('message', '')[:60]}"
                             for row in rows)
            print(f"[{time.monotonic() - begin:.0f} s] {case_name(case)}: {said}", flush=True)
        for operation, shape, kind in left:
            write([{"operation": operation, "shape": shape, "kind": kind, "participant": "case", "status": "no time",
                    "message": f"after {arguments.seconds:.0f} s"}])
    for worker in workers:
        worker.kill()
    report.write(path, device)


if __name__ == "__main__":
    main()
