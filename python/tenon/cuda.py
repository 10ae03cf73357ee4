# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""CUDA C++ as callables: compiled by nvcc, proved by tenon-link, loaded, kept.

A kernel's parameters are declared in one of three ways, the first that is there:

  layout=[...]     parameter by parameter, in the kernel's order: "in f32 x", "inout f32 y", "out i32 flags", "f32 a"
  TENON_KERNEL     in the source, beside the kernel (tenon/kernel.cuh)
  the signature    of a kernel whose parameters are pointers and numbers: `const T *` is only read
"""
from __future__ import annotations

import dataclasses
import json
import operator
import os
import pathlib
import re
import shutil
import threading
from collections.abc import Callable, Iterable
from typing import Any

from ._core.native import Device, Kernel
from .devices import device as _device
from .program import Executable
from .toolchain import _CORE, ToolError, cache_folder, digest, find_nvcc, make_folder, run_tool, write_whole

_ELEMENTS = {
    "bool": "i1", "int8_t": "i8", "uint8_t": "i8", "int16_t": "i16", "uint16_t": "i16", "int32_t": "i32", "uint32_t": "i32",
    "int64_t": "i64", "uint64_t": "i64", "size_t": "i64",
    "float": "f32", "double": "f64", "half": "f16", "__half": "f16", "__nv_bfloat16": "bf16", "nv_bfloat16": "bf16",
}
_KNOWN = {"i1", "i8", "i16", "i32", "i64", "f16", "bf16", "f32", "f64"}


@dataclasses.dataclass(frozen=True)
class _Parameter:
    name: str
    element: str
    access: str  # "in", "out", "inout" of a binding; "" of a constant


@dataclasses.dataclass(frozen=True)
class CudaSource:
    """Where a kernel made in place is from; `kernel.meta`."""

    source: str
    name: str
    path: pathlib.Path  # the .cu as it was compiled
    executable: pathlib.Path  # the .tnx
    parameters: tuple[_Parameter, ...]
    targets: tuple[str, ...]
    flags: tuple[str, ...]

    def write_object(self, folder: pathlib.Path, name: str | None) -> None:
        """Puts the source where `#hal.executable.object<{path = "NAME.cu"}>` finds it."""
        (folder / (name or f"{self.name}.cu")).write_text(self.source)


def _parse_layout(layout: Iterable[str]) -> tuple[_Parameter, ...]:
    parameters = []
    if isinstance(layout, str):
        raise TypeError(f"layout is the text {layout!r}; wanted: one text for each parameter, as in layout=['in f32 x', 'i32 n']")
    for number, text in enumerate(layout):
        words = text.split() if isinstance(text, str) else []
        access = words.pop(0) if words and words[0] in ("in", "out", "inout") else ""
        element = words.pop(0) if words else ""
        if element not in _KNOWN or len(words) > 1:
            raise ValueError(f"layout[{number}] is {text!r}: expected 'in f32 x', 'out f32 y', 'inout i32 z' for a pointer, "
                             f"'f32 a' for a number; elements are {', '.join(sorted(_KNOWN))}")
        parameters.append(_Parameter(words[0] if words else "", element, access))
    return tuple(parameters)


def _strip_comments(source: str) -> str:
    return re.sub(r"//[^\n]*|/\*.*?\*/", " ", source, flags=re.DOTALL)


def _element(words: list[str]) -> str | None:
    """What C++ calls by these words, the ones for integers in any order: `unsigned long int`, `int unsigned`."""
    if words and set(words) <= {"unsigned", "signed", "char", "short", "int", "long"}:
        return "i8" if "char" in words else "i16" if "short" in words else "i64" if "long" in words else "i32"
    return _ELEMENTS.get(" ".join(words))


def _read_signature(source: str, name: str) -> tuple[tuple[_Parameter, ...], int | None]:
    """The parameters of `__global__ void name(...)`, and the threads that its __launch_bounds__ say."""
    text = _strip_comments(source)
    found = re.search(r"__global__((?:\s+|__launch_bounds__\s*\([^)]*\)|\bvoid\b|\bstatic\b)*)\b" + re.escape(name) +
                      r"\s*\(([^)]*)\)", text)
    if not found:
        there = re.findall(r"__global__(?:\s+|__launch_bounds__\s*\([^)]*\)|\bvoid\b|\bstatic\b)*(\w+)\s*\(", text)
        raise ValueError(f"the source has no `__global__ void {name}(...)`; there {'is' if len(set(there)) == 1 else 'are'} "
                         f"{', '.join(dict.fromkeys(there)) or 'none'}")
    bounds = re.search(r"__launch_bounds__\s*\(\s*(\d+)", found.group(1))
    parameters = []
    for part in filter(None, (one.strip() for one in found.group(2).split(","))):
        part = re.sub(r"\b(__restrict__|__restrict|restrict|volatile|__grid_constant__)\b", " ", part)
        part = part.split("=")[0].strip()
        if part == "void":
            continue
        part = re.sub(r"(\w*)\s*\[[^\]]*\]$", r"*\1", part)  # `float x[]` is `float *x`
        is_pointer = "*" in part
        if part.count("*") > 1 or "&" in part or "<" in part or "[" in part:
            raise ValueError(f"parameter '{part.strip()}' of {name}: say what it is, with layout= or TENON_KERNEL")
        before, _, after = part.partition("*")
        words = re.sub(r"\bstd::", "", before).split()
        is_const = "const" in words
        words = [word for word in words if word != "const"]
        label = after.replace("const", "").strip() if is_pointer else ""
        if not is_pointer and words and _element(words) is None:
            label = words.pop()
        element = _element(words)
        if element is None:
            raise ValueError(f"parameter '{' '.join(part.split())}' of {name} is of a type that is not known here: say what "
                             f"it is, with layout= or TENON_KERNEL")
        access = ("in" if is_const else "inout") if is_pointer else ""
        parameters.append(_Parameter(label, element, access))
    return tuple(parameters), int(bounds.group(1)) if bounds else None


def _sizes(block: Any) -> tuple[int, ...] | None:
    """The threads of a workgroup."""
    given = tuple(block) if isinstance(block, (tuple, list)) else (block,)
    try:
        sizes = tuple(operator.index(one) for one in given)
    except TypeError:
        sizes = ()
    if block is None:
        return None
    if not 1 <= len(sizes) <= 3 or min(sizes) < 1:
        raise ValueError(f"block is {block!r}; wanted: 1 to 3 numbers of threads, as in block=128 or block=(16, 16)")
    return sizes


def _manifest(name: str, parameters: tuple[_Parameter, ...], block: tuple[int, ...], shared: int, source: str,
              targets: tuple[str, ...]) -> dict[str, Any]:
    bindings: list[dict[str, Any]] = []
    constants: list[dict[str, Any]] = []
    order: list[dict[str, int]] = []
    for parameter in parameters:
        if parameter.access:
            order.append({"binding": len(bindings)})
            bindings.append({"read_only": parameter.access == "in", "name": parameter.name})
        else:
            order.append({"constant": len(constants)})
            constants.append({"element": parameter.element.upper(), "name": parameter.name})
    launch: dict[str, Any] = {"workgroup_size": list(block)}
    if shared:
        launch["dynamic_shared_bytes"] = shared
    return {
        "name": name,
        "exports": [{"name": name, "launch": launch,
                     "layout": {"bindings": bindings, "constants": constants, "parameters": order}}],
        "objects": [{"path": source, "target": target} for target in targets],
    }


def _target_of(device: Device) -> str:
    major, minor = device.compute_capability
    # What only this very architecture has (wgmma, TMA's multicast) needs its "a" target; PTX of it runs nowhere else.
    return f"sm_{major}{minor}a" if (major, minor) >= (9, 0) else f"sm_{major}{minor}"


_made: dict[str, tuple[Executable, Kernel]] = {}
_lock = threading.RLock()


def cuda_kernel(source: str | os.PathLike[str], name: str, *, layout: Iterable[str] | None = None,
                block: int | tuple[int, ...] | None = None, shared: int = 0, targets: str | Iterable[str] | None = None,
                flags: Iterable[str] = (), grid: int | tuple[int, ...] | Callable[..., Any] | None = None,
                device: str | Device | None = None) -> Kernel:
    """A CUDA kernel, given as text or as the path of a .cu file, as a callable: k(x, y, 2.0, n, grid=8).

    `layout`: what its parameters are, where signature or TENON_KERNEL do not say it. `block`: threads of a workgroup;
    left out: those of TENON_KERNEL or __launch_bounds__. `shared`: bytes of dynamic shared memory. `targets`: architectures,
    left out: the device's own. `flags`: nvcc's. `grid`: that of calls that name none, numbers or a function of the arguments. The linker proves
    that the kernel takes what is declared; tenon.ToolError says where it does not, or what nvcc says.
    """
    is_path = isinstance(source, os.PathLike) or (isinstance(source, str) and source.endswith((".cu", ".cuh")) and "\n" not in source)
    if not is_path and not isinstance(source, str):
        raise TypeError(f"the source of kernel '{name}' is a {type(source).__name__}; wanted: text, or the path of a .cu file")
    text = pathlib.Path(source).read_text() if is_path else str(source)
    if not isinstance(name, str):
        raise TypeError(f"the name of a kernel is {name!r}; wanted: text, that of the __global__ function")
    used = _device(device)
    listed = (targets.split(",") if isinstance(targets, str) else list(targets)) if targets else [_target_of(used)]
    given = tuple(flags) + ((f"-I{pathlib.Path(source).resolve().parent}",) if is_path else ())
    sizes = _sizes(block)
    declared: tuple[str, ...] | str | None = layout if layout is None or isinstance(layout, str) else tuple(layout)
    file = pathlib.Path(source).name if is_path and os.fspath(source).endswith(".cu") else f"{name}.cu"  # findings name it
    key = digest(text, name, declared, sizes, shared, tuple(listed), given, file, repr(used))
    with _lock:  # two threads that ask for one kernel build it once
        if key not in _made:
            meta = _build(text, file, name, declared, sizes, shared, tuple(listed), given, key)
            loaded = Executable(meta.executable, used)
            _made[key] = (loaded, _kernel_of(loaded, name, meta))
    loaded, made = _made[key]
    if grid is not None:  # the caller's own: who asks for the kernel elsewhere gets none, or another
        made = _kernel_of(loaded, name, made.meta)
        made.grid = grid
    return made


def _kernel_of(loaded: Executable, name: str, meta: CudaSource) -> Kernel:
    kernel = loaded._native.kernel(name, [one.element for one in meta.parameters if one.access] if meta.parameters else None)
    kernel.meta = meta
    return kernel


def _build(text: str, file_name: str, name: str, layout: tuple[str, ...] | str | None, block: tuple[int, ...] | None, shared: int,
           targets: tuple[str, ...], flags: tuple[str, ...], key: str) -> CudaSource:
    declares_itself = layout is None and re.search(r"\bTENON_KERNEL\s*\(\s*" + re.escape(name) + r"\b", _strip_comments(text))
    parameters: tuple[_Parameter, ...] = ()
    if not declares_itself:
        bounds = None
        if layout is not None:
            parameters = _parse_layout(layout)
            try:
                bounds = _read_signature(text, name)[1]
            except ValueError:
                pass
        else:
            parameters, bounds = _read_signature(text, name)
        block = block or ((bounds,) if bounds else None)
        if block is None:
            raise ValueError(f"how many threads has a workgroup of {name}? Say block=128, or __launch_bounds__(128) in the source")

    folder = cache_folder() / key
    make_folder(folder)
    file = folder / file_name
    if not file.exists() or file.read_text() != text:
        write_whole(file, text)
    built = folder / f"{name}.{os.getpid()}.tnx"
    nvcc = find_nvcc()
    if nvcc is None:
        raise ToolError("no nvcc is found on PATH, in $CUDA_HOME, /usr/local/cuda or NVIDIA's wheels: install a CUDA toolkit, or "
                        "pip install nvidia-{cuda-nvcc,cuda-crt,nvvm,cuda-runtime,cuda-cccl}==13.0.*")
    common = ["-o", built, f"--nvcc={nvcc}", f"--cu-flag=-I{_CORE / 'include'}", "--cu-flag=-lineinfo", "--cu-flag=-std=c++17",
              *(f"--cu-flag={flag}" for flag in flags)]
    if shutil.which("ptxas", path=f"{pathlib.Path(nvcc).parent}{os.pathsep}{os.environ.get('PATH', '')}") is None:
        common.append("--images=ptx")
    if declares_itself:
        run_tool("tenon-link", [file, f"--target={','.join(targets)}", f"--name={name}", *common])
    else:
        assert block is not None
        manifest = folder / f"{name}.json"
        write_whole(manifest, json.dumps(_manifest(name, parameters, block, shared, file.name, targets)))
        run_tool("tenon-link", [manifest, *common])
    executable = folder / f"{name}.tnx"
    os.replace(built, executable)
    return CudaSource(text, name, file, executable, parameters, targets, flags)
