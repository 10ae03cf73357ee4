# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Element types between NumPy and Tenon. A tensor of floats is a float64 array whose elements the type can hold; one of
integers an int64 array, sign-extended (i1: 0 and 1). bf16, which NumPy has not, goes through the upper half of an f32."""
import numpy as np

KINDS = ("i1", "i8", "i16", "i32", "i64", "f16", "bf16", "f32", "f64")
FLOATS = ("f16", "bf16", "f32", "f64")
INTEGERS = ("i8", "i16", "i32", "i64")
NUMBERS = {name: number for number, name in enumerate(("i1", "i8", "i16", "i32", "i64", "f16", "bf16", "f32", "f64"))}
NAMES = {number: name for name, number in NUMBERS.items()}
STORED = {"i1": np.uint8, "i8": np.int8, "i16": np.int16, "i32": np.int32, "i64": np.int64, "f16": np.float16,
          "bf16": np.uint16, "f32": np.float32, "f64": np.float64}
# The distance from 1 to the next number, the smallest number above 0, and the largest.
EPS = {"f16": 2.0 ** -10, "bf16": 2.0 ** -7, "f32": 2.0 ** -23, "f64": 2.0 ** -52}
TINY = {"f16": 2.0 ** -24, "bf16": 2.0 ** -133, "f32": 2.0 ** -149, "f64": 5e-324}
# Where a number of a function's result may be flushed to 0: below what is normal in the type that it is computed in.
FLUSHED = {"f16": 2.0 ** -22, "bf16": 2.0 ** -126, "f32": 2.0 ** -126, "f64": 2e-323}
LARGEST = {"f16": 65504.0, "bf16": 3.3895e38, "f32": 3.4028e38, "f64": 1.797e308}


def is_float(kind):
    return kind in EPS


def width(kind):
    return {"f16": 16, "bf16": 16, "f32": 32, "f64": 64}.get(kind) or int(kind[1:])


def bfloat_bits(values):
    """f32 rounded to nearest even; NaN stays NaN."""
    bits = np.asarray(values, dtype=np.float32).view(np.uint32).astype(np.int64)
    upper = (bits + 0x7FFF + ((bits >> 16) & 1)) >> 16
    return np.where((bits & 0x7FFFFFFF) > 0x7F800000, (bits >> 16) | 0x40, upper).astype(np.uint16)


def encode(kind, values):
    """The bytes of a tensor."""
    values = np.asarray(values)
    with np.errstate(over="ignore", invalid="ignore"):
        if kind == "bf16":
            return bfloat_bits(values).tobytes()
        return np.ascontiguousarray(values.astype(STORED[kind])).tobytes()


def decode(kind, data, shape):
    array = np.frombuffer(data, dtype=STORED[kind])
    if kind == "bf16":
        halves = np.zeros((array.size, 2), dtype="<u2")
        halves[:, 1] = array
        with np.errstate(invalid="ignore"):
            return halves.view("<f4").reshape(shape).astype(np.float64)
    array = array.reshape(shape)
    return array.astype(np.float64) if is_float(kind) else array.astype(np.int64)


def rounded(kind, values):
    """What the type holds of them."""
    values = np.asarray(values)
    if is_float(kind):
        return decode(kind, encode(kind, values), values.shape)
    return wrap(kind, values)


def wrap(kind, values):
    """Integers modulo the type, sign-extended; i1 is 0 or 1."""
    values = np.asarray(values).astype(np.int64)
    if kind == "i1":
        return np.asarray(values & 1)
    if kind == "i64":
        return values
    bits = width(kind)
    values = values & ((1 << bits) - 1)
    return np.asarray(np.where(values >> (bits - 1), values - (1 << bits), values))


def unsigned(kind, values):
    """The same bits as uint64."""
    values = np.asarray(values).astype(np.int64).view(np.uint64)
    return values if width(kind) == 64 else values & np.uint64((1 << width(kind)) - 1)


def ulp(kind, values):
    """The distance of neighbours of the type at these magnitudes."""
    magnitude = np.abs(np.asarray(values, dtype=np.float64))
    with np.errstate(invalid="ignore", over="ignore"):
        exponent = np.floor(np.log2(np.where((magnitude > 0) & np.isfinite(magnitude), magnitude, 1.0)))
        at = np.where(magnitude > 0, np.exp2(exponent) * EPS[kind], TINY[kind])
    return np.maximum(at, TINY[kind])


def draw(generator, kind, shape, low=-4.0, high=4.0):
    """Random elements: floats within a range, integers of all magnitudes."""
    if is_float(kind):
        return rounded(kind, generator.uniform(low, high, shape))
    if kind == "i1":
        return generator.integers(0, 2, shape).astype(np.int64)
    bits = width(kind)
    whole = generator.integers(-(1 << (bits - 1)), (1 << (bits - 1)) - 1, shape, endpoint=True, dtype=np.int64)
    small = generator.integers(-5, 6, shape, dtype=np.int64)
    return np.where(generator.random(shape) < 0.5, whole, small).astype(np.int64)
