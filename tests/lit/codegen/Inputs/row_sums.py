# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Functions run0, run1, ...: sums of rows of matrices of different sizes, each from another number."""
import sys

for i in range(int(sys.argv[1])):
    rows, columns = 20 + i, 4096 + 4 * i
    print(f"""func.func @run{i}(%a: tensor<{rows}x{columns}xf32>) -> tensor<{rows}xf32> {{
  %z = arith.constant {i}.0 : f32
  %e = tensor.empty() : tensor<{rows}xf32>
  %f = linalg.fill ins(%z : f32) outs(%e : tensor<{rows}xf32>) -> tensor<{rows}xf32>
  %s = linalg.reduce ins(%a : tensor<{rows}x{columns}xf32>) outs(%f : tensor<{rows}xf32>) dimensions = [1]
    (%x: f32, %y: f32) {{
      %t = arith.addf %x, %y : f32
      linalg.yield %t : f32
    }}
  return %s : tensor<{rows}xf32>
}}""")
