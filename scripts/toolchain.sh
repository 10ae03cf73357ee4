# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
# What Tenon is built with, and how a machine gets it. Sourced by ./dev.

# The LLVM that compiler/ is pinned to is named in compiler/meson.build; its packages follow that number.
LLVM_VERSION=$(sed -n "s/^llvm_version_wanted = '\([0-9]*\)'.*/\1/p" compiler/meson.build)
PACKAGES=(
  "llvm-$LLVM_VERSION-dev" "llvm-$LLVM_VERSION-tools" "libmlir-$LLVM_VERSION-dev" "mlir-$LLVM_VERSION-tools"
  "clang-$LLVM_VERSION" "clang-format-$LLVM_VERSION" "lld-$LLVM_VERSION" "libclang-rt-$LLVM_VERSION-dev"
  g++ cmake make dpkg-dev meson ninja-build ccache pkg-config git
  python3 python3-dev python3-venv python3-numpy python3-pytest mypy mkdocs-material
  libflatbuffers-dev flatbuffers-compiler libgtest-dev libbenchmark-dev liblz4-dev libzstd-dev zlib1g-dev
)
# nvcc, its headers and libdevice as Python wheels, for machines without a CUDA toolkit.
CUDA_WHEELS=(nvidia-cuda-nvcc nvidia-cuda-crt nvidia-nvvm nvidia-cuda-runtime nvidia-cuda-cccl)
CUDA_WHEEL_VERSION='13.0.*'

as_root() {
  if [ "$(id -u)" = 0 ]; then "$@"
  elif command -v sudo >/dev/null; then sudo "$@"
  else echo "dev: cannot run '$*': be root, or install sudo" >&2; return 1
  fi
}

setup_packages() {
  local missing=() package
  for package in "${PACKAGES[@]}"; do
    [ "$(dpkg-query -W -f '${db:Status-Status}' "$package" 2>/dev/null)" = installed ] || missing+=("$package")
  done
  [ ${#missing[@]} = 0 ] && return
  echo "dev: installing Debian packages: ${missing[*]}"
  as_root apt-get update -q
  as_root env DEBIAN_FRONTEND=noninteractive apt-get install -y -q --no-install-recommends "${missing[@]}"
}

# Sets TENON_NVCC and TENON_CUDA_HOME: PATH, then $CUDA_HOME, then /usr/local/cuda, then the wheels.
setup_cuda() {
  local candidate
  for candidate in "$(command -v nvcc || true)" "${CUDA_HOME:+$CUDA_HOME/bin/nvcc}" /usr/local/cuda/bin/nvcc; do
    if [ -n "$candidate" ] && [ -x "$candidate" ]; then use_nvcc "$candidate"; return; fi
  done
  candidate=$(wheel_nvcc)
  if [ -z "$candidate" ]; then
    local wheels=("${CUDA_WHEELS[@]/%/==$CUDA_WHEEL_VERSION}")
    echo "dev: no CUDA toolkit found; installing into .venv: ${wheels[*]}"
    /usr/bin/python3 -m venv .venv
    .venv/bin/pip install -q --disable-pip-version-check "${wheels[@]}"
    candidate=$(wheel_nvcc)
  fi
  [ -n "$candidate" ] || { echo "dev: the wheels brought no nvcc" >&2; return 1; }
  use_nvcc "$candidate"
}

wheel_nvcc() { [ ! -d .venv/lib ] || find .venv/lib -path '*/nvidia/*/bin/nvcc' 2>/dev/null | sort | head -n 1; }

use_nvcc() {
  TENON_NVCC=$(realpath "$1")
  TENON_CUDA_HOME=$(dirname "$(dirname "$TENON_NVCC")")
  export TENON_NVCC TENON_CUDA_HOME
  # tenon-compile finds libdevice as nvcc does.
  export CUDA_HOME=${CUDA_HOME:-$TENON_CUDA_HOME}
}

build_folder() {
  case "$1" in
    release) echo build ;;
    sanitize | thin | threads | fuzz) echo "build-$1" ;;
    *) echo "dev: unknown kind of build '$1': release, sanitize, thin, threads or fuzz" >&2; return 1 ;;
  esac
}

# What has threads: the runtime's queue and whoever calls it, the emulator's work queue and the workers of a launch, and
# the linker where it compiles sources side by side.
THREAD_SUITES=(unit-runtime unit-c-api unit-linker-source unit-emulator unit-emulator-devices kernels-threads
  conformance-sm_90-eager conformance-sm_90-random-1 conformance-two-devices)

# The ninja targets of a kind of build, one a line; none means all.
build_targets() {
  [ "$1" = threads ] || return 0
  printf '%s\n' tests/unit/{runtime/tenon-runtime-test,runtime/tenon-c-api-test,runtime/libtenon_fake_driver.so} \
    tests/unit/{runtime/libtenon_incomplete_driver.so,linker/tenon-linker-source-test} \
    tests/unit/emulator/tenon-emulator{,-devices}-test emulator/libtenon_emulator.so \
    tests/kernels/tenon-kernels-test tests/conformance/tenon-conformance-test \
    tests/conformance/conformance_kernels_sm_{75,80,90}.ptx
  local kernels
  for kernels in tests/kernels/*.cu; do # every one: a test whose PTX is missing is skipped
    kernels=${kernels%.cu}_sm_90
    echo "${kernels/%hopper_sm_90/hopper_sm_90a}.ptx"
  done
}

with_compilers() {
  local cached="$PWD/scripts/cached_compiler"
  CC="$cached clang-$LLVM_VERSION" CXX="$cached clang++-$LLVM_VERSION" CXX_LD=lld "$@"
}

# Configures a build folder once, and again only when the arguments changed.
configure() {
  local kind=$1 folder; folder=$(build_folder "$kind")
  local arguments=(-Dwerror=true -Dbenchmark=enabled "-Dnvcc=$TENON_NVCC" "-Ddriver_headers=$TENON_CUDA_HOME/include")
  case "$kind" in
    release) arguments+=(-Dbuildtype=release) ;;
    # Lines for the reports, little else: the build is long enough. Without the precompiled header, so that every file
    # of compiler/ is seen to include what it uses.
    sanitize) arguments+=(-Dbuildtype=debugoptimized -Doptimization=1 -Dcpp_args=-gline-tables-only
      -Db_sanitize=address,undefined -Db_lundef=false -Db_pch=false) ;;
    thin) arguments+=(-Dbuildtype=release -Dcompiler=false) ;;
    threads) arguments+=(-Dbuildtype=debugoptimized -Doptimization=1 -Dcpp_args=-gline-tables-only -Dcompiler=false
      -Db_sanitize=thread -Db_lundef=false) ;;
    fuzz) arguments+=(-Dbuildtype=debugoptimized -Dcompiler=false -Dfuzz=true -Db_sanitize=address,undefined -Db_lundef=false) ;;
  esac
  local stamp="$folder/.dev-arguments" wipe=()
  if [ -f "$folder/build.ninja" ]; then
    [ "$(cat "$stamp" 2>/dev/null)" = "${arguments[*]}" ] && return
    wipe=(--wipe)
  fi
  with_compilers meson setup "${wipe[@]}" "$folder" "${arguments[@]}"
  echo "${arguments[*]}" >"$stamp"
}
