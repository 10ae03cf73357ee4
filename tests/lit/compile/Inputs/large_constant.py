# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""large_constant.py BYTES MODULE EXPECTED: a module whose function returns two constants of BYTES and BYTES - 1 bytes that
do not repeat, and those bytes, as EXPECTED.0 and EXPECTED.1."""
import random
import sys

bytes_, module, expected = int(sys.argv[1]), sys.argv[2], sys.argv[3]
types, resources = [], []
for i, size in enumerate((bytes_, bytes_ - 1)):
    data = random.Random(i).randbytes(size)
    with open(f"{expected}.{i}", "wb") as file:
        file.write(data)
    types.append(f"tensor<{size}xi8>")
    resources.append(f'r{i}: "0x01000000{data.hex()}"')
with open(module, "w") as file:
    file.write(f"""func.func @f() -> ({", ".join(types)}) {{
  %0 = arith.constant dense_resource<r0> : {types[0]}
  %1 = arith.constant dense_resource<r1> : {types[1]}
  return %0, %1 : {", ".join(types)}
}}
{{-# dialect_resources: {{ builtin: {{ {", ".join(resources)} }} }} #-}}
""")
