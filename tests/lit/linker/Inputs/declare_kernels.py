# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Manifests for the kernels of a .cu file, from their signatures: the declaration that their author would write, and
broken twins of it. Usage: declare_kernels.py KERNELS.cu TARGET=PTX... FOLDER

Writes FOLDER/good.json with the kernels whose name does not begin with `cast`, FOLDER/cast.json with those that do, and
one .json per way of breaking the good ones; prints how many findings each must have."""
import json
import re
import sys

ELEMENTS = {"int": "I32", "unsigned": "I32", "float": "F32", "double": "F64", "long long": "I64", "long": "I64"}


def kernels(text):
    """(name, bindings, constants) of every `extern "C" __global__` kernel that a layout can declare."""
    for launch_bounds, name, parameters in re.findall(
            r'extern "C" __global__ void (__launch_bounds__\([^)]*\) )?(\w+)\(([^)]*)\)', text):
        bindings, constants = [], []
        for parameter in parameters.split(","):
            words = parameter.strip()
            if "*" in words:
                if constants:
                    break  # a pointer behind a scalar has no slot
                binding = {"name": words.split("*")[-1].strip(), "read_only": words.startswith("const ")}
                if "float4" in words:
                    binding["alignment"] = 16
                bindings.append(binding)
            else:
                element = ELEMENTS.get(words.rsplit(" ", 1)[0])
                if not element:
                    break
                constants.append({"element": element, "name": words.split()[-1]})
        else:
            yield name, bindings, constants


def waits_for_its_grid(text, name):
    """Whether the body of a kernel calls grid.sync()."""
    body = text[text.index(f"__global__ void {name}("):] if f"__global__ void {name}(" in text else ""
    return "grid.sync()" in body.split("\n}\n")[0]


def manifest(exports, objects, cooperative):
    return {"name": "kernels", "objects": objects, "exports": [
        {"name": name, "launch": {"workgroup_size": [32], "dynamic_shared_bytes": 1024, "cooperative": name in cooperative},
         "layout": {"bindings": bindings, "constants": constants}} for name, bindings, constants in exports]}


def main():
    source, *objects, folder = sys.argv[1:]
    text = open(source).read()
    everything = list(kernels(text))
    cooperative = {name for name, _, _ in everything if waits_for_its_grid(text, name)}
    found = [kernel for kernel in everything if not kernel[0].startswith("cast")]
    objects = [{"target": target, "path": path} for target, path in (o.split("=", 1) for o in objects)]

    def write(name, exports):
        with open(f"{folder}/{name}.json", "w") as file:
            json.dump(manifest(exports, objects, cooperative), file, indent=1)

    written = sum(not b["read_only"] for _, bindings, _ in found for b in bindings)
    write("good", found)
    write("cast", [kernel for kernel in everything if kernel[0].startswith("cast")])
    write("all_read_only", [(n, [b | {"read_only": True} for b in bs], cs) for n, bs, cs in found])
    write("too_few", [(n, bs[:-1], cs) for n, bs, cs in found if bs])
    write("too_wide", [(n, bs, [c | {"element": "I64"} for c in cs]) for n, bs, cs in found if cs])
    print(f"all_read_only {written * len(objects)} K-13")
    print(f"cast {(len(everything) - len(found)) * len(objects)} K-13")
    print(f"too_few {sum(bool(bs) for _, bs, _ in found) * len(objects)} K-11")
    print(f"too_wide {sum(c['element'] != 'I64' for _, _, cs in found for c in cs) * len(objects)} K-4")


main()
