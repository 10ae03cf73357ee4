# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Every elementwise operation in every type, against Python's own arithmetic (exact for integers; floats are computed in
double and rounded once, compared within tenon-run's default tolerances).

usage: check_operations.py FOLDER: writes operations.mlir there, compiles it, calls every function, prints what differs
"""
import math
import os
import random
import struct
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor

CODES = {"i1": ("?", "|b1"), "i8": ("b", "|i1"), "i16": ("h", "<i2"), "i32": ("i", "<i4"), "i64": ("q", "<i8"),
         "f16": ("e", "<f2"), "f32": ("f", "<f4"), "f64": ("d", "<f8")}
INTEGERS, FLOATS = ["i8", "i16", "i32", "i64"], ["f16", "f32", "f64"]
COUNT = 259  # ragged: whole threads and a tail


def width(kind):
    return int(kind[1:])


def narrow(kind, value):
    """The value as the type holds it."""
    if kind[0] == "f":
        code = CODES[kind][0]
        try:
            return struct.unpack("<" + code, struct.pack("<" + code, value))[0]
        except OverflowError:
            return math.copysign(math.inf, value)
    if kind == "i1":
        return bool(value & 1)
    value &= (1 << width(kind)) - 1
    return value - (1 << width(kind)) if value >> (width(kind) - 1) else value


def draw(kind, low=-8.0, high=8.0):
    if kind[0] == "f":
        return [narrow(kind, random.uniform(low, high)) for _ in range(COUNT)]
    return [narrow(kind, random.choice([random.getrandbits(64), random.randint(-5, 5)])) for _ in range(COUNT)]


def truncating(a, b):
    quotient = abs(a) // abs(b)
    return quotient if (a < 0) == (b < 0) else -quotient


class Cases:
    def __init__(self):
        self.mlir, self.calls = [], []

    def add(self, operation, result, inputs, reference):
        """inputs: (type, values) each; reference: of one element of each."""
        name = f"f{len(self.calls)}"
        kinds = [f"tensor<?x{kind}>" for kind, _ in inputs]
        arguments = ", ".join(f"%a{i}: {kind}" for i, kind in enumerate(kinds))
        operands = ", ".join(f"%a{i}" for i in range(len(kinds)))
        converts = operation.split(".")[1] in CONVERSIONS
        types = ", ".join(kinds[:2]) if operation == "arith.select" else kinds[0]
        types += f" to tensor<?x{result}>" if converts else ""
        self.mlir.append(f"func.func @{name}({arguments}) -> tensor<?x{result}> {{\n"
                         f"  %r = {operation} {operands} : {types}\n  return %r : tensor<?x{result}>\n}}\n")
        expected = [narrow(result, reference(*values)) for values in zip(*[values for _, values in inputs])]
        self.calls.append((name, operation, inputs, (result, expected)))


CONVERSIONS = {"sitofp", "uitofp", "fptosi", "fptoui", "extsi", "extui", "trunci", "extf", "truncf"}


def integer_cases(cases):
    for kind in INTEGERS:
        mask = (1 << width(kind)) - 1
        a = draw(kind)
        b = [value if value not in (0, -1) else 3 for value in draw(kind)]
        shifts = [random.randrange(width(kind)) for _ in a]
        for operation, reference, second in [
                ("addi", lambda x, y: x + y, b), ("subi", lambda x, y: x - y, b), ("muli", lambda x, y: x * y, b),
                ("divsi", truncating, b), ("divui", lambda x, y: (x & mask) // (y & mask), b),
                ("remsi", lambda x, y: x - y * truncating(x, y), b), ("remui", lambda x, y: (x & mask) % (y & mask), b),
                ("floordivsi", lambda x, y: x // y, b), ("ceildivsi", lambda x, y: -(-x // y), b),
                ("ceildivui", lambda x, y: -(-(x & mask) // (y & mask)), b), ("andi", lambda x, y: x & y, b),
                ("ori", lambda x, y: x | y, b), ("xori", lambda x, y: x ^ y, b), ("maxsi", max, b), ("minsi", min, b),
                ("maxui", lambda x, y: max(x & mask, y & mask), b), ("minui", lambda x, y: min(x & mask, y & mask), b),
                ("shli", lambda x, y: x << y, shifts), ("shrsi", lambda x, y: x >> y, shifts),
                ("shrui", lambda x, y: (x & mask) >> y, shifts)]:
            cases.add("arith." + operation, kind, [(kind, a), (kind, second)], reference)
        for predicate, reference in [("slt", lambda x, y: x < y), ("ule", lambda x, y: (x & mask) <= (y & mask)),
                                     ("ne", lambda x, y: x != y)]:
            cases.add(f"arith.cmpi {predicate},", "i1", [(kind, a), (kind, b)], reference)
        for operation, reference in [
                ("absi", abs), ("ctpop", lambda x: bin(x & mask).count("1")),
                ("ctlz", lambda x: width(kind) - (x & mask).bit_length()),
                ("cttz", lambda x: (x & -x).bit_length() - 1 if x else width(kind))]:
            cases.add("math." + operation, kind, [(kind, a)], reference)
        for other in INTEGERS:
            if width(other) > width(kind):
                cases.add("arith.extsi", other, [(kind, a)], lambda x: x)
                cases.add("arith.extui", other, [(kind, a)], lambda x: x & mask)
            if width(other) < width(kind):
                cases.add("arith.trunci", other, [(kind, a)], lambda x: x)


def float_cases(cases):
    for kind in FLOATS:
        a, b = draw(kind), [value or 0.5 for value in draw(kind)]
        unit, positive = draw(kind, -0.99, 0.99), draw(kind, 0.01, 900)
        for operation, reference, values in [
                ("ceil", math.ceil, a), ("floor", math.floor, a), ("trunc", math.trunc, a), ("roundeven", round, a),
                ("round", lambda x: math.copysign(math.floor(abs(x) + 0.5), x), a), ("absf", abs, a),
                ("sqrt", math.sqrt, positive), ("rsqrt", lambda x: 1 / math.sqrt(x), positive),
                ("cbrt", lambda x: math.copysign(abs(x) ** (1 / 3), x), a), ("exp", math.exp, a),
                ("exp2", lambda x: 2.0 ** x, a), ("expm1", math.expm1, unit), ("log", math.log, positive),
                ("log2", math.log2, positive), ("log10", math.log10, positive), ("log1p", math.log1p, positive),
                ("sin", math.sin, a), ("cos", math.cos, a), ("tan", math.tan, unit), ("sinh", math.sinh, unit),
                ("cosh", math.cosh, unit), ("tanh", math.tanh, a), ("asin", math.asin, unit), ("acos", math.acos, unit),
                ("atan", math.atan, a), ("asinh", math.asinh, a), ("atanh", math.atanh, unit), ("erf", math.erf, a),
                ("acosh", math.acosh, [narrow(kind, value + 1) for value in positive]), ("erfc", math.erfc, unit)]:
            cases.add("math." + operation, kind, [(kind, values)], lambda x, f=reference: float(f(x)))
        for operation, reference in [
                ("arith.addf", lambda x, y: x + y), ("arith.subf", lambda x, y: x - y),
                ("arith.mulf", lambda x, y: x * y), ("arith.divf", lambda x, y: x / y), ("arith.remf", math.fmod),
                ("arith.maximumf", max), ("arith.minimumf", min), ("arith.maxnumf", max), ("arith.minnumf", min),
                ("math.atan2", math.atan2), ("math.copysign", math.copysign)]:
            cases.add(operation, kind, [(kind, a), (kind, b)], reference)
        cases.add("math.powf", kind, [(kind, positive), (kind, unit)], math.pow)
        cases.add("arith.select", kind, [("i1", draw("i1")), (kind, a), (kind, b)], lambda c, x, y: x if c else y)
        for predicate, reference in [("olt", lambda x, y: x < y), ("uge", lambda x, y: x >= y)]:
            cases.add(f"arith.cmpf {predicate},", "i1", [(kind, a), (kind, b)], reference)
        special = [math.nan, math.inf, -math.inf, 0.0, -0.0, 1.0, {"f16": 6e-8, "f32": 1e-40, "f64": 5e-324}[kind]]
        for operation, reference in [("isnan", math.isnan), ("isinf", math.isinf), ("isfinite", math.isfinite)]:
            cases.add("math." + operation, "i1", [(kind, special)], reference)
        cases.add("math.isnormal", "i1", [(kind, special)], lambda x: x == 1.0)
        for integer in INTEGERS:
            cases.add("arith.fptosi", integer, [(kind, a)], int)
            cases.add("arith.fptoui", integer, [(kind, [abs(x) for x in a])], int)
            cases.add("arith.sitofp", kind, [(integer, [value % 99 - 49 for value in draw(integer)])], float)
        for other in FLOATS:
            if width(other) != width(kind):
                cases.add("arith.extf" if width(other) > width(kind) else "arith.truncf", other, [(kind, a)], float)


def write_npy(path, kind, values):
    code, dtype = CODES[kind]
    header = f"{{'descr': '{dtype}', 'fortran_order': False, 'shape': ({len(values)},), }}"
    header += " " * (-(len(header) + 11) % 64) + "\n"
    with open(path, "wb") as file:
        file.write(b"\x93NUMPY\x01\x00" + struct.pack("<H", len(header)) + header.encode())
        file.write(struct.pack(f"<{len(values)}{code}", *values))


def call(folder, program, name, inputs, expected):
    command = ["tenon-run", program, "--device=emulator", "--function=" + name]
    for i, (kind, values) in enumerate(inputs):
        path = os.path.join(folder, f"{name}_{i}.npy")
        write_npy(path, kind, values)
        command.append("--input=@" + path)
    path = os.path.join(folder, name + "_expected.npy")
    write_npy(path, *expected)
    command.append("--expected_output=@" + path)
    done = subprocess.run(command, capture_output=True, text=True)
    return "" if done.returncode == 0 else (done.stdout + done.stderr)[-400:]


def main(folder):
    random.seed(1)
    cases = Cases()
    integer_cases(cases)
    float_cases(cases)
    source, program = os.path.join(folder, "operations.mlir"), os.path.join(folder, "operations.tenon")
    with open(source, "w") as file:
        file.write("".join(cases.mlir))
    subprocess.run(["tenon-compile", source, "--target=sm_75", "-o", program], check=True)
    with ThreadPoolExecutor(os.cpu_count()) as pool:
        answers = [pool.submit(call, folder, program, name, inputs, expected)
                   for name, _, inputs, expected in cases.calls]
    wrong = 0
    for (name, operation, inputs, (result, _)), answer in zip(cases.calls, answers):
        if answer.result():
            wrong += 1
            print(f"{operation} {[kind for kind, _ in inputs]} -> {result}: {answer.result()}")
    print(f"{len(cases.calls)} operations, {wrong} wrong")


main(sys.argv[1])
