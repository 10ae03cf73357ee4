#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
# Makes bundle/numeric/: programs of the compiler's against NumPy (tests/numeric/) and the runtime's conformance suite, for a
# GPU machine that has a CUDA driver, Python with NumPy, and nothing of ours. The compiler goes along, linked statically.
# Called by `./dev bundle numeric`. Then, on that machine: bundle/numeric/run.sh --help
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."
compiler=build/compiler/tools/tenon-compile-static
[ -e $compiler ] || { echo "bundle_numeric.sh: no $compiler: the static libraries of LLVM, MLIR and zlib were not found" >&2; exit 1; }
# Families of programs at bounds begin at multiples of 16 (edge_programs.py).
seed=$(($(date +%s) / 16 * 16))
to=bundle/numeric
rm -rf $to
mkdir -p $to/build/compiler/tools $to/build/runtime $to/tests $to/scripts
cp $compiler $to/build/compiler/tools/tenon-compile
cp -L build/runtime/libtenon_runtime.so $to/build/runtime/
cp build/tests/conformance/tenon-conformance-test build/tests/conformance/*.ptx $to/build/
strip $to/build/compiler/tools/tenon-compile $to/build/runtime/libtenon_runtime.so $to/build/tenon-conformance-test
cp -r tests/numeric $to/tests/
find $to/tests/numeric -name __pycache__ -prune -exec rm -r {} +
cp scripts/tenon_capi.py scripts/mlir_text.py $to/scripts/
# Bounds of plans are tenon-opt's to say, which does not go along.
/usr/bin/python3 tests/numeric/fuzz.py --build=build --edges --count=1600 --seed=$seed --bounds-to=$to/bounds.json
echo $seed >$to/bounds_seed
git rev-parse HEAD >$to/revision
# The compiler is most of it, and travels packed.
tar -C $to -cJf $to/build.tar.xz build
rm -r $to/build
cp scripts/bundle_numeric_run.sh $to/run.sh
du -sh $to
