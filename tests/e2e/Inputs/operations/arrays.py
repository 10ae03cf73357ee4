# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Programs with what they must answer, for tests of operations on tensors. References are written element by element in
plain Python, from the operations' documentation.

A case is a function without arguments: its inputs are constants that the compiler does not see, its result is compared
by check.expect_*. Each case is made with static and with dynamic shapes. `run()` compiles all of them into one program
and runs tenon-check.
"""
import itertools
import math
import os
import random
import struct
import subprocess
import sys


# One element, and one more than a warp has threads.
SIZES = [1, 33]
# Shapes that the compiler knows, for what it takes with no other.
STATIC = (False,)


class Array:
    """Elements in row-major order."""

    def __init__(self, shape, kind, function):
        self.shape, self.kind = tuple(shape), kind
        self.data = [narrow(kind, function(*index)) for index in itertools.product(*map(range, self.shape))]

    def __getitem__(self, index):
        place = 0
        for position, size in zip(index, self.shape):
            assert 0 <= position < size, (index, self.shape)
            place = place * size + position
        return self.data[place]

    def literal(self):
        def nested(shape, data):
            if not shape:
                return text(self.kind, data[0])
            step = len(data) // shape[0] if shape[0] else 0
            return "[" + ", ".join(nested(shape[1:], data[i * step:(i + 1) * step]) for i in range(shape[0])) + "]"
        return f"dense<{nested(self.shape, self.data) if self.data else ''}> : {self.type()}"

    def type(self, dynamic=False):
        return tensor(["?" if dynamic else size for size in self.shape], self.kind)


def tensor(shape, kind):
    return "tensor<" + "".join(f"{size}x" for size in shape) + kind + ">"


def narrow(kind, value):
    """The value as the type holds it."""
    if kind == "index" or kind == "i1":
        return int(value)
    if kind == "bf16":
        bits = struct.unpack("<I", struct.pack("<f", value))[0]
        bits += 0x7FFF + (bits >> 16 & 1)
        return struct.unpack("<f", struct.pack("<I", bits & 0xFFFF0000))[0]
    if kind[0] == "f":
        return struct.unpack("<" + {"f16": "e", "f32": "f", "f64": "d"}[kind],
                             struct.pack("<" + {"f16": "e", "f32": "f", "f64": "d"}[kind], value))[0]
    bits = int(kind[1:])
    value &= (1 << bits) - 1
    return value - (1 << bits) if value >> (bits - 1) else value


def text(kind, value):
    if kind == "i1":
        return "true" if value else "false"
    if kind == "index" or kind[0] == "i":
        return str(value)
    if math.isinf(value) or math.isnan(value):
        code, bits = {"f16": ("e", "H"), "f32": ("f", "I"), "f64": ("d", "Q")}[kind]
        return hex(struct.unpack("<" + bits, struct.pack("<" + code, value))[0])
    return f"{value:.9e}" if kind != "f64" else f"{value:.17e}"


def draw(shape, kind="f32"):
    if kind == "i1":
        return Array(shape, kind, lambda *_: random.getrandbits(1))
    if kind[0] == "i":
        return Array(shape, kind, lambda *_: random.randint(-100, 100))
    return Array(shape, kind, lambda *_: random.randint(-64, 64) / 8)


class Program:
    def __init__(self, folder):
        self.folder, self.functions, self.count = folder, [], 0
        random.seed(1)

    def case(self, name, inputs, expected, body, tolerance=None, forms=(False, True)):
        """inputs: {name: Array, or int for an index}. body(d): the operations that compute %r, d says whether shapes
        are dynamic; %NAME is an input, {type_of(array)} its type. expected: Array."""
        for dynamic in forms:
            lines = []
            for key, value in inputs.items():
                if isinstance(value, int):
                    lines.append(f"%{key} = util.unfoldable_constant {value} : index")
                elif dynamic and value.shape:
                    lines.append(f"%{key} = flow.tensor.dynamic_constant {value.literal()} -> {value.type(True)}")
                else:
                    lines.append(f"%{key} = util.unfoldable_constant {value.literal()}")
            lines.append(body(dynamic))
            if tolerance is None:
                check = f"check.expect_eq_const(%r, {expected.literal()}) : {expected.type(dynamic)}"
            else:
                check = (f"check.expect_almost_eq_const(%r, {expected.literal()}, atol {tolerance:.1e}, rtol {tolerance:.1e}) : "
                         f"{expected.type(dynamic)}")
            lines.append(check)
            text = "\n  ".join(lines)
            self.functions.append(f"func.func @{name}_{self.count}{'_dynamic' if dynamic else ''}() {{\n  {text}\n"
                                  f"  return\n}}\n")
        self.count += 1

    def run(self):
        os.makedirs(self.folder, exist_ok=True)
        source, program = os.path.join(self.folder, "cases.mlir"), os.path.join(self.folder, "cases.tenon")
        with open(source, "w") as file:
            file.write("".join(self.functions))
        compiled = subprocess.run(["tenon-compile", source, "--target=sm_75", "-o", program], capture_output=True, text=True)
        if compiled.returncode != 0:
            sys.exit(compiled.stderr[-4000:])
        done = subprocess.run(["tenon-check", program, "--device=emulator"], capture_output=True, text=True)
        wrong = [line for line in done.stdout.splitlines() if not line.startswith("PASS")]
        print("\n".join(wrong[-60:]))
        print(f"{len(self.functions)} functions, exit status {done.returncode}")
        if done.returncode != 0:
            sys.exit(done.stderr[-2000:] + "wrong results")


def main(*groups):
    """usage: FILE FOLDER [GROUP]; a group is a function of Program that adds cases."""
    program = Program(sys.argv[1])
    for group in groups:
        if len(sys.argv) < 3 or group.__name__ in sys.argv[2:]:
            group(program)
    program.run()
