# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Programs: functions as methods, arrays in and out, what is refused, what they say of themselves."""
import gc
import os
import pathlib

import numpy
import pytest
import tenon


def ramp(n=5):
    return numpy.arange(n, dtype=numpy.float32)


def test_numpy_in_and_out(program):
    a = ramp()
    result = program.add(a, a + 1)
    assert isinstance(result, numpy.ndarray) and result.tolist() == [1, 3, 5, 7, 9]
    assert isinstance(result.base, tenon.Array)  # the emulator's memory itself
    kept = program.add(result, result)
    del result
    gc.collect()
    assert kept.tolist() == [2, 6, 10, 14, 18]
    assert program.add(ramp(0), ramp(0)).shape == (0,)
    assert program["add"](a, a).tolist() == [0, 2, 4, 6, 8]


def test_several_results_and_an_input_among_them(program):
    x = numpy.ones(4, numpy.float32)
    doubled, number, same = program.three(x, -21)
    assert doubled.tolist() == [2] * 4 and number == -42 and same is x


def test_results_into_memory_of_the_callers(program):
    a, out = ramp(), numpy.zeros(5, numpy.float32)
    assert program.add(a, a, out=out) is out and out.tolist() == [0, 2, 4, 6, 8]
    with pytest.raises(ValueError, match=r"out: array 0 of 'add' is float32 \(4,\), the result is float32 \(5,\)"):
        program.add(a, a, out=numpy.zeros(4, numpy.float32))
    with pytest.raises(ValueError, match="1 given, 'three' returns 2 tensors"):
        program.three(numpy.ones(4, numpy.float32), 1, out=out)


LOOP = """
func.func @times(%x: tensor<4xf32>, %n: index) -> (tensor<4xf32>, index) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %r = scf.for %i = %c0 to %n step %c1 iter_args(%a = %x) -> tensor<4xf32> {
    %s = arith.addf %a, %x : tensor<4xf32>
    scf.yield %s : tensor<4xf32>
  }
  return %r, %n : tensor<4xf32>, index
}
func.func @halved(%x: tensor<f32>) -> tensor<f32> {
  %half = arith.constant dense<0.5> : tensor<f32>
  %one = arith.constant 1.0 : f32
  %r = scf.while (%a = %x) : (tensor<f32>) -> tensor<f32> {
    %v = tensor.extract %a[] : tensor<f32>
    %more = arith.cmpf ogt, %v, %one : f32
    scf.condition(%more) %a : tensor<f32>
  } do {
  ^bb0(%a: tensor<f32>):
    %s = arith.mulf %a, %half : tensor<f32>
    scf.yield %s : tensor<f32>
  }
  return %r : tensor<f32>
}
"""


def test_functions_that_branch_write_where_the_caller_wants(program):
    loop = tenon.load(tenon.compile(LOOP, targets="sm_90"))
    x, out = numpy.array([1, 2, 3, 4], numpy.float32), numpy.zeros(4, numpy.float32)
    for n in (0, 3, 3, 1, 0, 3):  # the host decides: from block to block the first time, then one list of commands
        got, number = loop.times(x, n, out=out)
        assert got is out and number == n and out.tolist() == [(n + 1) * value for value in (1, 2, 3, 4)]
        got, _ = loop.times(x, n)
        assert got is not x and got.tolist() == out.tolist() and x.tolist() == [1, 2, 3, 4]
    with pytest.raises(ValueError, match=r"out: array 0 of 'times' is float32 \(3,\), the result is float32 \(4,\)"):
        loop.times(x, 2, out=numpy.zeros(3, numpy.float32))
    whole = numpy.zeros((), numpy.float32)
    for value, wanted in ((5, 0.625), (5, 0.625), (0.25, 0.25)):  # the device decides
        assert loop.halved(numpy.float32(value).reshape(()), out=whole) is whole and whole == wanted


PASSING = """
func.func @passed(%x: tensor<2x?xf32>) -> (tensor<2x?xf32>, tensor<?xf32>, tensor<2xf32>, tensor<2x?xf32>, tensor<2x?xf32>) {
  %flat = tensor.collapse_shape %x [[0, 1]] : tensor<2x?xf32> into tensor<?xf32>
  %c = arith.constant dense<[1.0, 2.0]> : tensor<2xf32>
  %twice = arith.addf %x, %x : tensor<2x?xf32>
  return %x, %flat, %c, %twice, %twice : tensor<2x?xf32>, tensor<?xf32>, tensor<2xf32>, tensor<2x?xf32>, tensor<2x?xf32>
}
"""


def test_what_is_passed_through_goes_where_the_caller_wants(program):
    passing = tenon.load(tenon.compile(PASSING, targets="sm_90"))
    for size in (3, 3, 0):
        x = numpy.arange(2 * size, dtype=numpy.float32).reshape(2, size)
        out = [numpy.full(shape, -1, numpy.float32) for shape in ((2, size), 2 * size, 2, (2, size), (2, size))]
        got = passing.passed(x, out=out)
        assert all(a is b for a, b in zip(got, out))
        assert [a.tolist() for a in out] == [x.tolist(), x.ravel().tolist(), [1, 2], (x + x).tolist(), (x + x).tolist()]
        again = passing.passed(x)
        assert again[0] is x or size == 0
        again[2].fill(9)
        assert passing.passed(x)[2].tolist() == [1, 2]


def test_tenons_own_arrays(program):
    a = tenon.array(ramp())
    b = program.add(a, a)
    assert isinstance(b, tenon.Array) and b.shape == (5,) and b.dtype == "float32" and b.nbytes == 20
    assert numpy.from_dlpack(b).tolist() == b.numpy().tolist() == [0, 2, 4, 6, 8]
    taken = numpy.from_dlpack(b)
    address = b.host_address
    del b
    gc.collect()
    assert taken.__array_interface__["data"][0] == address and taken.tolist() == [0, 2, 4, 6, 8]
    with pytest.raises(AttributeError, match="host's"):
        a.__cuda_array_interface__
    assert tenon.empty((2, 3), "int64").nbytes == 48
    with pytest.raises(TypeError, match="'complex64' is no element type"):
        tenon.empty(3, "complex64")


@pytest.mark.parametrize("arguments, error, text", [
    ([ramp()], tenon.Error, "1 input given, function 'add' takes 2 (tensor<?xf32>, tensor<?xf32>)"),
    ([ramp(), ramp().astype(float)], tenon.Error, "input 1 of function 'add' is tensor<5xf64>, expected tensor<?xf32>"),
    ([ramp(), ramp().reshape(5, 1)], tenon.Error, "rank 2, expected rank 1"),
    ([ramp(), ramp(4)], tenon.Error, "dimension 0 of argument 1 is not that of argument 0"),
    ([ramp(), 3.0], TypeError, "argument 1 of 'add': <class 'float'> is no array"),
    ([ramp(), ramp(10)[::2]], ValueError, "argument 1 of 'add': the array is not dense"),
    ([ramp(), numpy.array(["a"])], TypeError, "an array of <U1"),
    ([ramp(), [1.0]], TypeError, "<class 'list'> is no array"),
    ([ramp(), numpy.zeros(21, "i1")[1:].view("f4")], ValueError, "argument 1 of 'add': the array begins at an address that is no multiple"),
])
def test_what_is_refused(program, arguments, error, text):
    with pytest.raises(error) as raised:
        program.add(*arguments)
    assert text in str(raised.value)


@pytest.mark.parametrize("given, error, text", [
    ({"out": numpy.ones(5, "i4")}, ValueError, "out: array 0 of 'add' is int32 (5,), the result is float32 (5,)"),  # as many bytes
    ({"out": numpy.ones(4, "f4")}, ValueError, "out: array 0 of 'add' is float32 (4,)"),
    ({"out": numpy.broadcast_to(numpy.float32(1), 5)}, ValueError, "out 0 of 'add': the array is not dense"),
    ({"out": numpy.frombuffer(bytes(20), "f4")}, ValueError, "out 0 of 'add': the array is read only, and it would be written"),
    ({"out": "text"}, TypeError, "out 0 of 'add': <class 'str'> is no array"),
    ({"a": ramp(), "b": ramp()}, TypeError, "'add' takes 'stream', 'out' and 'keep' by name, not 'a': arguments stand in their order"),
])
def test_what_is_refused_by_name(program, given, error, text):
    with pytest.raises(error) as raised:
        program.add(*([] if "a" in given else [ramp(), ramp()]), **given)
    assert text in str(raised.value)


@pytest.mark.parametrize("given, error", [(1.5, TypeError), (2**33, OverflowError), ("1", TypeError)])
def test_scalars_that_do_not_fit(program, given, error):
    with pytest.raises(error, match="argument 1 of 'three'"):
        program.three(numpy.ones(4, numpy.float32), given)


def test_halves_are_rounded_once_and_do_not_become_infinite(program):
    assert program.halves(65519.0, 3.0) == (65504, 3) and program.halves(float("inf"), -float("inf")) == (float("inf"), -float("inf"))
    assert program.halves(1 + 2**-11 + 2**-40, 1 + 2**-8 + 2**-40) == (1 + 2**-10, 1 + 2**-7)
    with pytest.raises(OverflowError, match="argument 0 of 'halves': 65520.0 does not fit f16"):
        program.halves(65520.0, 0.0)
    with pytest.raises(OverflowError, match="argument 1 of 'halves': 3.4e\\+38 does not fit bf16"):
        program.halves(0.0, 3.4e38)


def test_errors_have_a_code(program):
    with pytest.raises(tenon.Error) as raised:
        program.add(ramp())
    assert raised.value.code == "invalid argument"


def test_names_and_documentation_come_from_the_module(program):
    named = next(info for info in program.info if info.name == "named")
    assert [one.name for one in named.inputs] == ["rows", "by"] and [one.name for one in named.results] == ["out"]
    assert named.documentation == "What it does." and "What it does." in program._repr_html_()
    assert str(named) == "named(rows: f32[4], by: i32) -> f32[4]" == program.named.signature.replace("out: ", "")


def test_says_what_it_has(program):
    add = next(info for info in program.info if info.name == "add")
    assert str(add) == "add(f32[?], f32[?]) -> f32[?]" and add.inputs[0].shape == (-1,) and not add.runs_on_host
    assert program.three.signature == "three(f32[4], i32) -> (f32[4], i32, f32[4])"
    assert "add(f32[?], f32[?]) -> f32[?]" in repr(program) and "<table>" in program._repr_html_()
    assert "variant  target" in program.explain() and "function 'add'" in program.dump()
    with pytest.raises(AttributeError, match="no function 'nope'; there are add, three, named, half, halves"):
        program.nope
    with pytest.raises(KeyError, match="no function 'nope'"):
        program["nope"]


def test_files_whose_names_are_bytes(tmp_path):
    path = os.fsencode(tmp_path) + b"/\xc3\xbc \xff.tenon"  # UTF-8, and a byte that is none
    tenon.compile("func.func @two() -> i64 { %c = arith.constant 2 : i64 return %c : i64 }", targets="sm_90", output=os.fsdecode(path))
    assert tenon.load(path).two() == 2 and tenon.load(os.fsdecode(path)).two() == 2
    assert tenon.load(pathlib.Path(os.fsdecode(path))).two() == 2
    with pytest.raises(TypeError, match="not int"):
        tenon.load(0)


def test_files_that_are_none(tmp_path):
    with pytest.raises(FileNotFoundError):
        tenon.load(tmp_path / "none.tenon")
    for content, name in ((b"", "empty"), (b"no program at all", "text"), (b"\0\0\0\0TNX1" + bytes(64), "cut")):
        (tmp_path / name).write_bytes(content)
        with pytest.raises(tenon.Error) as raised:
            tenon.load(tmp_path / name)
        assert raised.value.code == "data loss"
    with pytest.raises(ValueError, match="images is 'jit'"):
        tenon.load(tmp_path / "text", images="jit")


def test_threads_call_side_by_side(program):
    import concurrent.futures

    def one(number):
        a = numpy.full(100, number, numpy.float32)
        return all((program.add(a, a) == 2 * number).all() for _ in range(20))

    with concurrent.futures.ThreadPoolExecutor(4) as pool:
        assert all(pool.map(one, range(8)))


def test_memory_is_returned(program):
    device = tenon.device()
    a = ramp(1000)
    program.add(a, a)
    gc.collect()
    before = device.statistics()["bytes_live"]
    for _ in range(50):
        program.add(a, a)
    gc.collect()
    assert device.statistics()["bytes_live"] == before
