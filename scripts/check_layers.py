#!/usr/bin/env python3
"""Checks that every #include follows the order of the floors: abi <- ptx <- linker <- compiler, abi <- runtime,
abi <- ptx <- emulator, and that only compiler/ sees LLVM. Prints each breach as file:line and exits 1."""
import pathlib
import re
import sys

MAY_INCLUDE = {
    "abi": {"abi"},
    "ptx": {"abi", "ptx"},
    "linker": {"abi", "ptx", "linker"},
    "compiler": {"abi", "ptx", "linker", "compiler"},
    "runtime": {"abi", "runtime"},
    "emulator": {"abi", "ptx", "emulator"},
}
FLOORS = set(MAY_INCLUDE)
INCLUDE = re.compile(r'^\s*#\s*include\s*[<"]([^>"]+)[>"]')


def main(root):
    breaches = 0
    files = 0
    for floor, allowed in MAY_INCLUDE.items():
        for path in sorted((root / floor).rglob("*")):
            if path.suffix not in {".h", ".cpp", ".inc", ".cu", ".cuh", ".td"}:
                continue
            files += 1
            for number, line in enumerate(path.read_text().splitlines(), 1):
                match = INCLUDE.match(line)
                if not match:
                    continue
                head = match.group(1).split("/")[0]
                relative = path.relative_to(root)
                if head in FLOORS and head not in allowed:
                    print(f"{relative}:{number}: error: {floor}/ includes {head}/; it may include {', '.join(sorted(allowed))}")
                    breaches += 1
                if head in {"llvm", "mlir", "llvm-c", "mlir-c"} and floor != "compiler":
                    print(f"{relative}:{number}: error: {floor}/ includes {head}/; only compiler/ sees LLVM")
                    breaches += 1
    print(f"layers: {files} files, {breaches} breaches")
    return 1 if breaches or not files else 0


if __name__ == "__main__":
    sys.exit(main(pathlib.Path(__file__).resolve().parent.parent))
