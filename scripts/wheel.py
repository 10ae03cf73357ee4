#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""wheel.py BUILD OUT [--meson=MESON] [--without-compiler]: the wheels of a build, in OUT: tenon, and tenon-compiler where the build has tenon-compile-static.

pyproject.toml builds the first one from source (`pip install .`). These are for other people's machines: they hold the very
files that the tests ran, from one build; each file is looked at, and the tag says what it was found to need. A wheel that
needs a library beyond libc, or Python's functions beyond the stable API of 3.10, is not made. Same build, same bytes.
"""
import argparse
import base64
import hashlib
import os
import pathlib
import re
import subprocess
import sys
import tempfile
import zipfile

if sys.version_info < (3, 11):
    sys.exit(f"wheel: this is Python {sys.version.split()[0]}; wanted: 3.11 or later, to make wheels (they serve earlier ones)")
import tomllib  # noqa: E402

SOURCE = pathlib.Path(__file__).resolve().parent.parent
LICENCES = ("LICENSE", "THIRD_PARTY_NOTICES.md")
# What every glibc system has: libc, and the unwinder, whose static one asks for a later glibc. Anything else would have to be
# in the wheel.
LIBC = re.compile(r"(libc|libm|libdl|libpthread|librt|libgcc_s|ld-linux-x86-64)\.so(\.\d+)?")
# The newest glibc that a wheel may ask for. RHEL 9 has 2.34, Ubuntu 22.04 has 2.35, Debian 12, which LLVM's packages are of,
# 2.36.
NEWEST_GLIBC = {"tenon": (2, 34), "tenon-compiler": (2, 36)}


class Refused(Exception):
    """A file does not belong into a wheel."""


def needs(path):
    """What an ELF file asks of the machine: ({library}, glibc's version)."""
    text = subprocess.run(["objdump", "-p", str(path)], capture_output=True, text=True, check=True).stdout
    libraries = set(re.findall(r"^\s*NEEDED\s+(\S+)", text, re.M))
    versions = [tuple(map(int, one.split("."))) for one in re.findall(r"\bGLIBC_([\d.]+)\b", text)]
    return libraries, max(versions, default=(2, 17))


def platform_tag(files, newest_allowed):
    """The manylinux tag of ELF files, or Refused."""
    newest, complaints = (2, 17), []
    for name, path in sorted(files.items()):
        with open(path, "rb") as file:
            if file.read(4) != b"\x7fELF":
                continue
        libraries, glibc = needs(path)
        newest = max(newest, glibc)
        for library in sorted(one for one in libraries if not LIBC.fullmatch(one)):
            complaints.append(f"{name} needs {library}; wanted: nothing but libc. fix: build with -Dstatic_libraries=true")
        if glibc > newest_allowed:
            complaints.append(f"{name} needs glibc {'.'.join(map(str, glibc))}; wanted: {'.'.join(map(str, newest_allowed))} at "
                              f"most. fix: build on an older distribution (Debian 12)")
    if complaints:
        raise Refused("\n".join(complaints))
    return f"manylinux_{newest[0]}_{newest[1]}_x86_64"


def metadata(project, version, readme):
    lines = ["Metadata-Version: 2.1", f"Name: {project['name']}", f"Version: {version}", f"Summary: {project['description']}",
             "License: Apache-2.0 WITH LLVM-exception", f"Requires-Python: {project['requires-python'].replace(' ', '')}",
             *(f"License-File: {name}" for name in LICENCES),
             *(f"Requires-Dist: {one}" for one in project.get("dependencies", []))]
    for extra, wanted in sorted(project.get("optional-dependencies", {}).items()):
        lines.append(f"Provides-Extra: {extra}")
        # The package and its compiler are of one build.
        lines += [f"Requires-Dist: {one + f' =={version}' if one == 'tenon-compiler' else one}; extra == '{extra}'" for one in wanted]
    return "\n".join([*lines, "Description-Content-Type: text/markdown", "", readme])


def entry_points(project):
    groups = {"console_scripts": project.get("scripts", {}), **project.get("entry-points", {})}
    return "\n".join(f"[{group}]\n" + "".join(f"{name} = {target}\n" for name, target in sorted(given.items()))
                     for group, given in sorted(groups.items()) if given)


def write_wheel(out, project_file, version, python_tag, files):
    """A wheel of files, {name in site-packages: path}."""
    project = tomllib.loads(project_file.read_text())["project"]
    name = project["name"].replace("-", "_")
    tag = f"{python_tag}-{platform_tag(files, NEWEST_GLIBC[project['name']])}"
    folder = f"{name}-{version}.dist-info"
    contents = {name: (path.read_bytes(), os.access(path, os.X_OK)) for name, path in files.items()}
    texts = {
        "METADATA": metadata(project, version, (project_file.parent / project["readme"]).read_text()),
        "WHEEL": f"Wheel-Version: 1.0\nGenerator: tenon {version}\nRoot-Is-Purelib: false\nTag: {tag}\n",
        "entry_points.txt": entry_points(project),
        **{f"licenses/{one}": (SOURCE / one).read_text() for one in LICENCES},
    }
    contents.update({f"{folder}/{name}": (text.encode(), False) for name, text in texts.items()})
    record = []
    for path, (data, _) in sorted(contents.items()):
        digest = base64.urlsafe_b64encode(hashlib.sha256(data).digest()).rstrip(b"=").decode()
        record.append(f"{path},sha256={digest},{len(data)}\n")
    contents[f"{folder}/RECORD"] = ("".join(record) + f"{folder}/RECORD,,\n", False)
    wheel = out / f"{name}-{version}-{tag}.whl"
    with zipfile.ZipFile(wheel, "w", zipfile.ZIP_DEFLATED, compresslevel=9) as file:
        for path, (data, is_program) in sorted(contents.items(), key=lambda one: (one[0].startswith(folder), one[0])):
            entry = zipfile.ZipInfo(path, (1980, 1, 1, 0, 0, 0))
            entry.compress_type = zipfile.ZIP_DEFLATED
            entry.external_attr = (0o100755 if is_program else 0o100644) << 16
            file.writestr(entry, data)
    unpacked = sum(len(data) for data, _ in contents.values())
    print(f"{wheel}: {wheel.stat().st_size / 1e6:.1f} MB, {unpacked / 1e6:.1f} MB unpacked")
    return wheel


def stable_names(path):
    """Refused where the extension calls what is not of Python's stable API: it was then compiled without it."""
    text = subprocess.run(["objdump", "-T", str(path)], capture_output=True, text=True, check=True).stdout
    private = sorted(set(re.findall(r"\*UND\*.*\s(_Py\w+)$", text, re.M)) - {"_Py_NoneStruct", "_Py_TrueStruct", "_Py_FalseStruct",
                                                                          "_Py_NotImplementedStruct", "_Py_Dealloc"})
    if private:
        raise Refused(f"{path.name} needs {', '.join(private)}; wanted: the stable API of Python 3.10 alone")


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("build", type=pathlib.Path)
    parser.add_argument("out", type=pathlib.Path)
    parser.add_argument("--meson", default="meson")
    parser.add_argument("--without-compiler", action="store_true")
    options = parser.parse_args()
    options.out.mkdir(parents=True, exist_ok=True)
    version = re.search(r"version: '([^']+)'", (SOURCE / "meson.build").read_text()).group(1)
    with tempfile.TemporaryDirectory(prefix="tenon-wheel-") as image:
        subprocess.run([options.meson, "install", "-C", options.build, "--no-rebuild", "--quiet", "--tags", "python-runtime",
                        "--destdir", image], check=True)
        package = next(pathlib.Path(image).rglob("tenon/__init__.py"), None)
        if package is None:
            raise Refused(f"{options.build} has no Python package. fix: meson configure -Dpython=enabled, and build")
        site = package.parent.parent
        files = {str(path.relative_to(site)): path for path in site.rglob("*")
                 if path.is_file() and "__pycache__" not in path.parts}
        stable_names(site / "tenon/_core/native.abi3.so")
        write_wheel(options.out, SOURCE / "pyproject.toml", version, "cp310-abi3", files)
    compiler = options.build / "compiler/tools/tenon-compile-static"
    if compiler.exists() and not options.without_compiler:
        source = SOURCE / "python/compiler"
        write_wheel(options.out, source / "pyproject.toml", version, "py3-none", {
            "tenon_compiler/__init__.py": source / "tenon_compiler/__init__.py", "tenon_compiler/tenon-compile": compiler})


if __name__ == "__main__":
    try:
        main()
    except Refused as refused:
        sys.exit(f"wheel: {refused}")
