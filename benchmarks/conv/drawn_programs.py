# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The programs of drawn.py as MLIR: borders by tensor.pad, zeros between elements by tensor.insert_slice, sums of products."""
from drawn import PLACES, WINDOW
from programs import affine, fill, parallel, tensor, turned_by

SUMS = {"i8": "i32"}


def scaled(case, letters, shape, sums):
    """Sums as results of the type of the operands."""
    element = case.element()
    if element == "f32":
        return f"  return %p : {tensor(shape, 'f32')}\n}}\n"
    body = f"    %o = arith.truncf %v : f32 to {element}\n"
    if element == "i8":
        body = """    %b = arith.sitofp %v : i32 to f32
    %d = arith.mulf %b, %scale : f32
    %e = math.roundeven %d : f32
    %g = arith.maximumf %e, %low : f32
    %h = arith.minimumf %g, %high : f32
    %o = arith.fptosi %h : f32 to i8
"""
    constants = "  %scale = arith.constant 0.001953125 : f32\n  %low = arith.constant -128.0 : f32\n  %high = arith.constant 127.0 : f32\n"
    return (constants if element == "i8" else "") + f"""  %q = tensor.empty() : {tensor(shape, element)}
  %r = linalg.generic {{indexing_maps = [{affine(letters, letters)}, {affine(letters, letters)}], iterator_types = [{parallel(len(letters))}]}} ins(%p : {tensor(shape, sums)}) outs(%q : {tensor(shape, element)}) {{
  ^bb0(%v: {sums}, %z: {element}):
{body}    linalg.yield %o : {element}
  }} -> {tensor(shape, element)}
  return %r : {tensor(shape, element)}
}}
"""


def around(case, letters, shape, low, high, steps):
    """The tensor %i with zeros around and between its places: its name, its shape, and the lines that make it. low, high, steps: of each place."""
    element, places = case.element(), PLACES[-len(low):]
    of = {letter: (a, b, step) for letter, a, b, step in zip(places, low, high, steps)}
    whole = tuple((size - 1) * of[letter][2] + 1 + of[letter][0] + of[letter][1] if letter in of else size for letter, size in zip(letters, shape))
    if whole == tuple(shape):
        return "%i", whole, ""
    at = [of.get(letter, (0, 0, 1))[0] for letter in letters]
    if max(steps) > 1:
        between = ", ".join(str(of.get(letter, (0, 0, 1))[2]) for letter in letters)
        return "%wide", whole, fill("zeros", whole, element) + (
            f"  %wide = tensor.insert_slice %i into %zeros[{', '.join(map(str, at))}] [{', '.join(map(str, shape))}] [{between}] : "
            f"{tensor(shape, element)} into {tensor(whole, element)}\n")
    behind = ", ".join(str(size - given - a) for size, given, a in zip(whole, shape, at))
    names = ", ".join(f"%d{i}: index" for i in range(len(letters)))
    return "%wide", whole, f"""  %wide = tensor.pad %i low[{', '.join(map(str, at))}] high[{behind}] {{
  ^bb0({names}):
    tensor.yield %zero_{element} : {element}
  }} : {tensor(shape, element)} to {tensor(whole, element)}
"""


def drawn_program(case):
    element, letters, shapes = case.element(), case.letters(), case.three()
    of_image, of_filters, of_result = letters
    rank, kinds = len(case.sizes), sorted({case.element(), SUMS.get(case.element(), "f32")})
    sums = SUMS.get(element, "f32")
    out = {"": 2, "data": 0, "filter": 1}[case.gradient]
    over, out_shape = letters[out], shapes[out]
    given = case.shapes()
    text = f"func.func @run(%i: {tensor(given[0], element)}, %w: {tensor(given[1], element)}) -> {tensor(out_shape, element)} {{\n"
    text += "".join(f"  %zero_{kind} = arith.constant {'0' if kind.startswith('i') else '0.0'} : {kind}\n" for kind in kinds)
    slides, other = {}, "%w"
    if case.gradient == "data":
        low = [extent - 1 - border for extent, border in zip(case.extents(), case.around)]
        high = [size + extent - 1 - (result - 1) * step - 1 - before
                for size, extent, result, step, before in zip(case.sizes, case.extents(), case.result_sizes(), case.steps, low)]
        source, wide, more = around(case, of_result, given[0], low, high, case.steps)
        if max(case.windows) > 1:
            text, other = text + turned_by("w", given[1], element, of_filters, WINDOW), "%turned"
        places, read_letters, of_other = [1] * rank, of_result, of_filters
        for letter, window, dilation in zip(PLACES[-rank:], WINDOW[-rank:], case.dilations):
            slides[letter] = f"{letter} + {window}" + (f" * {dilation}" if dilation > 1 else "")
        # The loops of the result's places are the image's.
    else:
        source, wide, more = around(case, of_image, given[0], case.around, case.around, [1] * rank)
        read_letters, of_other = of_image, of_result if case.gradient else of_filters
        for letter, window, step, dilation in zip(PLACES[-rank:], WINDOW[-rank:], case.steps, case.dilations):
            slides[letter] = letter + (f" * {step}" if step > 1 else "") + f" + {window}" + (f" * {dilation}" if dilation > 1 else "")
    reduced = [letter for letter in (of_result if case.gradient == "filter" else of_filters) if letter not in over]
    if case.gradient != "filter" and "c" in of_filters:  # channels, then the window, as named operations have them
        reduced.sort(key=lambda letter: letter in WINDOW)
    loops = over + "".join(reduced)
    read = [slides.get(letter, letter) for letter in read_letters]
    maps = ", ".join(affine(each, loops) for each in (read, of_other, over))
    types = ", ".join('"reduction"' if loop in reduced else '"parallel"' for loop in loops)
    widen = "" if element == "f32" else "".join(f"    %{x} = arith.{'extsi' if element == 'i8' else 'extf'} %{y} : {element} to {sums}\n" for x, y in ("xa", "yb"))
    first, second = ("%a", "%b") if element == "f32" else ("%x", "%y")
    multiply, add = ("muli", "addi") if element == "i8" else ("mulf", "addf")
    second_shape = given[1]
    return text + more + fill("f", out_shape, sums) + f"""  %p = linalg.generic {{indexing_maps = [{maps}], iterator_types = [{types}]}} ins({source}, {other} : {tensor(wide, element)}, {tensor(second_shape, element)}) outs(%f : {tensor(out_shape, sums)}) {{
  ^bb0(%a: {element}, %b: {element}, %s: {sums}):
{widen}    %m = arith.{multiply} {first}, {second} : {sums}
    %t = arith.{add} %s, %m : {sums}
    linalg.yield %t : {sums}
  }} -> {tensor(out_shape, sums)}
""" + scaled(case, over, out_shape, sums)
