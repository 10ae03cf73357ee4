#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""A transformer as a program: so many layers of RMS norm, attention of 8 heads and a gated perceptron, weights in bf16.

  transformer.py --layers=63 [--tokens=N] [--unlike] > transformer.mlir

  --tokens   512; "?" for a length that the program does not know
  --unlike   no two layers' perceptrons are equally wide, so that none of their products is another one's

tenon-compile --print-statistics then says how long it took, and how many kernels and dispatches it made."""
import argparse

WIDTH, HEADS = 1024, 8
DEPTH = WIDTH // HEADS
MAPS = {"id1": "(i) -> (i)", "row": "(i, j) -> (i)", "id2": "(i, j) -> (i, j)", "column": "(i, j) -> (j)",
        "of_q": "(h, i, j, d) -> (i, h, d)", "of_k": "(h, i, j, d) -> (j, h, d)", "of_s": "(h, i, j, d) -> (h, i, j)",
        "of_w": "(i, h, d, j) -> (h, i, j)", "of_v": "(i, h, d, j) -> (j, h, d)", "of_o": "(i, h, d, j) -> (i, h, d)",
        "id3": "(i, j, k) -> (i, j, k)"}


class Writer:
    def __init__(self, tokens):
        self.tokens, self.lines, self.count, self.arguments = tokens, [], 0, []

    def name(self):
        self.count += 1
        return f"%v{self.count}"

    def type(self, element, *sizes):
        return f"tensor<{'x'.join(map(str, sizes))}x{element}>"

    def argument(self, element, *sizes):
        name = f"%w{len(self.arguments)}"
        self.arguments.append(f"{name}: {self.type(element, *sizes)}")
        return name, element, sizes

    def empty(self, element, *sizes):
        unknown, name = ", ".join("%tokens" for size in sizes if size == "?"), self.name()
        self.lines.append(f"{name} = tensor.empty({unknown}) : {self.type(element, *sizes)}")
        return name

    def filled(self, start, element, *sizes):
        empty, constant, name = self.empty(element, *sizes), self.name(), self.name()
        of = self.type(element, *sizes)
        self.lines.append(f"{constant} = arith.constant {start} : {element}")
        self.lines.append(f"{name} = linalg.fill ins({constant} : {element}) outs({empty} : {of}) -> {of}")
        return name

    def generic(self, inputs, maps, out, out_map, element, sizes, loops, body):
        """body: lines with {0}, {1}, ... for the inputs' elements and {o} for the output's; the last one defines %y."""
        name, of = self.name(), self.type(element, *sizes)
        arguments = [f"%a{i}: {x[1]}" for i, x in enumerate(inputs)] + [f"%o: {element}"]
        kinds = ", ".join({"p": '"parallel"', "r": '"reduction"'}[c] for c in loops)
        maps = ", ".join(f"affine_map<{MAPS[m]}>" for m in (*maps, out_map))
        self.lines.append(f"{name} = linalg.generic {{indexing_maps = [{maps}], iterator_types = [{kinds}]}} "
                          f"ins({', '.join(x[0] for x in inputs)} : {', '.join(self.type(x[1], *x[2]) for x in inputs)}) "
                          f"outs({out} : {of}) {{")
        self.lines += [f"^bb0({', '.join(arguments)}):", *body, f"linalg.yield %y : {element}", f"}} -> {of}"]
        return name, element, tuple(sizes)

    def elementwise(self, inputs, maps, element, sizes, body):
        kept = {2: "id2", 3: "id3"}[len(sizes)]
        return self.generic(inputs, maps, self.empty(element, *sizes), kept, element, sizes, "p" * len(sizes), body)

    def product(self, x, weights):
        sizes = (x[2][0], weights[2][1])
        out, name, of = self.filled("0.0", "f32", *sizes), self.name(), self.type("f32", *sizes)
        self.lines.append(f"{name} = linalg.matmul ins({x[0]}, {weights[0]} : {self.type(*x[1:2], *x[2])}, "
                          f"{self.type('bf16', *weights[2])}) outs({out} : {of}) -> {of}")
        return name, "f32", sizes

    def norm(self, x):
        gain, rows = self.argument("f32", WIDTH), (x[2][0],)
        squares = self.generic([x], ["id2"], self.filled("0.0", "f32", *rows), "row", "f32", rows, "pr",
                               ["%s = arith.mulf %a0, %a0 : f32", "%y = arith.addf %o, %s : f32"])
        return self.elementwise([x, squares, gain], ["id2", "row", "column"], "bf16", x[2],
                                [f"%n = arith.constant {WIDTH}.0 : f32", "%e = arith.constant 1.0e-5 : f32",
                                 "%m = arith.divf %a1, %n : f32", "%p = arith.addf %m, %e : f32", "%r = math.rsqrt %p : f32",
                                 "%t = arith.mulf %a0, %r : f32", "%u = arith.mulf %t, %a2 : f32",
                                 "%y = arith.truncf %u : f32 to bf16"])

    def heads(self, x):
        name, sizes = self.name(), (x[2][0], HEADS, DEPTH)
        self.lines.append(f"{name} = tensor.expand_shape {x[0]} [[0], [1, 2]] output_shape "
                          f"[{'%tokens' if x[2][0] == '?' else x[2][0]}, {HEADS}, {DEPTH}] : {self.type(x[1], *x[2])} into {self.type(x[1], *sizes)}")
        return name, x[1], sizes

    def narrow(self, x):
        return self.elementwise([x], ["id2"], "bf16", x[2], ["%y = arith.truncf %a0 : f32 to bf16"])

    def attention(self, x):
        q, k, v = (self.heads(self.narrow(self.product(x, self.argument("bf16", WIDTH, WIDTH)))) for _ in range(3))
        n = x[2][0]
        multiplied = ["%p = arith.extf %a0 : bf16 to f32", "%q = arith.extf %a1 : bf16 to f32", "%r = arith.mulf %p, %q : f32",
                      "%y = arith.addf %o, %r : f32"]
        scores = self.generic([q, k], ["of_q", "of_k"], self.filled("0.0", "f32", HEADS, n, n), "of_s", "f32",
                              (HEADS, n, n), "pppr", multiplied)
        scaled = self.elementwise([scores], ["id3"], "f32", scores[2],
                                  [f"%c = arith.constant {DEPTH ** -0.5} : f32", "%y = arith.mulf %a0, %c : f32"])
        name, of = self.name(), self.type("f32", *scaled[2])
        self.lines.append(f"{name} = linalg.softmax dimension(2) ins({scaled[0]} : {of}) outs({self.empty('f32', *scaled[2])} : {of}) -> {of}")
        weights = self.elementwise([(name, "f32", scaled[2])], ["id3"], "bf16", scaled[2], ["%y = arith.truncf %a0 : f32 to bf16"])
        out = self.generic([weights, v], ["of_w", "of_v"], self.filled("0.0", "f32", n, HEADS, DEPTH), "of_o", "f32",
                           (n, HEADS, DEPTH), "pppr", multiplied)
        narrow = self.elementwise([out], ["id3"], "bf16", out[2], ["%y = arith.truncf %a0 : f32 to bf16"])
        flat = self.name()
        self.lines.append(f"{flat} = tensor.collapse_shape {narrow[0]} [[0], [1, 2]] : {self.type('bf16', *out[2])} into {self.type('bf16', n, WIDTH)}")
        return self.product((flat, "bf16", (n, WIDTH)), self.argument("bf16", WIDTH, WIDTH))

    def add(self, x, y):
        return self.elementwise([x, y], ["id2", "id2"], "f32", x[2], ["%y = arith.addf %a0, %a1 : f32"])

    def perceptron(self, x, wide):
        gate, up = (self.product(x, self.argument("bf16", WIDTH, wide)) for _ in range(2))
        gated = self.elementwise([gate, up], ["id2", "id2"], "bf16", gate[2],
                                 ["%n = arith.negf %a0 : f32", "%e = math.exp %n : f32", "%c = arith.constant 1.0 : f32",
                                  "%d = arith.addf %e, %c : f32", "%s = arith.divf %a0, %d : f32",
                                  "%t = arith.mulf %s, %a1 : f32", "%y = arith.truncf %t : f32 to bf16"])
        return self.product(gated, self.argument("bf16", wide, WIDTH))

    def text(self, layers, unlike):
        x = first = self.argument("f32", self.tokens, WIDTH)
        for layer in range(layers):
            x = self.add(x, self.attention(self.norm(x)))
            x = self.add(x, self.perceptron(self.norm(x), 4 * WIDTH + (16 * layer if unlike else 0)))
        of = self.type("f32", *x[2])
        dim = [] if self.tokens != "?" else ["%c0 = arith.constant 0 : index", f"%tokens = tensor.dim {first[0]}, %c0 : {of}"]
        return "\n".join([f"func.func @run({', '.join(self.arguments)}) -> {of} {{", *dim, *self.lines, f"return {x[0]} : {of}", "}"])


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--layers", type=int, default=63)
    parser.add_argument("--tokens", default="512")
    parser.add_argument("--unlike", action="store_true")
    options = parser.parse_args()
    print(Writer("?" if options.tokens == "?" else int(options.tokens)).text(options.layers, options.unlike))


if __name__ == "__main__":
    main()
