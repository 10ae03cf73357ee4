# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Measures one case: who takes part, whether their results are right, and how long a call takes on the device.

Every participant has R sets of inputs and results of its own, so many that one round of them is at least four times the L2
cache (at most 256 sets: below that the case is marked `warm`, and its inputs come from L2). A CUDA graph holds N calls that go
round these sets; N is what takes about 1.5 ms. Then in every round each participant's graph is replayed once between two events,
in random order; a time is the median over the rounds, divided by N. What cannot be captured is called N times instead.
"""
import random
import statistics
import time

import torch

from cases import case_name, dynamic_name
from workloads import TYPES, as_tuple, error, workload_of
import tenon_capi as tenon  # in scripts/, which workloads puts on the path

CUDA_ELEMENT = {number: name for name, number in tenon.ELEMENTS.items()}
EPS = {"f64": 2.0 ** -52, "f32": 2.0 ** -23, "f16": 2.0 ** -10, "bf16": 2.0 ** -7}
MOST_SETS, SLOW_US = 256, 2e6


class DeviceBytes:
    """Memory at an address, for torch.as_tensor."""

    def __init__(self, address, size):
        self.__cuda_array_interface__ = {"data": (address, False), "shape": (size,), "typestr": "|u1", "version": 3}


class Participant:
    """name; call(i): one call on set i; outputs(i): its results; sets: how many sets there are."""

    graph = None
    mode = "graph"
    per_replay = 1

    def __init__(self, name):
        self.name, self.times = name, []

    def first(self, sets):
        """Calls every set once, so that all that is loaded, tuned or allocated is. Gives microseconds of a later call."""
        for i in range(sets):
            self.call(i)
        torch.cuda.synchronize()
        return self.timed(lambda: self.call(0))

    @staticmethod
    def timed(work):
        begin, end = (torch.cuda.Event(enable_timing=True) for _ in range(2))
        begin.record()
        work()
        end.record()
        torch.cuda.synchronize()
        return begin.elapsed_time(end) * 1e3

    def capture(self, calls, sets):
        self.per_replay = calls
        graph = torch.cuda.CUDAGraph()
        kept = []  # results live until the capture ends, so that two calls do not write the same memory
        try:
            with torch.cuda.graph(graph, capture_error_mode="relaxed"):
                for i in range(calls):
                    kept.append(self.call(i % sets))
                    if len(kept) > sets:
                        kept.pop(0)
            self.graph = graph
        except Exception as problem:  # pylint: disable=broad-except
            self.mode = "calls: " + str(problem).splitlines()[0][:80]
            torch.cuda.synchronize()

    def replay(self, sets):
        if self.graph is not None:
            self.graph.replay()
            return
        for i in range(self.per_replay):
            self.call(i % sets)

    def release(self):
        self.graph = None


class Torch(Participant):
    def __init__(self, name, function, sets):
        super().__init__(name)
        self.function, self.inputs = function, sets

    def call(self, i):
        return self.function(*self.inputs[i])

    def outputs(self, i):
        return as_tuple(self.call(i))


class Tenon(Participant):
    def __init__(self, name, runtime, path, sets, scalars):
        super().__init__(name)
        self.program = runtime.open(path)
        self.calls = []
        kinds = {kind: name for name, kind in TYPES.items()} | {torch.int8: "i8"}
        for inputs in sets:
            given = [(kinds[t.dtype], runtime.import_buffer(t.data_ptr(), t.nbytes), tuple(t.shape)) for t in inputs]
            self.calls.append(self.program.prepare(given + list(scalars)))

    def call(self, i):
        self.calls[i].on_stream(torch.cuda.current_stream().cuda_stream)

    def outputs(self, i):
        self.call(i)
        torch.cuda.synchronize()
        found = []
        for element, address, size, shape, _ in self.calls[i].outputs():
            flat = torch.as_tensor(DeviceBytes(address, size), device="cuda") if size else torch.empty(0, dtype=torch.uint8, device="cuda")
            kind = TYPES[CUDA_ELEMENT[element]]
            count = 1
            for dimension in shape:
                count *= dimension
            found.append(flat[:count * torch.empty(0, dtype=kind).element_size()].view(kind).view(shape))
        return tuple(found)

    def release(self):
        super().release()
        for call in self.calls:
            call.release()
        self.program.release()


def minimal_bytes(workload, inputs, outputs):
    if workload.minimal:
        return workload.minimal(inputs, outputs)
    return sum(t.nbytes for t in inputs) + sum(t.nbytes for t in outputs)


def participants(case, workload, runtime, folder, files, sets, skip, others=()):
    """(name, function that makes it), Tenon first. others: (word behind the name, folder, files) of other compilers' programs."""
    made = []
    for word, where, known in (("", folder, files), *others):
        for name, file in (("tenon" + word, known.get(case_name(case), {})), ("tenon-dynamic" + word, known.get(dynamic_name(case), {}))):
            if "file" in file:
                path = f"{where}/{file['file']}"
                made.append((name, lambda name=name, path=path: Tenon(name, runtime, path, sets, workload.scalars)))
    made.append(("eager", lambda: Torch("eager", workload.eager, sets)))
    if workload.compiled:
        made.append(("compile", lambda: Torch("compile", compiled(workload), sets)))
    for name, function in workload.peers.items():
        made.append((name, lambda name=name, function=function: Torch(name, function, sets)))
    return [(name, make) for name, make in made if name not in skip]


COMPILED = {}


def compiled(workload):
    if workload not in COMPILED:
        COMPILED[workload] = torch.compile(workload.eager, dynamic=False)
    return COMPILED[workload]


def judge(case, row, torch_error, scale):
    """A result is wrong where its error is far from PyTorch's own and from the rounding of the type."""
    allowed = 4 * (torch_error or 0.0) + 16 * EPS.get(case.kind, 0.0) * scale
    if row["max_error"] > allowed:
        row["status"], row["message"] = "wrong", f"max error {row['max_error']:.3g}, allowed {allowed:.3g}"


def measure(case, runtime, folder, files, skip=(), tell=lambda name: None, seconds=0.4, host=True, others=()):
    """Rows of the table for one case; `skip`: participants that are left out; `tell(name)`: who is begun with."""
    workload = workload_of(case)
    rows, alive = [], []
    first = workload.inputs(case, "cuda")
    outputs = as_tuple(workload.eager(*first))
    moved = minimal_bytes(workload, first, outputs)
    del outputs
    l2 = torch.cuda.get_device_properties(0).L2_cache_size
    # Nothing is written in place, so that vectors and tables are copied with the rest.
    count = max(1, min(MOST_SETS, -(-4 * l2 // moved)))
    sets = [first] + [[t.clone() for t in first] for _ in range(count - 1)]
    base = {"operation": case.operation, "shape": "x".join(map(str, case.shape)), "kind": case.kind, "bytes": moved,
            "sets": count, "l2": "cold" if count * moved >= 2 * l2 else "warm"}
    wanted = workload.reference(*first)
    torch_error = None
    everyone = participants(case, workload, runtime, folder, files, sets, skip, others)
    # PyTorch first, so that its error is known when Tenon's is judged.
    for name, make in everyone[::-1]:
        tell(name)
        row = dict(base, participant=name, status="ok", message="")
        rows.append(row)
        try:
            player = make()
            once = player.first(count)
            if not (workload.random and not name.startswith("tenon")):
                got = player.outputs(0)
                row["max_error"], scale = error(got, wanted)
                row["scale"] = scale
                if name.startswith("tenon"):
                    judge(case, row, torch_error, scale)
                else:
                    torch_error = max(torch_error or 0.0, row["max_error"])
                del got
            row["once_us"] = once
            if once > SLOW_US:
                row["us"], row["mode"] = once, "one call: too slow for more"
                player.release()
                continue
            calls = count if count * once <= 20e3 else 1
            player.capture(max(calls, min(MOST_SETS, int(1500 / max(once, 1.0)) + 1)), count)
            player.row = row
            alive.append(player)
        except Exception as problem:  # pylint: disable=broad-except
            row["status"], row["message"] = "failed", f"{type(problem).__name__}: {problem}"[:300]
    del wanted
    tell("rounds")
    for player in alive:
        player.replay(count)
    torch.cuda.synchronize()
    whole = sum(player.row["once_us"] * player.per_replay for player in alive) / 1e6
    rounds = max(3, min(21, int(seconds / max(whole, 1e-6))))
    events = []
    for _ in range(rounds):
        for player in random.sample(alive, len(alive)):
            begin, end = (torch.cuda.Event(enable_timing=True) for _ in range(2))
            begin.record()
            player.replay(count)
            end.record()
            events.append((player, begin, end))
    torch.cuda.synchronize()
    for player, begin, end in events:
        player.times.append(begin.elapsed_time(end) * 1e3 / player.per_replay)
    for player in alive:
        ordered = sorted(player.times)
        player.row.update(us=statistics.median(ordered), least_us=ordered[0], most_us=ordered[-1], rounds=rounds,
                          calls=player.per_replay, mode=player.mode)
    if host and moved <= 4 << 20:
        host_times(alive)
    for player in alive:
        player.release()
    alive.clear()
    del sets, first
    torch.cuda.empty_cache()
    return rows


def host_times(players, calls=200, rounds=5):
    """Microseconds of the host for one call, 200 given back to back and waited for; the least of five rounds."""
    best = {}
    for _ in range(rounds):
        for player in random.sample(players, len(players)):
            torch.cuda.synchronize()
            begin = time.perf_counter()
            for _ in range(calls):
                player.call(0)
            torch.cuda.synchronize()
            spent = (time.perf_counter() - begin) / calls * 1e6
            best[player] = min(best.get(player, spent), spent)
    for player, spent in best.items():
        player.row["host_us"] = spent
