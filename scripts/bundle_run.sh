#!/usr/bin/env bash
# Runs the bundle on the machine it was carried to: the sample on the GPU, then every test binary; ends with a count.
cd "$(dirname "${BASH_SOURCE[0]}")"
export TENON_EMULATOR_LIBRARY=$PWD/bin/libtenon_emulator.so
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
  (cd tests && "./$name" --gtest_brief=1 >"/tmp/$name.log" 2>&1); status=$?
  tail -n 3 "/tmp/$name.log"
  [ $status = 0 ] || grep -E 'FAILED|Failure|error' -A 6 "/tmp/$name.log" | head -n 60
  report $status "$name"
done
(cd tests && [ -x tenon-kernels-test ] && TENON_CUDA_DRIVER=cuda ./tenon-kernels-test --gtest_brief=1 2>&1 | tail -n 60; exit "${PIPESTATUS[0]}")
report $? "tenon-kernels-test on the GPU"
echo "$passed passed, $failed failed"
[ "$failed" = 0 ]
