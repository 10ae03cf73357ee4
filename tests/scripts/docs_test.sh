#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
# docs_test.sh MESON BUILD PREFIX LIBDIR NVCC FILE...: installs a build into a new folder and does with it what the files
# tell a reader to do. Pages of docs/ may hold no block that nobody tries.
set -euo pipefail
meson=$1 build=$2 prefix=$3 libdir=$4 nvcc=$5
shift 5
source=$(cd "$(dirname "${BASH_SOURCE[0]}")/../.." && pwd)
root=$(mktemp -d)
trap 'rm -rf "$root"' EXIT
"$meson" install -C "$build" --no-rebuild --quiet --destdir "$root/image" >"$root/log" 2>&1 || { cat "$root/log"; exit 1; }
mv "$root/image$prefix" "$root/tenon"
library=$root/tenon/$libdir
# What a reader has who installed Tenon, and whose machine has no GPU.
unset TENON_EMULATOR_LIBRARY
export PATH=$root/tenon/bin:$(dirname "$nvcc"):$PATH CUDA_HOME=${CUDA_HOME:-$(dirname "$(dirname "$nvcc")")}
export LD_LIBRARY_PATH=$library PKG_CONFIG_PATH=$library/pkgconfig CMAKE_PREFIX_PATH=$root/tenon
# The Python package, for the Python that has NumPy; without it, what needs NumPy is left out.
package=$(find "$root/tenon" -path '*-packages/tenon' -prune)
if [ -n "$package" ] && /usr/bin/python3 -c 'import numpy' 2>/dev/null; then
  mkdir "$root/python"
  ln -s /usr/bin/python3 "$root/python/python3"
  export PATH=$root/python:$PATH PYTHONPATH=$(dirname "$package")
fi
export TENON_CUDA_DRIVER=emulator TENON_EMULATOR_QUIET=1 TENON_CACHE_DIR=$build/tests/cache
status=0
for file in "$@"; do
  strict=
  case $file in */docs/pages/*) strict=--strict ;; esac
  python3 "$source/scripts/check_transcripts.py" $strict "--hide=$root/tenon" "$file" || status=1
done
exit $status
