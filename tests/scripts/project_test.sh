#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
# project_test.sh MESON BUILD PREFIX NVCC: installs a build, moves the installed tree elsewhere, and builds
# samples/project against it with CMake and with Meson, outside of the source tree. What was built runs on the emulator,
# a second build does nothing, and a changed header of a kernel makes the kernels anew.
set -euo pipefail
meson=$1 build=$2 prefix=$3 nvcc=$4
source=$(cd "$(dirname "${BASH_SOURCE[0]}")/../.." && pwd)
unset TENON_EMULATOR_LIBRARY LD_LIBRARY_PATH PKG_CONFIG_PATH CMAKE_PREFIX_PATH
export TENON_CUDA_DRIVER=emulator TENON_EMULATOR_QUIET=1 CC=${CC_FOR_USERS:-cc}
root=$(mktemp -d)
trap 'rm -rf "$root"' EXIT
quietly() { "$@" >"$root/log" 2>&1 || { echo "failed: $*"; cat "$root/log"; exit 1; }; }
fail() { echo "$*"; cat "$root/log"; exit 1; }

quietly "$meson" install -C "$build" --no-rebuild --quiet --destdir "$root/image"
moved="$root/a folder/tenon"
mkdir -p "$root/a folder"
mv "$root/image$prefix" "$moved"
rm -rf "$root/image"

# uses FOLDER COMMAND...: what was built runs, and the command that builds does what there is to do and no more.
uses() {
  local folder=$1; shift
  [ "$("$folder/app")" = "26 52 78 104" ] || fail "the app of $folder prints something else"
  cp "$folder/program.tenon" "$root/before.tenon"
  touch "$root/now"
  quietly "$@"
  [ "$folder/program.tenon" -ot "$root/now" ] || fail "built again, where nothing had changed: $*"
  sed -i 's/return value \* by/return by * value + 1.0f/' "$root/project/scale.cuh"
  sleep 1.1 # times in whole seconds, where a file system has no finer ones
  touch "$root/project/scale.cuh"
  quietly "$@"
  [ "$("$folder/app")" = "28 54 80 106" ] || fail "a header of the kernel changed, and the app of $folder did not"
  sed -i 's/return by \* value + 1.0f/return value * by/' "$root/project/scale.cuh"
}

cp -r "$source/samples/project" "$root/project"
generators=("Ninja")
! command -v make >/dev/null || generators+=("Unix Makefiles")
if command -v cmake >/dev/null; then
  for generator in "${generators[@]}"; do
    folder="$root/by cmake, $generator"
    quietly cmake -G "$generator" -S "$root/project" -B "$folder" "-DCMAKE_PREFIX_PATH=$moved" "-DTENON_NVCC=$nvcc"
    quietly cmake --build "$folder"
    (cd "$folder" && quietly ctest --output-on-failure)
    uses "$folder" cmake --build "$folder"
  done
  # Another minor version, and components that are none, are refused.
  mkdir "$root/refused"
  printf 'cmake_minimum_required(VERSION 3.20)\nproject(p NONE)\nfind_package(Tenon ${WANTED})\nif(NOT Tenon_FOUND)\nmessage(STATUS "none for ${WANTED}")\nendif()\n' >"$root/refused/CMakeLists.txt"
  for wanted in '9.0' '0.2' '0.0.1' 'COMPONENTS;nothing'; do
    cmake -S "$root/refused" -B "$root/refused/build" "-DCMAKE_PREFIX_PATH=$moved" "-DWANTED=$wanted" >"$root/log" 2>&1 || true
    grep -qF "none for $wanted" "$root/log" || fail "found for $wanted"
    rm -rf "$root/refused/build"
  done
else
  echo "skipped: the part with CMake: there is no cmake"
fi

# Moved once more: pkg-config has no way to hand on a folder with a blank in its name.
mv "$moved" "$root/tenon"
moved=$root/tenon
export PKG_CONFIG_PATH=$(dirname "$(find "$moved" -name tenon-runtime.pc)")
quietly "$meson" setup "-Dnvcc=$nvcc" "$root/by meson" "$root/project"
quietly ninja -C "$root/by meson"
quietly "$meson" test -C "$root/by meson"
uses "$root/by meson" ninja -C "$root/by meson"

# Nothing that was installed knows where it was built, or where it was to be installed.
if grep -rlF -e "$build" -e "$source" "$moved" --include='*.pc' --include='*.cmake' --include='*.1' --include='tenon-*' >"$root/log"; then
  fail "files that name the build's folders:"
fi
