#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
# install_test.sh MESON BUILD BINDIR LIBDIR COMPILER INCLUDEDIR: installs a build into a new folder and uses it from
# there. The tools and a program of the C API find the emulator that was installed with them, not one beside the program
# or in the current folder: the library beside itself, the tools in LIBDIR (of Debian lib/x86_64-linux-gnu, the multiarch
# folder), a library that was carried elsewhere with the emulator, there.
set -euo pipefail
meson=$1 build=$2 bindir=$3 libdir=$4 compiler=$5
unset TENON_EMULATOR_LIBRARY TENON_CUDA_DRIVER LD_LIBRARY_PATH
root=$(mktemp -d)
trap 'rm -rf "$root"' EXIT
"$meson" install -C "$build" --no-rebuild --quiet --destdir "$root/image" >"$root/log" 2>&1 || { cat "$root/log"; exit 1; }
bin=$root/image$bindir lib=$root/image$libdir
emulator=$lib/libtenon_emulator.so
expect() { # expect TEXT FILE
  grep -qF -- "$1" "$2" || { echo "not found: $1"; echo "in:"; cat "$2"; exit 1; }
}

# What stands beside the tools: pages and completions of each, and the schemas.
for tool in link dump run check check-kernel; do
  for file in man/man1/tenon-$tool.1 bash-completion/completions/tenon-$tool.bash zsh/site-functions/_tenon-$tool \
    fish/vendor_completions.d/tenon-$tool.fish tenon/schemas/executable.fbs; do
    [ -s "$bin/../share/$file" ] || { echo "not installed: share/$file"; exit 1; }
  done
done
if command -v man >/dev/null; then
  LC_ALL=C MANWIDTH=80 man --warnings -l "$bin/../share/man/man1/tenon-link.1" >"$root/page" 2>"$root/warned"
  [ ! -s "$root/warned" ] || { echo "the manual page has mistakes:"; cat "$root/warned"; exit 1; }
  expect "EXIT STATUS" "$root/page"
fi

# An emulator that is none lies wherever one must not be looked for.
mkdir -p "$root/user/bin" "$root/user/lib" "$root/user/emulator"
for folder in bin lib emulator; do echo "not a library" >"$root/user/$folder/libtenon_emulator.so"; done
cd "$root/user/lib"

cat >double.ptx <<'PTX'
.version 7.0
.target sm_75
.address_size 64
.visible .entry twice(.param .u64 source, .param .u64 target) {
  .reg .b64 %rd<5>;
  .reg .b32 %r<3>;
  ld.param.u64 %rd1, [source];
  ld.param.u64 %rd2, [target];
  mov.u32 %r1, %tid.x;
  mul.wide.u32 %rd3, %r1, 4;
  add.s64 %rd1, %rd1, %rd3;
  add.s64 %rd2, %rd2, %rd3;
  ld.global.u32 %r2, [%rd1];
  add.s32 %r2, %r2, %r2;
  st.global.u32 [%rd2], %r2;
  ret;
}
PTX
cat >double.json <<'JSON'
{"name": "twice", "exports": [{"name": "twice", "launch": {"workgroup_size": [32]}, "layout": {"bindings": [{"read_only": true}, {}]}}],
 "objects": [{"target": "sm_75", "path": "double.ptx"}]}
JSON
"$bin/tenon-link" double.json -o double.tnx
"$bin/tenon-check-kernel" double.tnx --export=twice --device=emulator --binding=32xi32 --binding=32xi32 --grid=1,1,1 \
  >checked 2>&1 || { cat checked; exit 1; }
expect "twice" checked

# Compiled, and run by the tool.
if [ "$compiler" = true ]; then
  cat >add.mlir <<'MLIR'
func.func @add(%a: tensor<4xf32>, %b: tensor<4xf32>) -> tensor<4xf32> {
  %0 = arith.addf %a, %b : tensor<4xf32>
  return %0 : tensor<4xf32>
}
MLIR
  "$bin/tenon-opt" add.mlir >/dev/null
  "$bin/tenon-tune" add.mlir --dry-run --target=sm_80
  "$bin/tenon-compile" add.mlir -o add.tenon
  "$bin/tenon-run" add.tenon --device=emulator --input=4xf32=1 --input=4xf32=2 >sum
  expect "4xf32=3 3 3 3" sum
fi

# A user's program, with the library.
cat >"$root/user/main.c" <<'C'
#include <stdio.h>
#include <tenon/runtime.h>
int main(void) {
  tenon_driver_t *driver = NULL;
  tenon_status_t *status = tenon_driver_open("emulator", &driver);
  printf("%s\n", status ? tenon_status_message(status) : "opened");
  tenon_status_free(status);
  tenon_driver_release(driver);
  return status != NULL;
}
C
"${CC:-cc}" "$root/user/main.c" -I"$root/image${6}" -L"$lib" -ltenon_runtime -Wl,-rpath,"$lib" -o "$root/user/bin/program"
"$root/user/bin/program" >opened || { cat opened; exit 1; }
expect "opened" opened

# Without it the paths that were tried say where it was looked for; with it there, or named, the same commands work.
check() { "$bin/tenon-check-kernel" double.tnx --export=twice --device=emulator --binding=32xi32 --binding=32xi32 --grid=1,1,1; }
mv "$emulator" "$root/elsewhere.so"
if "$root/user/bin/program" >tried; then echo "opened without an emulator"; exit 1; fi
expect "$emulator: cannot open shared object file" tried
if check >tool_tried 2>&1; then echo "the tool ran without an emulator"; exit 1; fi
expect "$emulator: cannot open shared object file" tool_tried
expect "$(realpath "$bin")/libtenon_emulator.so: cannot open shared object file" tool_tried
for file in tried tool_tried; do
  if grep -qF "$root/user" "$file"; then echo "looked for beside the program:"; cat "$file"; exit 1; fi
done
TENON_EMULATOR_LIBRARY=$root/elsewhere.so "$root/user/bin/program" >opened
expect "opened" opened
TENON_EMULATOR_LIBRARY=$root/elsewhere.so check >checked 2>&1 || { cat checked; exit 1; }
# Beside the tool, as in a bundle.
cp "$root/elsewhere.so" "$bin/libtenon_emulator.so"
check >checked 2>&1 || { cat checked; exit 1; }
rm "$bin/libtenon_emulator.so"
# Beside the library, whatever its folder is called and wherever the program is.
mkdir "$root/carried"
cp -P "$lib"/libtenon_runtime.so* "$root/elsewhere.so" "$root/carried/"
mv "$root/carried/elsewhere.so" "$root/carried/libtenon_emulator.so"
"${CC:-cc}" "$root/user/main.c" -I"$root/image${6}" -L"$lib" -ltenon_runtime -o "$root/user/bin/program"
if LD_LIBRARY_PATH=$lib "$root/user/bin/program" >tried; then echo "opened without an emulator"; exit 1; fi
LD_LIBRARY_PATH=$root/carried "$root/user/bin/program" >opened || { cat opened; exit 1; }
expect "opened" opened
