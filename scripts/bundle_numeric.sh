#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
# Makes bundle/numeric/: programs of the compiler's against NumPy (tests/numeric/) and the runtime's conformance suite, for a
# GPU machine that has a CUDA driver, Python with NumPy, and nothing of ours. The compiler goes along, linked statically.
# Called by `./dev bundle numeric`. Then, on that machine: bundle/numeric/run.sh --help
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."
seed=$(date +%s)
to=bundle/numeric
rm -rf $to
mkdir -p $to/build/compiler/tools $to/build/runtime $to/tests $to/scripts
cp build/compiler/tools/tenon-compile-static $to/build/compiler/tools/tenon-compile
cp build/runtime/libtenon_runtime.so.0.1.0 $to/build/runtime/libtenon_runtime.so
cp build/tests/conformance/tenon-conformance-test build/tests/conformance/*.ptx $to/build/
strip $to/build/compiler/tools/tenon-compile $to/build/runtime/libtenon_runtime.so $to/build/tenon-conformance-test
cp -r tests/numeric $to/tests/
rm -rf $to/tests/numeric/__pycache__
cp scripts/tenon_capi.py scripts/mlir_text.py $to/scripts/
# Bounds of plans are tenon-opt's to say, which does not go along.
python3=/usr/bin/python3
$python3 tests/numeric/fuzz.py --build=build --edges --count=1600 --seed=$((seed / 16 * 16)) --bounds-to=$to/bounds.json
echo $((seed / 16 * 16)) >$to/bounds_seed
git rev-parse HEAD >$to/revision
# The compiler is most of it, and travels packed.
tar -C $to -cJf $to/build.tar.xz build
rm -r $to/build
cp scripts/bundle_numeric_run.sh $to/run.sh
du -sh $to
