# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""JAX's arrays, and kernels and functions as its operations; on the CPU they run on the emulator. Skipped where there is no
JAX."""
import os

import numpy
import pytest
import tenon

jax = pytest.importorskip("jax", reason="there is no JAX")
jnp = jax.numpy


def like(*arrays):
    return jax.ShapeDtypeStruct(arrays[0].shape, arrays[0].dtype)


@pytest.fixture(scope="module")
def axpy(saxpy):
    return tenon.jax_op("tenon_test::saxpy", saxpy, grid=lambda x, y, a, n: (n + 127) // 128)


@pytest.fixture(scope="module")
def add(program):
    return tenon.jax_op("tenon_test::add", program.add, results=like)


def test_a_kernel(axpy):
    x, y = jnp.arange(300.0), jnp.ones(300)
    numpy.testing.assert_array_equal(axpy(x, y, 2.0, 300), 1 + 2 * numpy.arange(300))
    assert (y == 1).all()  # JAX's arrays do not change

    @jax.jit
    def f(x, y):
        z = axpy(x * 2, y, 0.5, x.size)
        return axpy(x, z, 1.0, x.size) + y

    for scale in (1, 3):
        numpy.testing.assert_array_equal(f(scale * x, y), 2 + 2 * scale * numpy.arange(300))


def test_a_kernel_whose_result_is_made(saxpy, nvcc):
    copy = tenon.cuda_kernel('extern "C" __global__ void twice(const int *x, int *out, int n) '
                             "{ int i = blockIdx.x * blockDim.x + threadIdx.x; if (i < n) out[i] = 2 * x[i]; }", "twice", block=64)
    twice = tenon.jax_op("tenon_test::twice", copy, grid=lambda x, n: (n + 63) // 64, results={"out": lambda x, n: like(x)})
    x = jnp.arange(100, dtype=jnp.int32)
    numpy.testing.assert_array_equal(jax.jit(lambda x: twice(x, 100))(x), 2 * numpy.arange(100))
    rows = jnp.stack([x, x + 1])
    # One call after the other.
    numpy.testing.assert_array_equal(jax.vmap(lambda x: twice(x, 100))(rows), 2 * numpy.asarray(rows))


def test_functions_of_programs(program, add):
    x = jnp.arange(5.0)
    numpy.testing.assert_array_equal(jax.jit(lambda x: add(x * 2, x).sum())(x), 30)
    assert add(jnp.ones(0), jnp.ones(0)).shape == (0,)
    half = tenon.jax_op("tenon_test::half", program.half)
    assert half(jnp.ones(4, jnp.bfloat16)).dtype == jnp.bfloat16
    assert half(jnp.ones(4, jnp.bfloat16)).tolist() == [2] * 4


@pytest.mark.skipif(not os.environ.get("TENON_COMPILE"), reason="the compiler is not built")
def test_a_function_that_gives_an_input_back():
    text = """
func.func @same(%a: tensor<4xf32>, %s: i32) -> (tensor<4xf32>, tensor<4xi32>) {
  %e = tensor.empty() : tensor<4xi32>
  %0 = linalg.fill ins(%s : i32) outs(%e : tensor<4xi32>) -> tensor<4xi32>
  return %a, %0 : tensor<4xf32>, tensor<4xi32>
}
"""
    same = tenon.jax_op("tenon_test::same", tenon.load(tenon.compile(text, targets="sm_90")).same)
    x = jnp.arange(4.0)
    first, second = jax.jit(lambda x: same(x + 1, -7))(x)
    assert first.tolist() == [1, 2, 3, 4] and second.tolist() == [-7] * 4


def test_an_input_that_is_not_read(unread):
    doubles = tenon.jax_op("tenon_test::doubles", unread)
    x = jnp.arange(4.0)
    assert jax.jit(doubles)(jnp.ones((2, 3), jnp.int32), x).tolist() == [0, 2, 4, 6]
    assert doubles(None, x).tolist() == [0, 2, 4, 6]


def test_declared_again(program, saxpy):
    first = tenon.jax_op("tenon_test::again", program.add, results=like)
    f = jax.jit(lambda x: first(x, x))
    assert f(jnp.ones(3)).tolist() == [2] * 3
    second = tenon.jax_op("tenon_test::again", saxpy, grid=1)
    assert second(jnp.ones(3), jnp.ones(3), 2.0, 3).tolist() == [3] * 3
    assert f(jnp.ones(3)).tolist() == [2] * 3


def test_what_is_refused(program, saxpy, axpy, add):
    x = jnp.ones(4)
    with pytest.raises(TypeError, match="a, of 'tenon_test::saxpy' is a number, which has to be known when the call is traced"):
        jax.jit(axpy)(x, x, 2.0, 4)
    with pytest.raises(TypeError, match="its elements are int32, the kernel takes float32"):
        axpy(x, jnp.ones(4, jnp.int32), 2.0, 4)
    with pytest.raises(TypeError, match=r"takes 4 arguments \(x, y, a, n\), 1 were given"):
        axpy(x)
    with pytest.raises(TypeError, match=r"has shape \(2, 2\), the function takes f32\[\?\]"):
        add(jnp.ones((2, 2)), x)
    with pytest.raises(ValueError, match="returns a number"):
        tenon.jax_op("tenon_test::three", program.three)
    with pytest.raises(ValueError, match="give results="):
        tenon.jax_op("tenon_test::unknown", program.add)
    with pytest.raises(ValueError, match="needs grid="):
        tenon.jax_op("tenon_test::no_grid", saxpy)
    with pytest.raises(ValueError, match="no written binding x"):
        tenon.jax_op("tenon_test::read", saxpy, grid=1, results={"x": like})
    with pytest.raises(TypeError, match="neither a kernel nor a function"):
        tenon.jax_op("tenon_test::nothing", 3)
    wrong = tenon.jax_op("tenon_test::wrong", program.add, results=lambda a, b: jax.ShapeDtypeStruct((7,), a.dtype))
    with pytest.raises(Exception, match=r"result 0 of 'add' has shape \(4\), which is not what `results` said"):
        jax.block_until_ready(wrong(x, x))
    with pytest.raises(Exception, match="dimension 0"):  # the program's own words
        jax.block_until_ready(add(x, jnp.ones(5)))


def test_many_threads(add):
    import concurrent.futures

    f = jax.jit(lambda x: add(x, x) + 1)
    with concurrent.futures.ThreadPoolExecutor(4) as pool:
        for number, result in enumerate(pool.map(lambda k: f(jnp.full(1000, float(k))), range(64))):
            assert (result == 2 * number + 1).all()


def test_a_kernel_of_tenon_gpu(program):
    from tenon import gpu

    @gpu.kernel(block=64, grid=5)
    def twice(x: gpu.In[gpu.f32, 300], y: gpu.Out[gpu.f32, 300]):
        i = gpu.global_id.x
        if i < 300:
            y[i] = 2 * x[i]

    operation = tenon.jax_op("tenon_test::twice", twice, results={"y": like})
    numpy.testing.assert_array_equal(jax.jit(lambda x: operation(x) + 1)(jnp.arange(300.0)), 1 + 2 * numpy.arange(300))


def test_tensor_maps():
    """Their extents are those of the arrays that JAX passes, and of the results that the operation makes."""
    from tenon import gpu

    @gpu.kernel(block=32, grid=2)
    def doubled(x: gpu.In[gpu.f32, "n", 8], y: gpu.Out[gpu.f32, "n", 8], n: gpu.i32):
        t, tile, full = gpu.thread_id.x, gpu.shared((4, 8), gpu.f32), gpu.mbarriers(1)
        read, written = gpu.tensor_map(x, (4, 8)), gpu.tensor_map(y, (4, 8))
        if t == 0:
            full.init(1)
            full[0].expect(read.bytes)
            read.load(tile, (gpu.block_id.x * 4, 0), full[0])
        gpu.sync_warp()
        full[0].wait(0)
        tile[t // 8, t % 8] *= 2
        gpu.fence_async()
        gpu.sync_warp()
        if t == 0:
            written.store(tile, (gpu.block_id.x * 4, 0))
            gpu.store_commit()
            gpu.store_wait(0)

    made = tenon.jax_op("tenon_test::doubled", doubled, results={"y": lambda x, n: like(x)})
    inout = tenon.jax_op("tenon_test::doubled_in_place", doubled)
    for n in (7, 4):  # what hangs over the array's end is not written
        x = jnp.arange(8.0 * n).reshape(n, 8)
        numpy.testing.assert_array_equal(jax.jit(lambda x: made(x, x.shape[0]) + 1)(x), 2 * x + 1)
        numpy.testing.assert_array_equal(jax.jit(lambda x, y: inout(x, y, x.shape[0]))(x, jnp.zeros((n, 8))), 2 * x)


DONATED = """
func.func @append(%cache: tensor<8x4xf32> {tf.aliasing_output = 1 : i32}, %row: tensor<1x4xf32>, %at: tensor<i32>) -> (tensor<4xf32>, tensor<8x4xf32>) {
  %n = tensor.extract %at[] : tensor<i32>
  %i = arith.index_cast %n : i32 to index
  %c0 = arith.constant 0 : index
  %c7 = arith.constant 7 : index
  %low = arith.maxsi %i, %c0 : index
  %p = arith.minsi %low, %c7 : index
  %0 = tensor.insert_slice %row into %cache[%p, 0] [1, 4] [1, 1] : tensor<1x4xf32> into tensor<8x4xf32>
  %e = tensor.empty() : tensor<4xf32>
  %z = arith.constant 0.0 : f32
  %f = linalg.fill ins(%z : f32) outs(%e : tensor<4xf32>) -> tensor<4xf32>
  %s = linalg.reduce ins(%0 : tensor<8x4xf32>) outs(%f : tensor<4xf32>) dimensions = [0]
    (%a: f32, %b: f32) {
      %c = arith.addf %a, %b : f32
      linalg.yield %c : f32
    }
  return %s, %0 : tensor<4xf32>, tensor<8x4xf32>
}
func.func @add_(%x: tensor<4xf32>, %y: tensor<4xf32>) -> tensor<4xf32> {
  %0 = arith.addf %x, %y : tensor<4xf32>
  %1 = arith.mulf %y, %y : tensor<4xf32>
  %2 = hal.tensor.alias %0 : tensor<4xf32> to %x : tensor<4xf32>
  return %1 : tensor<4xf32>
}
"""


@pytest.fixture(scope="module")
def donated():
    if not os.environ.get("TENON_COMPILE"):
        pytest.skip("the compiler is not built")
    return tenon.load(tenon.compile(DONATED, targets="sm_90"))


def test_donated_arrays(donated):
    append = tenon.jax_op("tenon_test::append", donated.append)
    cache, row = jnp.zeros((8, 4)), jnp.ones((1, 4))
    sums, written = jax.jit(append)(cache, row, jnp.int32(3))
    assert sums.tolist() == [1] * 4 and written[3].tolist() == [1] * 4 and (cache == 0).all()  # XLA has copied it
    step = jax.jit(append, donate_argnums=0)
    for at in range(4):
        sums, cache = step(cache, row + at, jnp.int32(at))
    assert sums.tolist() == [10] * 4 and cache[:4, 0].tolist() == [1, 2, 3, 4]


def test_arrays_that_are_assigned_to(donated):
    add = tenon.jax_op("tenon_test::add_", donated["add_"])
    x, y = jnp.ones(4), jnp.arange(4.0)
    square, total = jax.jit(add)(x, y)
    assert square.tolist() == [0, 1, 4, 9] and total.tolist() == [1, 2, 3, 4] and x.tolist() == [1] * 4


def test_arrays_of_jax_do_not_change(donated):
    cache, row = jnp.zeros((8, 4)), jnp.ones((1, 4))
    _, written = donated.append(cache, row, jnp.int32(3))
    assert (cache == 0).all() and numpy.asarray(written)[3].tolist() == [1] * 4
    with pytest.raises(ValueError, match="the array is read only, and the function assigns to it"):
        donated.add_(jnp.ones(4), jnp.ones(4))
