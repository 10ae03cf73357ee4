# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Models that no library has in the size wanted here, written as their authors' readers write them."""
import torch
from torch import nn
from torch.nn import functional


class RmsNorm(nn.Module):
    def __init__(self, width):
        super().__init__()
        self.weight = nn.Parameter(torch.ones(width))

    def forward(self, x):
        wide = x.float()
        return self.weight * (wide * torch.rsqrt(wide.pow(2).mean(-1, keepdim=True) + 1e-5)).to(x.dtype)


def rotate(x, cosine, sine):
    first, second = x.chunk(2, dim=-1)
    return x * cosine + torch.cat((-second, first), dim=-1) * sine


class Layer(nn.Module):
    """Attention with grouped heads and rotated positions, and a gated perceptron."""

    def __init__(self, width, heads, shared, inner):
        super().__init__()
        self.heads, self.shared, self.size = heads, shared, width // heads
        self.before, self.behind = RmsNorm(width), RmsNorm(width)
        self.q = nn.Linear(width, heads * self.size, bias=False)
        self.k = nn.Linear(width, shared * self.size, bias=False)
        self.v = nn.Linear(width, shared * self.size, bias=False)
        self.o = nn.Linear(heads * self.size, width, bias=False)
        self.gate, self.up = nn.Linear(width, inner, bias=False), nn.Linear(width, inner, bias=False)
        self.down = nn.Linear(inner, width, bias=False)

    def forward(self, x, cosine, sine, kept=None):
        normed = self.before(x)
        batch, length, _ = x.shape
        q, k, v = (product(normed).view(batch, length, heads, self.size).transpose(1, 2)
                   for product, heads in ((self.q, self.heads), (self.k, self.shared), (self.v, self.shared)))
        q, k = rotate(q, cosine, sine), rotate(k, cosine, sine)
        new = (k, v)
        if kept is not None:
            k, v = torch.cat((kept[0], k), dim=2), torch.cat((kept[1], v), dim=2)
        made = functional.scaled_dot_product_attention(q, k, v, is_causal=kept is None, enable_gqa=True)
        x = x + self.o(made.transpose(1, 2).reshape(batch, length, -1))
        normed = self.behind(x)
        return x + self.down(functional.silu(self.gate(normed)) * self.up(normed)), new


class Decoder(nn.Module):
    """Without keys: causal over its states. With keys and values of each layer: one more token, and its keys and values."""

    def __init__(self, width, heads, shared, inner, layers):
        super().__init__()
        self.size = width // heads
        self.layers = nn.ModuleList(Layer(width, heads, shared, inner) for _ in range(layers))
        self.norm = RmsNorm(width)

    def forward(self, x, *kept):
        first = kept[0].shape[2] if kept else 0
        places = torch.arange(first, first + x.shape[1], device=x.device, dtype=torch.float32)
        speeds = 10000.0 ** (-torch.arange(0, self.size, 2, device=x.device, dtype=torch.float32) / self.size)
        angles = torch.outer(places, speeds)
        angles = torch.cat((angles, angles), dim=-1)
        cosine, sine = angles.cos().to(x.dtype), angles.sin().to(x.dtype)
        made = []
        for number, layer in enumerate(self.layers):
            x, new = layer(x, cosine, sine, kept[2 * number:2 * number + 2] if kept else None)
            made += new
        return (self.norm(x), *made) if kept else self.norm(x)


class Language(nn.Module):
    """A decoder between its tokens and what it says of the ones behind them: a row of each token."""

    def __init__(self, words, width, heads, layers):
        super().__init__()
        self.words, self.decoder = nn.Embedding(words, width), Decoder(width, heads, heads, 4 * width, layers)
        self.head = nn.Linear(width, words, bias=False)

    def forward(self, tokens):
        return self.head(self.decoder(self.words(tokens))).flatten(0, 1)


class UNetBlock(nn.Module):
    """A residual block of a diffusion model with the time's embedding, and attention over its pixels."""

    def __init__(self, channels, results, groups, time, heads):
        super().__init__()
        self.heads = heads
        self.norms = nn.ModuleList((nn.GroupNorm(groups, channels), nn.GroupNorm(groups, results), nn.GroupNorm(groups, results)))
        self.first, self.second = nn.Conv2d(channels, results, 3, padding=1), nn.Conv2d(results, results, 3, padding=1)
        self.shortcut = nn.Conv2d(channels, results, 1)
        self.time = nn.Linear(time, results)
        self.qkv, self.out = nn.Linear(results, 3 * results), nn.Linear(results, results)

    def forward(self, x, time):
        made = self.first(functional.silu(self.norms[0](x)))
        made = made + self.time(functional.silu(time))[:, :, None, None]
        made = self.shortcut(x) + self.second(functional.silu(self.norms[1](made)))
        batch, channels, height, width = made.shape
        pixels = self.norms[2](made).flatten(2).transpose(1, 2)
        q, k, v = (part.unflatten(-1, (self.heads, -1)).transpose(1, 2) for part in self.qkv(pixels).chunk(3, dim=-1))
        mixed = functional.scaled_dot_product_attention(q, k, v).transpose(1, 2).flatten(2)
        return made + self.out(mixed).transpose(1, 2).view(batch, channels, height, width)


class MixerLayer(nn.Module):
    def __init__(self, patches, width, over_patches, over_channels):
        super().__init__()
        self.before, self.behind = nn.LayerNorm(width), nn.LayerNorm(width)
        self.patches = nn.Sequential(nn.Linear(patches, over_patches), nn.GELU(), nn.Linear(over_patches, patches))
        self.channels = nn.Sequential(nn.Linear(width, over_channels), nn.GELU(), nn.Linear(over_channels, width))

    def forward(self, x):
        x = x + self.patches(self.before(x).transpose(1, 2)).transpose(1, 2)
        return x + self.channels(self.behind(x))


class Mixer(nn.Module):
    def __init__(self, image, patch, colours, width, over_patches, over_channels, layers, classes):
        super().__init__()
        patches = (image // patch) ** 2
        self.stem = nn.Conv2d(colours, width, patch, stride=patch)
        self.layers = nn.Sequential(*(MixerLayer(patches, width, over_patches, over_channels) for _ in range(layers)))
        self.norm, self.head = nn.LayerNorm(width), nn.Linear(width, classes)

    def forward(self, image):
        x = self.layers(self.stem(image).flatten(2).transpose(1, 2))
        return self.head(self.norm(x).mean(dim=1))


class Recurrent(nn.Module):
    """LSTM or another one of PyTorch's, of which the sequence is known to the program."""

    def __init__(self, inputs, width, layers, kind=nn.LSTM):
        super().__init__()
        self.inner = kind(inputs, width, layers, batch_first=True)

    def forward(self, x):
        return self.inner(x)[0]


class Clicks(nn.Module):
    """A recommender: tables of what was seen, a perceptron of numbers, and every pair of them multiplied."""

    def __init__(self, entries, width):
        super().__init__()
        self.tables = nn.ModuleList(nn.Embedding(entries, width) for _ in range(26))
        self.bottom = nn.Sequential(nn.Linear(13, 512), nn.ReLU(), nn.Linear(512, 256), nn.ReLU(), nn.Linear(256, width), nn.ReLU())
        self.top = nn.Sequential(nn.Linear(width + 27 * 26 // 2, 512), nn.ReLU(), nn.Linear(512, 256), nn.ReLU(), nn.Linear(256, 1))
        self.register_buffer("pairs", torch.tril_indices(27, 27, offset=-1), persistent=False)

    def forward(self, numbers, seen):
        dense = self.bottom(numbers)
        rows = torch.stack([dense, *(table(seen[:, i]) for i, table in enumerate(self.tables))], dim=1)
        products = torch.bmm(rows, rows.transpose(1, 2))
        return self.top(torch.cat((dense, products[:, self.pairs[0], self.pairs[1]]), dim=1)).sigmoid()


class GraphNet(nn.Module):
    """Two layers that average a node's neighbours, beside itself."""

    def __init__(self, given, width, classes):
        super().__init__()
        self.own = nn.ModuleList([nn.Linear(given, width), nn.Linear(width, classes)])
        self.near = nn.ModuleList([nn.Linear(given, width, bias=False), nn.Linear(width, classes, bias=False)])

    def forward(self, x, edges):
        start, end = edges[0], edges[1]
        count = torch.zeros(x.shape[0], 1, dtype=x.dtype, device=x.device)
        count = count.index_add(0, end, torch.ones(end.shape[0], 1, dtype=x.dtype, device=x.device)).clamp(min=1)
        for i, (own, near) in enumerate(zip(self.own, self.near)):
            sums = torch.zeros_like(x).index_add(0, end, x[start])
            x = own(x) + near(sums / count)
            x = x.relu() if i == 0 else x
        return x


class PointNet(nn.Module):
    """A perceptron of each point, the largest of all points, and a perceptron of that."""

    def __init__(self, widths, classes):
        super().__init__()
        sizes = [3, *widths]
        self.each = nn.Sequential(*(part for i in range(len(widths)) for part in (
            nn.Conv1d(sizes[i], sizes[i + 1], 1), nn.BatchNorm1d(sizes[i + 1]), nn.ReLU())))
        self.all = nn.Sequential(nn.Linear(sizes[-1], 512), nn.ReLU(), nn.Linear(512, classes))

    def forward(self, points):
        return self.all(self.each(points.transpose(1, 2)).amax(dim=2))


class Radiance(nn.Module):
    """Colour and density of points in space: sines of many frequencies, and eight layers with the points once more in the middle."""

    def __init__(self, width, layers):
        super().__init__()
        self.register_buffer("frequencies", 2.0 ** torch.arange(10), persistent=False)
        self.layers = nn.ModuleList(nn.Linear(60 if i == 0 else width + 60 if i == layers // 2 else width, width) for i in range(layers))
        self.last = nn.Linear(width, 4)

    def forward(self, points):
        angles = (points[..., None] * self.frequencies.to(points.dtype)).flatten(-2)
        given = torch.cat((angles.sin(), angles.cos()), dim=-1)
        x = given
        for i, layer in enumerate(self.layers):
            x = layer(torch.cat((x, given), dim=-1) if i and i == len(self.layers) // 2 else x).relu()
        return self.last(x)
