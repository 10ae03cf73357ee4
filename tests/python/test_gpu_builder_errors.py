# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""What tenon.gpu refuses: each error with its text, at the line of Python that says `# here`."""
import importlib.util
import itertools

import pytest
from tenon import gpu

HEAD = """
import math
import numpy
from tenon import gpu
from tenon.gpu import bf16, f16, f32, f64, i1, i8, i16, i32, i64

TABLE = numpy.zeros(4)

def twice(v):
    return v * 2

def sometimes(v):
    if v > 0:
        return v

def from_a_loop(v):
    for k in range(4):
        if k == v:
            return k

def endless(v):
    return endless(v)
"""
KERNEL = """
@gpu.kernel(block=64)
def kernel(x: gpu.In[f32, 64, 8], y: gpu.Out[f32, 64, 8], c: gpu.InOut[i32, 64], h: gpu.Out[f16, "n"], u: gpu.In[f32, ...], n: i32, a: f32, big: i64, p: i1):
    i = gpu.thread_id.x
"""
count = itertools.count()


def module(text, folder):
    path = folder / f"kernels_{next(count)}.py"
    path.write_text(text)
    spec = importlib.util.spec_from_file_location(path.stem, path)
    loaded = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(loaded)
    return loaded


def line_of(text):
    return next((number for number, line in enumerate(text.splitlines(), 1) if "# here" in line), None)


BODIES = {
    # Arithmetic.
    "y[i, 0] = a + i": "'+' of f32 and i64; wanted: one type",
    "y[i, 0] = i + 1.5": "the number 1.5 meets a value of type i64; wanted: an integer",
    "y[i, 0] = n / 2": "'/' of integers is a float in Python: found i32",
    "y[i, 0] = a // 2.0": "'//' of f32 and f32 is not supported",
    "y[i, 0] = a % 2.0": "'%' of f32 and f32 is not supported",
    "y[i, 0] = a ** 2": "'**' of f32 and the number 2 is not supported",
    "y[i, 0] = x @ x": "'@' of the array x (64, 8) and the array x (64, 8)",
    "c[i] = n // 0": "'//' by zero",
    "c[i] = 1 // 0": "integer division or modulo by zero",
    "c[i] = n << -1": "'<<' by a negative number",
    "c[i] = n + 3000000000": "3000000000 is no number of type i32",
    "y[i, 0] = a + 1e60": "1e+60 is beyond the largest f32",
    "y[i, 0] = a + 16777217": "16777217 is no number of type f32",
    "y[i, 0] = x + a": "'+' of the array x (64, 8) and f32; wanted: numbers",
    "c[i] = p + 1": "the number 1 stands where i1 is wanted",
    "c[i] = n + p": "'+' of i32 and i1; wanted: one type",
    "c[i] = n + True": "the bool True stands where i32 is wanted",
    "c[i] = ~p": "'~' of a bool is not supported",
    "c[i] = -p": "'-' of a bool is not supported",
    "c[i] = ~a": "'~' of f32; wanted: an integer",
    "y[i, 0] = a | 1.0": "'|' of f32 and f32 is not supported",
    "c[i] = i32(p < p)": "'<' of bools is not supported",
    "c[i] = p * p": "'*' of bools is not supported",
    "c[i] = -'s'": "'-' of a Python str; wanted: a number",
    "v = gpu.splat(a, 4) + gpu.splat(a, 2)": "'+' of a vector of 4 f32 and a vector of 2 f32; wanted: as many elements",
    "v = gpu.vector(n, n) // 3": "'//' of vectors is not supported",
    "v = gpu.vector(n, n) << gpu.vector(n, n)": "'<<' of vectors by what may be 32 or more",
    "v = 1 if gpu.vector(n, n) else 2": "the condition is a vector of 2 i32; wanted: one bool",
    "v = i32(gpu.splat(a, 4))": "i32(...) of a vector of 4 f32 is not supported",
    "v = i32('1')": "i32(...) of a Python str; wanted: a number",
    "v = i32(1, 2)": "i32(...) takes one number, found 2",
    "v = i8(300)": "300 is no number of type i8",
    "v = abs(x)": "abs of the array x (64, 8); wanted: a number",
    "v = min(a)": "min of f32; wanted: two numbers or more",
    "v = (a, a) == (a, a)": "'==' of a Python tuple and a Python tuple; wanted: numbers",
    "v = (a, 1) < (a, 2)": "'<' of a Python tuple and a Python tuple; wanted: numbers",
    "v = x * 2": "'*' of the array x (64, 8) and the number 2; wanted: numbers",
    "v = x == x": "'==' of the array x (64, 8) and the array x (64, 8); wanted: numbers",
    "v = gpu.thread_id + 1": "'+' of gpu.thread_id, whose parts are x, y and z, and the number 1".replace("z, and", "z and"),
    "return 3": "a kernel returns a value",
    # Conditions.
    "c[i] = 1 if n and p else 0": "'and' of i32; wanted: bools",
    "c[i] = 1 if p or n else 0": "'or' of i32; wanted: bools",
    "c[i] = 1 if p or a else 0": "'or' of f32; wanted: bools",
    "c[i] = 1 if x and p else 0": "'and' of the array x (64, 8); wanted: bools",
    "if x:  # here\n        pass": "the condition of 'if' is the array x (64, 8); wanted: a bool",
    "if 0 < gpu.vector(n, n) < 2:  # here\n        pass": "a chain of comparisons of vectors",
    "c[i] = 1 if n in (1, 2) else 0": "'in' and 'is' of the kernel's values",
    "c[i] = 1 if n is 1 else 0": "'in' and 'is' of the kernel's values",
    "c[i] = 1 if f32 < f32 else 0": "'<' of a Python Scalar and a Python Scalar is not supported",
    # Arrays.
    "x[i, 0] = a": "the kernel writes x, which its signature says is only read",
    "x[i, 0] += a": "the kernel writes x, which its signature says is only read",
    "h[i] = a": "what is assigned to an element of h is f32; wanted: f16",
    "c[i] = big": "what is assigned to an element of c is i64; wanted: i32",
    "c[i] = x": "what is assigned to an element of c is the array x (64, 8); wanted: i32",
    "c[i] = a": "what is assigned to an element of c is f32; wanted: i32",
    "y[i] = a": "f32 is assigned to a view of y (8); wanted: an element, or a vector",
    "y[i] += a": "'+=' of a view of y (8); wanted: an element",
    "y[i, 8] = a": "index 1 of y (64, 8) is 8; wanted: 0 to 7",
    "y[i, -9] = a": "index 1 of y (64, 8) is -1; wanted: 0 to 7",
    "y[i + 64, 0] = a": "index 0 of y (64, 8) is from 64 to 127; wanted: 0 to 63",
    "y[i, 0, 0] = a": "y (64, 8) has 2 dimensions, found 3 indices",
    "y[a, 0] = a": "index 0 of y is f32; wanted: an integer or a slice",
    "y[p, 0] = a": "index 0 of y is i1; wanted: an integer or a slice",
    "h[-1] = f16(a)": "index -1 of h counts from the end of an extent that is not known here",
    "v = x[i, 0:8:2]": "a slice of x has the step 2; wanted: 1",
    "v = u[-4:]": "a slice of u counts from the end",
    "y[0, 0] = u.shape[0]": "the first extent of u is not known",
    "v = x.T": "the array x has no 'T'; there are shape, dtype, ndim",
    "v = a.real": "f32 has no 'real'; there is dtype",
    "v = n[0]": "i32 has no elements",
    "v = gpu.load(x[i, 0:3])": "a vector of 3 elements of f32 is not supported",
    "v = gpu.load(x[0:2, 0])": "is no vector; wanted: one dimension",
    "v = gpu.load(x[0, 1:5])": "a vector of 16 bytes begins at byte 4 of x; wanted: a multiple of 16",
    "v = gpu.load(a)": "gpu.load of f32; wanted: a view of an array",
    "y[i, 0:4] = gpu.splat(a, 2)": "what is assigned to a view of y (4) is a vector of 2 f32; wanted: vector of 4 f32",
    "v = gpu.load(x[i, 0:4])[4]": "element 4 of a vector of 4 f32; wanted: 0 to 3",
    "v = gpu.load(x[i, 0:4])[n]": "an element of a vector is asked for by i32; wanted: a number that is known",
    "v = (1, 2)[n]": "a Python tuple is indexed by i32; wanted: a number that is known",
    "v = (1, 2)[2]": "IndexError: tuple index out of range",
    "v = (1, 2)\n    v[0] = 3  # here": "an element of a Python tuple is assigned; wanted: one of an array",
    "v = (1, 2)\n    v[0] += 3  # here": "an element of a Python tuple is assigned; wanted: one of an array",
    "v = gpu.shared((4, n), f32)": "the shape of gpu.shared is the number 4, i32; wanted: numbers above 0",
    "v = gpu.shared(0, f32)": "the shape of gpu.shared is the number 0; wanted: numbers above 0",
    "v = gpu.shared(4, float)": "the elements of gpu.shared are a Python type; wanted: a type of tenon.gpu",
    "v = gpu.shared(4, f32, align=3)": "gpu.shared is aligned to 3 bytes",
    "v = gpu.local(2000, f32)": "gpu.local has 2000 elements; wanted: at most 1024",
    "v = gpu.local(4, f32, i)": "fill is i64; wanted: f32",
    "v = gpu.vector(a, a, a)": "gpu.vector of 3 elements; wanted: 2, 4, 8 or 16 numbers",
    "v = gpu.splat(a, n)": "gpu.splat's count is not known",
    "v = TABLE[0]": "'TABLE' is an array outside of the kernel",
    # Variables.
    "c[i] = missing": "'missing' is not defined",
    "c[i] = later\n    later = 1": "'later' is not defined here: it is set later in the kernel",
    "if p:\n        v = 1\n    c[i] = v  # here": "'v' is set on one way only through the 'if' of line",
    "if p:\n        v = 1\n    else:\n        v = p\n    c[i] = v  # here": "'v' is the number 1 on one way",
    "if p:\n        v = big\n    else:\n        v = a\n    c[i] = v  # here": "'v' is i64 on one way through the 'if' of line",
    "if p:\n        v = x\n    else:\n        v = y\n    c[i] = v[0, 0]  # here": "'v' is the array x (64, 8) on one way",
    "v = i32(0)\n    for k in range(4):\n        v = a\n    c[i] = v  # here": "'v' is i32 before the loop of line",
    "v = 0\n    for k in range(4):\n        v = a\n    y[i, 0] = v  # here": "'v' is a Python int before the loop of line",
    "v = x\n    for k in range(4):\n        y[i, 0] = v[0, 0]  # here\n        v = y": "'v' is another array or object after a turn",
    "v = (n, n)\n    for k in range(4):\n        v = n\n    c[i] = v  # here": "'v' is a Python tuple before the loop of line",
    "for k in range(4):\n        v = n\n    c[i] = v  # here": "'v' is set in the loop of line",
    "for k in range(4):\n        pass\n    c[i] = k  # here": "'k' counts the loop of line",
    "v: f16 = a": "'v' is f32; wanted: f16",
    "v: f16": "a variable is declared without a value",
    "v: float = a": "the annotation is a Python type; wanted: a type of tenon.gpu",
    "v, w = n": "i32 is assigned to 2 variables; wanted: a tuple",
    "v, w = n, n, n": "3 values are assigned to 2 variables",
    "v = range(4)": "a range is kept in a variable",
    "n.v = 1": "Attribute is assigned to; wanted: a variable or an element",
    # Loops.
    "for k in range(a):  # here\n        pass": "range of f32; wanted: integers",
    "for k in range(0, 4, n):  # here\n        pass": "the step of range is i32, which may be 0 or negative; wanted",
    "for k in range(0, 4, 0):  # here\n        pass": "the step of range is 0",
    "for k in range(1, 2, 3, 4):  # here\n        pass": "range takes 1 to 3 numbers, found 4",
    "for k in range(1 << 62):  # here\n        pass": "range of 4611686018427387904; wanted: at most",
    "for k in x:  # here\n        pass": "a for loop runs over the array x (64, 8); wanted: range(...)",
    "for k in range(4):  # here\n        pass\n    else:\n        pass": "'else' of a for loop",
    "while i < 4:  # here\n        pass\n    else:\n        pass": "'else' of a while loop",
    "for k, m in range(4):  # here\n        pass": "a range is assigned to several variables",
    "while True:  # here\n        c[i] = 1": "the condition of 'while' is always true",
    "v = [k for k in range(n)]": "a comprehension runs over a range that is not known",
    "v = [k for k in range(0, 4, max(n, 1))]": "a comprehension runs over a range that is not known",
    "v = [k for k in range(4) if p]": "the condition of a comprehension is not known",
    "for k in gpu.static_range(5000):  # here\n        pass": "a for loop is written out, with 5000 turns; wanted: at most 4096",
    "for k in gpu.static_range(4000):\n        for m in gpu.static_range(4000):  # here\n            pass": "more than 131072 turns of loops are written out",
    # Statements and expressions.
    "def inner():  # here\n        pass": "a function within a kernel is not supported",
    "with x:  # here\n        pass": "with is not supported in a kernel",
    "try:  # here\n        pass\n    except ValueError:\n        pass": "try is not supported",
    "raise ValueError": "raise is not supported",
    "del i": "del is not supported",
    "import os": "import is not supported",
    "global i2": "global is not supported",
    "class A:  # here\n        pass": "a class is not supported",
    "match n:  # here\n        case 1:\n            pass": "match is not supported",
    "v = lambda: 1": "a lambda is not supported",
    "v = {1: 2}": "a dict is not supported",
    "v = {1, 2}": "a set is not supported",
    "v = f'{n}'": "an f-string is not supported",
    "v = (w := n)": ":= is not supported",
    "v = b'x'": "the constant b'x' is not supported",
    "v = [*(1, 2)]": "* is not supported",
    "assert n > 0": "assert of a value of the kernel",
    "assert 1 > 2, 'sizes'": "the kernel asserts: sizes",
    "v = twice(*(n,), **{})": "** is not supported in a kernel",
    # Calls.
    "v = twice(n, n)": "twice: too many positional arguments",
    "v = sometimes(n)": "sometimes gives no value on some of its ways",
    "v = from_a_loop(n)": "from_a_loop may end without a value",
    "v = numpy.sqrt(a)": "sqrt is called with a value of the kernel; wanted: a function of tenon.gpu",
    "v = math.gamma(a)": "math.gamma is called with a value of the kernel",
    "v = math.floor(a)": "math.floor gives an integer",
    "v = float(n)": "float(...) of a value: Python's float has 64 bits",
    "v = math.sqrt(n)": "gpu.sqrt of i32; wanted: a float",
    "v = (1)(2)": "the number 1 is called",
    "v = int('x')": "ValueError: invalid literal for int()",
    "print(n)": "print is not supported",
    "v = gpu.nothing": "tenon.gpu has no 'nothing'",
    "gpu.barier()": "did you mean gpu.barrier?",
    "gpu.wgmma()": "gpu.wgmma: missing 3 required positional arguments",
    "gpu.tcgen05_mma()": "what sm_100a alone has is not in tenon.gpu: write that kernel in CUDA C++",
    "gpu.im2col(x)": "tensor maps are tiled: write that kernel in CUDA C++",
    "gpu.wgmma_sparse()": "sparse products are not in tenon.gpu",
    "gpu.tma_load()": "tensor maps are gpu.tensor_map(array, box)",
    "gpu.barrier(0, 64)": "the number of a barrier is 0; wanted: 1 to 15",
    "gpu.barrier(n, 64)": "the number of a barrier is from -2147483648 to 2147483647; wanted: 1 to 15",
    "gpu.barrier(a, 64)": "the number of a barrier is f32; wanted: 1 to 15",
    "gpu.barrier(1)": "barrier 1 waits for a Python NoneType threads; wanted: a multiple of 32, at most the block's 64",
    "gpu.barrier(1, 96)": "barrier 1 waits for the number 96 threads",
    "v = gpu.sqrt(a, a)": "gpu.sqrt: ",
    "v = gpu.bitcast(n, f64)": "gpu.bitcast of i32 to f64; wanted: as many bits",
    "v = gpu.pow(n, n)": "gpu.pow of i32; wanted: a float",
    # Warps, atomics, matrices.
    "v = gpu.shuffle_xor(f64(a), 1)": "gpu.shuffle_xor of f64; wanted: a number of 32 bits",
    "v = gpu.shuffle(a, a)": "gpu.shuffle_index by f32; wanted: an integer",
    "gpu.atomic_add(x, (i, 0), a)": "the kernel writes x, which its signature says is only read",
    "gpu.atomic_add(y, i, a)": "gpu.atomic_add of a view of y (8); wanted: one number",
    "gpu.atomic_max(y, (i, 0), a)": "gpu.atomic_max of f32 is not supported; wanted: i32 or i64",
    "gpu.atomic_add(c, i, a)": "what gpu.atomic_add takes is f32; wanted: i32",
    "gpu.atomic_add(gpu.local(4, i32), 0, 1)": "gpu.atomic_add of the array local_0 (4); wanted: a parameter or shared memory",
    "gpu.atomic_compare_exchange(y, (i, 0), 0, 1)": "gpu.atomic_compare_exchange of f32 is not supported",
    "v = gpu.mma(a, a, a)": "gpu.mma's a is f32; wanted: a vector",
    "v = gpu.mma(gpu.splat(a, 4), gpu.splat(a, 4), gpu.splat(a, 4))": "gpu.mma of a vector of 4 f32, a vector of 4 f32",
    "v = gpu.load_matrices(x[i], 4)": "gpu.load_matrices of a view of x (8); wanted: a row in shared memory",
    "v = gpu.load_matrices(gpu.shared((8, 8), f32)[0], 4)": "wanted: 8 elements of f16 or bf16 side by side",
    "v = gpu.load_matrices(gpu.shared((8, 8), f16)[0], 3)": "loads the number 3 matrices; wanted: 1, 2 or 4",
    "gpu.copy_async(y[0, 0:4], x[0, 0:4])": "gpu.copy_async copies to a view of y (4); wanted: shared memory",
    "gpu.copy_async(gpu.shared(8, f32)[0:8], x[0])": "gpu.copy_async copies 32 bytes; wanted: 4, 8 or 16",
    "gpu.copy_async(gpu.shared(8, f16)[0:4], x[0, 0:4])": "wanted: as many elements of one type, side by side",
    "gpu.copy_wait(n)": "gpu.copy_wait waits for i32; wanted: a number from 0",
}


@pytest.mark.parametrize("body", BODIES)
def test_a_body(body, tmp_path):
    text = HEAD + KERNEL + "    " + (body if "# here" in body else body.split("\n")[0] + "  # here" + body[len(body.split("\n")[0]):]) + "\n"
    with pytest.raises(gpu.KernelError) as raised:
        module(text, tmp_path).kernel.mlir
    assert BODIES[body] in str(raised.value), str(raised.value)
    assert raised.value.place.line == line_of(text), str(raised.value)
    assert f"kernels_{next(count) - 1}.py:{raised.value.place.line}:{raised.value.place.column}: error: " in str(raised.value)
    assert "# here" in str(raised.value)  # the line itself


def test_a_mistake_of_its_own_says_so(tmp_path, monkeypatch):
    from tenon.gpu import interpreter

    monkeypatch.setattr(interpreter, "truth", lambda *_: {}[0])
    with pytest.raises(gpu.KernelError, match="a mistake of its own: KeyError: 0") as raised:
        module(HEAD + KERNEL + "    if n:  # here\n        pass\n", tmp_path).kernel.mlir
    assert "# here" in str(raised.value)


def test_an_expression_that_is_too_deep(tmp_path):
    with pytest.raises(gpu.KernelError, match="too deep"):
        module(HEAD + KERNEL + f"    c[i] = {'-(' * 80}{' + '.join(['n'] * 900)}{')' * 80}\n", tmp_path).kernel.mlir


def test_a_function_that_calls_itself(tmp_path):
    # Where it calls itself, in its own lines.
    with pytest.raises(gpu.KernelError, match="endless calls itself") as raised:
        module(HEAD + KERNEL + "    endless(n)\n", tmp_path).kernel.mlir
    assert "return endless(v)" in str(raised.value)


SIGNATURES = {
    "def kernel(x):": "parameter 'x' says no type",
    "def kernel(x: float):": "parameter 'x' is <class 'float'>; wanted: gpu.In, gpu.Out or gpu.InOut",
    "def kernel(x: 'gpu.In[f32, m]'):": "the type of parameter 'x': NameError: name 'm' is not defined",
    "def kernel(x: gpu.In[f32]):": "the shape of 'x' is missing",
    "def kernel(x: gpu.In[float, 4]):": "the elements of 'x' are <class 'float'>; wanted: a type of tenon.gpu",
    "def kernel(x: gpu.In[f32, 0]):": "extent 0 of 'x' is 0; wanted: a number above 0",
    "def kernel(x: gpu.In[f32, 4, ...]):": "only the first may be '...'",
    "def kernel(x: gpu.In[f32, 'a'], a: f32):": "an extent of 'x' is 'a'; wanted: a size, or a parameter that is an integer",
    "def kernel(*x):": "* and ** are not supported in the signature",
    "def kernel(n: i32 = 4):": "a parameter of a kernel has no default",
}


@pytest.mark.parametrize("signature", SIGNATURES)
def test_a_signature(signature, tmp_path):
    with pytest.raises(gpu.KernelError) as raised:
        module(HEAD + f"@gpu.kernel(block=32)\n{signature}\n    pass\n", tmp_path)
    assert SIGNATURES[signature] in str(raised.value), str(raised.value)
    assert signature in str(raised.value)


@pytest.mark.parametrize("given, text", [
    ("", "how many threads a block of 'kernel' has is not said"),
    ("block=0", "block is 0; wanted: 1 to 3 numbers above 0"),
    ("block=(32, 64)", "a block of 'kernel' is 32 x 64 x 1 threads; wanted: at most 1024"),
    ("block=(1, 1, 65)", "a block of 'kernel' is 1 x 1 x 65 threads"),
    ("block=32, grid='4'", "grid is '4'; wanted"),
    ("block=lambda M: 32", "block takes 'M', which is no size of the kernel"),
])
def test_a_launch(given, text, tmp_path):
    with pytest.raises(gpu.KernelError) as raised:
        module(HEAD + f"@gpu.kernel({given})\ndef kernel(n: i32):\n    pass\n", tmp_path)
    assert text in str(raised.value), str(raised.value)


def test_what_has_no_source(tmp_path):
    space = {"gpu": gpu}
    exec("def kernel():\n    pass\n", space)
    with pytest.raises(gpu.KernelError, match="the source of kernel is not to be had"):
        gpu.kernel(block=32)(space["kernel"])
    with pytest.raises(TypeError, match="makes a kernel of a function"):
        gpu.kernel(block=32)(3)
    with pytest.raises(gpu.KernelError, match="is no function of a `def`"):
        gpu.kernel(block=32)(lambda n: n)


def test_outside_of_a_kernel():
    with pytest.raises(TypeError, match="gpu.barrier means something in the body of a @gpu.kernel only"):
        gpu.barrier()
    with pytest.raises(TypeError, match="gpu.thread_id means something"):
        gpu.thread_id.x
    with pytest.raises(TypeError, match=r"f32\(...\) converts numbers in the body"):
        gpu.f32(1)
