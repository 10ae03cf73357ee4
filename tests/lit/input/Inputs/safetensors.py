# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""safetensors.py FILE: a parameter file with w: f32[2, 2] of 1 to 4, "scale of it": f16[3], truth: bool[2] and
count: u64[2]."""
import json
import struct
import sys

tensors = {
    "w": ("F32", [2, 2], struct.pack("<4f", 1, 2, 3, 4)),
    "scale of it": ("F16", [3], struct.pack("<3e", 0.5, 1.5, -2)),
    "truth": ("BOOL", [2], bytes([1, 0])),
    "count": ("U64", [2], struct.pack("<2Q", 7, 8)),
}
head, data = {"__metadata__": {"format": "pt"}}, b""
for name, (dtype, shape, content) in tensors.items():
    head[name] = {"dtype": dtype, "shape": shape, "data_offsets": [len(data), len(data) + len(content)]}
    data += content
text = json.dumps(head).encode()
with open(sys.argv[1], "wb") as file:
    file.write(struct.pack("<Q", len(text)) + text + data)
