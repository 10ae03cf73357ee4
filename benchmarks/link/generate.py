# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""N kernels for T targets, as objects of at most 100 kernels: PTX that nvcc made of kernels.cu, under other names."""
import json
import pathlib
import re
import subprocess

KERNELS = {  # name: (read-only pointers, other pointers, 32-bit scalars), as in kernels.cu
    "multiply": (2, 1, 1), "axpy": (1, 1, 2), "row_sum": (1, 1, 1), "transpose": (1, 1, 2), "softmax": (1, 1, 1),
    "gelu": (1, 1, 1), "histogram": (1, 1, 1), "product": (2, 1, 2), "stencil": (1, 1, 2), "gather": (2, 1, 1)}
PER_OBJECT = 100


def template(nvcc, target, folder):
    """(header, {kernel: text}) of kernels.cu for `target`."""
    source = pathlib.Path(__file__).with_name("kernels.cu")
    ptx = folder / f"template_{target}.ptx"
    subprocess.run([nvcc, "-ptx", f"-arch=compute_{target[3:]}", str(source), "-o", str(ptx)], check=True)
    header, *entries = re.split(r"^(?=[ \t]*// \.globl)", ptx.read_text(), flags=re.MULTILINE)
    return header, {re.search(r"\.entry (\w+)\(", entry)[1]: entry for entry in entries}


def export_of(name, kind):
    reads, writes, scalars = KERNELS[kind]
    aligned = {"alignment": 16} if kind == "axpy" else {}
    bindings = [{"read_only": True, **aligned}] * reads + [dict(aligned)] * writes
    return {"name": name, "launch": {"workgroup_size": [128]},
            "layout": {"bindings": bindings, "constants": [{}] * scalars}}


def generate(count, targets, nvcc, folder):
    """Writes objects and job.json; [(target, path of an object)]."""
    folder.mkdir(parents=True, exist_ok=True)
    kinds = sorted(KERNELS)
    names = [(f"{kinds[i % len(kinds)]}_{i:05}", kinds[i % len(kinds)]) for i in range(count)]
    objects = []
    for target in targets:
        header, entries = template(nvcc, target, folder)
        for first in range(0, count, PER_OBJECT):
            path = folder / f"{target}_{first // PER_OBJECT:04}.ptx"
            bodies = [re.sub(rf"\b{kind}(?=\b|_param_)", name, entries[kind])
                      for name, kind in names[first:first + PER_OBJECT]]
            path.write_text(header + "".join(bodies))
            objects.append((target, path))
    manifest = {"name": "benchmark", "exports": [export_of(name, kind) for name, kind in names],
                "objects": [{"path": path.name, "target": target} for target, path in objects]}
    (folder / "job.json").write_text(json.dumps(manifest))
    return objects
