#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
usage() {
  cat <<'END'
usage: bundle/numeric/run.sh [OPTION]...

Programs of the compiler's on this machine's GPU against NumPy, and the runtime's conformance suite. Each part begins no program
after its time, and 0 leaves it out. Exit status 1 where anything but right results and refusals came, or a part hangs.

  --suite=S         single operations, in random order, for S seconds (default: 120); making its cases takes the first 10 to 30
  --sm80=S          of these, products, convolutions and attention compiled for sm_80 (default: 60), and products of tf32, and
                    convolutions in tiles
  --fuzz=S          random programs (default: 120)
  --count=N         at most so many of them (default: 100000)
  --edges=S         programs whose sizes lie at the bounds of plans (default: 60)
  --convolutions=S  random convolutions (default: 20)
  --seed=N          of all of them (default: the time)
  --jobs=N          processes (default: one for each core); twice as many where the suite runs beside the others
  --device=NAME     cuda, or emulator, of TENON_EMULATOR_LIBRARY (default: cuda)
  --python=PROGRAM  a Python that has NumPy (default: python3)
  --keep=FOLDER     where programs that fail are written (default: failed)
END
}
from=$PWD keep=failed
cd "$(dirname "${BASH_SOURCE[0]}")" || exit 1
suite=120 sm80=60 fuzz=120 count=100000 edges=60 convolutions=20 seed=$(date +%s) jobs=$(nproc) device=cuda python=python3
for option in "$@"; do
  case $option in
    --suite=* | --sm80=* | --fuzz=* | --count=* | --edges=* | --convolutions=* | --seed=* | --jobs=* | --device=* | --python=* | --keep=*)
      option=${option#--}
      declare "${option%%=*}=${option#*=}" ;;
    --help) usage; exit 0 ;;
    *) echo "run.sh: unknown option $option" >&2; usage >&2; exit 2 ;;
  esac
done
[[ $keep = /* ]] || keep=$from/$keep
[ -d build ] || tar -xJf build.tar.xz || exit 1
for part in seed jobs count suite sm80 fuzz edges convolutions; do
  [[ ${!part} =~ ^[0-9]+$ ]] || { echo "run.sh: --$part=${!part} is no number" >&2; exit 2; }
done
export PYTHONWARNINGS=ignore
said=$(mktemp -d)
trap 'rm -rf "$said"' EXIT
common=(--build=build --device="$device" --jobs="$jobs")
hopper='--target=sm_90a --images=ptx --cu-cache=none'

# What it prints comes in one piece, when it ends; what it leaves running holds nobody up.
part() { # NAME SECONDS COMMAND...
  [ "$2" != 0 ] || return 0
  local begin=$SECONDS status
  timeout -k 5 $(($2 + 240)) "${@:3}" >"$said/$1" 2>&1 </dev/null
  status=$?
  [ $status = 124 ] && echo "hangs" >>"$said/$1"
  {
    tail -n 40 "$said/$1" | cut -c1-600
    echo "== $1: $([ $status = 0 ] && echo passed || echo "FAILED, exit status $status"), $((SECONDS - begin)) s"
  }
  [ $status = 0 ] || touch "$said/failed"
}
numeric() { # NAME SECONDS TOOL OPTION...
  part "$1" "$2" "$python" "tests/numeric/$3.py" "${common[@]}" --seconds="$2" "${@:4}"
}

echo "revision $(cat revision), seed $seed, $jobs processes"
part conformance 60 env TENON_CUDA_DRIVER="$device" TENON_CONFORMANCE_KERNELS=build build/tenon-conformance-test --gtest_brief=1
# In shares beside each other: one process makes the cases of each.
shares=8
for share in $(seq $shares); do
  {
    mine=(--part="$share/$shares" --jobs=$(((jobs + shares - 1) / shares)) --seed="$seed" --no-torch --quiet)
    numeric "suite-$share" "$suite" suite "${mine[@]}" --filter='^(?!.* of few bits|tile by warps alone)' --flags="$hopper"
    numeric "sm80-$share" "$sm80" suite "${mine[@]}" --filter='^(?!.* of few bits)(contraction|attention|convolution|matmul|conv|tile by warps alone)' \
      --flags='--target=sm_80 --images=ptx --cu-cache=none'
    numeric "tf32-$share" "$sm80" suite "${mine[@]}" --filter='^(contraction|convolution).* of few bits' \
      --flags="$hopper --f32-products=tf32"
    numeric "tiles-$share" "$sm80" suite "${mine[@]}" --filter='^convolution in tiles' --flags="$hopper --f32-convolutions=winograd"
  } &
done
failing=(--shrink=0 --keep="$keep" --flags="$hopper")
numeric edges "$edges" fuzz --edges --bounds=bounds.json --seed="$(cat bounds_seed)" --count=1600 "${failing[@]}"
numeric convolutions "$convolutions" fuzz --convolutions --seed="$seed" --count=100000 "${failing[@]}"
numeric fuzz "$fuzz" fuzz --seed="$seed" --count="$count" "${failing[@]}"
wait
[ ! -e "$said/failed" ]
