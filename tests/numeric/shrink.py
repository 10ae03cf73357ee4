# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Makes a program that fails small, as long as it fails in the same way.

Tried in turn until nothing helps: one output only; a node replaced by an argument that holds its values (so that what computed
them goes); a step of a body replaced by one of its operands; known sizes for unknown ones; aligned arguments for others.
"""
import copy

import elements
from nodes.node import Argument, Elementwise
from nodes.program import Program

MOST_TRIES = 300


def with_node(program, i, node):
    nodes = list(program.nodes)
    nodes[i] = node
    return Program(nodes, program.outputs).pruned()


def cut(program, i):
    """Node i's results as arguments."""
    values = program.values()[i]
    made, nodes = {}, []
    for result, value in enumerate(values):
        made[result] = len(nodes)
        nodes.append(Argument(value.kind, elements.rounded(value.kind, value.v), [False] * len(value.shape)))
    moved = len(nodes)

    def of(operand):
        return (made[operand[1]], 0) if operand[0] == i else (operand[0] + moved, operand[1])

    for node in program.nodes:
        node = copy.copy(node)
        node.operands = tuple(of(operand) for operand in node.operands)
        nodes.append(node)
    return Program(nodes, [of(output) for output in program.outputs]).pruned()


def candidates(program):
    if len(program.outputs) > 1:
        for output in program.outputs:
            yield Program(program.nodes, [output]).pruned()
    for i in reversed(range(len(program.nodes))):
        if program.nodes[i].operands and i not in [n for n, _ in program.outputs]:
            yield cut(program, i)
    for n, _ in program.outputs:  # the operands of an output as outputs
        inner = [o for o in program.nodes[n].operands if program.nodes[o[0]].operands]
        if inner:
            yield Program(program.nodes, inner[:1]).pruned()
    for i, node in enumerate(program.nodes):
        if isinstance(node, Argument) and any(node.dynamic):
            known = copy.copy(node)
            known.dynamic = [False] * len(node.dynamic)
            yield with_node(program, i, known)
        if isinstance(node, Argument) and node.behind:
            aligned = copy.copy(node)
            aligned.behind = 0
            yield with_node(program, i, aligned)
        if isinstance(node, Elementwise):
            if len(node.outputs) > 1:
                used = {r for other in program.nodes for n, r in other.operands if n == i} | {r for n, r in program.outputs if n == i}
                if used == {0}:
                    smaller = copy.copy(node)
                    smaller.outputs = node.outputs[:1]
                    yield with_node(program, i, smaller)
            inputs = len(node.operands)
            used = {o for step in node.steps for o in step.operands} | set(node.outputs)
            for o in range(inputs):
                if o not in used and o != 0 and node.style == "":
                    yield with_node(program, i, without_operand(node, o))
            kinds = [program.values()[n][r].kind for n, r in node.operands] + [step.kind for step in node.steps]
            for s, step in enumerate(node.steps):
                for operand in step.operands:
                    if kinds[operand] == step.kind:
                        yield with_node(program, i, without(node, inputs, s, operand))
                        break
            last = max([o for o in node.outputs])
            if last < inputs + len(node.steps) - 1:
                smaller = copy.copy(node)
                smaller.steps = node.steps[:max(last - inputs + 1, 0)]
                yield with_node(program, i, smaller)


def without(node, inputs, s, operand):
    """Step s of a body replaced by one of its operands."""
    def of(value):
        return operand if value == inputs + s else value - (value > inputs + s)

    smaller = copy.copy(node)
    smaller.steps = []
    smaller.style = node.style if node.style == "outs" else ""  # one operation is none without its step
    for number, step in enumerate(node.steps):
        if number != s:
            step = copy.copy(step)
            step.operands = tuple(of(value) for value in step.operands)
            smaller.steps.append(step)
    smaller.outputs = [of(value) for value in node.outputs]
    return smaller


def without_operand(node, operand):
    """A body without an input that nothing reads."""
    def of(value):
        return value - (value > operand)

    smaller = copy.copy(node)
    smaller.operands = node.operands[:operand] + node.operands[operand + 1:]
    smaller.indices = node.indices[:operand] + node.indices[operand + 1:]
    smaller.steps = []
    for step in node.steps:
        step = copy.copy(step)
        step.operands = tuple(of(value) for value in step.operands)
        smaller.steps.append(step)
    smaller.outputs = [of(value) for value in node.outputs]
    return smaller


def shrink(program, verdict, detail, ask, same):
    """ask(program) gives (verdict, detail, ...); same(detail): what has to stay of it. The smallest program found, and what it
    does."""
    tries, again, wanted = 0, True, same(detail)
    while again and tries < MOST_TRIES:
        again = False
        for candidate in candidates(program):
            tries += 1
            if tries >= MOST_TRIES:
                break
            try:
                found = ask(candidate)
            except Exception:  # pylint: disable=broad-except
                continue  # a candidate that is no program
            if found[0] == verdict and same(found[1]) == wanted:
                program, detail, again = candidate, found[1], True
                break
    return program, detail
