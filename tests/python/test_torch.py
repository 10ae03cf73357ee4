# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""PyTorch's tensors and operators; on the emulator they are in host memory. Skipped where there is no PyTorch."""
import os

import pytest
import tenon

torch = pytest.importorskip("torch", reason="there is no PyTorch")


def test_tensors_in_and_out(program, saxpy):
    x, y = torch.arange(1000.0), torch.ones(1000)
    saxpy(x, y, 2.0, 1000, grid=8)
    torch.testing.assert_close(y, 1 + 2 * x)
    result = program.add(x, y)
    assert isinstance(result, torch.Tensor)
    torch.testing.assert_close(result, x + y)
    half = torch.ones(4, dtype=torch.bfloat16)
    torch.testing.assert_close(program.half(half), half + half)
    same = torch.ones(4)
    assert program.three(same, 1)[2] is same


def test_an_operator_under_torch_compile(program, saxpy):
    axpy = tenon.torch_op("tenon_test::saxpy", saxpy, grid=lambda x, y, a, n: (n + 127) // 128)
    add = tenon.torch_op("tenon_test::add", program.add, fake=lambda a, b: torch.empty_like(a),
                         setup_context=lambda ctx, inputs, output: None, backward=lambda ctx, grad: (grad, grad))
    assert str(axpy._schema).endswith("(Tensor x, Tensor(a!) y, float a, SymInt n) -> ()")
    x = torch.rand(100)
    torch.library.opcheck(axpy, (x, torch.ones(100), 2.0, 100), test_utils=("test_schema", "test_faketensor"))
    torch.library.opcheck(add, (x, x), test_utils=("test_schema", "test_faketensor"))

    def f(x, y):
        z = x * 2
        axpy(z, y, 0.5, x.shape[0])
        return add(z, y).sin()

    one, two = torch.ones(100), torch.ones(100)
    torch.testing.assert_close(f(x, one), torch.compile(f, fullgraph=True, backend="aot_eager")(x, two))
    torch.testing.assert_close(one, two)
    w = torch.ones(100, requires_grad=True)
    add(w, x).sum().backward()
    assert (w.grad == 1).all()


def test_an_input_that_is_not_read(unread):
    doubles = tenon.torch_op("tenon_test::doubles", unread)
    assert str(doubles._schema).endswith("(Tensor arg0, Tensor arg1) -> Tensor")
    assert doubles(torch.ones(2, 3, dtype=torch.int32), torch.arange(4.0)).tolist() == [0, 2, 4, 6]


DONATED = """
func.func @append(%cache: tensor<8x4xf32> {tenon.donated}, %row: tensor<1x4xf32>, %at: tensor<i64>) -> tensor<8x4xf32> {
  %n = tensor.extract %at[] : tensor<i64>
  %i = arith.index_cast %n : i64 to index
  %c0 = arith.constant 0 : index
  %c7 = arith.constant 7 : index
  %low = arith.maxsi %i, %c0 : index
  %p = arith.minsi %low, %c7 : index
  %0 = tensor.insert_slice %row into %cache[%p, 0] [1, 4] [1, 1] : tensor<1x4xf32> into tensor<8x4xf32>
  return %0 : tensor<8x4xf32>
}
func.func @add_(%x: tensor<?xf32>, %y: tensor<?xf32>) {
  %c0 = arith.constant 0 : index
  %d = tensor.dim %x, %c0 : tensor<?xf32>
  %e = tensor.empty(%d) : tensor<?xf32>
  %0 = linalg.add ins(%x, %y : tensor<?xf32>, tensor<?xf32>) outs(%e : tensor<?xf32>) -> tensor<?xf32>
  %1 = hal.tensor.alias %0 : tensor<?xf32> to %x : tensor<?xf32>
  return
}
func.func @rounds(%x: tensor<4xf32> {tenon.donated}, %n: i32) -> tensor<4xf32> {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %end = arith.index_cast %n : i32 to index
  %r = scf.for %i = %c0 to %end step %c1 iter_args(%v = %x) -> tensor<4xf32> {
    %0 = arith.addf %v, %v : tensor<4xf32>
    scf.yield %0 : tensor<4xf32>
  }
  return %r : tensor<4xf32>
}
"""


@pytest.fixture(scope="module")
def donated():
    if not os.environ.get("TENON_COMPILE"):
        pytest.skip("the compiler is not built")
    return tenon.load(tenon.compile(DONATED, targets="sm_90"))


def test_a_donated_tensor_is_written(donated):
    assert [one.donated for one in tenon.FunctionInfo.of(donated.append).inputs] == [True, False, False]
    assert tenon.FunctionInfo.of(donated.append).results[0].input == 0
    cache, row = torch.zeros(8, 4), torch.arange(4.0).reshape(1, 4)
    for at in range(3):
        assert donated.append(cache, row + at, torch.tensor(at)) is cache
    assert cache[:3].tolist() == [[0, 1, 2, 3], [1, 2, 3, 4], [2, 3, 4, 5]] and (cache[3:] == 0).all()
    kept = donated.append(cache, row, torch.tensor(7), keep=True)
    assert kept is not cache and (cache[7] == 0).all() and kept[7].tolist() == [0, 1, 2, 3]
    out = torch.empty(8, 4)
    donated.append(cache, row, torch.tensor(6), out=out)
    torch.testing.assert_close(out, cache)


def test_a_loop_writes_what_it_was_given(donated):
    x = torch.arange(4.0)
    address = x.data_ptr()
    for _ in range(3):  # the first by the host, the others as one plan
        x = donated.rounds(x, 2)
        assert x.data_ptr() == address
    assert x.tolist() == [0, 64, 128, 192]
    assert donated.rounds(x, 0) is x
    assert donated.rounds(x, 1, keep=True).tolist() == [0, 128, 256, 384] and x.tolist() == [0, 64, 128, 192]


def test_a_tensor_that_is_assigned_to(donated):
    x, y = torch.ones(100), torch.arange(100.0)
    assert donated.add_(x, y) is None
    torch.testing.assert_close(x, 1 + y)
    donated.add_(x, y, keep=True)  # what it is for
    torch.testing.assert_close(x, 1 + 2 * y)
    with pytest.raises(tenon.Error, match="is memory of input 1, too"):
        donated.add_(x, x)
    torch.testing.assert_close(x, 1 + 2 * y)


def test_operators_of_functions_that_write(donated):
    add_ = tenon.torch_op("tenon_test::add_", donated["add_"])
    assert str(add_._schema).endswith("(Tensor(a0!) arg0, Tensor arg1) -> ()")
    x, y = torch.ones(10), torch.arange(10.0)
    torch.library.opcheck(add_, (x.clone(), y), test_utils=("test_schema", "test_faketensor"))

    def f(x, y):
        z = x * 2
        add_(z, y)
        return z + 1

    torch.testing.assert_close(torch.compile(f, fullgraph=True, backend="aot_eager")(x, y), 2 * x + y + 1)
    append = tenon.torch_op("tenon_test::append", donated.append)
    cache = torch.zeros(8, 4)
    torch.library.opcheck(append, (cache, torch.ones(1, 4), torch.tensor(2)), test_utils=("test_schema", "test_faketensor"))
    assert (cache == 0).all()
