#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
# Runs the bundle on the machine it was carried to: the sample on the GPU, then every test binary; ends with a count.
cd "$(dirname "${BASH_SOURCE[0]}")"
export TENON_EMULATOR_LIBRARY=$PWD/bin/libtenon_emulator.so
library_path=${LD_LIBRARY_PATH:-}
export PATH=$PWD/bin:$PATH
passed=0 failed=0
report() { if [ "$1" = 0 ]; then passed=$((passed + 1)); echo "PASS $2"; else failed=$((failed + 1)); echo "FAIL $2"; fi; }

echo "revision $(cat revision)"
nvidia-smi --query-gpu=name,driver_version --format=csv,noheader
sed -n 's/^PRETTY_NAME=//p' /etc/os-release

arguments=(--function=mixed_invocation --input=8xf32=2 --input=8xf32=4)
for device in cuda emulator; do
  echo "\$ tenon-run example.tenon ${arguments[*]} --device=$device"
  tenon-run programs/example.tenon "${arguments[@]}" --device=$device | tee /tmp/tenon_out
  grep -qx '8xf32=96 96 96 96 96 96 96 96' /tmp/tenon_out; report $? "sample on $device"
done
echo "\$ tenon-run example.tenon ${arguments[*]}        # no --device: the GPU"
tenon-run programs/example.tenon "${arguments[@]}" --explain 2>&1 | tee /tmp/tenon_out
grep -q 'sm_90' /tmp/tenon_out; report $? "explain on the default device"

for binary in tests/tenon-*-test; do
  name=$(basename "$binary")
  # One of them links the emulator; another looks for drivers where there are none.
  [ "$name" = tenon-emulator-test ] && export LD_LIBRARY_PATH=$PWD/bin:$library_path || export LD_LIBRARY_PATH=$library_path
  (cd tests && "./$name" --gtest_brief=1 >"/tmp/$name.log" 2>&1); status=$?
  tail -n 3 "/tmp/$name.log"
  [ $status = 0 ] || grep -E 'FAILED|Failure|error' -A 6 "/tmp/$name.log" | head -n 60
  report $status "$name"
done
# The kernels that the emulator is tested with, on the real thing.
(cd tests && TENON_CUDA_DRIVER=cuda ./tenon-kernels-test --gtest_brief=1 >/tmp/kernels.log 2>&1); status=$?
tail -n 40 /tmp/kernels.log
grep -q 'PASSED  \] 0 tests' /tmp/kernels.log && status=1 # every one skipped is no pass
report $status "tenon-kernels-test on the GPU"

TENON_CUDA_DRIVER=cuda TENON_CORPUS_KERNELS=$PWD/tests/corpus timeout 300 tests/corpus/tenon-corpus-test --gtest_brief=1 >/tmp/corpus.log 2>&1; status=$?
tail -n 40 /tmp/corpus.log
grep -q 'PASSED  \] 0 tests' /tmp/corpus.log && status=1
report $status "tenon-corpus-test on the GPU"

# Single instructions, tensor loads and sums of wgmma: this GPU against the recorded one, and its own record.
mkdir -p results
(cd tests && TENON_CUDA_DRIVER=cuda ./tenon-golden-test --gtest_brief=1 && TENON_CUDA_DRIVER=cuda ./tenon-golden-test --record=../results/sm_90.golden)
report $? "golden vectors on the GPU"
(cd tests && TENON_CUDA_DRIVER=cuda ./tenon-sequences); report $? "recorded sequences on the GPU"
(cd tests && CUDA_CACHE_DISABLE=1 TENON_EMULATOR_SM=90 ./tenon-sequences --compare --from="$(date +%s)" --seconds=20 | grep -v '^opcode')

echo "\$ tenon-runtime-benchmark"
mkdir -p results
TENON_CUDA_DRIVER=cuda benchmarks/tenon-runtime-benchmark --output=results; report $? "tenon-runtime-benchmark"

LD_LIBRARY_PATH=$PWD/bin:$library_path tenon-benchmark programs/example.tenon "${arguments[@]}" --device=cuda --benchmark_out=results/tenon-benchmark.json
report $? "tenon-benchmark on the GPU"

# Lines that kernels print, each with its export; an assertion names the dispatch.
tenon-run programs/kernel_output.tenon --device=cuda --function=prints --printf=prefix >/tmp/printed 2>&1
grep -qFx '[hello] hello from block 1' /tmp/printed && grep -q '^\[twice\] .* becomes$' /tmp/printed; status=$?
[ $status = 0 ] || cat /tmp/printed
report $status "printf of kernels with the export's name on the GPU"
tenon-run programs/kernel_output.tenon --device=cuda --function=asserts --printf=prefix >/tmp/printed 2>&1
grep -q "Dispatch of 'positive'.*CUDA_ERROR_ASSERT" /tmp/printed; status=$?
cat /tmp/printed; report $status "assert of a kernel with the export's name on the GPU"

tenon-check programs/checks.tenon --device=cuda; report $? "tenon-check on the GPU"

# Kernels between guards; each defect is found by its check.
tenon-check-kernel programs/check_kernels.tnx --device=cuda --workload=programs/kernels.workload; report $? "good kernels checked on the GPU"
tenon-check-kernel programs/tensor_map.tnx --device=cuda --export=scale_tiles --binding='rowsx(4*m)xf32' \
  --binding='rowsx(4*m)xf32' --size=rows=1,8,9,200 --size=m=1,4,7,100 --constant=rows --constant='4*m' \
  --grid='ceildiv(4*m, 16), ceildiv(rows, 8)' --reference='export scale_plainly'; report $? "tensor maps encoded for the GPU"
for defect in past_the_end:bounds writes_input:read-only adds_to_output:outputs shows_address:repeats wide_loads:offsets; do
  tenon-check-kernel programs/check_kernels.tnx --device=cuda --export=${defect%:*} --binding=nxf32 --binding=nxf32 \
    --size=n=4,32,1000 --constant=2.5 --constant=n >/tmp/check_kernel.log 2>&1
  grep -q "^  ${defect#*:} *FAILED" /tmp/check_kernel.log; status=$?
  [ $status = 0 ] || cat /tmp/check_kernel.log
  report $status "defect $defect found on the GPU"
done
tenon-run programs/constants.tenon --device=cuda --function=mixed --input=-5 --input=-300 --input=2.5 --input=-7 --input=-8 \
  --expected_output=5xf32=995,1700,2.5,-7,-8; report $? "struct by value on the GPU"
tenon-run programs/constants.tenon --device=cuda --function=scale --input=9x20xf32=3 --expected_output=9x20xf32=6
report $? "tensor map from a program on the GPU"

# Fallbacks: their results, and those of the hand-written kernels beside them.
for variant in sm_90 fallback; do
  tenon-run fallback/fallbacks.tenon --device=cuda --variant=$variant --function=run '--input=5xf32=1 2 3 4 5' --input=5xf32=3 \
    '--expected_output=5xf32=10 20 30 40 50' &&
    tenon-run fallback/fallbacks.tenon --device=cuda --variant=$variant --function=run_hopper '--input=2x4xf32=1 2 3 4 5 6 7 8' \
      '--expected_output=2x4xf32=[8 4 0 -4][-8 -12 -16 -20]'
  report $? "programs with variant $variant on the GPU"
done
fallback() { # EXECUTABLE EXPORT ARGUMENT...: the check of that name passes
  tenon-check-kernel fallback/$1.tnx --device=cuda --export=$2 "${@:3}" >/tmp/check_kernel.log 2>&1 &&
    grep -q '^  fallback *passed' /tmp/check_kernel.log || { cat /tmp/check_kernel.log; return 1; }
}
fallback kernels multiply --binding=nxf32 --binding=nxf32 --binding=nxf32 --constant=n &&
  fallback kernels accumulate --binding=nxf32 '--binding=inout nxf32' --constant=2.5 --constant=n &&
  fallback kernels product --binding=mxkxf32 --binding=kxnxf32 --binding=mxnxf32 --constant=m --constant=n --constant=k --size=m=1,5,9 \
    --size=n=1,8,17 --size=k=0,1,7 '--grid=ceildiv(n, 8), ceildiv(m, 4)' &&
  fallback hopper line --binding=nxf32 --binding=nxf32 '--constant=(i1=1, i64=n, f32=2.5, i16=-3)' &&
  fallback hopper scale_tiles '--binding=rowsx(4*m)xf32' '--binding=rowsx(4*m)xf32' --size=rows=1,8,9 --size=m=1,4,7 --constant=rows \
    '--constant=4*m' '--grid=ceildiv(4*m, 16), ceildiv(rows, 8)'
report $? "fallbacks agree with their kernels on the GPU"
tenon-check-kernel fallback/kernels.tnx --device=cuda --export=negate --binding=nxf32 --binding=nxf32 --constant=n >/tmp/check_kernel.log 2>&1
grep -q '^  fallback *FAILED' /tmp/check_kernel.log; report $? "a fallback that differs is found on the GPU"

# check NAME COMMAND...: a numeric test of the compiler's kernels; the command compares with the expected output itself.
check() {
  local name=$1; shift
  "$@" >/tmp/numeric.log 2>&1 || { status=1; echo "$name: $*"; tail -n 3 /tmp/numeric.log; }
  numeric=$((numeric + 1))
}
status=0 numeric=0
source numeric.sh
report $status "$numeric numeric commands on the GPU"
echo "$passed passed, $failed failed"
[ "$failed" = 0 ]
