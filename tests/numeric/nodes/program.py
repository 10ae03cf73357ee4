# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""A program: nodes whose operands come before them, and which of their results it gives."""
from mlir_text import Function
from nodes.node import Argument


class Program:
    """nodes, in an order where operands come first; outputs: (node, result)."""

    def __init__(self, nodes, outputs):
        self.nodes, self.outputs = nodes, outputs

    def text(self, name="run"):
        f, made = Function(name), []
        # Arguments first, whatever stands between them.
        for node in self.nodes:
            made.append(node.write(f, []) if isinstance(node, Argument) else None)
        for i, node in enumerate(self.nodes):
            if made[i] is None:
                made[i] = node.write(f, [made[n][r] for n, r in node.operands])
        f.give(*[made[n][r] for n, r in self.outputs])
        return str(f)

    def values(self):
        made = []
        for node in self.nodes:
            made.append(node.evaluate([made[n][r] for n, r in node.operands]))
        return made

    def expected(self):
        made = self.values()
        return [made[n][r] for n, r in self.outputs]

    def inputs(self):
        return [(node.kind, node.data) for node in self.nodes if isinstance(node, Argument)]

    def pruned(self):
        """Without what no output needs."""
        needed = set(n for n, _ in self.outputs)
        for i in reversed(range(len(self.nodes))):
            if i in needed:
                needed.update(n for n, _ in self.nodes[i].operands)
        place = {old: new for new, old in enumerate(sorted(needed))}
        nodes = []
        for old in sorted(needed):
            node = self.nodes[old]
            if node.operands:
                copy = object.__new__(type(node))
                copy.__dict__.update(node.__dict__, operands=tuple((place[n], r) for n, r in node.operands))
                node = copy
            nodes.append(node)
        return Program(nodes, [(place[n], r) for n, r in self.outputs])
