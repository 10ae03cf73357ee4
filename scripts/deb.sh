#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
# deb.sh BUILD OUT: Debian packages of what a build installs, in OUT. packaging/deb names them: NAME.install says which
# files a package has (manual pages and completions go with their tool), NAME.control the rest. Every installed file
# belongs to one package, or this fails. Same build, same bytes.
set -euo pipefail
build=$(realpath "$1") out=$2
source=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)
meson=${MESON:-meson}
for tool in dpkg-deb dpkg-shlibdeps; do
  command -v $tool >/dev/null || { echo "deb: there is no $tool (package dpkg-dev)" >&2; exit 1; }
done
export SOURCE_DATE_EPOCH=${SOURCE_DATE_EPOCH:-$(git -C "$source" log -1 --format=%ct 2>/dev/null || echo 0)}
option() { "$meson" introspect "$build" --buildoptions | python3 -c 'import json, sys; print({o["name"]: o["value"] for o in json.load(sys.stdin)}[sys.argv[1]])' "$1"; }
version=$("$meson" introspect "$build" --projectinfo | python3 -c 'import json, sys; print(json.load(sys.stdin)["version"])')
architecture=$(dpkg --print-architecture)
prefix=$(option prefix)

work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
umask 022
"$meson" install -C "$build" --no-rebuild --quiet --destdir "$work/image"
# What is installed may be moved: to where a distribution has it.
mkdir -p "$work/all"
mv "$work/image$prefix" "$work/all/usr"
cd "$work/all"
libraries=usr/lib/$(dpkg-architecture -qDEB_HOST_MULTIARCH)
installed_libraries=usr/$(option libdir)
if [ "$installed_libraries" != "$libraries" ]; then
  mkdir -p "$libraries"
  mv "$installed_libraries"/* "$libraries/"
fi
# The extension is for every Python from 3.10 on.
for package in usr/lib/python3*/*-packages/tenon; do
  [ -d "$package" ] || continue
  mkdir -p usr/lib/python3/dist-packages
  find "$package" -name __pycache__ -prune -exec rm -rf {} +
  [ "$package" = usr/lib/python3/dist-packages/tenon ] || mv "$package" usr/lib/python3/dist-packages/tenon
done
mv usr/share/zsh/site-functions usr/share/zsh/vendor-completions
for file in usr/share/bash-completion/completions/*.bash; do mv "$file" "${file%.bash}"; done
find usr/share/man -type f -exec gzip -9n {} +
# The compiler with LLVM in it, where it was built: it needs no package that other distributions do not have.
static_compiler=$build/compiler/tools/tenon-compile-static
[ ! -e "$static_compiler" ] || install -m 755 "$static_compiler" usr/bin/tenon-compile
find usr/bin usr/lib -type f -exec sh -c 'head -c 4 "$1" | grep -q ELF && strip --strip-unneeded "$1"' _ {} \;

mkdir -p "$out"
for list in "$source"/packaging/deb/*.install; do
  name=$(basename "$list" .install)
  package=$work/$name
  mkdir -p "$package/DEBIAN" "$package/usr/share/doc/$name"
  while read -r pattern; do
    for path in $pattern; do
      # Of a build without the compiler nothing is there.
      [ -e "$path" ] || [ -L "$path" ] || continue
      take=("$path")
      case $path in
        usr/bin/*)
          tool=${path##*/}
          take+=("usr/share/man/man1/$tool.1.gz" "usr/share/bash-completion/completions/$tool"
            "usr/share/zsh/vendor-completions/_$tool" "usr/share/fish/vendor_completions.d/$tool.fish") ;;
      esac
      for file in "${take[@]}"; do
        target=$file
        case $file in usr/share/doc/tenon/*) target=usr/share/doc/$name/${file##*/} ;; esac
        mkdir -p "$package/$(dirname "$target")"
        mv "$file" "$package/$target"
      done
    done
  done <"$list"
  if [ -z "$(find "$package/usr" -path "$package/usr/share/doc" -prune -o \( -type f -o -type l \) -print -quit)" ]; then
    echo "deb: no $name: this build has nothing of it"
    continue
  fi
  cat >"$package/usr/share/doc/$name/copyright" <<EOF
Format: https://www.debian.org/doc/packaging-manuals/copyright-format/1.0/
Upstream-Name: Tenon

Files: *
Copyright: The Tenon authors
License: Apache-2.0-WITH-LLVM-exception

License: Apache-2.0-WITH-LLVM-exception
$(sed 's/^$/./; s/^/ /' "$source/LICENSE")
EOF
  # What the programs are linked with, as packages.
  mapfile -t programs < <(find "$package/usr" -type f -exec sh -c 'head -c 4 "$1" | grep -q ELF && echo "$1"' _ {} \;)
  depends=
  if [ ${#programs[@]} -gt 0 ]; then
    mkdir -p "$work/shlibs/debian"
    printf 'Source: tenon\n\nPackage: %s\nArchitecture: any\n' "$name" >"$work/shlibs/debian/control"
    depends=$(cd "$work/shlibs" && dpkg-shlibdeps -O --ignore-missing-info "${programs[@]}" 2>"$work/shlibdeps.log" |
      sed -n 's/^shlibs:Depends=//p') || { cat "$work/shlibdeps.log" >&2; exit 1; }
  fi
  # A library that is found through another package's link is the package's that has the file.
  for program in "${programs[@]}"; do
    needed=$(objdump -p "$program" | sed -n 's/^ *NEEDED *//p')
    for owner in $(ldd "$program" | grep -F "$needed" | sed -n 's/.*=> \(\/[^ ]*\) .*/\1/p' | xargs -r realpath |
      xargs -r dpkg -S 2>/dev/null | sed 's/:.*//' | sort -u); do
      case ", $depends" in *", $owner"*) ;; *) depends+=${depends:+, }$owner ;; esac
    done
  done
  depends=$(sed 's/, /\n/g' <<<"$depends" | sed '/^$/d' | sort | paste -sd, | sed 's/,/, /g') # its order is chance
  own=$(sed -n 's/^Depends: //p' "$source/packaging/deb/$name.control")
  {
    printf 'Package: %s\nSource: tenon\nVersion: %s\nArchitecture: %s\nPriority: optional\n' "$name" "$version" "$architecture"
    printf 'Maintainer: The Tenon authors <tenon@localhost>\nInstalled-Size: %s\n' "$(du -sk --apparent-size "$package/usr" | cut -f1)"
    all=${depends:+$depends${own:+, }}$own
    [ -z "$all" ] || printf 'Depends: %s\n' "$all"
    grep -v '^Depends: ' "$source/packaging/deb/$name.control"
  } | sed "s/@VERSION@/$version/g" >"$package/DEBIAN/control"
  # Python writes what it compiled beside the package; dpkg does not know of it.
  if [ "$name" = python3-tenon ]; then
    printf '#!/bin/sh\nset -e\nfind "${DPKG_ROOT:-}/usr/lib/python3/dist-packages/tenon" -name __pycache__ -prune -exec rm -rf {} +\n' >"$package/DEBIAN/prerm"
    chmod 755 "$package/DEBIAN/prerm"
  fi
  [ "$name" != libtenon-runtime0 ] || echo 'activate-noawait ldconfig' >"$package/DEBIAN/triggers"
  (cd "$package" && find usr -type f -print0 | sort -z | xargs -0 md5sum >DEBIAN/md5sums)
  find "$package" -exec touch -h -d "@$SOURCE_DATE_EPOCH" {} +
  dpkg-deb "-Z${TENON_DEB_COMPRESSION:-xz}" --root-owner-group --build "$package" "$out/${name}_${version}_$architecture.deb" >/dev/null
  echo "$out/${name}_${version}_$architecture.deb"
done
left=$(find "$work/all" -type f -o -type l)
[ -z "$left" ] || { echo "deb: files that belong to no package (packaging/deb/*.install):" >&2; echo "$left" >&2; exit 1; }
