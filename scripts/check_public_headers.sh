#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
# Every public C header compiles alone, as C11 and as C++11, without a warning. Usage: check_public_headers.sh INCLUDE COMPILER...
set -euo pipefail
include=$1
shift
for header in "$include"/tenon/*.h "$include"/tenon/runtime/*.h; do
  name=${header#"$include"/}
  for language in 'c c11' 'c++ c++11'; do
    echo "#include <$name>" |
      "$@" -x "${language% *}" "-std=${language#* }" -Wall -Wextra -Werror -pedantic -I "$include" -fsyntax-only -
    echo "ok: $name as ${language#* }"
  done
done
