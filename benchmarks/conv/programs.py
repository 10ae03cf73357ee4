# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The programs of shapes.py as MLIR: a border by tensor.pad, zeros between elements by tensor.insert_slice, sums of products."""


def tensor(shape, kind):
    return f"tensor<{'x'.join(map(str, shape))}x{kind}>"


def affine(results, loops):
    return f"affine_map<({', '.join(loops)}) -> ({', '.join(results)})>"


def parallel(count):
    return ", ".join(['"parallel"'] * count)


def fill(name, shape, kind):
    return f"""  %{name}0 = tensor.empty() : {tensor(shape, kind)}
  %{name} = linalg.fill ins(%zero_{kind} : {kind}) outs(%{name}0 : {tensor(shape, kind)}) -> {tensor(shape, kind)}
"""


def places(case):
    """Letters of an image's dimensions."""
    return "nhwc" if case.layout == "nhwc" else "nchw"


def widened(case, padding):
    """The tensor %i with zeros around its places: its name, its shape, and the lines that make it."""
    element, shape, letters = case.element(), case.shapes()[0], places(case)
    if not padding:
        return "%i", shape, ""
    whole = tuple(size + 2 * padding * (letter in "hw") for letter, size in zip(letters, shape))
    low = ", ".join(str(padding * (letter in "hw")) for letter in letters)
    return "%wide", whole, f"""  %wide = tensor.pad %i low[{low}] high[{low}] {{
  ^bb0(%0: index, %1: index, %2: index, %3: index):
    tensor.yield %zero_{element} : {element}
  }} : {tensor(shape, element)} to {tensor(whole, element)}
"""


def head(case, out):
    element = case.element()
    names = ", ".join(f"%{name}: {tensor(shape, element)}" for name, shape in zip("iwc", case.shapes()))
    zeros = "".join(f"  %zero_{kind} = arith.constant 0.0 : {kind}\n" for kind in sorted({element, "f32"}))
    return f"func.func @run({names}) -> {tensor(out, element)} {{\n" + zeros


def sum_of_products(case, loops, reduced, indices, operands, shapes, out):
    """%p: the sum in f32 of products of the operands."""
    element = case.element()
    maps = ", ".join(affine(each, loops) for each in indices)
    kinds = ", ".join('"reduction"' if loop in reduced else '"parallel"' for loop in loops)
    types = ", ".join(tensor(shape, element) for shape in shapes)
    wide = element == "f32"
    extend = "" if wide else f"%x = arith.extf %a : {element} to f32\n    %y = arith.extf %b : {element} to f32\n    "
    names = ("%a", "%b") if wide else ("%x", "%y")
    sums = tensor(out, "f32")
    return fill("f", out, "f32") + f"""  %p = linalg.generic {{indexing_maps = [{maps}], iterator_types = [{kinds}]}} ins({', '.join(operands)} : {types}) outs(%f : {sums}) {{
  ^bb0(%a: {element}, %b: {element}, %s: f32):
    {extend}%m = arith.mulf {names[0]}, {names[1]} : f32
    %t = arith.addf %s, %m : f32
    linalg.yield %t : f32
  }} -> {sums}
"""


def tail(case, out):
    """What is computed from %p, in the type of the operands, is the result."""
    element, over = case.element(), places(case)
    if element == "f32" and not case.fused:
        return f"  return %p : {tensor(out, 'f32')}\n}}\n"
    inputs, types, given, body, last = ["%p"], [tensor(out, "f32")], "%v: f32", "", "%v"
    maps = [affine(over, over)] * 2
    if case.fused:
        inputs, types, given = ["%p", "%c"], types + [tensor(case.shapes()[2], element)], given + f", %u: {element}"
        maps.insert(1, affine("c", over))
        body = (f"    %d = arith.extf %u : {element} to f32\n" if element != "f32" else "    %d = arith.addf %u, %zero_f32 : f32\n") + \
            "    %g = arith.addf %v, %d : f32\n    %h = arith.maximumf %g, %zero_f32 : f32\n"
        last = "%h"
    if element != "f32":
        body += f"    %o = arith.truncf {last} : f32 to {element}\n"
        last = "%o"
    result = tensor(out, element)
    return f"""  %q = tensor.empty() : {result}
  %r = linalg.generic {{indexing_maps = [{', '.join(maps)}], iterator_types = [{parallel(4)}]}} ins({', '.join(inputs)} : {', '.join(types)}) outs(%q : {result}) {{
  ^bb0({given}, %z: {element}):
{body}    linalg.yield {last} : {element}
  }} -> {result}
  return %r : {result}
}}
"""


def windows(case):
    """How the image's places are met, by letter."""
    step = f" * {case.stride}" if case.stride > 1 else ""
    return {"n": "n", "c": "c", "h": f"h{step} + r", "w": f"w{step} + s"}


def forward_program(case):
    letters, read = places(case), windows(case)
    if not case.filters:
        loops, reduced, order = "nhwcrs", "rs", "rsc"
    elif case.layout == "nhwc":
        loops, reduced, order = "nhwkrsc", "rsc", "krsc"
    else:
        loops, reduced, order = "nkhwcrs", "crs", "kcrs"
    out, written = case.image(case.result_size(), case.results()), letters.replace("c", "k") if case.filters else letters
    source, wide, pad = widened(case, case.padding())
    return head(case, out) + pad + sum_of_products(case, loops, reduced, [[read[letter] for letter in letters], order, written], [source, "%w"],
                                                   [wide, case.weights()], out) + tail(case, out)


def data_program(case):
    """The gradient of the image: %i is that of the result."""
    element, window, letters = case.element(), case.window, places(case)
    result, weights, out = case.shapes()[0], case.weights(), case.image(case.size, case.channels)
    loops, order = ("nhwcrsk", "krsc") if case.layout == "nhwc" else ("nchwkrs", "kcrs")
    text, before = head(case, out), window - 1 - case.padding()
    filters = "%w"
    if window > 1:
        filters, back = "%turned", [f"{window - 1} - {loop}" if loop in "rs" else loop for loop in order]
        text += f"""  %u = tensor.empty() : {tensor(weights, element)}
  %turned = linalg.generic {{indexing_maps = [{affine(back, order)}, {affine(order, order)}], iterator_types = [{parallel(4)}]}} ins(%w : {tensor(weights, element)}) outs(%u : {tensor(weights, element)}) {{
  ^bb0(%a: {element}, %b: {element}):
    linalg.yield %a : {element}
  }} -> {tensor(weights, element)}
"""
    if case.stride > 1:
        wide = tuple(case.size + window - 1 if letter in "hw" else size for letter, size in zip(letters, result))
        at = ", ".join(str(before * (letter in "hw")) for letter in letters)
        steps = ", ".join(str(case.stride if letter in "hw" else 1) for letter in letters)
        text += fill("zeros", wide, element)
        text += (f"  %wide = tensor.insert_slice %i into %zeros[{at}] [{', '.join(map(str, result))}] [{steps}] : {tensor(result, element)} "
                 f"into {tensor(wide, element)}\n")
        source = "%wide"
    else:
        source, wide, pad = widened(case, before)
        text += pad
    read = {"n": "n", "h": "h + r", "w": "w + s", "c": "k"}
    return text + sum_of_products(case, loops, "krs", [[read[letter] for letter in letters], order, letters], [source, filters],
                                  [wide, weights], out) + tail(case, out)


def filter_program(case):
    """The gradient of the filters: %i is the image, %w the gradient of the result."""
    letters, read = places(case), windows(case)
    loops, order = ("krscnhw", "krsc") if case.layout == "nhwc" else ("kcrsnhw", "kcrs")
    source, wide, pad = widened(case, case.padding())
    return head(case, case.weights()) + pad + sum_of_products(
        case, loops, "nhw", [[read[letter] for letter in letters], letters.replace("c", "k"), order], [source, "%w"],
        [wide, case.shapes()[1]], case.weights()) + tail(case, case.weights())


def program(case):
    return {"": forward_program, "data": data_program, "filter": filter_program}[case.gradient](case)
