# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Writes cutlass_NAME_sm_*.ptx and ../cutlass_params.inc: python3 compile.py INCLUDE [NAME...], with CUTLASS's headers
(PyPI's nvidia-cutlass has them, in cutlass_library/source/include) and nvcc; no GPU is needed.

What is committed was made by CUTLASS 4.2.0 and nvcc 13.0. Each NAME.cu is compiled once: its device code is the PTX, its
host code prints what a launch would be handed (describe.h). Bytes that differ from run to run are padding and become
zero. Minutes for each.
"""
import pathlib
import re
import subprocess
import sys
import tempfile

HERE = pathlib.Path(__file__).resolve().parent
ROWS = HERE.parent / "cutlass_params.inc"
LICENCE = "// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception"

HEAD = LICENCE + "\n// What CUTLASS's host side hands to each launch; written by cutlass/compile.py.\n// clang-format off\n"


def trim(ptx):
    """Without debug information and comments, which are most of the text."""
    lines = [line.split("//")[0].rstrip() for line in re.split(r"^\s*\.section", ptx, flags=re.MULTILINE)[0].splitlines()]
    return "\n".join(line for line in lines if line and not re.match(r"\s*\.(loc|file)\b|\$L__(tmp|func)\w+:", line)) + "\n"


def row_of(program):
    runs = [subprocess.run([program], capture_output=True, check=True, text=True).stdout for _ in range(4)]
    texts = [re.search(r' "([0-9a-f]+)"', run).group(1) for run in runs]
    pairs = [[text[i:i + 2] for text in texts] for i in range(0, len(texts[0]), 2)]
    stable = "".join(pair[0] if len(set(pair)) == 1 else "00" for pair in pairs)
    return runs[0].replace(texts[0], stable)


def compile_one(source, include):
    target = "90a" if source.stem.startswith("hopper") else "80"
    with tempfile.TemporaryDirectory() as folder:
        program = pathlib.Path(folder) / "program"
        subprocess.run(["nvcc", "-w", "-std=c++17", f"-I{include}", "--expt-relaxed-constexpr", "-DCUTLASS_ENABLE_DIRECT_CUDA_DRIVER_CALL=1",
                        "-gencode", f"arch=compute_{target},code=compute_{target}", "--keep", "--keep-dir", folder, str(source), "-o", str(program)], check=True)
        ptx = next(pathlib.Path(folder).glob(f"{source.stem}*.ptx")).read_text()
        return target, ptx, row_of(str(program))


def main(include, *wanted):
    rows = dict(re.findall(r'^(?=\{"(\w+)")(.*\n.*\n)', ROWS.read_text(), re.MULTILINE)) if ROWS.exists() else {}
    for source in sorted(HERE.glob("*.cu")):
        if wanted and source.stem not in wanted:
            continue
        target, ptx, rows[source.stem] = compile_one(source, include)
        (HERE / f"cutlass_{source.stem}_sm_{target}.ptx").write_text(LICENCE + " AND BSD-3-Clause\n" + trim(ptx))
        print(source.stem)
    ROWS.write_text(HEAD + "".join(rows[name] for name in sorted(rows)))


if __name__ == "__main__":
    main(*sys.argv[1:])
