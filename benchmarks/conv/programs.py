# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The programs of shapes.py as MLIR: a border by tensor.pad, zeros between elements by tensor.insert_slice, sums of products."""
import dataclasses

from shapes import ZERO_POINT


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


def widened(case, padding, around=""):
    """The tensor %i with zeros, or a value, around its places: its name, its shape, and the lines that make it."""
    element, shape, letters = case.element(), case.shapes()[0], places(case)
    if not padding:
        return "%i", shape, ""
    whole = tuple(size + 2 * padding * (letter in "hw") for letter, size in zip(letters, shape))
    low = ", ".join(str(padding * (letter in "hw")) for letter in letters)
    return "%wide", whole, f"""  %wide = tensor.pad %i low[{low}] high[{low}] {{
  ^bb0(%0: index, %1: index, %2: index, %3: index):
    tensor.yield {around or f"%zero_{element}"} : {element}
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
    start = fill("f", out, "f32")
    if case.behind == "start":  # of the channels last
        start = f"""  %f0 = tensor.empty() : {sums}
  %f = linalg.generic {{indexing_maps = [{affine("d", "abcd")}, {affine("abcd", "abcd")}], iterator_types = [{parallel(4)}]}} ins(%c : {tensor(case.shapes()[2], element)}) outs(%f0 : {sums}) {{
  ^bb0(%u: {element}, %z: f32):
    %v = arith.extf %u : {element} to f32
    linalg.yield %v : f32
  }} -> {sums}
"""
    return start + f"""  %p = linalg.generic {{indexing_maps = [{maps}], iterator_types = [{kinds}]}} ins({', '.join(operands)} : {types}) outs(%f : {sums}) {{
  ^bb0(%a: {element}, %b: {element}, %s: f32):
    {extend}%m = arith.mulf {names[0]}, {names[1]} : f32
    %t = arith.addf %s, %m : f32
    linalg.yield %t : f32
  }} -> {sums}
"""


def tail(case, out):
    """What is computed from %p, in the type of the operands, is the result."""
    element, over = case.element(), places(case)
    is_added = case.fused or case.behind == "relu6"
    if element == "f32" and not is_added:
        return f"  return %p : {tensor(out, 'f32')}\n}}\n"
    inputs, types, given, body, last = ["%p"], [tensor(out, "f32")], "%v: f32", "", "%v"
    maps = [affine(over, over)] * 2
    if is_added:
        inputs, types, given = ["%p", "%c"], types + [tensor(case.shapes()[2], element)], given + f", %u: {element}"
        maps.insert(1, affine("c", over))
        body = (f"    %d = arith.extf %u : {element} to f32\n" if element != "f32" else "    %d = arith.addf %u, %zero_f32 : f32\n") + \
            "    %g = arith.addf %v, %d : f32\n    %h = arith.maximumf %g, %zero_f32 : f32\n"
        last = "%h"
        if case.behind == "relu6":
            body += "    %six = arith.constant 6.0 : f32\n    %j = arith.minimumf %h, %six : f32\n"
            last = "%j"
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


def quantised_program(case):
    image, filters, bias, scale = case.shapes()
    out, element = case.image(case.result_size(), case.results()), "i8"
    types = [tensor(image, "i8"), tensor(filters, "i8"), tensor(bias, "i32"), tensor(scale, "f32")]
    names = ", ".join(f"%{name}: {kind}" for name, kind in zip("iwcs", types))
    text = f"func.func @run({names}) -> {tensor(out, element)} {{\n"
    text += f"  %zx = arith.constant {ZERO_POINT} : i32\n  %zw = arith.constant 0 : i32\n  %edge = arith.constant {ZERO_POINT} : i8\n  %zero_i32 = arith.constant 0 : i32\n"
    source, wide, pad = widened(case, case.padding(), "%edge")
    text += pad + fill("f", out, "i32")
    steps = f"dense<{case.stride}> : vector<2xi64>"
    result = tensor(out, "i32")
    text += f"""  %p = linalg.conv_2d_nhwc_fhwc_q {{dilations = dense<1> : vector<2xi64>, strides = {steps}}} ins({source}, %w, %zx, %zw : {tensor(wide, "i8")}, {types[1]}, i32, i32) outs(%f : {result}) -> {result}
  %q = tensor.empty() : {tensor(out, element)}
  %low = arith.constant -128.0 : f32
  %high = arith.constant 127.0 : f32
  %r = linalg.generic {{indexing_maps = [{affine("nhwc", "nhwc")}, {affine("c", "nhwc")}, {affine("c", "nhwc")}, {affine("nhwc", "nhwc")}], iterator_types = [{parallel(4)}]}} ins(%p, %c, %s : {result}, {types[2]}, {types[3]}) outs(%q : {tensor(out, element)}) {{
  ^bb0(%v: i32, %u: i32, %x: f32, %z: i8):
    %a = arith.addi %v, %u : i32
    %b = arith.sitofp %a : i32 to f32
    %d = arith.mulf %b, %x : f32
    %e = math.roundeven %d : f32
    %g = arith.maximumf %e, %low : f32
    %h = arith.minimumf %g, %high : f32
    %o = arith.fptosi %h : f32 to i8
    linalg.yield %o : i8
  }} -> {tensor(out, element)}
  return %r : {tensor(out, element)}
}}
"""
    return text


def turned(name, shape, element, order):
    return turned_by(name, shape, element, order, "rs")


def turned_by(name, shape, element, order, window):
    """%turned: filters whose window, of these letters, is turned around, those of %`name`."""
    size = dict(zip(order, shape))
    back = [f"{size[letter] - 1} - {letter}" if letter in window else letter for letter in order]
    return f"""  %u = tensor.empty() : {tensor(shape, element)}
  %turned = linalg.generic {{indexing_maps = [{affine(back, order)}, {affine(order, order)}], iterator_types = [{parallel(len(order))}]}} ins(%{name} : {tensor(shape, element)}) outs(%u : {tensor(shape, element)}) {{
  ^bb0(%a: {element}, %b: {element}):
    linalg.yield %a : {element}
  }} -> {tensor(shape, element)}
"""


def zeros_around(shape, letters, low, step, whole, element):
    """%wide: the tensor %i with zeros around its places, `low` in front, and between them."""
    wide = tuple(whole if letter in "hw" else size for letter, size in zip(letters, shape))
    if step == 1:
        high = [size - given - low if letter in "hw" else 0 for letter, size, given in zip(letters, wide, shape)]
        at = ", ".join(str(low * (letter in "hw")) for letter in letters)
        names = ", ".join(f"%d{i}: index" for i in range(len(letters)))
        return wide, f"""  %wide = tensor.pad %i low[{at}] high[{', '.join(map(str, high))}] {{
  ^bb0({names}):
    tensor.yield %zero_{element} : {element}
  }} : {tensor(shape, element)} to {tensor(wide, element)}
"""
    at = ", ".join(str(low * (letter in "hw")) for letter in letters)
    steps = ", ".join(str(step if letter in "hw" else 1) for letter in letters)
    return wide, fill("zeros", wide, element) + (
        f"  %wide = tensor.insert_slice %i into %zeros[{at}] [{', '.join(map(str, shape))}] [{steps}] : {tensor(shape, element)} "
        f"into {tensor(wide, element)}\n")


def program_by_letters(case, image, filters, result, letters):
    """A convolution, or a gradient, of tensors whose dimensions the letters name: of the image, of the filters, of the result."""
    element, first = case.element(), case.shapes()[0]
    of_image, of_filters, of_result = letters
    slides = {"h": f"h{f' * {case.stride}' if case.stride > 1 else ''} + r", "w": f"w{f' * {case.stride}' if case.stride > 1 else ''} + s"}
    if case.gradient == "data":
        out, over, text, source_letters = image, of_image, turned("w", filters, element, of_filters), of_result
        wide, more = zeros_around(first, of_result, case.window - 1 - case.padding(), case.stride, case.size + case.window - 1, element)
        slides, operands, shapes = {"h": "h + r", "w": "w + s"}, ["%wide", "%turned"], [wide, filters]
        other, reduced = of_filters, [letter for letter in of_filters if letter not in of_image]
    else:
        wide, more = zeros_around(first, of_image, case.padding(), 1, case.size + 2 * case.padding(), element)
        text, source_letters, operands = "", of_image, ["%wide", "%w"]
        if case.gradient:
            out, over, other, shapes = filters, of_filters, of_result, [wide, result]
        else:
            out, over, other, shapes = result, of_result, of_filters, [wide, filters]
        reduced = [letter for letter in (of_result if case.gradient else of_filters) if letter not in over]
    loops = over + "".join(reduced)
    read = [slides.get(letter, letter) for letter in source_letters]
    sums = tensor(out, "f32")
    text = head(case, out) + text + more + sum_of_products(case, loops, reduced, [read, other, over], operands, shapes, out)
    if element == "f32":
        return text + f"  return %p : {sums}\n}}\n"
    return text + f"""  %q = tensor.empty() : {tensor(out, element)}
  %r = linalg.generic {{indexing_maps = [{affine(over, over)}, {affine(over, over)}], iterator_types = [{parallel(len(over))}]}} ins(%p : {sums}) outs(%q : {tensor(out, element)}) {{
  ^bb0(%v: f32, %z: {element}):
    %o = arith.truncf %v : f32 to {element}
    linalg.yield %o : {element}
  }} -> {tensor(out, element)}
  return %r : {tensor(out, element)}
}}
"""


def grouped_program(case):
    letters = ("nhwgc", "gkrsc", "nhwgk") if case.layout == "nhwc" else ("ngchw", "gkcrs", "ngkhw")
    return program_by_letters(case, *case.in_groups(), letters)


def depthwise_gradient(case):
    letters = ("nhwc", "rsc", "nhwc") if case.layout == "nhwc" else ("nchw", "crs", "nchw")
    return program_by_letters(case, case.image(case.size, case.channels), case.weights(), case.image(case.result_size(), case.channels), letters)


def forward_program(case):
    if case.kind == "i8":
        return quantised_program(case)
    letters, read = places(case), windows(case)
    if not case.filters:
        loops, reduced, order = letters + "rs", "rs", "rsc" if case.layout == "nhwc" else "crs"
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


def of_unknown_images(text, batch):
    """The program with a `?` where images, or results, are counted: no other dimension that comes first is as long."""
    head, body = text.split("\n", 1)
    body = body.replace(f"tensor.empty() : tensor<{batch}x", "tensor.empty(%n) : tensor<?x")
    count = f"  %zero = arith.constant 0 : index\n  %n = tensor.dim %i, %zero : tensor<{batch}x{head.split(f'%i: tensor<{batch}x')[1].split('>')[0]}>\n"
    return (head + "\n" + count + body).replace(f"tensor<{batch}x", "tensor<?x")


def program(case):
    if case.unknown:
        known = dataclasses.replace(case, unknown=False)
        return of_unknown_images(program(known), case.batch)
    if case.groups > 1:
        return grouped_program(case)
    if case.gradient and not case.filters:
        return depthwise_gradient(case)
    return {"": forward_program, "data": data_program, "filter": filter_program}[case.gradient](case)
