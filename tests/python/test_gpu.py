# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Arrays of PyTorch and CuPy on a GPU: no copies, the caller's stream, a captured graph, torch.compile. It needs nothing but the
installed package (its sample, and nvcc for one kernel), so that a wheel can be tried with it. Skipped where there is no GPU."""
import pytest
import tenon

torch = pytest.importorskip("torch", reason="there is no PyTorch")
if not torch.cuda.is_available():
    pytest.skip("there is no GPU", allow_module_level=True)

N = 4096
SLOW = 50_000_000  # cycles, some 30 ms


@pytest.fixture(scope="module")
def program():
    return tenon.load(tenon.sample(), "cuda")


def wanted(a, b):
    return (a * b + b) * (a * b)


def arrays():
    return torch.rand(N, device="cuda"), torch.rand(N, device="cuda")


def test_the_callers_memory_is_used(program):
    a, b = arrays()
    out = torch.empty(N, device="cuda")
    where = out.data_ptr()
    assert program.mixed_invocation(a, b, out=out) is out and out.data_ptr() == where
    torch.testing.assert_close(out, wanted(a, b))
    before = torch.cuda.memory_allocated()
    result = program.mixed_invocation(a, b)
    assert isinstance(result, torch.Tensor) and result.is_cuda
    assert torch.cuda.memory_allocated() == before + 4 * N  # PyTorch's own memory, and nothing beside it
    torch.testing.assert_close(result, wanted(a, b))


def test_a_side_stream_is_followed(program):
    a, b = arrays()
    program.mixed_invocation(a, b)
    torch.cuda.synchronize()
    side = torch.cuda.Stream()
    with torch.cuda.stream(side):
        torch.cuda._sleep(SLOW)
        a = a * 3
        result = program.mixed_invocation(a, b)
        assert not side.query()  # the call did not wait
        copy = result + 0
    assert torch.cuda.default_stream().query()  # and took no other stream
    side.synchronize()
    torch.testing.assert_close(copy, wanted(a, b))


def test_a_captured_graph(program):
    a, b = arrays()
    program.mixed_invocation(a, b)
    graph = torch.cuda.CUDAGraph()
    with torch.cuda.graph(graph):
        result = program.mixed_invocation(a, b)
    for factor in (1, 2, 3):
        a.fill_(factor)
        graph.replay()
        torch.cuda.synchronize()
        torch.testing.assert_close(result, wanted(a, b))


def test_torch_compile(program):
    op = tenon.torch_op("tenon_gpu::mixed", program.mixed_invocation, fake=lambda a, b: torch.empty_like(a))
    torch.library.opcheck(op, arrays(), test_utils=("test_schema", "test_faketensor"))

    def f(a, b):
        return op(a * 2, b).sin() + 1

    compiled = torch.compile(f, fullgraph=True)
    for _ in range(3):
        a, b = arrays()
        torch.testing.assert_close(compiled(a, b), wanted(2 * a, b).sin() + 1)
    reduced = torch.compile(f, fullgraph=True, mode="reduce-overhead")  # CUDA graphs
    for _ in range(4):
        a, b = arrays()
        torch.testing.assert_close(reduced(a, b), wanted(2 * a, b).sin() + 1)


def test_cupy(program):
    cupy = pytest.importorskip("cupy", reason="there is no CuPy")
    a, b = cupy.random.rand(N, dtype="f4"), cupy.random.rand(N, dtype="f4")
    result = program.mixed_invocation(a, b)
    assert isinstance(result, cupy.ndarray)
    cupy.testing.assert_allclose(result, wanted(a, b), rtol=1e-6)
    out = cupy.empty(N, "f4")
    assert program.mixed_invocation(a, b, out=out) is out
    cupy.testing.assert_allclose(out, wanted(a, b), rtol=1e-6)
    # PyTorch's tensor and CuPy's array of it are one memory.
    tensor = torch.rand(N, device="cuda")
    shared = cupy.asarray(tensor)
    assert shared.data.ptr == tensor.data_ptr()
    torch.cuda.synchronize()
    cupy.testing.assert_allclose(program.mixed_invocation(shared, b), wanted(shared, b), rtol=1e-6)
    side = cupy.cuda.Stream(non_blocking=True)
    with side:
        c = a * 2
        result = program.mixed_invocation(c, b)
    side.synchronize()
    cupy.testing.assert_allclose(result, wanted(c, b), rtol=1e-6)
    with side:
        program.mixed_invocation(a, b, out=out)
        side.begin_capture()
        program.mixed_invocation(a, b, out=out)
        graph = side.end_capture()
        out.fill(0)
        graph.launch(side)
    side.synchronize()
    cupy.testing.assert_allclose(out, wanted(a, b), rtol=1e-6)


def test_a_kernel_made_in_place():
    if tenon.toolchain.find_nvcc() is None:
        pytest.skip("there is no nvcc")
    k = tenon.cuda_kernel('extern "C" __global__ void axpy(const float *x, float *y, float a, int n) '
                          "{ int i = blockIdx.x * blockDim.x + threadIdx.x; if (i < n) y[i] += a * x[i]; }", "axpy", block=128,
                          device="cuda")
    x, y = arrays()
    expected = y + 2 * x
    k(x, y, 2.0, N, grid=N // 128)
    torch.testing.assert_close(y, expected)
    side = torch.cuda.Stream()
    side.wait_stream(torch.cuda.current_stream())
    with torch.cuda.stream(side):
        torch.cuda._sleep(SLOW)
        k(x, y, -2.0, N, grid=N // 128)
        assert not side.query()
    side.synchronize()
    torch.testing.assert_close(y, expected - 2 * x)
