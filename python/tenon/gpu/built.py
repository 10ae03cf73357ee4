# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""From a kernel's text to what runs: tenon-compile lowers it for each target, tenon-link proves it against its signature."""
from __future__ import annotations

import dataclasses
import json
import os
import pathlib
import shutil
from collections.abc import Iterable
from typing import Any

from .._core.native import Device
from ..cuda import _manifest, _Parameter
from ..program import Executable
from ..toolchain import _libdevice_home, cache_folder, digest, find_nvcc, make_folder, run_tool, write_whole
from .errors import KernelError
from .parameters import Parameter
from .trace import Traced


@dataclasses.dataclass(frozen=True)
class GpuSource:
    """Where a kernel of tenon.gpu is from; `kernel.meta` of what is loaded."""

    mlir: str
    name: str
    executable: pathlib.Path  # the .tnx
    parameters: tuple[_Parameter, ...]
    targets: tuple[str, ...]
    shapes: dict[str, tuple[Any, ...]]  # of the arrays whose extents are all known, numbers
    grid: tuple[int, ...] | None

    def write_object(self, folder: pathlib.Path, name: str | None) -> None:
        """Puts the kernel where `#hal.executable.object<{path = "NAME.mlir"}>` finds it."""
        (folder / (name or f"{self.name}.mlir")).write_text(self.mlir)


def check_targets(name: str, traced: Traced, targets: Iterable[str]) -> None:
    """KernelError: the kernel uses what a target does not have."""
    needed = traced.needed
    for target in targets:
        found = target.removeprefix("sm_").removeprefix("compute_")
        number = "".join(one for one in found if one.isdigit())
        if not number:
            raise KernelError(None, f"the target of kernel '{name}' is {target!r}; wanted: an architecture, as sm_80")
        if needed.is_only and found != f"{needed.architecture}a":
            raise KernelError(needed.place, f"kernel '{name}' uses {needed.what}, which sm_{needed.architecture}a alone has; found: the target {target}",
                              f"build it for sm_{needed.architecture}a, and another kernel for other devices")
        if int(number) < needed.architecture:
            raise KernelError(needed.place, f"kernel '{name}' uses {needed.what}, which needs sm_{needed.architecture} or later; found: the target {target}",
                              f"build it for sm_{needed.architecture}")


def declaration(name: str, traced: Traced, parameters: tuple[Parameter, ...], block: tuple[int, ...], grid: tuple[int, ...] | None,
                targets: Iterable[str], file: str, symbol: str) -> str:
    """A `hal.executable.source` that holds the kernel's object, for a program in MLIR."""
    bindings: list[str] = []
    constants: list[str] = []
    order: list[str] = []
    for one in parameters:
        if one.access:
            order.append(f"binding {len(bindings)}")
            alignment = f", alignment = {traced.alignments[one.name]}" if one.name in traced.alignments else ""
            bindings.append(f"#hal.pipeline.binding<storage_buffer{', ReadOnly' if one.access == 'in' else ''}{alignment}>")
        else:
            order.append(f"constant {len(constants)}")
            constants.append(one.dtype.mlir)
    arrays = [one.name for one in parameters if one.access]
    for each in traced.maps:
        order.append(f"constant {len(constants)}")
        swizzle = f", swizzle = B{each.swizzle}" if each.swizzle else ""
        element = "tf32" if each.rounds_to_tf32 else each.element.mlir
        constants.append(f"!hal.tensor_map<binding = {arrays.index(each.array)}, {'x'.join(map(str, each.box))}x{element}{swizzle}>")
    layout = [f"constants = [{', '.join(constants)}]"] if constants else []
    layout.append(f"bindings = [{', '.join(bindings)}]")
    if order != sorted(order, key=lambda one: one.split()[0] != "binding"):
        layout.append(f"parameters = [{', '.join(order)}]")
    attributes = [f"workgroup_size = [{', '.join(f'{one} : index' for one in block)}]"]
    if traced.dynamic_shared_bytes:
        attributes.append(f"workgroup_local_memory = {traced.dynamic_shared_bytes} : index")
    if traced.cluster != (1, 1, 1):
        attributes.append(f"tenon.cluster = [{', '.join(map(str, traced.cluster))}]")
    objects = ",\n    ".join(f'#hal.executable.target<"cuda", "cuda-nvptx-fb", {{target_arch = "{target}"}}> = '
                              f'[#hal.executable.object<{{path = "{file}"}}>]' for target in targets)
    given = "".join(f", %{axis}: index" for axis in "xyz") if grid is None else ""  # then a dispatch says the blocks: [%x, %y, %z]
    lines = [] if grid is None else [f"    %{axis} = arith.constant {extent} : index" for axis, extent in zip("xyz", (*grid, 1, 1)[:3])]
    count = (f"\n      count(%device: !hal.device{given}) -> (index, index, index) {{\n" +
             "\n".join([*lines, "    hal.return %x, %y, %z : index, index, index", "  }"]))
    return (f"hal.executable.source private @{symbol} attributes {{objects = #hal.executable.objects<{{\n    {objects}}}>}} {{\n"
            f"  hal.executable.export public @{name} ordinal(0) layout(#hal.pipeline.layout<{', '.join(layout)}>){count}\n"
            f"      attributes {{{', '.join(attributes)}}}\n}}\n")


def _add_maps(export: dict[str, Any], traced: Traced, parameters: tuple[Parameter, ...]) -> None:
    """Tensor maps and cluster of a kernel, in its manifest."""
    layout = export["layout"]
    arrays = [one.name for one in parameters if one.access]
    for one in traced.maps:
        encoded: dict[str, Any] = {"binding": arrays.index(one.array), "box": list(one.box)}
        if one.swizzle:
            encoded["swizzle"] = f"B{one.swizzle}"
        if one.rounds_to_tf32:
            encoded["rounds_to_tf32"] = True
        layout["parameters"].append({"constant": len(layout["constants"])})
        layout["constants"].append({"kind": "TensorMap", "element": one.element.name.upper(), "name": one.name, "tensor_map": encoded})
    if traced.cluster != (1, 1, 1):
        export["launch"]["cluster"] = list(traced.cluster)


def ptx_of(name: str, traced: Traced, parameters: tuple[Parameter, ...], block: tuple[int, ...], targets: tuple[str, ...]) -> dict[str, str]:
    """The kernel's PTX for each target, kept by its text. ToolError: what tenon-compile says."""
    check_targets(name, traced, targets)
    folder = cache_folder() / digest("gpu", name, traced.module, repr(parameters), block)
    make_folder(folder)
    out: dict[str, str] = {}
    for target in targets:
        kept = folder / f"{name}_{target}.ptx"
        if not kept.exists():
            work = folder / f"{target}.{os.getpid()}"
            work.mkdir(exist_ok=True)
            try:
                (work / f"{name}.mlir").write_text(traced.module)
                (work / "program.mlir").write_text(declaration(name, traced, parameters, block, (1, 1, 1), [target], f"{name}.mlir", "kernels"))
                run_tool("tenon-compile", [work / "program.mlir", "-o", work / "program.tenon", "--images=ptx"],
                         environment=_libdevice_home())
                text = run_tool("tenon-dump", [work / "program.tenon", f"--ptx={name}@{target}"]).stdout
                (work / "kernel.ptx").write_text(text)
                os.replace(work / "kernel.ptx", kept)
            finally:
                shutil.rmtree(work, ignore_errors=True)
        out[target] = kept.read_text()
    return out


def build(name: str, traced: Traced, parameters: tuple[Parameter, ...], block: tuple[int, ...], grid: tuple[int, ...] | None,
          targets: tuple[str, ...], device: Device) -> Any:
    """The kernel on a device: what tenon.cuda_kernel gives."""
    texts = ptx_of(name, traced, parameters, block, targets)
    folder = cache_folder() / digest("gpu", name, tuple(sorted(texts.items())), repr(parameters), block, traced.alignments)
    make_folder(folder)
    listed = tuple(_Parameter(one.name, one.dtype.name, one.access) for one in parameters)
    manifest = _manifest(name, listed, block, traced.dynamic_shared_bytes, "", ())
    for binding in manifest["exports"][0]["layout"]["bindings"]:
        if binding["name"] in traced.alignments:
            binding["alignment"] = traced.alignments[binding["name"]]
    _add_maps(manifest["exports"][0], traced, parameters)
    manifest["objects"] = []
    for target, text in texts.items():
        path = folder / f"{name}_{target}.ptx"
        write_whole(path, text)
        manifest["objects"].append({"path": path.name, "target": target})
    write_whole(folder / f"{name}.json", json.dumps(manifest))
    executable, partial = folder / f"{name}.tnx", folder / f"{name}.{os.getpid()}.tnx"
    nvcc = find_nvcc()
    has_ptxas = shutil.which("ptxas", path=f"{pathlib.Path(nvcc).parent if nvcc else ''}{os.pathsep}{os.environ.get('PATH', '')}") is not None
    run_tool("tenon-link", [folder / f"{name}.json", "-o", partial, *([] if has_ptxas else ["--images=ptx"])])
    os.replace(partial, executable)
    mapped = [[one.name for one in parameters].index(each.array) for each in traced.maps]
    kernel = Executable(executable, device)._native.kernel(name, [one.element for one in listed if one.access], mapped)
    shapes = {one.name: one.shape for one in parameters if one.access and all(isinstance(extent, int) for extent in one.shape)}
    kernel.meta = GpuSource(traced.module, name, executable, listed, targets, shapes, grid)
    if grid is not None:
        kernel.grid = lambda *_: grid
    return kernel
