# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Tools as functions: what they build, and their text where they refuse."""
import os

import numpy
import pytest
import tenon
from conftest import PROGRAM, SAXPY



def test_links_with_a_manifest_of_pythons(nvcc, tmp_path):
    (tmp_path / "saxpy.cu").write_text(SAXPY)
    manifest = {"name": "kernels", "exports": [{"name": "saxpy", "launch": {"workgroup_size": [128]}, "layout": {
        "bindings": [{"read_only": True, "name": "x"}, {"name": "y"}],
        "constants": [{"element": "F32", "name": "a"}, {"element": "I32", "name": "n"}]}}],
        "objects": [{"path": "saxpy.cu", "target": "sm_90"}]}
    path = tenon.link([], manifest=manifest, output=tmp_path / "kernels.tnx", options=[f"--object-search-path={tmp_path}"])
    kernels = tenon.load(path)
    x, y = numpy.ones(10, numpy.float32), numpy.ones(10, numpy.float32)
    kernels.saxpy(x, y, 2.0, 10, grid=1)
    assert (y == 3).all() and list(kernels) == ["saxpy"] and "saxpy" in repr(kernels)
    with pytest.raises(AttributeError, match="no export 'other'; there are saxpy"):
        kernels.other
    manifest["exports"][0]["layout"]["constants"][1]["element"] = "I64"
    with pytest.raises(tenon.ToolError, match="K-4") as raised:
        tenon.link([], manifest=manifest, output=tmp_path / "wrong.tnx", options=[f"--object-search-path={tmp_path}"])
    assert raised.value.status == 1 and not (tmp_path / "wrong.tnx").exists()


def test_kernels_that_were_made_in_place_are_linked_already(saxpy, tmp_path):
    for given in (saxpy, [saxpy]):
        with pytest.raises(TypeError, match="<tenon.Kernel saxpy> is linked already, into kernel.meta.executable, which tenon.load takes"):
            tenon.link(given, output=tmp_path / "kernels.tnx")


def test_compiles_text_and_files(program, tmp_path):
    file = tmp_path / "program.mlir"
    file.write_text(PROGRAM)
    built = tenon.compile(file, targets=["sm_80", "sm_90"], output=tmp_path / "program.tenon")
    assert built == tmp_path / "program.tenon"
    assert tenon.load(built).add(numpy.ones(3, numpy.float32), numpy.ones(3, numpy.float32)).tolist() == [2, 2, 2]
    with pytest.raises(tenon.ToolError, match="error: "):
        tenon.compile("func.func @f(\n")
    with pytest.raises(FileNotFoundError, match="there is no folder '.*none'"):
        tenon.compile(file, output=tmp_path / "none" / "program.tenon")


def test_kernels_in_a_program(program, saxpy):
    built = tenon.compile("""
hal.executable.source private @kernels attributes {
  objects = #hal.executable.objects<{#hal.executable.target<"cuda", "cuda-nvptx-fb", {target_arch = "sm_90"}> =
    [#hal.executable.object<{path = "saxpy.cu"}>]}>
} {
  hal.executable.export public @saxpy ordinal(0)
      layout(#hal.pipeline.layout<constants = [f32, i32], bindings = [
        #hal.pipeline.binding<storage_buffer, ReadOnly>, #hal.pipeline.binding<storage_buffer>]>)
      attributes {workgroup_size = [128 : index]} {
  ^bb0(%device: !hal.device, %n: index):
    %c128 = arith.constant 128 : index
    %x = arith.ceildivui %n, %c128 : index
    %c1 = arith.constant 1 : index
    hal.return %x, %c1, %c1 : index, index, index
  }
}
func.func @f(%x: tensor<?xf32>, %y: tensor<?xf32>, %a: f32) -> tensor<?xf32> {
  %c0 = arith.constant 0 : index
  %d = tensor.dim %x, %c0 : tensor<?xf32>
  %n = arith.index_cast %d : index to i32
  %0 = flow.dispatch @kernels::@saxpy[%d](%a, %n, %x, %y) : (f32, i32, tensor<?xf32>{%d}, tensor<?xf32>{%d}) -> %y{%d}
  return %0 : tensor<?xf32>
}
""", targets="sm_90", objects=[saxpy])
    x, y = numpy.arange(300, dtype=numpy.float32), numpy.ones(300, numpy.float32)
    assert (tenon.load(built).f(x, y, 2.0) == 1 + 2 * x).all()
    assert (y == 1).all()


def test_tools_that_are_not_there(monkeypatch):
    monkeypatch.setenv("TENON_COMPILE", "/no/such/compiler")
    monkeypatch.setenv("PATH", "")
    with pytest.raises(tenon.ToolError, match=r"\$TENON_COMPILE is '/no/such/compiler'"):
        tenon.compile(PROGRAM)
    monkeypatch.delenv("TENON_COMPILE")
    with pytest.raises(tenon.ToolError, match="the compiler comes apart from this package"):
        tenon.compile(PROGRAM)


def test_tools_find_the_nvcc_of_wheels(monkeypatch, tmp_path):
    from tenon import toolchain

    nvcc = tmp_path / "nvidia/cu13/bin/nvcc"
    monkeypatch.setattr(toolchain, "find_nvcc", lambda: str(nvcc))
    monkeypatch.setenv("PATH", str(tmp_path))
    monkeypatch.delenv("CUDA_HOME", raising=False)
    monkeypatch.delenv("CUDA_PATH", raising=False)
    assert toolchain.tool_environment()["CUDA_HOME"] == str(tmp_path / "nvidia/cu13")
    monkeypatch.setenv("CUDA_PATH", "/opt/cuda")  # what the user says is what counts
    assert "CUDA_HOME" not in toolchain.tool_environment()
    monkeypatch.setattr(toolchain, "find_nvcc", lambda: None)
    monkeypatch.delenv("CUDA_PATH")
    assert "CUDA_HOME" not in toolchain.tool_environment()


@pytest.mark.parametrize("said, hint", [
    ("Failed to preprocess host compiler properties.", "nvcc needs a C++ compiler for the host's half of a source: apt-get install g++"),
    ("#error -- unsupported GNU version! gcc versions later than 15 are not supported!", "NVCC_PREPEND_FLAGS=-ccbin=g++-15"),
])
def test_what_nvcc_says_of_the_hosts_compiler(said, hint, monkeypatch, tmp_path):
    from tenon import toolchain

    tool = tmp_path / "tenon-link"
    tool.write_text(f"#!/bin/sh\necho '{said}' >&2\nexit 1\n")
    tool.chmod(0o755)
    monkeypatch.setenv("TENON_LINK", str(tool))
    monkeypatch.setattr(toolchain.shutil, "which", lambda name: None)
    with pytest.raises(tenon.ToolError) as raised:
        toolchain.run_tool("tenon-link", [])
    assert hint in str(raised.value)


def test_a_cache_that_cannot_be_made(monkeypatch, tmp_path):
    from tenon import toolchain

    (tmp_path / "file").touch()
    monkeypatch.setenv("TENON_CACHE_DIR", str(tmp_path / "file"))
    with pytest.raises(NotADirectoryError, match="Not a directory: what Tenon builds is kept in .*fix: TENON_CACHE_DIR names a folder that can be written"):
        tenon.cuda_kernel('extern "C" __global__ void f(float *x) { x[0] = 1; }', "f", block=32, flags=["-DNOWHERE"])
    monkeypatch.setenv("TENON_CACHE_DIR", "none")
    folder = toolchain.cache_folder()
    assert folder == toolchain.cache_folder() and folder.stat().st_mode & 0o77 == 0  # nobody else's


def test_folders_with_blanks(nvcc, monkeypatch, tmp_path):
    monkeypatch.setenv("TENON_CACHE_DIR", str(tmp_path / "the caché"))
    k = tenon.cuda_kernel('extern "C" __global__ void f(float *x) { x[0] = 1; }', "f", block=32)
    x = numpy.zeros(4, "f4")
    k(x, grid=1)
    assert x[0] == 1


def test_the_name_of_a_kernel():
    with pytest.raises(TypeError, match="the name of a kernel is 5; wanted: text"):
        tenon.cuda_kernel("", 5)


def test_files_that_another_process_reads_are_replaced_whole(nvcc, monkeypatch, tmp_path):
    from tenon import cuda

    monkeypatch.setenv("TENON_CACHE_DIR", str(tmp_path))
    built = []
    for _ in range(2):
        monkeypatch.setattr(cuda, "_made", {})
        k = tenon.cuda_kernel('extern "C" __global__ void f(float *x) { x[0] = 1; }', "f", block=32)
        with (k.meta.path.parent / "f.json").open() as manifest:  # kept open, as the process that reads it has it
            built.append(os.fstat(manifest.fileno()).st_ino)
            built.append(manifest)
    assert built[0] != built[2] and sorted(one.name for one in k.meta.path.parent.iterdir()) == ["f.cu", "f.json", "f.tnx"]
