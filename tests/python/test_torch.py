# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""PyTorch's tensors and operators; on the emulator they are in host memory. Skipped where there is no PyTorch."""
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
