#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
# Makes bundle/: what runs on a GPU machine that has a CUDA driver and nothing else of ours (no LLVM, no GoogleTest).
# Called by `./dev bundle` with the tools on PATH. Then, on that machine: bundle/run.sh
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."
rm -rf bundle
mkdir -p bundle/bin bundle/tests bundle/programs bundle/benchmarks

for tool in runtime/tools/tenon-run runtime/tools/tenon-check runtime/tools/tenon-benchmark runtime/tools/tenon-check-kernel linker/tools/tenon-link linker/tools/tenon-dump emulator/libtenon_emulator.so; do
  cp "build/$tool" bundle/bin/
done
# The only library that a tool needs beside the system's.
cp "$(ldd bundle/bin/tenon-benchmark | awk '/libbenchmark/ { print $3 }')" bundle/bin/
for area in support abi ptx linker runtime emulator; do cp "build/tests/unit/$area/tenon-$area-test" bundle/tests/; done
find build/tests -maxdepth 4 \( -name 'tenon-kernels-test' -o -name 'tenon-conformance-test' -o -name '*.ptx' -path '*kernels*' \) -type f -not -path '*/Output/*' -not -path '*/corpus/*' \
  -exec cp -t bundle/tests {} +
# The corpus: anyone's kernels, drafted and linked where they run, with their PTX.
mkdir -p bundle/tests/corpus
cp build/tests/kernels/corpus/tenon-corpus-test build/tests/kernels/corpus/*.ptx bundle/tests/corpus/
# Golden vectors: what was recorded, and what records it again.
cp tests/golden/forms.txt tests/golden/sm_90.golden bundle/tests/
cp build/tests/golden/tenon-golden-test bundle/tests/
cp tests/sequences/more_forms.txt tests/sequences/sm_90.sequences build/tests/sequences/tenon-sequences bundle/tests/
# Libraries that unit tests load at run time (fake drivers).
find build/tests/unit -maxdepth 2 -name '*.so' -exec cp -t bundle/tests {} +
cp build/benchmarks/runtime/tenon-runtime-benchmark build/benchmarks/runtime/runtime_benchmark_sm_* bundle/benchmarks/
# The emulator's speed on that machine's processors: bundle/benchmark_emulator.sh
cp build/benchmarks/emulator/tenon-emulator-benchmark build/benchmarks/emulator/kernels.ptx bundle/benchmarks/
cp scripts/benchmark_emulator.sh bundle/
strip bundle/bin/* bundle/tests/tenon-* bundle/tests/corpus/tenon-* bundle/benchmarks/tenon-*

mkdir -p build/samples
for arch in 75 80 90; do
  nvcc -ptx -arch=compute_$arch samples/custom_dispatch/kernels.cu -o build/samples/kernels_sm_$arch.ptx
done
tenon-compile samples/custom_dispatch/example.mlir --object-search-path=build/samples -o bundle/programs/example.tenon
tenon-compile samples/custom_dispatch/checks.mlir --object-search-path=build/samples -o bundle/programs/checks.tenon

tenon-compile tests/e2e/Inputs/kernel_output/program.mlir --cu-cache=none -o bundle/programs/kernel_output.tenon

# Kernels to check, good ones and ones with a defect; structs and tensor maps as constants.
inputs=tests/e2e/Inputs
mkdir -p build/check_kernel
for kernels in check_kernel/kernels check_kernel/tensor_map constants/structs; do
  nvcc -std=c++17 -I abi/include -ptx -arch=compute_90 "$inputs/$kernels.cu" -o "build/check_kernel/$(basename $kernels)_sm_90.ptx"
done
tenon-link build/check_kernel/kernels_sm_90.ptx -o bundle/programs/check_kernels.tnx
tenon-link build/check_kernel/tensor_map_sm_90.ptx -o bundle/programs/tensor_map.tnx
cp $inputs/check_kernel/kernels.workload bundle/programs/
tenon-compile $inputs/constants/example.mlir --object-search-path=build/check_kernel -o bundle/programs/constants.tenon

# Kernels with a fallback: the hand-written ones run on sm_90, their functions wherever they are asked for.
mkdir -p build/fallback bundle/fallback
nvcc -ptx -arch=compute_90 $inputs/fallback/kernels.cu -o build/fallback/kernels_sm_90.ptx
cp build/check_kernel/tensor_map_sm_90.ptx build/fallback/
tenon-compile $inputs/fallback/fallbacks.mlir --object-search-path=build/fallback --strict -o bundle/fallback/fallbacks.tenon \
  --iree-hal-dump-executable-binaries-to=bundle/fallback

# The numeric tests again, as a script: the commands of their RUN lines that state the expected output.
for test in tests/lit/codegen/numeric_*.mlir; do
  grep -q '^// RUN: tenon-run %t.tenon .*--expected_output' "$test" || continue
  name=$(basename "$test" .mlir)
  tenon-compile "$test" -o "bundle/programs/$name.tenon"
  sed -n "s|^// RUN: tenon-run %t.tenon \(.*--expected_output.*\)|check $name tenon-run programs/$name.tenon \1|p" "$test"
done | sed 's/--device=emulator/--device=cuda/' >bundle/numeric.sh

git rev-parse HEAD >bundle/revision
cp scripts/bundle_run.sh bundle/run.sh
du -sh bundle
