# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Races the participants of a case on the GPU of this machine, and writes the table of a set of cases.

In random order in each round, ten calls of a participant are timed after a pause (burst: the device has cooled), and at the end
each runs for a while without a pause (sustained: at the power limit). A time is the median over the rounds.

With --counters nothing is timed: each participant is called once for a profiler (counters.py).
"""
import argparse
import contextlib
import csv
import os
import random
import re
import statistics
import sys
import threading
import time

for _folder in (os.path.join("..", "memory_bound"), os.path.join("..", "..", "scripts")):
    sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), _folder))

import torch  # noqa: E402

import tenon_capi as tenon  # noqa: E402

CALLS = 10
LONGEST_FIRST_S = 100  # with what a library compiles, or searches, for its first call
LIMIT = "copy"  # a participant that is no peer: the time that memory alone takes
FIELDS = ["case", "participant", "error", "burst_us", "burst_tflops", "sustained_us", "sustained_tflops", "message"]


def timed(participant):
    begin, end = (torch.cuda.Event(enable_timing=True) for _ in range(2))
    begin.record()
    participant.replay(1)
    end.record()
    torch.cuda.synchronize()
    return begin.elapsed_time(end) * 1e3 / participant.per_replay

is_for_profiler = False  # --counters


@contextlib.contextmanager
def comes_back(case, name):
    """A kernel that never ends would keep the race for ever: the process ends, and says whose it is."""
    def give_up():
        print(f"{case.name()}: the first call of {name} did not come back in {LONGEST_FIRST_S} s", file=sys.stderr, flush=True)
        os._exit(3)

    timer = threading.Timer(LONGEST_FIRST_S, give_up)
    timer.daemon = True
    timer.start()
    try:
        yield
    finally:
        timer.cancel()


def call_for_profiler(case, racer):
    """One call in a range that says whose it is, between cudaProfilerStart and cudaProfilerStop."""
    torch.cuda.synchronize()
    torch.cuda.profiler.start()
    torch.cuda.nvtx.range_push(f"@{case.name()}|{racer.name}@")
    racer.call(0)
    torch.cuda.synchronize()
    torch.cuda.nvtx.range_pop()
    torch.cuda.profiler.stop()


def race(case, makers, error_of, rounds, is_sustained):
    """Rows of the table, Tenon first. A participant that fails says why in its row, and the others go on.

    makers: [(name, function that makes a participant of measure.py)]; error_of(results): the worst error in units of what it
    may be."""
    rows, racers = [], []
    for name, make in makers:
        row = {"case": case.name(), "participant": name}
        rows.append(row)
        try:
            with comes_back(case, name):
                racer = make()
                racer.call(0)
                torch.cuda.synchronize()
            row["error"] = "" if name == LIMIT else f"{error_of(racer.outputs(0)):.4f}"
            racer.first(1)
            if is_for_profiler:
                call_for_profiler(case, racer)
                racer.release()
                continue
            racer.capture(CALLS, 1)
            racer.times = []
            racers.append((racer, row))
        except Exception as problem:  # pylint: disable=broad-except
            row["message"] = str(problem).strip().splitlines()[0][:200]
    for _ in range(rounds):
        for racer, _ in random.sample(racers, len(racers)):
            time.sleep(0.01)
            racer.times.append(timed(racer))
    for racer, row in racers:
        burst = statistics.median(racer.times)
        row.update(burst_us=round(burst, 2), burst_tflops=round(case.operations() / burst / 1e6, 1))
    if is_sustained:
        for racer, row in random.sample(racers, len(racers)):
            end, times = time.monotonic() + 0.4, []
            while time.monotonic() < end:
                times.append(timed(racer))
            sustained = statistics.median(times[len(times) // 2:])
            row.update(sustained_us=round(sustained, 2), sustained_tflops=round(case.operations() / sustained / 1e6, 1))
    for racer, _ in racers:
        racer.release()
    return rows


def told(row):
    if "burst_us" not in row:
        return f"{row['participant']}: {row['message']}"
    return (f"{row['participant']} {row['burst_us']:9.1f} us {row['burst_tflops']:6.1f} ({row.get('sustained_tflops', '-')}) "
            f"err {row['error']}")


def main(description, name, sets, measure, options=(), no_peers=(LIMIT,)):
    """Writes NAME.csv and prints a line a case: the best peer's time over Tenon's.

    measure(case, runtime, arguments): rows, Tenon's first. options: more (flag, default) of the command line. no_peers: participants
    that stand in the table alone.
    @return the exit status: 1 where a result of Tenon's is wrong or missing"""
    parser = argparse.ArgumentParser(description=description)
    parser.add_argument("--programs", default=f"build/{name}")
    parser.add_argument("--output", default=".")
    parser.add_argument("--set", default="first", choices=sorted(sets))
    parser.add_argument("--filter", default="", help="a regular expression: cases whose name holds it")
    parser.add_argument("--rounds", type=int, default=12)
    parser.add_argument("--seconds", type=float, default=300)
    parser.add_argument("--shuffle", type=int, metavar="SEED", help="cases in an order drawn from SEED: what the time is enough for is a sample of all")
    parser.add_argument("--counters", action="store_true", help="for a profiler: call each participant once, time nothing")
    for flag, default in options:
        parser.add_argument(flag, default=default)
    arguments = parser.parse_args()
    global is_for_profiler
    is_for_profiler = arguments.counters
    torch.set_grad_enabled(False)
    os.makedirs(arguments.output, exist_ok=True)
    runtime = tenon.Runtime(os.path.join(arguments.programs, "libtenon_runtime.so"))
    end, wrong, ratios = time.monotonic() + arguments.seconds, 0, []
    with open(os.path.join(arguments.output, name + ".csv"), "w", encoding="utf-8", newline="") as file:
        writer = csv.DictWriter(file, FIELDS)
        writer.writeheader()
        print(f"# {torch.cuda.get_device_name(0)}, PyTorch {torch.__version__}")
        cases = list(sets[arguments.set])
        if arguments.shuffle is not None:
            random.Random(arguments.shuffle).shuffle(cases)
        for case in cases:
            if not re.search(arguments.filter, case.name()):
                continue
            if time.monotonic() > end:
                print(f"{case.name()}: not measured, no time left")
                continue
            rows = measure(case, runtime, arguments)
            if is_for_profiler:
                print(f"{case.name():36} {'; '.join(row['participant'] + ' ' + row.get('message', '') for row in rows)}", flush=True)
                continue
            writer.writerows(rows)
            file.flush()
            own, others = rows[0], [row["burst_us"] for row in rows[1:]
                                    if "burst_us" in row and row["participant"] not in no_peers and not row["participant"].startswith("tenon")]
            wrong += "burst_us" not in own or float(own["error"]) > 1
            ratio = min(others) / own["burst_us"] if others and "burst_us" in own else None
            ratios += [ratio] if ratio else []
            print(f"{case.name():36} {f'{ratio:.3f}x' if ratio else '-':7} {'  '.join(told(row) for row in rows)}", flush=True)
    if ratios:
        print(f"geometric mean {statistics.geometric_mean(ratios):.3f} of {len(ratios)}; {wrong} wrong or failed")
    return 1 if wrong else 0
