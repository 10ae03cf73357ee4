# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Operations that make and move tensors. usage: tensors.py FOLDER [GROUP]"""
import struct
import sys

from arrays import SIZES, Array, draw, main, tensor


def slices(program):
    for n in SIZES:
        x = draw([n + 5, 7])
        for offset, stride, count in [(0, 1, n), (2, 1, n), (1, 2, (n + 4) // 2), (n + 4, 1, 1), (0, 3, 1), (3, 1, 0)]:
            r = Array([count, 3], "f32", lambda i, j: x[offset + i * stride, 2 * j + 1])
            # Offsets that the compiler knows, with sizes that it does not; then none that it knows.
            program.case("slice", {"x": x, "n": count, "m": 3}, r, lambda d: (
                f"%r = tensor.extract_slice %x[{offset}, 1] [{'%n, %m' if d else f'{count}, 3'}] [{stride}, 2]"
                f" : {x.type(d)} to {r.type(d)}"))
            program.case("slice_at", {"x": x, "n": count, "m": 3, "o": offset, "p": 1, "s": stride, "t": 2}, r, lambda d: (
                f"%r = tensor.extract_slice %x[%o, %p] [{'%n, %m' if d else f'{count}, 3'}] [%s, %t]"
                f" : {x.type(d)} to {r.type(d)}"))
            # A slice that is arithmetic's operand, twice.
            q = Array([count, 3], "f32", lambda i, j: 2 * x[offset + i * stride, 2 * j + 1] + x[offset + i * stride, j])
            program.case("slice_used", {"x": x, "n": count, "m": 3}, q, lambda d: (
                f"%a = tensor.extract_slice %x[{offset}, 1] [{'%n, %m' if d else f'{count}, 3'}] [{stride}, 2]"
                f" : {x.type(d)} to {r.type(d)}\n"
                f"%b = tensor.extract_slice %x[{offset}, 0] [{'%n, %m' if d else f'{count}, 3'}] [{stride}, 1]"
                f" : {x.type(d)} to {r.type(d)}\n"
                f"%c = arith.addf %a, %a : {r.type(d)}\n%r = arith.addf %c, %b : {r.type(d)}"))
            column = Array([count], "f32", lambda i: x[offset + i * stride, 4])
            program.case("slice_reduced", {"x": x, "n": count}, column, lambda d: (
                f"%r = tensor.extract_slice %x[{offset}, 4] [{'%n' if d else count}, 1] [{stride}, 1]"
                f" : {x.type(d)} to {column.type(d)}"))
        total = Array([], "f32", lambda: sum(x[i, j] for i in range(2, 2 + n) for j in range(1, 4)))
        program.case("slice_sum", {"x": x, "n": n, "m": 3}, total, lambda d: (
            f"%a = tensor.extract_slice %x[2, 1] [{'%n, %m' if d else f'{n}, 3'}] [1, 1] : {x.type(d)} to "
            f"{tensor(['?', '?'] if d else [n, 3], 'f32')}\n"
            "%z = arith.constant dense<0.0> : tensor<f32>\n"
            f"%r = linalg.reduce {{ arith.addf }} ins(%a : {tensor(['?', '?'] if d else [n, 3], 'f32')}) "
            "outs(%z : tensor<f32>) dimensions = [0, 1]"))


def inserts(program):
    for n in SIZES:
        x = draw([n + 4, 9])
        for offset, stride, count in [(0, 1, n), (4, 1, n), (1, 2, (n + 3) // 2), (n + 3, 1, 1), (2, 1, 0)]:
            y = draw([count, 3])

            def reference(i, j):
                inside = i >= offset and (i - offset) % stride == 0 and (i - offset) // stride < count
                return y[(i - offset) // stride, (j - 1) // 3] if inside and j >= 1 and (j - 1) % 3 == 0 else x[i, j]
            r = Array(x.shape, "f32", reference)
            program.case("insert_slice", {"x": x, "y": y, "n": count, "m": 3}, r, lambda d: (
                f"%r = tensor.insert_slice %y into %x[{offset}, 1] [{'%n, %m' if d else f'{count}, 3'}] [{stride}, 3]"
                f" : {y.type(d)} into {x.type(d)}"), forms=(False, True) if count else (False,))
            program.case("insert_slice_at", {"x": x, "y": y, "n": count, "m": 3, "o": offset, "s": stride}, r, lambda d: (
                f"%r = tensor.insert_slice %y into %x[%o, 1] [{'%n, %m' if d else f'{count}, 3'}] [%s, 3]"
                f" : {y.type(d)} into {x.type(d)}"), forms=(False, True) if count else (False,))
        row = draw([9])
        r = Array(x.shape, "f32", lambda i, j: row[j,] if i == n else x[i, j])
        program.case("insert_row", {"x": x, "y": row, "o": n, "m": 9}, r, lambda d: (
            f"%r = tensor.insert_slice %y into %x[%o, 0] [1, {'%m' if d else 9}] [1, 1] : {row.type(d)} into {x.type(d)}"))
        r = Array(x.shape, "f32", lambda i, j: 42 if (i, j) == (n, 8) else x[i, j])
        program.case("insert", {"x": x, "i": n, "j": 8}, r, lambda d: (
            f"%s = arith.constant 42.0 : f32\n%r = tensor.insert %s into %x[%i, %j] : {x.type(d)}"))


def pads(program):
    for n in SIZES:
        x = draw([n, 3])
        for low, high in [(0, 0), (1, 0), (0, 2), (3, 4)]:
            inside = lambda i, j: low <= i < low + n and 1 <= j < 4
            r = Array([low + n + high, 6], "f32", lambda i, j: x[i - low, j - 1] if inside(i, j) else -1.5)
            program.case("pad", {"x": x, "l": low, "h": high, "p": 1, "q": 2}, r, lambda d: (
                f"%v = arith.constant -1.5 : f32\n"
                f"%r = tensor.pad %x low[{'%l, %p' if d else f'{low}, 1'}] high[{'%h, %q' if d else f'{high}, 2'}] {{\n"
                f"^bb0(%i: index, %j: index):\n tensor.yield %v : f32\n}} : {x.type(d)} to {r.type(d)}"))
            # What is around the tensor depends on where it is.
            r = Array([low + n + high, 6], "f32", lambda i, j: x[i - low, j - 1] if inside(i, j) else 10 * i + j)
            program.case("pad_yield", {"x": x, "l": low, "h": high, "p": 1, "q": 2, "ten": 10}, r, lambda d: (
                f"%r = tensor.pad %x low[{'%l, %p' if d else f'{low}, 1'}] high[{'%h, %q' if d else f'{high}, 2'}] {{\n"
                f"^bb0(%i: index, %j: index):\n %a = arith.muli %i, %ten : index\n %b = arith.addi %a, %j : index\n"
                f" %c = arith.index_cast %b : index to i32\n %e = arith.sitofp %c : i32 to f32\n"
                f" tensor.yield %e : f32\n}} : {x.type(d)} to {r.type(d)}"))


def concats(program):
    for n in SIZES:
        for along in [0, 1]:
            for kind in ["f32", "i8", "f16"]:
                parts = [draw([size, 5] if along == 0 else [5, size], kind) for size in (n, 1, n + 2, 2)]
                parts = parts[:4 if kind == "f32" else 2]
                ends = [sum(part.shape[along] for part in parts[:k]) for k in range(len(parts) + 1)]

                def reference(*index):
                    k = max(k for k in range(len(parts)) if ends[k] <= index[along])
                    place = list(index)
                    place[along] -= ends[k]
                    return parts[k][place]
                r = Array([ends[-1], 5] if along == 0 else [5, ends[-1]], kind, reference)
                program.case("concat", {f"x{k}": part for k, part in enumerate(parts)}, r, lambda d: (
                    f"%r = tensor.concat dim({along}) {', '.join(f'%x{k}' for k in range(len(parts)))} : "
                    f"({', '.join(part.type(d) for part in parts)}) -> {r.type(d)}"))
    parts = [draw([1 + k % 3, 2]) for k in range(40)]
    rows = [(k, i) for k, part in enumerate(parts) for i in range(part.shape[0])]
    r = Array([len(rows), 2], "f32", lambda i, j: parts[rows[i][0]][rows[i][1], j])
    program.case("concat_many", {f"x{k}": part for k, part in enumerate(parts)}, r, lambda d: (
        f"%r = tensor.concat dim(0) {', '.join(f'%x{k}' for k in range(len(parts)))} : "
        f"({', '.join(part.type(d) for part in parts)}) -> {r.type(d)}"))


def gathers(program):
    for n in SIZES:
        x = draw([4, n, 3])
        at = Array([5, 2, 1], "i32", lambda i, j, k: (7 * i + 3 * j) % n)
        r = Array([5, 2, 4, 3], "f32", lambda a, b, i, k: x[i, at[a, b, 0], k])
        program.case("gather", {"x": x, "at": at}, r, lambda d: (
            f"%r = tensor.gather %x[%at] gather_dims([1]) : ({x.type(d)}, {tensor(['?', '?', 1] if d else at.shape, 'i32')})"
            f" -> {r.type(d)}") if not d else (
            f"%c = tensor.cast %at : {at.type(True)} to tensor<?x?x1xi32>\n"
            f"%r = tensor.gather %x[%c] gather_dims([1]) : ({x.type(d)}, tensor<?x?x1xi32>) -> {r.type(d)}"))
        # Two coordinates, whose dimensions the result drops.
        at = Array([n + 1, 2], "i64", lambda i, k: (5 * i) % n if k == 1 else i % 4)
        r = Array([n + 1, 3], "f32", lambda i, j: x[at[i, 0], at[i, 1], j])
        program.case("gather_two", {"x": x, "at": at}, r, lambda d: (
            f"%c = tensor.cast %at : {at.type(d)} to {tensor(['?' if d else n + 1, 2], 'i64')}\n"
            f"%r = tensor.gather %x[%c] gather_dims([0, 1]) : ({x.type(d)}, {tensor(['?' if d else n + 1, 2], 'i64')}) -> "
            f"{r.type(d)}"))
        rows = min(n, 5)
        y = draw([n, 3])
        to = Array([rows, 1], "i32", lambda i, _: (i * 3 + 1) % n if n > 1 else 0)
        if len({to[i, 0] for i in range(rows)}) == rows:
            u = draw([rows, 1, 3])
            place = {to[i, 0]: i for i in range(rows)}
            r = Array([n, 3], "f32", lambda i, j: u[place[i], 0, j] if i in place else y[i, j])
            program.case("scatter", {"y": y, "to": to, "u": u}, r, lambda d: (
                (f"%t = tensor.cast %to : {to.type(d)} to tensor<?x1xi32>\n%v = tensor.cast %u : {u.type(d)} to "
                 f"tensor<?x1x?xf32>\n" if d else "") +
                f"%r = tensor.scatter %{'v' if d else 'u'} into %y[%{'t' if d else 'to'}] scatter_dims([0]) unique : "
                f"({'tensor<?x1x?xf32>' if d else u.type()}, {y.type(d)}, {'tensor<?x1xi32>' if d else to.type()}) -> "
                f"{r.type(d)}"))


def made(program):
    for n in SIZES:
        r = Array([n, 4], "i32", lambda i, j: 3 * i + j)
        program.case("generate", {"n": n, "m": 4}, r, lambda d: (
            f"%r = tensor.generate {'%n, %m' if d else ''} {{\n^bb0(%i: index, %j: index):\n"
            f" %t = arith.constant 3 : index\n %a = arith.muli %i, %t : index\n %b = arith.addi %a, %j : index\n"
            f" %c = arith.index_cast %b : index to i32\n tensor.yield %c : i32\n}} : {r.type(d)}"))
        x = draw([n, 5])
        r = Array([5, n], "f32", lambda i, j: x[n - 1 - j, i])
        program.case("generate_reads", {"x": x, "n": n, "m": 5}, r, lambda d: (
            f"%r = tensor.generate {'%m, %n' if d else ''} {{\n^bb0(%i: index, %j: index):\n"
            f" %o = arith.constant 1 : index\n %a = arith.subi %n, %o : index\n %b = arith.subi %a, %j : index\n"
            f" %c = tensor.extract %x[%b, %i] : {x.type(d)}\n tensor.yield %c : f32\n}} : {r.type(d)}"))
        r = Array([n, 3], "f32", lambda i, j: 2.5)
        program.case("splat", {"n": n, "m": 3}, r, lambda d: (
            f"%c = arith.constant 2.5 : f32\n%r = tensor.splat %c{'[%n, %m]' if d else ''} : {r.type(d)}"))
        r = Array([3, n, 5], "f32", lambda i, j, k: i * n * 5 + j * 5 + k)
        flat = Array([15 * n], "f32", lambda i: i)
        program.case("reshape", {"x": flat, "a": 3, "b": n, "c": 5}, r, lambda d: (
            f"%s = tensor.from_elements %a, %b, %c : tensor<3xindex>\n"
            f"%r = tensor.reshape %x(%s) : ({flat.type(d)}, tensor<3xindex>) -> {r.type(d)}"))
        y = Array([n], "f32", lambda i: 1.0 + i)
        bits = Array([n], "i32", lambda i: struct.unpack("<i", struct.pack("<f", 1.0 + i))[0])
        program.case("bitcast", {"y": y}, bits, lambda d: f"%r = tensor.bitcast %y : {y.type(d)} to {bits.type(d)}")
        program.case("bitcast_used", {"y": y, "n": n}, Array([n], "i32", lambda i: bits[i,] + 1), lambda d: (
            f"%b = tensor.bitcast %y : {y.type(d)} to {bits.type(d)}\n%c = arith.constant 1 : i32\n"
            f"%o = tensor.splat %c{'[%n]' if d else ''} : {bits.type(d)}\n%r = arith.addi %b, %o : {bits.type(d)}"))
    for count in [1, 2, 6, 150]:
        scalars = ", ".join(["%a", "%b", "%c"][k % 3] for k in range(count))
        values = [1.5, -2.0, 7.0]
        head = "\n".join(f"%{name} = arith.constant {value} : f32" for name, value in zip("abc", values))
        r = Array([count], "f32", lambda i: values[i % 3])
        program.case("from_elements", {}, r, lambda d: f"{head}\n%r = tensor.from_elements {scalars} : {r.type()}",
                     forms=(False,))
        if count % 2 == 0:
            r = Array([2, count // 2], "f32", lambda i, j: values[(i * (count // 2) + j) % 3])
            program.case("from_elements2", {}, r, lambda d: f"{head}\n%r = tensor.from_elements {scalars} : {r.type()}",
                         forms=(False,))


def packs(program):
    for n in SIZES:
        x = draw([n, 10])
        outer = -(-n // 4)

        def packed(p, q, a, b):
            i, j = q * 4 + a, p * 8 + b
            return x[i, j] if i < n and j < 10 else -7.0
        r = Array([2, outer, 4, 8], "f32", packed)
        kind = lambda d: tensor(["?", "?", 4, 8], "f32") if d else r.type()
        program.case("pack", {"x": x, "p": 2, "q": outer}, r, lambda d: (
            f"%v = arith.constant -7.0 : f32\n%e = tensor.empty({'%p, %q' if d else ''}) : {kind(d)}\n"
            f"%k = linalg.pack %x padding_value(%v : f32) outer_dims_perm = [1, 0] inner_dims_pos = [0, 1] "
            f"inner_tiles = [4, 8] into %e : {x.type(d)} -> {kind(d)}\n"
            + (f"%r = tensor.cast %k : {kind(d)} to {r.type(d)}" if d else f"%r = tensor.cast %k : {kind(d)} to {kind(d)}")))
        program.case("unpack", {"y": r, "n": n, "m": 10}, x, lambda d: (
            f"%c = tensor.cast %y : {r.type(d)} to {kind(d)}\n"
            f"%e = tensor.empty({'%n, %m' if d else ''}) : {x.type(d)}\n"
            f"%r = linalg.unpack %c outer_dims_perm = [1, 0] inner_dims_pos = [0, 1] inner_tiles = [4, 8] into %e"
            f" : {kind(d)} -> {x.type(d)}"))


main(slices, inserts, pads, concats, gathers, made, packs)
