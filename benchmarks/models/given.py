# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""What the models are called with: random tensors of the sizes that a case says.

Each function takes a case (models.Case) and a generator of random numbers, and returns the inputs in their order.
"""
import torch


def images(case, generator):
    return [torch.randn(case.batch, 3, case.length, case.length, generator=generator).to(case.element())]


def tokens(case, generator):
    """And which of them are there, as tokenizers say it: sequences of a batch are filled up at their ends."""
    ends = case.length - torch.arange(case.batch) * (case.length // (2 * case.batch))
    return [torch.randint(0, 100 if case.tiny else 30000, (case.batch, case.length), generator=generator),
            (torch.arange(case.length)[None, :] < ends[:, None]).long()]


def tokens_alone(case, generator):
    return tokens(case, generator)[:1]


def sounds(case, generator):
    return [torch.randn(case.batch, 20 if case.tiny else 80, 2 * case.length, generator=generator).to(case.element())]


def hidden(width):
    def make(case, generator):
        return [torch.randn(case.batch, case.length, width[case.tiny], generator=generator).to(case.element())]
    return make


def decoder_inputs(case, generator):
    """States of one new token a sequence and, for each layer, the keys and values before them."""
    width, heads, size, layers = (128, 2, 32, 2) if case.tiny else (4096, 8, 128, 4)
    states = torch.randn(case.batch, 1, width, generator=generator)
    kept = [torch.randn(case.batch, heads, case.length, size, generator=generator) for _ in range(2 * layers)]
    return [tensor.to(case.element()) for tensor in [states, *kept]]


def prefill_inputs(case, generator):
    return [torch.randn(case.batch, case.length, 128 if case.tiny else 4096, generator=generator).to(case.element())]


def unet_inputs(case, generator):
    channels, time = (32, 64) if case.tiny else (320, 1280)
    return [torch.randn(case.batch, channels, case.length, case.length, generator=generator).to(case.element()),
            torch.randn(case.batch, time, generator=generator).to(case.element())]


def labelled(inputs, classes):
    def make(case, generator):
        return [*inputs(case, generator), torch.randint(0, classes[case.tiny], (case.batch,), generator=generator)]
    return make


def vectors(case, generator):
    return [torch.randn(case.batch, 32 if case.tiny else 1024, generator=generator).to(case.element())]


def latents(case, generator):
    """Latent images, the time of each, and states of 77 tokens."""
    return [torch.randn(case.batch, 4, case.length, case.length, generator=generator).to(case.element()),
            torch.linspace(20, 900, case.batch).to(case.element()),
            torch.randn(case.batch, 9 if case.tiny else 77, 32 if case.tiny else 768, generator=generator).to(case.element())]


def waves(case, generator):
    return [torch.randn(case.batch, case.length, generator=generator).to(case.element())]


def texts_and_images(case, generator):
    """As many texts as images, each of 77 tokens."""
    size, most, length = (32, 99, 12) if case.tiny else (224, 49406, 77)
    return [torch.randint(0, most, (case.batch, length), generator=generator),
            torch.randn(case.batch, 3, size, size, generator=generator).to(case.element())]


def clicks(case, generator):
    """Numbers of a visit and, of each of 26 kinds, what was seen: small numbers far more often than large ones."""
    seen = torch.rand(case.batch, 26, generator=generator).pow(4) * (100 if case.tiny else 100000)
    return [torch.randn(case.batch, 13, generator=generator).to(case.element()), seen.long()]


def graph(case, generator):
    """Properties of nodes, and edges between them (from, to), 16 a node on average."""
    nodes = case.length
    return [torch.randn(nodes, 32 if case.tiny else 128, generator=generator).to(case.element()),
            torch.randint(0, nodes, (2, 16 * nodes), generator=generator)]


def points(case, generator):
    return [torch.randn(case.batch, case.length, 3, generator=generator).to(case.element())]


def labelled_tokens(case, generator):
    """Every token with the one behind it."""
    made = torch.randint(0, 100 if case.tiny else 30000, (case.batch, case.length + 1), generator=generator)
    return [made[:, :-1].contiguous(), made[:, 1:].flatten()]
