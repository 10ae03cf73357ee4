# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""What the lit and e2e suites share: the build's tools by bare name, the emulator as driver, the sample's kernels."""
import os
import runpy
import shutil
import sys

import lit.formats


def configure(config, name):
    site = runpy.run_path(os.environ["TENON_LIT_SITE"])
    build, source = site["build_root"], site["source_root"]
    config.name = name
    config.test_format = lit.formats.ShTest(execute_external=False)
    config.suffixes = [".mlir", ".ptx", ".json", ".test"]
    config.excludes = ["Inputs"]
    config.test_source_root = os.path.join(source, "tests", name)
    config.test_exec_root = os.path.join(build, "tests", name)

    tools = [os.path.join(build, *path) for path in
             (("compiler", "tools"), ("linker", "tools"), ("runtime", "tools"), ("tuner",), ("emulator",))]
    nvcc_folder = [os.path.dirname(site["nvcc"])] if site["nvcc"] else []
    config.environment["PATH"] = os.pathsep.join(tools + [site["llvm_bin"]] + nvcc_folder + [os.environ["PATH"]])
    config.environment["TENON_CUDA_DRIVER"] = "emulator"
    config.environment["TENON_CACHE_DIR"] = os.path.join(build, "tests", "cache")
    config.environment["TENON_EMULATOR_LIBRARY"] = os.path.join(build, "emulator", "libtenon_emulator.so")
    for variable in ("CUDA_HOME", "ASAN_OPTIONS", "UBSAN_OPTIONS", "GLIBC_TUNABLES", "MALLOC_PERTURB_"):
        if variable in os.environ:
            config.environment[variable] = os.environ[variable]
    if site["nvcc"]:
        config.environment.setdefault("CUDA_HOME", os.path.dirname(os.path.dirname(site["nvcc"])))

    config.substitutions += [
        ("%python", sys.executable),
        ("%nvcc", site["nvcc"] or "false"),
        ("%samples", os.path.join(source, "samples")),
        ("%sample_ptx", os.path.join(build, "samples", "custom_dispatch")),
        ("%cuda_home", os.path.dirname(os.path.dirname(site["nvcc"])) if site["nvcc"] else ""),
        ("%source_root", source),
        ("%build_root", build),
    ]
    if site["nvcc"]:
        config.available_features.add("nvcc")
    if shutil.which("nvlink", path=config.environment["PATH"]):
        config.available_features.add("nvlink")
    # clang's CUDA mode includes a header of cuRAND, which a toolkit has and nvcc's wheels alone have not.
    curand = os.path.join(config.environment.get("CUDA_HOME", ""), "include", "curand_mtgp32_kernel.h")
    if shutil.which("clang++", path=config.environment["PATH"]) and os.path.exists(curand):
        config.available_features.add("clang-with-curand-headers")
    if shutil.which("cc") and shutil.which("c++"):
        config.available_features.add("c-compiler")
    if site["compiler"]:
        config.available_features.add("compiler")
    if site["benchmark"]:
        config.available_features.add("google-benchmark")
    if site["sanitize"] != "none":
        config.available_features.add("sanitize")
    # Without a compiler there is nothing to compile: whole folders step aside, and say so.
    if not site["compiler"]:
        config.excludes += ["dialect", "codegen", "compile", "input"]
