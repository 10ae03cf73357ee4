#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Compares what decompositions.py computes with PyTorch itself, on the CPU.

usage: benchmarks/models/decompositions_test.py
"""
import unittest

import torch
from torch.nn import functional

import decompositions


def drawn(*shape):
    return torch.randn(*shape, generator=torch.Generator().manual_seed(sum(shape)), dtype=torch.float64)


class Decompositions(unittest.TestCase):
    def expect(self, found, wanted):
        self.assertEqual(found.shape, wanted.shape)
        self.assertTrue(torch.allclose(found, wanted, rtol=1e-9, atol=1e-9, equal_nan=True), f"{found} is not {wanted}")

    def test_windows(self):
        for window, dilation, padding, stride in (((3, 2), (1, 1), (1, 0), (2, 2)), ((2, 3), (2, 1), (0, 2), (1, 3)), ((1, 1), (1, 1), (0, 0), (1, 1)),
                                                  ((4, 4), (1, 1), (2, 2), (1, 1))):
            for image in (drawn(2, 3, 8, 9), drawn(3, 8, 9)):
                columns = functional.unfold(image, window, dilation, padding, stride)
                self.expect(decompositions.im2col(image, window, dilation, padding, stride), columns)
                self.expect(decompositions.col2im(columns, (8, 9), window, dilation, padding, stride),
                            functional.fold(columns, (8, 9), window, dilation, padding, stride))

    def test_an_infinity_stays_in_its_windows(self):
        columns = drawn(1, 3 * 4, 9)
        columns[0, 5, 4] = torch.inf
        self.expect(decompositions.col2im(columns, (4, 4), (2, 2), (1, 1), (0, 0), (1, 1)), functional.fold(columns, (4, 4), (2, 2)))

    def test_antialiased_resizes(self):
        image = drawn(2, 3, 7, 9)
        image[0, 0, 0, 0] = torch.inf
        for mode, kernel, reach in (("bilinear", decompositions.bilinear, 1), ("bicubic", decompositions.bicubic, 2)):
            for size in ((3, 4), (7, 2), (11, 20), (1, 1)):
                for corners in (False, True):
                    wanted = functional.interpolate(image, size=size, mode=mode, antialias=True, align_corners=corners)
                    self.expect(decompositions.antialias(kernel, reach)(image, size, corners, None), wanted)
            self.expect(decompositions.antialias(kernel, reach)(image, None, False, [0.5, 0.3]),
                        functional.interpolate(image, scale_factor=(0.5, 0.3), mode=mode, antialias=True))

    def test_histograms(self):
        x = torch.tensor([0.0, 3.0, 2.0, 2.0, 4.0, -1.0, 1.5, 2.999], dtype=torch.float64)
        for bins, low, high in ((4, 0, 3), (3, 0, 3), (5, -2, 9)):
            self.expect(decompositions.histogram(x, bins, low, high), torch.histc(x, bins, low, high))

    def test_samples_of_a_grid(self):
        image, grid = drawn(2, 3, 5, 4), 1.5 * drawn(2, 6, 7, 2)
        for interpolation in (0, 1, 2):
            for padding in (0, 1, 2):
                for corners in (False, True):
                    self.expect(decompositions.grid_sampler(image, grid, interpolation, padding, corners),
                                torch.grid_sampler(image, grid, interpolation, padding, corners))

    def test_searches(self):
        among, values = drawn(3, 9).sort(-1)[0], drawn(3, 4)
        values[0, 0], values[1, 2] = among[0, 3], among[1, 8]
        for right in (False, True):
            self.expect(decompositions.searchsorted(among, values, right=right), torch.searchsorted(among, values, right=right))
            self.expect(decompositions.searchsorted(among[0], values, right=right), torch.searchsorted(among[0], values, right=right))

    def test_grouped_products(self):
        rows, weights = drawn(9, 4), drawn(3, 4, 5)
        for ends in ((0, 4, 9), (9, 9, 9), (0, 0, 9), (2, 2, 9)):
            begin, wanted = 0, []
            for expert, end in enumerate(ends):
                wanted.append(rows[begin:end] @ weights[expert])
                begin = end
            self.expect(decompositions.grouped_mm(rows, weights, torch.tensor(ends, dtype=torch.int32)), torch.cat(wanted))

    def test_norms(self):
        image = drawn(2, 6, 5, 4).float()
        weight, bias = drawn(6).float(), drawn(6).float()
        self.assertTrue(torch.allclose(decompositions.group_norm(image, 3, weight, bias), functional.group_norm(image, 3, weight, bias), atol=1e-5))
        self.assertTrue(torch.allclose(decompositions.batch_norm(image, weight, bias, weight, weight.abs(), 0.1, 1e-5)[0],
                                       functional.batch_norm(image, weight, weight.abs(), weight, bias, eps=1e-5), atol=1e-5))
        self.expect(decompositions.weight_norm(image.double(), drawn(2, 1, 1, 1)), torch._weight_norm(image.double(), drawn(2, 1, 1, 1), 0))

    def test_gradients_of_tables(self):
        given, indices = drawn(4, 3), torch.tensor([1, 0, 1, 2])
        for padding in (-1, 1):
            self.expect(decompositions.embedding_backward(given, indices, 5, padding, False),
                        torch.ops.aten.embedding_dense_backward(given, indices, 5, padding, False))

    def test_loops_carry_what_they_read(self):
        from torch._higher_order_ops.while_loop import while_loop  # pylint: disable=import-outside-toplevel

        class Loop(torch.nn.Module):
            def __init__(self):
                super().__init__()
                self.weight = torch.nn.Parameter(drawn(4, 4))

            def forward(self, count, x):
                return while_loop(lambda i, y: (i < 5) & (y.abs().max() < 1e6), lambda i, y: (i + 1, y @ self.weight), (count, x))

        given = (torch.tensor(0), drawn(3, 4))
        with torch.no_grad():
            program = decompositions.prepared(torch.export.export(Loop(), given, strict=False))
            loops = [node for node in program.graph.nodes if node.target is torch.ops.higher_order.while_loop]
            self.assertEqual([len(loops[0].args[2]), len(loops[0].args[3])], [3, 0])
            self.expect(program.module()(*given)[1], Loop()(*given)[1])

    def test_deformed_convolutions(self):
        try:
            from torchvision import ops  # pylint: disable=import-outside-toplevel
        except ImportError:
            self.skipTest("no torchvision")
        image, bias = drawn(2, 4, 7, 6), drawn(6)
        for groups, moved, stride, padding, dilation in ((1, 1, (1, 1), (1, 1), (1, 1)), (2, 2, (2, 1), (0, 2), (1, 2)), (2, 4, (1, 2), (1, 0), (2, 1))):
            weight = drawn(6, 4 // groups, 3, 2)
            count = [(image.shape[2 + d] + 2 * padding[d] - dilation[d] * (weight.shape[2 + d] - 1) - 1) // stride[d] + 1 for d in (0, 1)]
            offset, mask = 2 * drawn(2, moved * 12, *count), drawn(2, moved * 6, *count)
            for use_mask in (False, True):
                wanted = ops.deform_conv2d(image, offset, weight, bias, stride, padding, dilation, mask if use_mask else None)
                self.expect(decompositions.deformed_convolution(image, weight, offset, mask, bias, *stride, *padding, *dilation, groups, moved, use_mask), wanted)


if __name__ == "__main__":
    unittest.main()
