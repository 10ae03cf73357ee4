# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
import os

import pytest

from tenon.toolchain import find_nvcc

SAXPY = """
// y[i] += a * x[i]
extern "C" __global__ void __launch_bounds__(128) saxpy(const float *__restrict__ x, float *y, float a, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n)
    y[i] += a * x[i];
}
extern "C" __global__ void __launch_bounds__(128) beyond(const float *x, float *y, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i <= n)
    y[i] = x[i];
}
"""

PROGRAM = """
func.func @add(%a: tensor<?xf32>, %b: tensor<?xf32>) -> tensor<?xf32> {
  %c0 = arith.constant 0 : index
  %d = tensor.dim %a, %c0 : tensor<?xf32>
  %e = tensor.empty(%d) : tensor<?xf32>
  %0 = linalg.add ins(%a, %b : tensor<?xf32>, tensor<?xf32>) outs(%e : tensor<?xf32>) -> tensor<?xf32>
  return %0 : tensor<?xf32>
}
func.func @three(%a: tensor<4xf32>, %s: i32) -> (tensor<4xf32>, i32, tensor<4xf32>) {
  %0 = arith.addf %a, %a : tensor<4xf32>
  %1 = arith.addi %s, %s : i32
  return %0, %1, %a : tensor<4xf32>, i32, tensor<4xf32>
}
func.func @named(%a: tensor<4xf32> {tenon.name = "rows"}, %s: i32 {tenon.name = "by"}) -> (tensor<4xf32> {tenon.name = "out"})
    attributes {tenon.documentation = "What it does."} {
  return %a : tensor<4xf32>
}
func.func @half(%a: tensor<4xbf16>) -> tensor<4xbf16> {
  %0 = arith.addf %a, %a : tensor<4xbf16>
  return %0 : tensor<4xbf16>
}
func.func @halves(%h: f16, %b: bf16) -> (f16, bf16) {
  return %h, %b : f16, bf16
}
"""


@pytest.fixture(scope="session")
def nvcc():
    if find_nvcc() is None:
        pytest.skip("there is no nvcc")


@pytest.fixture(scope="session")
def saxpy(nvcc):
    import tenon

    return tenon.cuda_kernel(SAXPY, "saxpy", targets="sm_80,sm_90")


@pytest.fixture(scope="session")
def program():
    import tenon

    if not os.environ.get("TENON_COMPILE"):
        pytest.skip("the compiler is not built")
    import tenon
    return tenon.load(tenon.compile(PROGRAM, targets="sm_90"))


@pytest.fixture(scope="session")
def unread():
    """Twice its second argument; the first is not read, and may be anything."""
    if not os.environ.get("TENON_COMPILE"):
        pytest.skip("the compiler is not built")
    import tenon
    return tenon.load(tenon.compile("""
func.func @doubles(%unused: !hal.buffer_view, %x: !hal.buffer_view) -> !hal.buffer_view {
  %a = hal.tensor.import %x : !hal.buffer_view -> tensor<4xf32>
  %e = tensor.empty() : tensor<4xf32>
  %0 = linalg.add ins(%a, %a : tensor<4xf32>, tensor<4xf32>) outs(%e : tensor<4xf32>) -> tensor<4xf32>
  %b = hal.tensor.export %0 : tensor<4xf32> -> !hal.buffer_view
  return %b : !hal.buffer_view
}
""", targets="sm_90")).doubles
