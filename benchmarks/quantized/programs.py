#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Layers of networks that were quantised for other hardware, as programs: f32 between dequantising and the result.

  programs.py --build=build --name=after FOLDER

writes FOLDER/CASE.NAME.tenon, compiled for sm_90a, and FOLDER/cases.json. measure.py times them where the GPU is."""
import argparse
import json
import pathlib
import subprocess
import sys
import tempfile

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path[:0] = [str(ROOT / "tests" / "numeric"), str(ROOT / "scripts")]
from cases.products import dequantized  # noqa: E402

# name: form, zero point of x, sizes
CASES = {
    "conv 3x3 NHWC 32x56x56x64": ("image", 128, dict(b=32, h=56, w=56, c=64, f=64)),
    "conv 3x3 NCHW 32x64x56x56": ("image, channels first", 128, dict(b=32, h=56, w=56, c=64, f=64)),
    "conv 3x3 NCHW 32x256x14x14": ("image, channels first", 128, dict(b=32, h=14, w=14, c=256, f=256)),
    "matmul 4096x4096x4096, weights transposed": ("transposed weights", 128, dict(m=4096, n=4096, k=4096)),
    "matmul 512x4096x1024": ("matrix", 128, dict(m=512, n=4096, k=1024)),
    "each channel 3x3 NHWC 32x112x112x64": ("image, each channel", 128, dict(b=32, h=112, w=112, c=64)),
    "each channel 3x3 NHWC 32x112x112x64, zero point 113": ("image, each channel", 113, dict(b=32, h=112, w=112, c=64)),
    "conv 3x3 NHWC 32x56x56x64, zero point 113": ("image", 113, dict(b=32, h=56, w=56, c=64, f=64)),
    "conv 3x3 NCHW 32x64x56x56, zero point 113": ("image, channels first", 113, dict(b=32, h=56, w=56, c=64, f=64)),
    "matmul 4096x4096x4096, weights transposed, zero point 113": ("transposed weights", 113, dict(m=4096, n=4096, k=4096)),
    "matmul 512x4096x1024, zero point 113": ("matrix", 113, dict(m=512, n=4096, k=1024)),
}


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folder", type=pathlib.Path)
    parser.add_argument("--build", type=pathlib.Path, required=True)
    parser.add_argument("--name", required=True, help="of the build")
    options = parser.parse_args()
    options.folder.mkdir(parents=True, exist_ok=True)
    shapes = {}
    for number, (name, (form, zero, sizes)) in enumerate(CASES.items()):
        program = dequantized.Dequantized(form, ("u8", "i8"), (zero, 0), "channel", "bias", False, sizes)
        x, w, _ = dequantized.FORMS[form]
        shapes[name] = [[program.sizes[c] for c in spec] for spec in (x, w)] + [[program.scale_count], [program.bias_count]]
        with tempfile.NamedTemporaryFile("w", suffix=".mlir") as source:
            source.write(program.text())
            source.flush()
            subprocess.run([options.build / "compiler/tools/tenon-compile", source.name, "--target=sm_90a", "--images=ptx", "--cu-cache=none",
                            "-o", options.folder / f"{number}.{options.name}.tenon"], check=True)
    (options.folder / "cases.json").write_text(json.dumps(shapes))


if __name__ == "__main__":
    main()
