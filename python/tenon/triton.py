# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Triton's kernels, compiled ahead for several architectures, as kernels like any other."""
from __future__ import annotations

import json
import os
from collections.abc import Callable, Iterable, Mapping
from typing import Any

from ._core.native import Device, Kernel
from .cuda import CudaSource, _manifest, _parse_layout, _target_of
from .devices import device as _device
from .program import Executable
from .toolchain import cache_folder, digest, make_folder, run_tool, write_whole

_SIGNATURE = {"i1": "i1", "i8": "i8", "i16": "i16", "i32": "i32", "i64": "i64", "f16": "fp16", "bf16": "bf16", "f32": "fp32",
              "f64": "fp64"}


def triton_kernel(function: Any, layout: Iterable[str], *, constants: Mapping[str, Any] | None = None, num_warps: int = 4,
                  num_stages: int = 3, targets: str | Iterable[str] | None = None, grid: Callable[..., Any] | None = None,
                  device: str | Device | None = None) -> Kernel:
    """A @triton.jit function as a callable that is launched without Triton: k(x, y, n, grid=8).

    `layout`: its parameters that are no tl.constexpr, as tenon.cuda_kernel takes them; `constants`: its constexprs. Triton
    compiles it once for each target; its scratch pointers are passed as null.
    """
    import triton
    from triton.backends.compiler import GPUTarget
    from triton.compiler import ASTSource

    used = _device(device)
    listed = tuple((targets.split(",") if isinstance(targets, str) else targets) or ()) if targets else (_target_of(used),)
    parameters = _parse_layout(layout)
    fixed = dict(constants or {})
    free = [name for name in function.arg_names if name not in fixed]
    if len(free) != len(parameters):
        raise ValueError(f"layout has {len(parameters)} parameters, {function.__name__} takes {len(free)}: {', '.join(free)}")
    signature = {name: ("*" if one.access else "") + _SIGNATURE[one.element] for name, one in zip(free, parameters)}
    signature.update({name: "constexpr" for name in fixed})
    ordered = {name: signature[name] for name in function.arg_names}
    compiled: dict[str, Any] = {}
    for target in listed:
        number = int(target.removeprefix("sm_").rstrip("af"))
        compiled[target] = triton.compile(ASTSource(fn=function, signature=ordered, constexprs=fixed),
                                          target=GPUTarget("cuda", number, 32),
                                          options={"num_warps": num_warps, "num_stages": num_stages})
    first = next(iter(compiled.values()))
    name = first.metadata.name
    texts = {target: one.asm["ptx"] for target, one in compiled.items()}
    key = digest(name, tuple(sorted(texts.items())), tuple(map(repr, parameters)), num_warps)
    folder = cache_folder() / key
    make_folder(folder)
    manifest = _manifest(name, parameters, (32 * num_warps,), first.metadata.shared, "", ())
    manifest["objects"] = []
    for target, text in texts.items():
        path = folder / f"{name}_{target}.ptx"
        write_whole(path, text)
        manifest["objects"].append({"path": path.name, "target": target})
    # What the entry takes beyond the function's own parameters: pointers to scratch memory.
    entry = next(iter(texts.values())).split(".entry", 1)[1].split(")", 1)[0]
    manifest["exports"][0]["layout"]["hidden_pointers"] = entry.count(".param") - len(parameters)
    write_whole(folder / f"{name}.json", json.dumps(manifest))
    built = folder / f"{name}.{os.getpid()}.tnx"
    run_tool("tenon-link", [folder / f"{name}.json", "-o", built])
    executable = folder / f"{name}.tnx"
    os.replace(built, executable)
    kernel = Executable(executable, used)._native.kernel(name, [one.element for one in parameters if one.access])
    kernel.meta = CudaSource("", name, folder / f"{name}.json", executable, parameters, listed, ())
    if grid is not None:
        kernel.grid = grid
    return kernel
