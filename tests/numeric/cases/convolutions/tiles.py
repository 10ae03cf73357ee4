# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Convolutions of f32 by Winograd's, in tiles (--f32-convolutions=winograd; without it they are sums as any other, and within the bounds,
too): forward, by data and by filters, channels last and first, tiles that end outside of the image, borders of each width.

The bound. A tile is A^T ((sum over c of (G g G^T) * (B^T d B)) A, whose matrices Toom and Cook give. Each transform multiplies by numbers
that are rounded once and adds at most eight terms, from two sides: 18 roundings, of the results 16, of the products as many as there are
terms. Each is at most half an ulp of what it is a part of, so that the error is below (terms + 54) * EPS times the same formula of the
sizes of all numbers. Infinities and NaNs are left out: they spread over their tiles, which no element's bound says (the suite prints so)."""
import dataclasses

import numpy as np

import bounded
import elements
from cases.case import Case, argument, generator
from cases.products.contraction import map_text, one
from cases.movement import text

LEFT_OUT = ("convolution in tiles", "infinities and NaNs of convolutions in tiles: they spread over a tile, which no bound of an element says")
POINTS = {4: (0.0, 1.0, -1.0), 6: (0.0, 1.0, -1.0, 0.5, -2.0), 8: (0.0, 1.0, -1.0, 0.5, -0.5, 2.0, -2.0)}
ROUNDINGS = 54


@dataclasses.dataclass(frozen=True)
class Layer:
    direction: str  # "", "data", "filters"
    is_first: bool  # channels
    batch: int
    size: tuple
    channels: int
    results: int
    window: int
    before: int
    side: int  # of a tile

    def name(self):
        return f"convolution in tiles{', by ' + self.direction if self.direction else ''}"


LAYERS = tuple(Layer(direction, is_first, *rest) for direction in ("", "data", "filters") for is_first in (False, True) for rest in (
    (2, (8, 12), 20, 24, 3, 1, 6), (3, (7, 7), 33, 40, 3, 1, 6), (1, (9, 14), 64, 17, 3, 1, 4), (2, (6, 5), 16, 8, 3, 0, 4),
    (2, (11, 9), 12, 20, 5, 2, 6), (2, (5, 10), 8, 8, 3, 2, 6),
    (2, (10, 13), 36, 20, 5, 2, 8), (1, (8, 5), 8, 12, 5, 1, 8)))
# Sums over tiles in parts; channels that come first and are last in planes.
PARTS = (*(Layer("filters", is_first, 16, (16, 16), 130, 66, 3, 1, 6) for is_first in (False, True)), Layer("filters", True, 1, (6, 6), 260, 250, 3, 1, 6))
BIASED = tuple(Layer("", is_first, 2, (9, 8), 24, 20, 3, 1, side) for is_first in (False, True) for side in (4, 6))


def matrices(results, taps):
    """A^T, G, B^T of F(results, taps): polynomials are multiplied by their values at points."""
    side = results + taps - 1
    points = POINTS[side]
    data, filters, out = np.zeros((side, side)), np.zeros((side, taps)), np.zeros((results, side))
    for row, point in enumerate(points):
        others = [each for each in points if each != point]
        data[row, :side - 1] = np.polynomial.polynomial.polyfromroots(others)
        filters[row] = point ** np.arange(taps) / np.prod([point - each for each in others])
        out[:, row] = point ** np.arange(results)
    data[-1], filters[-1, -1], out[-1, -1] = np.polynomial.polynomial.polyfromroots(points), 1, 1
    return out, filters, data


def cut(image, tiles, step, side):
    """[n, tiles down, tiles across, c, side, side], zeros where the image ends."""
    high = [max(0, (count - 1) * step + side - size) for count, size in zip(tiles, image.shape[1:3])]
    image = np.pad(image, ((0, 0), (0, high[0]), (0, high[1]), (0, 0)))
    rows = [np.stack([image[:, y * step:y * step + side, x * step:x * step + side] for x in range(tiles[1])], 1) for y in range(tiles[0])]
    return np.moveaxis(np.stack(rows, 1), -1, 3)


def bound_of(layer, image, other):
    """image: n, y, x, c with its border; other: r, s, c, f, or by filters n, y, x, f. The formula of all sizes, of which the error is so many
    roundings: of n, y, x, f, or of r, s, c, f."""
    window, image, other = layer.window, np.abs(image), np.abs(other)
    taps = layer.side - window + 1 if layer.direction == "filters" else window
    out, filters, data = (np.abs(each) for each in matrices(layer.side - taps + 1, taps))
    if layer.direction == "filters":
        tiles = [-(-size // taps) for size in other.shape[1:3]]
        d, g = cut(image, tiles, taps, layer.side), cut(other, tiles, taps, taps)
        d = np.einsum("ip,ntucpq,jq->ntucij", data, d, data)
        g = np.einsum("ip,ntufpq,jq->ntufij", filters, g, filters)
        return np.einsum("ri,ntucij,ntufij,sj->rscf", out, d, g, out, optimize=True)
    step = layer.side - window + 1
    places = [size - window + 1 for size in image.shape[1:3]]
    tiles = [-(-size // step) for size in places]
    d = np.einsum("ip,ntucpq,jq->ntucij", data, cut(image, tiles, step, layer.side), data)
    g = np.einsum("ip,pqcf,jq->cfij", filters, other, filters)
    y = np.einsum("ri,ntucij,cfij,sj->ntrusf", out, d, g, out, optimize=True)
    y = y.reshape(y.shape[0], tiles[0] * step, tiles[1] * step, y.shape[-1])
    return y[:, :places[0], :places[1]]


def border(layer):
    return layer.window - 1 - layer.before if layer.direction == "data" else layer.before


def shapes(layer):
    """Of both inputs, channels last: images n, y, x, c; filters f, r, s, c."""
    out = [size + 2 * layer.before - layer.window + 1 for size in layer.size]
    image, result = (layer.batch, *layer.size, layer.channels), (layer.batch, *out, layer.results)
    filters = (layer.results, layer.window, layer.window, layer.channels)
    return {"": (image, filters), "data": (result, filters), "filters": (image, result)}[layer.direction]


def evaluated(layer, first, second):
    """Both channels last. The result likewise, and the bound of its error."""
    pad = border(layer)
    image = np.pad(first, ((0, 0), (pad, pad), (pad, pad), (0, 0)))
    if layer.direction == "filters":
        exact = np.zeros((layer.window, layer.window, image.shape[3], second.shape[3]))
        for r in range(layer.window):
            for s in range(layer.window):
                part = image[:, r:r + second.shape[1], s:s + second.shape[2]]
                exact[r, s] = np.einsum("nyxc,nyxf->cf", part, second)
        size, terms = bound_of(layer, image, second), int(np.prod(second.shape[:3]))
        exact, size = (each.transpose(3, 0, 1, 2) for each in (exact, size))
    else:
        other = second.transpose(1, 2, 3, 0) if not layer.direction else second[:, ::-1, ::-1].transpose(1, 2, 0, 3)
        places = [each - layer.window + 1 for each in image.shape[1:3]]
        exact = sum(image[:, r:r + places[0], s:s + places[1]] @ other[r, s] for r in range(layer.window) for s in range(layer.window))
        size, terms = bound_of(layer, image, other), other.shape[2] * layer.window ** 2
    return exact, (terms + ROUNDINGS) * elements.EPS["f32"] * size


def write(f, layer, first, second):
    letters, order = ("nchw", "fcrs") if layer.is_first else ("nhwc", "frsc")
    pad = border(layer)
    if pad:
        wide = [pad * (letter in "hw") for letter in letters]
        first = f.pad(first, wide, wide, 0)
    read = {"h": "h + r", "w": "w + s", "c": "f" if layer.direction == "data" else "c"}
    if layer.direction == "data":
        back = [f"{layer.window - 1} - {each}" if each in "rs" else each for each in order]
        kinds = ", ".join(['"parallel"'] * 4)
        second = text(f, "f32", list(second.shape),
                      f"{{r}} = linalg.generic {{{{indexing_maps = [{map_text(back, list(order))}, {map_text(list(order), list(order))}], iterator_types "
                      f"= [{kinds}]}}}} ins({{0}} : {{o[0]}}) outs({{1}} : {{o[1]}}) {{{{ ^bb0(%x: f32, %y: f32): linalg.yield %x : f32 }}}} -> {{t}}",
                      second, f.fill("f32", list(second.shape), 0))
    if layer.direction == "filters":
        written, other = order, letters.replace("c", "f")
    else:
        written, other = letters.replace("c", "c" if layer.direction == "data" else "f"), order
    loops = list(written) + [each for each in ("nhw" if layer.direction == "filters" else "rs" + read["c"]) if each not in written]
    sizes = {"f": layer.results, "c": layer.channels, "n": layer.batch, "r": layer.window, "s": layer.window}
    if layer.direction != "filters":
        for letter, extent in zip("hw", [size - layer.window + 1 for size in (first.shape[2:] if layer.is_first else first.shape[1:3])]):
            sizes[letter] = extent
    out = [sizes[letter] for letter in written]
    maps = ", ".join(map_text([read.get(each, each) if operand == 0 else each for each in indices], loops)
                     for operand, indices in enumerate((letters, other, written)))
    kinds = ", ".join('"parallel"' if loop in written else '"reduction"' for loop in loops)
    return text(f, "f32", out,
                f"{{r}} = linalg.generic {{{{indexing_maps = [{maps}], iterator_types = [{kinds}]}}}} ins({{0}}, {{1}} : {{o[0]}}, {{o[1]}}) outs({{2}} : "
                f"{{o[2]}}) attrs = {{{{tenon.tile_side = {layer.side} : i64}}}} {{{{ ^bb0(%x: f32, %y: f32, %s: f32): %m = arith.mulf %x, %y : f32 "
                f"%t = arith.addf %s, %m : f32 linalg.yield %t : f32 }}}} -> {{t}}", first, second, f.fill("f32", out, 0))


def last(layer, tensor, is_filters):
    """The other order, as channels last."""
    return np.moveaxis(tensor, 1, -1) if layer.is_first else tensor


def first(layer, tensor):
    return np.moveaxis(tensor, -1, 1) if layer.is_first else tensor


def cases(sizes):
    for number, layer in enumerate(LAYERS + PARTS + BIASED):
        random = generator("tiles", number)
        inputs = [argument("f32", elements.draw(random, "f32", first(layer, np.empty(shape)).shape, -2, 2)) for shape in shapes(layer)]
        if number < len(LAYERS + PARTS):
            def evaluate(a, b, layer=layer):
                exact, error = (first(layer, each) for each in evaluated(layer, last(layer, a.v, False), last(layer, b.v, True)))
                return bounded.finish("f32", exact, error, 1.0)

            yield Case(layer.name(), "f32", one(inputs, lambda f, a, b, layer=layer: write(f, layer, a, b), evaluate))
            continue
        inputs.append(argument("f32", elements.draw(random, "f32", (layer.results,))))

        def activated(f, a, b, c, layer=layer):
            sums = write(f, layer, a, b)
            loops = [f"d{i}" for i in range(4)]
            maps = ", ".join(map_text(each, loops) for each in (loops, [loops[1 if layer.is_first else 3]], loops))
            kinds = ", ".join(['"parallel"'] * 4)
            return text(f, "f32", list(sums.shape),
                        f"{{r}} = linalg.generic {{{{indexing_maps = [{maps}], iterator_types = [{kinds}]}}}} ins({{0}}, {{1}} : {{o[0]}}, {{o[1]}}) outs({{2}} "
                        f": {{o[2]}}) {{{{ ^bb0(%x: f32, %y: f32, %z: f32): %b = arith.addf %x, %y : f32 %c = arith.constant 0.0 : f32 %m = arith.maximumf %b, "
                        f"%c : f32 linalg.yield %m : f32 }}}} -> {{t}}", sums, c, f.fill("f32", list(sums.shape), 0))

        def evaluate_activated(a, b, c, layer=layer):
            exact, error = (first(layer, each) for each in evaluated(layer, last(layer, a.v, False), last(layer, b.v, True)))
            bias = c.v.reshape(-1, 1, 1) if layer.is_first else c.v
            return bounded.finish("f32", np.maximum(exact + bias, 0), error + elements.EPS["f32"] * (np.abs(bias) + np.abs(exact)), 1.0)

        yield Case("convolution in tiles, bias, relu", "f32", one(inputs, activated, evaluate_activated))
