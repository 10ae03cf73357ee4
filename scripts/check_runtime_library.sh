#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
# The shared library of the runtime, stripped: under 1.5 MB, and nothing but libc, libstdc++ and zstd needed.
# usage: check_runtime_library.sh libtenon_runtime.so
set -euo pipefail
symbols=$(nm -D --undefined-only "$1") # not a pipe: grep -q would end it, and nm's complaint be taken for an answer
if grep -qE '__(asan|tsan)_init' <<<"$symbols"; then
  echo "skipped: a sanitizer build is larger and needs its run-time library"
  exit 77
fi
stripped=$(mktemp)
trap 'rm -f "$stripped"' EXIT
strip -o "$stripped" "$1"
bytes=$(stat -c %s "$stripped")
needed=$(readelf -d "$stripped" | sed -n 's/.*(NEEDED).*\[\(.*\)\]/\1/p')
echo "$bytes bytes stripped; needs" $needed
[ "$bytes" -lt 1500000 ] || { echo "error: 1500000 bytes or more"; exit 1; }
for library in $needed; do
  case $library in
    libc.so.* | libm.so.* | libstdc++.so.* | libgcc_s.so.* | libzstd.so.* | ld-linux*) ;;
    *) echo "error: needs $library"; exit 1 ;;
  esac
done
