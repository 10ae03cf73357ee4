# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""What IREE's importer does not know, or computes in too narrow a type, in terms of what it knows.

`prepared(program)` gives a program of torch.export for it. Sizes are those of the program, known or not, but where it says otherwise.
Where the importer still refuses an operation, `prepared(program, everything=True)` may hold none that it does not know.
"""
import math

import torch

aten = torch.ops.aten


def batch_norm(x, weight, bias, mean, variance, momentum, eps):  # pylint: disable=unused-argument
    """In evaluation, as PyTorch computes it: in f32."""
    def along(tensor):
        return tensor.float().view(1, -1, *[1] * (x.dim() - 2))

    made = (x.float() - along(mean)) * torch.rsqrt(along(variance) + eps) * along(weight) + along(bias)
    return made.to(x.dtype), x.new_zeros(0), x.new_zeros(0)


def embedding_backward(given, indices, count, padding, _):
    """Each row of a table gets the sum of what its readers were given, but for the row of padding."""
    if padding >= 0:
        given = given * (indices != padding).unsqueeze(-1)
    return given.new_zeros(count, given.shape[-1]).index_put((indices,), given, accumulate=True)


def norm_except_dim(x, power, dimension):
    """Of every row of a dimension."""
    assert power == 2
    return x.square().sum(dim=[each for each in range(x.dim()) if each != dimension % x.dim()], keepdim=True).sqrt()


def weight_norm(direction, size, dimension=0):
    return direction * (size / norm_except_dim(direction, 2, dimension))


def group_norm(image, groups, weight=None, bias=None, eps=1e-5, _=True):
    """In f32, as PyTorch computes it. The importer's own sums, and divides by the number of elements, in the image's type: of f16 a
    number above 65504 is infinite."""
    rows = image.float().reshape(image.shape[0], groups, -1)
    variance, mean = torch.var_mean(rows, dim=2, correction=0, keepdim=True)
    made = ((rows - mean) * torch.rsqrt(variance + eps)).reshape(image.shape)
    channels = [1, -1] + [1] * (image.dim() - 2)
    if weight is not None:
        made = made * weight.float().view(channels)
    if bias is not None:
        made = made + bias.float().view(channels)
    return made.to(image.dtype)


def places(count, window, dilation, stride):
    """Where each element of windows along one dimension lies, element by element of a window."""
    return (torch.arange(window)[:, None] * dilation + torch.arange(count) * stride).flatten()


def windows_of(size, window, dilation, padding, stride):
    return (size + 2 * padding - dilation * (window - 1) - 1) // stride + 1


def im2col(image, window, dilation, padding, stride):
    """The windows of an image as columns (unfold). Sizes of the image are known."""
    is_batch = image.dim() == 4
    image = image if is_batch else image.unsqueeze(0)
    counts = [windows_of(image.shape[2 + d], window[d], dilation[d], padding[d], stride[d]) for d in (0, 1)]
    read = torch.nn.functional.pad(image, (padding[1], padding[1], padding[0], padding[0]))
    for d in (0, 1):
        read = read.index_select(2 + d, places(counts[d], window[d], dilation[d], stride[d]))
    batch, channels = image.shape[:2]
    made = read.view(batch, channels, window[0], counts[0], window[1], counts[1]).permute(0, 1, 2, 4, 3, 5)
    made = made.reshape(batch, channels * window[0] * window[1], counts[0] * counts[1])
    return made if is_batch else made.squeeze(0)


def col2im(columns, size, window, dilation, padding, stride):
    """Adds windows up where they lie in an image (fold): along one dimension, then along the other."""
    is_batch = columns.dim() == 3
    columns = columns if is_batch else columns.unsqueeze(0)
    counts = [windows_of(size[d], window[d], dilation[d], padding[d], stride[d]) for d in (0, 1)]
    batch, channels = columns.shape[0], columns.shape[1] // (window[0] * window[1])
    made = columns.view(batch, channels, window[0], window[1], counts[0], counts[1]).permute(0, 1, 2, 4, 3, 5)
    made = made.reshape(batch, channels, window[0] * counts[0], window[1] * counts[1])
    for d in (1, 0):
        shape = list(made.shape)
        shape[2 + d] = size[d] + 2 * padding[d]
        made = made.new_zeros(shape).index_add(2 + d, places(counts[d], window[d], dilation[d], stride[d]), made)
    made = made[:, :, padding[0]:padding[0] + size[0], padding[1]:padding[1] + size[1]]
    return made if is_batch else made.squeeze(0)


def bilinear(x):
    return max(0.0, 1.0 - abs(x))


def bicubic(x):
    """Keys' kernel at -0.5, which antialiased resizing has."""
    x = abs(x)
    if x < 1:
        return (1.5 * x - 2.5) * x * x + 1
    return ((-0.5 * x + 2.5) * x - 4) * x + 2 if x < 2 else 0.0


def antialiased(image, dimension, count, scale, kernel, reach):
    """Resizes one dimension by a kernel that is as wide as what an element of the result stands for."""
    size = image.shape[dimension]
    if count == size and scale == 1:
        return image
    width = max(scale, 1.0)
    taps, weights = [], []
    for at in range(count):
        middle = scale * (at + 0.5)
        first, end = max(int(middle - reach * width + 0.5), 0), min(int(middle + reach * width + 0.5), size)
        taps.append(list(range(first, end)))
        drawn = [kernel((tap - middle + 0.5) / width) for tap in taps[-1]]
        weights.append([each / sum(drawn) for each in drawn])
    longest = max(len(each) for each in taps)
    read = image.index_select(dimension, torch.tensor([tap for each in taps for tap in each + [each[0]] * (longest - len(each))]))
    weigh = torch.tensor([each + [0.0] * (longest - len(each)) for each in weights],
                         dtype=torch.float64 if image.dtype == torch.float64 else torch.float32)
    lies = torch.tensor([[tap < len(each) for tap in range(longest)] for each in taps])
    shape = image.shape[:dimension] + (count, longest) + image.shape[dimension + 1:]
    weigh, lies = (each.view(count, longest, *[1] * (image.dim() - dimension - 1)) for each in (weigh, lies))
    return torch.where(lies, read.reshape(shape) * weigh, 0).sum(dimension + 1).to(image.dtype)


def antialias(kernel, reach):
    """Widths first, as PyTorch does. Sizes of the image are known."""
    def resized(image, size, align_corners, factors):
        size = size or [math.floor(image.shape[2 + d] * factors[d]) for d in (0, 1)]
        for d in (1, 0):
            if align_corners:
                scale = (image.shape[2 + d] - 1) / (size[d] - 1) if size[d] > 1 else 0.0
            else:
                scale = 1 / factors[d] if factors else image.shape[2 + d] / size[d]
            image = antialiased(image, 2 + d, size[d], scale, kernel, reach)
        return image
    return resized


def histogram(x, bins=100, low=0, high=0):
    """How many elements each bin has. Its limits are known."""
    assert low < high, "a histogram whose limits are its elements'"
    at = ((x.flatten() - low) * (bins / (high - low))).floor()
    at = torch.where(x.flatten() == high, bins - 1, at)
    return (at[:, None] == torch.arange(bins)).sum(0).to(x.dtype)


def searchsorted(among, values, out_int32=False, right=False, side=None, sorter=None):
    """How many of a sorted row are smaller, one comparison for each pair."""
    assert sorter is None, "a search by a permutation"
    among, values = among.unsqueeze(-2), values.unsqueeze(-1)
    found = among <= values if right or side == "right" else among < values
    return found.sum(-1, dtype=torch.int32 if out_int32 else torch.int64)


def grouped_product(rows, weights, ends):
    """Rows lie in the order of their experts; `ends` says where each expert's end. Rows behind the last are the last one's."""
    expert = (torch.arange(rows.shape[0])[:, None] >= ends[:-1]).sum(1)
    return torch.bmm(rows.unsqueeze(1), weights[expert]).squeeze(1)


def grouped_mm(rows, weights, ends=None, bias=None, out_dtype=None):
    assert rows.dim() == 2 and weights.dim() == 3 and ends is not None and bias is None, "a grouped product of another form"
    made = grouped_product(rows, weights, ends)
    return made if out_dtype is None else made.to(out_dtype)


def sampled(image, y, x):
    """Between four elements of an image, batch, channels, height, width; zero outside. Places are batch, ..."""
    batch, channels, height, width = image.shape
    rows, made = image.reshape(batch, channels, -1), 0
    for dy in (0, 1):
        for dx in (0, 1):
            at_y, at_x = y.floor() + dy, x.floor() + dx
            weight = (1 - (y - at_y).abs()) * (1 - (x - at_x).abs())
            inside = (at_y >= 0) & (at_y < height) & (at_x >= 0) & (at_x < width)
            at = (at_y.clamp(0, height - 1) * width + at_x.clamp(0, width - 1)).long().reshape(batch, 1, -1)
            read = rows.gather(2, at.expand(-1, channels, -1)).reshape(batch, channels, *y.shape[1:])
            made = made + torch.where(inside, weight, 0).unsqueeze(1) * torch.where(inside.unsqueeze(1), read, 0)
    return made


def deformed_convolution(image, weight, offset, mask, bias, stride_h, stride_w, pad_h, pad_w, dilation_h, dilation_w,
                         groups, offset_groups, use_mask):
    """Each element of a window is read where an offset moves it. Sizes of the image are known."""
    batch, channels, height, width = image.shape
    kernel = weight.shape[2:]
    count = (windows_of(height, kernel[0], dilation_h, pad_h, stride_h), windows_of(width, kernel[1], dilation_w, pad_w, stride_w))
    def along(d, stride, pad, dilation):
        at = torch.arange(kernel[d])[:, None] * dilation + torch.arange(count[d])[None] * stride - pad
        return at.to(image.dtype)
    y = along(0, stride_h, pad_h, dilation_h)[:, None, :, None]
    x = along(1, stride_w, pad_w, dilation_w)[None, :, None, :]
    moved = offset.reshape(batch * offset_groups, *kernel, 2, *count)
    read = sampled(image.reshape(batch * offset_groups, channels // offset_groups, height, width), y + moved[:, :, :, 0], x + moved[:, :, :, 1])
    if use_mask:
        read = read * mask.reshape(batch * offset_groups, 1, *kernel, *count)
    read = read.reshape(batch, groups, channels // groups * kernel[0] * kernel[1], count[0] * count[1])
    flat = weight.reshape(groups, weight.shape[0] // groups, -1)
    made = (flat.unsqueeze(0) @ read).reshape(batch, weight.shape[0], *count)
    return made + bias.view(1, -1, 1, 1)


def grid_sampler(image, grid, interpolation, padding, corners):
    """The importer's own reads outside of an image what it then leaves out. In three dimensions there is no other."""
    if image.dim() != 4:
        return aten.grid_sampler_3d(image, grid, interpolation, padding, corners)
    return torch._decomp.decomposition_table[aten.grid_sampler_2d.default](image, grid, interpolation, padding, corners)


def of_torchvision():
    """Where torchvision is loaded: its operators, of which the importer knows the suppression of boxes alone."""
    own = {}
    if hasattr(torch.ops.torchvision, "deform_conv2d"):
        own[torch.ops.torchvision.deform_conv2d.default] = deformed_convolution
    if hasattr(torch.ops.torchvision, "roi_align"):
        from torchvision.ops.roi_align import _roi_align  # pylint: disable=import-outside-toplevel
        own[torch.ops.torchvision.roi_align.default] = _roi_align
    return own


def table():
    """Of the operations that the importer does not know, and no others: attention and norms arrive as they are named."""
    known = torch.export.default_decompositions()
    of_pytorch = (aten.diff.default, aten.lstm.input, aten.gru.input, aten.rnn_tanh.input, aten.rnn_relu.input,
                  aten.affine_grid_generator.default, aten.upsample_bicubic2d.vec, aten.upsample_linear1d.vec, aten.upsample_trilinear3d.vec,
                  aten._upsample_nearest_exact1d.vec, aten._upsample_nearest_exact2d.vec, aten._upsample_nearest_exact3d.vec)
    own = {aten._native_batch_norm_legit_no_training.default: batch_norm, aten._weight_norm.default: weight_norm,
           aten.group_norm.default: group_norm, aten.norm_except_dim.default: norm_except_dim,
           aten.embedding_dense_backward.default: embedding_backward, aten.im2col.default: im2col, aten.col2im.default: col2im,
           aten._upsample_bilinear2d_aa.vec: antialias(bilinear, 1), aten._upsample_bicubic2d_aa.vec: antialias(bicubic, 2),
           aten.grid_sampler.default: grid_sampler, aten.grid_sampler_2d.default: grid_sampler,
           aten.histc.default: histogram, aten.searchsorted.Tensor: searchsorted,
           aten._grouped_mm.default: grouped_mm}
    grouped = getattr(getattr(torch.ops.transformers, "grouped_mm_fallback", None), "default", None)
    if grouped is not None:  # where transformers is loaded
        own[grouped] = grouped_product
    return {op: known[op] for op in of_pytorch} | own | of_torchvision() | torch._decomp.get_decompositions([
        aten.nll_loss_forward, aten.nll_loss_backward, aten.native_layer_norm_backward, aten.gelu_backward,
        aten._log_softmax_backward_data, aten._softmax_backward_data, aten.tanh_backward, aten.index_add, aten.index_copy, aten.upsample_bilinear2d,
        aten.threshold_backward, aten._native_batch_norm_legit.no_stats])


OTHER_NAMES = {aten.__and__.Tensor: aten.bitwise_and.Tensor, aten.__or__.Tensor: aten.bitwise_or.Tensor,
               aten.__xor__.Tensor: aten.bitwise_xor.Tensor, aten._unsafe_index.Tensor: aten.index.Tensor,
               aten.concatenate.default: aten.cat.default}


def rename(graph):
    for node in list(graph.nodes):
        node.target = OTHER_NAMES.get(node.target, node.target)
        if node.target == aten.bitwise_and.Tensor:
            first, other = node.args
            if getattr(first, "target", None) == aten.new_ones.default and list(first.args[1]) == []:
                node.replace_all_uses_with(other)
                graph.erase_node(node)
        elif node.target == aten._assert_tensor_metadata.default:
            graph.erase_node(node)
    graph.eliminate_dead_code()


def without_unknown(program):
    """Operators that the importer knows by another name alone get it, those of loops, too. Masks start as one `true` with what holds
    of each pair: it goes, since the importer has no constant of one bit without dimensions. What asserts a tensor's type has done so."""
    for module in program.graph_module.modules():
        if isinstance(module, torch.fx.GraphModule):
            rename(module.graph)
            module.recompile()
    return program


def carry_what_loops_read(program):
    """What a loop reads and does not change (weights) is carried through it: the importer knows no other inputs of a loop."""
    for node in list(program.graph.nodes):
        if node.target is not torch.ops.higher_order.while_loop or not node.args[3]:
            continue
        condition, body, carried, read = node.args
        inner = getattr(program.graph_module, body.target)
        results = inner.graph.output_node()
        kept = [each for each in inner.graph.nodes if each.op == "placeholder"][len(carried):]
        results.args = ((*results.args[0], *kept),)
        inner.recompile()
        node.args = (condition, body, (*carried, *read), ())
        node.meta["val"] = (*node.meta["val"], *(each.meta["val"] for each in read))
    return program


def prepared(program, everything=False):
    """`everything`: also what PyTorch itself takes apart, attention and norms among it."""
    known = torch.export.default_decompositions() if everything else {}
    return carry_what_loops_read(without_unknown(program.run_decompositions({**known, **table()})))
