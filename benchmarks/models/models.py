# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The models, and what they are called with. Weights are random, drawn from a seed by each tensor's name, so that two machines
make the same ones and none is carried.

A model is a function of its weights (named tensors) and its inputs. `SETS` says which are measured; the set 'tiny' has the
same models so small that the emulator runs them.
"""
import dataclasses
import hashlib
import math

import torch
from torch import nn
from torch.nn import functional

import blocks
import given
import published

KINDS = {"f32": torch.float32, "tf32": torch.float32, "bf16": torch.bfloat16, "f16": torch.float16}


def decoder(case):
    return blocks.Decoder(128, 4, 2, 192, 2) if case.tiny else blocks.Decoder(4096, 32, 8, 14336, 4)


def unet(case):
    return blocks.UNetBlock(32, 64, 8, 64, 2) if case.tiny else blocks.UNetBlock(320, 640, 32, 1280, 8)


def mixer(case):
    return blocks.Mixer(32, 8, 3, 64, 32, 128, 2, 10) if case.tiny else blocks.Mixer(224, 16, 3, 768, 384, 3072, 12, 1000)


def recurrent(case):
    kind = {"lstm": torch.nn.LSTM, "gru": torch.nn.GRU, "rnn": torch.nn.RNN}[case.model]
    return blocks.Recurrent(32, 64, 1, kind) if case.tiny else blocks.Recurrent(512, 512, 2, kind)


def clicks(case):
    return blocks.Clicks(100, 16) if case.tiny else blocks.Clicks(100000, 64)


def language(case):
    return blocks.Language(100, 64, 2, 1) if case.tiny else blocks.Language(32000, 768, 12, 6)


def graph_net(case):
    return blocks.GraphNet(32, 64, 8) if case.tiny else blocks.GraphNet(128, 256, 40)


def point_net(case):
    return blocks.PointNet((16, 32), 10) if case.tiny else blocks.PointNet((64, 64, 128, 256, 1024), 40)


def radiance(case):
    return blocks.Radiance(64, 4) if case.tiny else blocks.Radiance(256, 8)


def classifier(case):
    """A small net of convolutions for a step of training."""
    width = 16 if case.tiny else 64
    return nn.Sequential(
        nn.Conv2d(3, width, 3, padding=1), nn.ReLU(), nn.Conv2d(width, 2 * width, 3, stride=2, padding=1), nn.ReLU(),
        nn.Conv2d(2 * width, 4 * width, 3, stride=2, padding=1), nn.ReLU(), nn.AdaptiveAvgPool2d(1), nn.Flatten(),
        nn.Linear(4 * width, 10))


def perceptron(case):
    sizes = (32, 64, 10) if case.tiny else (1024, 4096, 1000)
    return nn.Sequential(nn.Linear(sizes[0], sizes[1]), nn.GELU(), nn.LayerNorm(sizes[1]), nn.Linear(sizes[1], sizes[2]))


MODELS = {
    "resnet50": (published.vision("resnet50", num_classes=10), given.images),
    "mobilenet_v2": (published.vision("mobilenet_v2", num_classes=10, width_mult=0.25), given.images),
    "efficientnet_b0": (published.vision("efficientnet_b0", num_classes=10), given.images),
    "densenet121": (published.vision("densenet121", num_classes=10, block_config=(2, 2)), given.images),
    "mobilenet_v3_large": (published.vision("mobilenet_v3_large", num_classes=10), given.images),
    "mnasnet1_0": (published.vision("mnasnet1_0", num_classes=10), given.images),
    "regnet_y_800mf": (published.vision("regnet_y_800mf", num_classes=10), given.images),
    "shufflenet_v2_x1_0": (published.vision("shufflenet_v2_x1_0", num_classes=10), given.images),
    "resnext50_32x4d": (published.vision("resnext50_32x4d", num_classes=10), given.images),
    "convnext_tiny": (published.vision("convnext_tiny", num_classes=10), given.images),
    "swin_t": (published.vision("swin_t", num_classes=10), given.images),
    "vit_b_16": (published.vit_b_16, given.images),
    "bert": (published.bert, given.tokens),
    "gpt2": (published.gpt2, given.tokens),
    "llama": (published.llama, given.tokens),
    "modernbert": (published.modernbert, given.tokens),
    "qwen3": (published.qwen3, given.tokens),
    "t5": (published.t5, given.tokens_alone),
    "whisper": (published.whisper, given.sounds),
    "regnet": (published.vision("regnet_y_3_2gf", num_classes=10), given.images),
    "vgg16": (published.vision("vgg16", num_classes=10), given.images),
    "inception": (published.vision("inception_v3", {"aux_logits": False, "init_weights": False}, num_classes=10), given.images),
    "deeplab": (published.deeplab, given.images),
    "segformer": (published.segformer, given.images),
    "distilbert": (published.distilbert, given.tokens),
    "deberta": (published.deberta, given.tokens),
    "pythia": (published.pythia, given.tokens),
    "gemma2": (published.gemma2, given.tokens),
    "wav2vec2": (published.wav2vec2, given.waves),
    "clip": (published.clip, given.texts_and_images),
    "diffusion": (published.diffusion, given.latents),
    "clicks": (clicks, given.clicks),
    "graph": (graph_net, given.graph),
    "points": (point_net, given.points),
    "radiance": (radiance, given.points),
    "decoder": (decoder, given.prefill_inputs),
    "decode": (decoder, given.decoder_inputs),
    "unet": (unet, given.unet_inputs),
    "mixer": (mixer, given.images),
    "lstm": (recurrent, given.hidden((512, 32))),
    "gru": (recurrent, given.hidden((512, 32))),
    "rnn": (recurrent, given.hidden((512, 32))),
    "train_conv": (classifier, given.labelled(given.images, (10, 10))),
    "train_decoder": (language, given.labelled_tokens),
    "train_mlp": (perceptron, given.labelled(given.vectors, (1000, 10))),
}


@dataclasses.dataclass(frozen=True)
class Case:
    model: str
    kind: str = "bf16"
    batch: int = 1
    length: int = 0  # of a sequence, or of an image's side
    tiny: bool = False
    dynamic: str = ""  # "batch", "length": sizes that the program does not know

    def name(self):
        parts = [self.model, self.kind, f"b{self.batch}", f"n{self.length}" if self.length else "", self.dynamic]
        return "_".join([*(part for part in parts if part), *(["tiny"] if self.tiny else [])])

    def element(self):
        return KINDS[self.kind]

    def flags(self):
        return ["--f32-products=tf32"] if self.kind == "tf32" else []

    def trains(self):
        return self.model.startswith("train_")


def random_weight(name, shape, kind, device="cpu"):
    """By name alone. Norms are about one, variances above zero, and matrices keep the size of what they multiply."""
    generator = torch.Generator(device).manual_seed(int.from_bytes(hashlib.sha256(name.encode()).digest()[:6], "little"))
    made = torch.randn(shape, generator=generator, device=device)
    if name.endswith("running_var"):
        made = 1 + 0.2 * made.tanh()
    elif len(shape) == 1:
        made = 0.1 * made + (1 if name.endswith("weight") else 0)
    elif len(shape) > 1:
        made = made / math.sqrt(math.prod(shape[1:]))
    return made.to(kind)


def build(case, device="cpu"):
    """The module, in evaluation; the weights it has are of no use. What it computes with beside them stays as it made it."""
    with torch.device(device):
        return MODELS[case.model][0](case).eval()


def weight_shapes(net):
    """name -> shape of all that is passed to a call: parameters, and statistics of batches."""
    shapes = {name: tuple(tensor.shape) for name, tensor in net.named_parameters()}
    return shapes | {name: tuple(tensor.shape) for name, tensor in net.named_buffers() if "running_" in name}


def weights(case, shapes, device="cpu"):
    """In the order of `shapes`."""
    return [random_weight(name, shape, case.element(), device) for name, shape in shapes.items()]


def inputs(case, device="cpu"):
    generator = torch.Generator().manual_seed(case.batch * 1009 + case.length)
    return [tensor.to(device) for tensor in MODELS[case.model][1](case, generator)]


def function(case, net, names):
    """(weights, *inputs) -> tensors: what is exported, and what PyTorch is timed with."""
    def forward(values, *tensors):
        return torch.func.functional_call(net, dict(zip(names, values)), tensors)

    def step(values, *tensors):
        def loss(values):
            return functional.cross_entropy(forward(values, *tensors[:-1]).float(), tensors[-1])
        gradients, value = torch.func.grad_and_value(loss)(values)
        return (value, *gradients)
    return step if case.trains() else forward


# Depthwise convolutions, gates of whole images, groups, channels that are shuffled.
MOBILE = ("mobilenet_v3_large", "mnasnet1_0", "regnet_y_800mf", "shufflenet_v2_x1_0", "resnext50_32x4d")
SETS = {
    "mobile": [Case(model, "bf16", 32, 224) for model in ("efficientnet_b0", *MOBILE, "mobilenet_v2")],
    "tiny": [Case("resnet50", kind, 1, 64, True) for kind in ("f32", "bf16")] +
            [Case("mobilenet_v2", kind, 1, 64, True) for kind in ("f32", "bf16")] +
            [Case("vit_b_16", kind, 2, 32, True) for kind in ("f32", "bf16")] +
            [Case("bert", kind, 2, 24, True) for kind in ("f32", "bf16")] +
            [Case("gpt2", kind, 2, 40, True) for kind in ("f32", "bf16")] +
            [Case("llama", kind, 2, 40, True) for kind in ("f32", "bf16")] +
            [Case(model, kind, 1, 64, True) for model in ("efficientnet_b0", "densenet121", *MOBILE) for kind in ("f32", "bf16")] +
            [Case(model, kind, 1, 32, True) for model in ("convnext_tiny", "swin_t") for kind in ("f32", "bf16")] +
            [Case(model, kind, 2, 40, True) for model in ("modernbert", "qwen3", "t5") for kind in ("f32", "bf16")] +
            [Case("whisper", kind, 2, 20, True) for kind in ("f32", "bf16")] +
            [Case("decoder", kind, 2, 40, True) for kind in ("f32", "bf16")] +
            [Case("decode", kind, 2, 39, True) for kind in ("f32", "bf16")] +
            [Case("unet", kind, 2, 8, True) for kind in ("f32", "bf16")] +
            [Case("mixer", kind, 2, 32, True) for kind in ("f32", "bf16")] +
            [Case(model, kind, 2, 5, True) for model in ("lstm", "gru", "rnn") for kind in ("f32", "bf16")] +
            [Case(model, kind, 1, 64, True) for model in ("regnet", "vgg16", "deeplab", "segformer")
             for kind in ("f32", "bf16")] +
            [Case("inception", "f32", 1, 96, True)] +
            [Case(model, kind, 2, 40, True) for model in ("distilbert", "deberta", "pythia", "gemma2")
             for kind in ("f32", "bf16")] +
            [Case("wav2vec2", kind, 2, 400, True) for kind in ("f32", "bf16")] +
            [Case("clip", kind, 3, 0, True) for kind in ("f32", "bf16")] +
            [Case("diffusion", kind, 2, 8, True) for kind in ("f32", "f16")] +
            [Case("clicks", "f32", 5, 0, True), Case("graph", "f32", 1, 50, True), Case("points", "f32", 2, 33, True),
             Case("radiance", "f32", 2, 33, True)] +
            [Case("train_decoder", kind, 2, 16, True) for kind in ("f32", "bf16")] +
            [Case("train_conv", kind, 2, 16, True) for kind in ("f32", "bf16")] +
            [Case("train_mlp", kind, 16, 0, True) for kind in ("f32", "bf16")],
    "first": [Case("resnet50", "bf16", 1, 224), Case("resnet50", "bf16", 32, 224), Case("resnet50", "f32", 32, 224),
              Case("mobilenet_v2", "bf16", 32, 224), Case("vit_b_16", "bf16", 32, 224), Case("vit_b_16", "f32", 8, 224),
              Case("bert", "bf16", 8, 128), Case("bert", "bf16", 8, 512), Case("bert", "f32", 8, 128),
              Case("gpt2", "bf16", 1, 1024), Case("llama", "bf16", 1, 512), Case("llama", "bf16", 1, 2048),
              Case("decoder", "bf16", 1, 128), Case("decoder", "bf16", 1, 2048),
              Case("decode", "bf16", 1, 2047), Case("decode", "bf16", 16, 2047),
              Case("unet", "bf16", 2, 64), Case("unet", "bf16", 2, 32), Case("mixer", "bf16", 32, 224),
              Case("lstm", "bf16", 32, 32), Case("train_conv", "bf16", 32, 32), Case("train_mlp", "bf16", 1024, 0)],
    "second": [Case("convnext_tiny", "bf16", 32, 224), Case("swin_t", "bf16", 32, 224), Case("efficientnet_b0", "bf16", 32, 224),
               Case("densenet121", "bf16", 32, 224), Case("modernbert", "bf16", 8, 512), Case("qwen3", "bf16", 1, 1024),
               Case("t5", "bf16", 8, 512), Case("whisper", "bf16", 4, 1500), Case("resnet50", "tf32", 32, 224),
               Case("bert", "tf32", 8, 512), Case("lstm", "bf16", 32, 32), Case("train_conv", "bf16", 32, 32)],
    "third": [Case("mobilenet_v3_large", "bf16", 32, 224), Case("regnet", "bf16", 32, 224), Case("vgg16", "f16", 16, 224),
              Case("inception", "f16", 32, 299), Case("deeplab", "bf16", 4, 512), Case("segformer", "bf16", 8, 512),
              Case("distilbert", "f16", 32, 128), Case("deberta", "bf16", 8, 256), Case("pythia", "bf16", 4, 1024),
              Case("gemma2", "bf16", 1, 2048), Case("wav2vec2", "bf16", 8, 80000),
              Case("clip", "f16", 64), Case("diffusion", "f16", 2, 64), Case("clicks", "f32", 2048), Case("graph", "f32", 1, 65536), Case("points", "f32", 32, 1024),
              Case("radiance", "f32", 64, 1024), Case("train_decoder", "bf16", 4, 512), Case("decode", "f16", 8, 4095)],
    "recurrent": [Case("lstm", "bf16", batch, 32) for batch in (1, 8, 32, 64)] +
                 [Case("lstm", kind, batch, 32) for kind, batch in (("f32", 1), ("f32", 8), ("f32", 64), ("tf32", 64))] +
                 [Case("gru", "bf16", batch, 32) for batch in (1, 8, 32)] + [Case("gru", "f32", 8, 32), Case("rnn", "bf16", 32, 32)],
    "dynamic": [Case("resnet50", "bf16", 32, 224, dynamic="batch"), Case("vit_b_16", "bf16", 32, 224, dynamic="batch"),
                Case("bert", "bf16", 8, 128, dynamic="batch"), Case("bert", "bf16", 8, 512, dynamic="length"),
                Case("llama", "bf16", 1, 2048, dynamic="length"), Case("mobilenet_v2", "bf16", 32, 224, dynamic="batch"),
                Case("gpt2", "bf16", 1, 1024, dynamic="length"), Case("mixer", "bf16", 32, 224, dynamic="batch"),
                Case("decoder", "bf16", 1, 2048, dynamic="length"), Case("t5", "bf16", 8, 512, dynamic="length")],
}
