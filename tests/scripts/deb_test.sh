#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
# deb_test.sh MESON BUILD COMPILER PYTHON: makes the Debian packages of a build, installs them into an empty root, uses what is
# there, and removes them.
set -euo pipefail
export MESON=$1 TENON_DEB_COMPRESSION=none
build=$2 compiler=$3 python=$4
source=$(cd "$(dirname "${BASH_SOURCE[0]}")/../.." && pwd)
unset TENON_EMULATOR_LIBRARY LD_LIBRARY_PATH
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
fail() { echo "$*"; [ ! -f "$work/log" ] || cat "$work/log"; exit 1; }
as_root=()
if [ "$(id -u)" != 0 ]; then
  command -v fakeroot >/dev/null || { echo "skipped: neither root nor fakeroot"; exit 77; }
  as_root=(fakeroot)
fi

"$source/scripts/deb.sh" "$build" "$work/debs" >"$work/log" 2>&1 || fail "no packages:"
wanted=(libtenon-dev libtenon-runtime0 tenon-tools)
[ "$compiler" != true ] || wanted+=(tenon-compiler tenon-compiler-tools)
[ ! -x "$build/runtime/tools/tenon-benchmark" ] || wanted+=(tenon-benchmark)
[ "$python" != true ] || wanted+=(python3-tenon)
found=$(cd "$work/debs" && ls | sed 's/_.*//' | sort | tr '\n' ' ')
[ "$found" = "$(printf '%s\n' "${wanted[@]}" | sort | tr '\n' ' ')" ] || fail "packages are: $found"
# Same build, same bytes.
"$source/scripts/deb.sh" "$build" "$work/again" >"$work/log" 2>&1 || fail "no packages the second time:"
for package in "$work"/debs/*.deb; do
  again=$work/again/${package##*/}
  cmp -s "$package" "$again" && continue
  dpkg-deb -R "$package" "$work/first" && dpkg-deb -R "$again" "$work/second"
  diff -r "$work/first" "$work/second"
  fail "the packages of one build differ: ${package##*/}"
done
depends() { dpkg-deb -f "$work/debs/$1"_*.deb Depends; }
case "$(depends libtenon-runtime0)" in *libc6*libstdc++6*) ;; *) fail "the runtime depends on: $(depends libtenon-runtime0)" ;; esac
case "$(depends tenon-tools)" in *libbenchmark*) fail "the tools depend on: $(depends tenon-tools)" ;; *"libtenon-runtime0 (= "*) ;; *) fail "the tools depend on: $(depends tenon-tools)" ;; esac
if [ "$compiler" = true ]; then
  case "$(depends tenon-compiler-tools)" in *libllvm*mlir* | *mlir*libllvm*) ;; *) fail "the compiler's tools depend on: $(depends tenon-compiler-tools)" ;; esac
  # With LLVM in it, the compiler needs no package that only this distribution has; nor do the tools.
  if [ -x "$build/compiler/tools/tenon-compile-static" ]; then
    case "$(depends tenon-compiler)" in *llvm* | *mlir*) fail "the compiler depends on: $(depends tenon-compiler)" ;; esac
  fi
fi

# The root is empty, so what they depend on is this machine's.
root=$work/root
mkdir -p "$root"/var/lib/dpkg/{info,updates,triggers}
touch "$root/var/lib/dpkg/status"
packages() { "${as_root[@]}" dpkg --root="$root" --force-depends,not-root,script-chrootless "$@" >"$work/log" 2>&1; }
packages --install "$work"/debs/*.deb || fail "not installed:"
(cd "$root" && for sums in var/lib/dpkg/info/*.md5sums; do md5sum --quiet -c "$sums"; done) || fail "files differ from their sums"
"$root/usr/bin/tenon-link" --version >"$work/log"
cat >"$work/none.ptx" <<'PTX'
.version 7.0
.target sm_75
.address_size 64
.visible .entry nothing() { ret; }
PTX
echo '{"name": "k", "exports": [{"name": "nothing", "launch": {"workgroup_size": [32]}, "layout": {}}], "objects": [{"target": "sm_75", "path": "none.ptx"}]}' >"$work/k.json"
(cd "$work" && "$root/usr/bin/tenon-link" k.json --images=ptx -o k.tnx && "$root/usr/bin/tenon-check-kernel" k.tnx --device=emulator --grid=1,1,1) \
  >"$work/log" 2>&1 || fail "the installed tools do not work:"
if [ "$python" = true ]; then
  case "$(/usr/bin/python3 -c 'import sys; print(sys.version_info >= (3, 10))')" in
    True) PYTHONPATH=$root/usr/lib/python3/dist-packages /usr/bin/python3 -c 'import tenon; print(tenon.load("'"$work/k.tnx"'", "emulator"))' >"$work/log" 2>&1 ||
      fail "the Python package does not work:" ;;
  esac
fi
zcat "$root/usr/share/man/man1/tenon-link.1.gz" | grep -q '^.SH EXAMPLES' || fail "no manual page"
pkg=$(find "$root/usr/lib" -name tenon-runtime.pc)
case "$(pkg-config --cflags "$pkg")" in *"$root"*/include*) ;; *) fail "pkg-config says $(pkg-config --cflags "$pkg")" ;; esac

packages --purge "${wanted[@]}" || fail "not removed:"
left=$(find "$root" -path "$root/var" -prune -o \( -type f -o -type l \) -print)
[ -z "$left" ] || fail "left behind: $left"
