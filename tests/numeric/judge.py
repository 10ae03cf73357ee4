# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Compiles programs with tenon-compile and calls them through the C API.

Functions that a compiler refuses are taken out by the lines that its errors name, and the rest is compiled again: what is
refused is counted by message, and never hides its neighbours.
"""
import os
import re
import subprocess
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..", "scripts"))
import numpy as np  # noqa: E402

import elements  # noqa: E402
import tenon_capi  # noqa: E402


class Compiler:
    """flags: of every call; crashes and time-outs are told apart from refusals."""

    def __init__(self, tool, flags=(), seconds=120):
        self.tool, self.flags, self.seconds = tool, list(flags), seconds

    def compile(self, source, target):
        """(status, standard error): 0, 1 refused, anything else a crash."""
        if os.path.exists(target):
            os.remove(target)
        try:
            done = subprocess.run([self.tool, source, "-o", target, *self.flags], capture_output=True, text=True,
                                  errors="replace", timeout=self.seconds, check=False)
            return done.returncode, done.stderr
        except subprocess.TimeoutExpired:
            return -1, f"tenon-compile took more than {self.seconds} s"

    def compile_functions(self, functions, source, target):
        """functions: {name: text}. Compiles what is not refused into `target`. Gives ({name: message} of what was refused,
        {name: message} of what crashed the compiler)."""
        left, refused, crashed = dict(functions), {}, {}
        while left:
            starts, lines = [], 0
            with open(source, "w", encoding="utf-8") as file:
                for name, text in left.items():
                    starts.append((lines + 1, name))
                    file.write(text)
                    lines += text.count("\n")
            status, said = self.compile(source, target)
            if status == 0:
                break
            found = {}
            for line, message in re.findall(r"^[^\n]*?:(\d+):\d+: error: ([^\n]*)", said, re.M):
                # A kernel's name says it as well, where the line is another one's.
                kernel = re.search(r"'(\w+?)_dispatch", message)
                names = [kernel[1]] if kernel and kernel[1] in left else [name for start, name in starts if start <= int(line)]
                if names and names[-1] not in found:
                    found[names[-1]] = message
            if status not in (0, 1) or not found:
                # It names no function: each on its own says which.
                if len(left) == 1:
                    name = next(iter(left))
                    (refused if status == 1 and "error: " in said else crashed)[name] = (
                        said.split("error: ", 1)[1].splitlines()[0] if status == 1 and "error: " in said
                        else f"exit status {status}: {said[-400:]}")
                    break
                names = list(left)
                middle = len(names) // 2
                for part in (names[:middle], names[middle:]):
                    more = self.compile_functions({name: left[name] for name in part}, source, target)
                    refused.update(more[0])
                    crashed.update(more[1])
                left = {name: text for name, text in left.items() if name not in refused and name not in crashed}
                found = {}
                if not refused and not crashed:  # only together
                    crashed[names[0]] = f"compiles alone, not with others: exit status {status}: {said[-400:]}"
                    left.pop(names[0])
                continue
            for name, message in found.items():
                refused[name] = message
                left.pop(name)
        if not left and os.path.exists(target):
            os.remove(target)
        return refused, crashed


class Device:
    def __init__(self, library, driver):
        self.runtime = tenon_capi.Runtime(library, driver)

    def open(self, path):
        return self.runtime.open(path)

    def call(self, program, name, inputs, behind=(), donated=()):
        """inputs: (kind, array) each; rank-0 arrays are tensors, Python numbers scalars. behind: of each tensor, how many elements
        lie in front of it in its memory. Gives (kind, array) each. A function with branches is called twice, since the second call
        may go another way (runtime/program/plan/unrolled_plan.h). donated: numbers of inputs that the function may write. All others
        keep their bytes, and in a call that keeps its inputs so do these."""
        read = self.call_once(program, name, inputs, behind, set(donated))
        if donated and self.call_once(program, name, inputs, behind, set(), keeps=True) != read:
            raise tenon_capi.TenonError(f"'{name}' gives other results where it keeps its inputs")
        return [(kind, elements.decode(kind, data, shape)) for kind, shape, data in read]

    def call_once(self, program, name, inputs, behind, written, keeps=False):
        given, wholes, kept = [], [], []
        for number, (kind, values) in enumerate(inputs):
            if isinstance(values, np.ndarray):
                data, front = elements.encode(kind, values), behind[number] if number < len(behind) else 0
                front *= np.dtype(elements.STORED[kind]).itemsize
                buffer = self.runtime.upload(b"\x55" * front + data)
                if data and number not in written:
                    kept.append((number, buffer, b"\x55" * front + data))
                if front and data:
                    wholes.append(buffer)
                    buffer = self.runtime.part(buffer, front)
                given.append((kind, buffer, values.shape))
            else:
                bits = int.from_bytes(elements.encode(kind, np.array(values)), "little")
                given.append((kind, int(values) if not elements.is_float(kind) else bits))
        call = program.prepare(given, name)
        try:
            read = self.run(call, keeps)
            if not written and call.runs_on_host() and (again := self.run(call, keeps)) != read:
                raise tenon_capi.TenonError(f"'{name}' gives other results in its second call: {again} and {read}")
            for number, buffer, data in kept:
                if call.read(buffer, len(data)) != data:
                    raise tenon_capi.TenonError(f"'{name}' has changed input {number}, which was not given up")
            return read
        finally:
            call.release()
            for buffer in wholes:
                self.runtime.library.tenon_buffer_release(buffer)

    @staticmethod
    def run(call, keeps=False):
        """(kind, shape, bytes) of each result."""
        call.run(keeps)
        results = []
        for number, _, _, shape, buffer in call.outputs():
            kind = elements.NAMES[number]
            size = int(np.prod(shape, dtype=np.int64)) * np.dtype(elements.STORED[kind]).itemsize
            results.append((kind, shape, call.read(buffer, size) if size else b""))
        return results


def find_library(build):
    """libtenon_runtime.so of a build folder, or of a folder that holds it."""
    for folder in (os.path.join(build, "runtime"), build):
        names = sorted(os.listdir(folder)) if os.path.isdir(folder) else []
        for name in names:
            path = os.path.join(folder, name)
            if name.startswith("libtenon_runtime.so") and not os.path.islink(path) and os.path.isfile(path):
                return path
    raise SystemExit(f"no libtenon_runtime.so in {build}")
