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

from blocks import Decoder, Mixer, Recurrent, UNetBlock

KINDS = {"f32": torch.float32, "tf32": torch.float32, "bf16": torch.bfloat16, "f16": torch.float16}


class Plain(nn.Module):
    """A model of transformers that returns one tensor, and is called with tensors alone."""

    def __init__(self, inner, result, **keywords):
        super().__init__()
        self.inner, self.result, self.keywords = inner, result, keywords

    def forward(self, tokens, present):
        return getattr(self.inner(input_ids=tokens, attention_mask=present, **self.keywords), self.result)


def vision(name, **tiny):
    def make(case):
        import torchvision  # pylint: disable=import-outside-toplevel
        return getattr(torchvision.models, name)(weights=None, **(tiny if case.tiny else {}))
    return make


def vit_b_16(case):
    import torchvision  # pylint: disable=import-outside-toplevel
    if case.tiny:
        return torchvision.models.VisionTransformer(case.length, 8, 2, 2, 64, 128, num_classes=10)
    return torchvision.models.vit_b_16(weights=None)


def bert(case):
    from transformers import BertConfig, BertModel  # pylint: disable=import-outside-toplevel
    small = {"hidden_size": 64, "num_hidden_layers": 2, "num_attention_heads": 2, "intermediate_size": 128, "vocab_size": 100}
    return Plain(BertModel(BertConfig(**(small if case.tiny else {}))), "last_hidden_state")


def gpt2(case):
    from transformers import GPT2Config, GPT2LMHeadModel  # pylint: disable=import-outside-toplevel
    small = {"n_embd": 64, "n_layer": 2, "n_head": 2, "vocab_size": 100, "n_positions": 64}
    return Plain(GPT2LMHeadModel(GPT2Config(**(small if case.tiny else {}))), "logits", use_cache=False)


def llama(case):
    from transformers import LlamaConfig, LlamaModel  # pylint: disable=import-outside-toplevel
    small = {"hidden_size": 128, "num_hidden_layers": 2, "num_attention_heads": 4, "num_key_value_heads": 2,
             "intermediate_size": 192, "vocab_size": 100}
    large = {"hidden_size": 2048, "num_hidden_layers": 4, "num_attention_heads": 32, "num_key_value_heads": 8,
             "intermediate_size": 5632, "vocab_size": 32000}
    return Plain(LlamaModel(LlamaConfig(**(small if case.tiny else large))), "last_hidden_state", use_cache=False)


def modernbert(case):
    """Every third layer looks at all tokens, the others at a window."""
    from transformers import ModernBertConfig, ModernBertModel  # pylint: disable=import-outside-toplevel
    small = {"hidden_size": 64, "num_hidden_layers": 2, "num_attention_heads": 2, "intermediate_size": 96, "vocab_size": 100,
             "pad_token_id": 0, "bos_token_id": 1, "eos_token_id": 2, "cls_token_id": 1, "sep_token_id": 2}
    return Plain(ModernBertModel(ModernBertConfig(**(small if case.tiny else {}))), "last_hidden_state")


def qwen3(case):
    """The widths of the one of 0.6 billion weights, six layers of it."""
    from transformers import Qwen3Config, Qwen3Model  # pylint: disable=import-outside-toplevel
    small = {"hidden_size": 64, "num_hidden_layers": 2, "num_attention_heads": 4, "num_key_value_heads": 2, "head_dim": 32,
             "intermediate_size": 96, "vocab_size": 100}
    large = {"hidden_size": 1024, "num_hidden_layers": 6, "num_attention_heads": 16, "num_key_value_heads": 8, "head_dim": 128,
             "intermediate_size": 3072, "vocab_size": 151936}
    return Plain(Qwen3Model(Qwen3Config(**(small if case.tiny else large))), "last_hidden_state", use_cache=False)


class Encoder(nn.Module):
    """Of transformers, from the tensor that it is called with to its states."""

    def __init__(self, inner):
        super().__init__()
        self.inner = inner

    def forward(self, given):
        return self.inner(given).last_hidden_state


def t5(case):
    """The encoder of t5-base."""
    from transformers import T5Config, T5EncoderModel  # pylint: disable=import-outside-toplevel
    small = {"vocab_size": 100, "d_model": 64, "d_kv": 16, "d_ff": 96, "num_layers": 2, "num_heads": 4}
    large = {"d_model": 768, "d_kv": 64, "d_ff": 3072, "num_layers": 12, "num_heads": 12}
    return Encoder(T5EncoderModel(T5Config(**(small if case.tiny else large))))


def whisper(case):
    """The encoder of whisper-small, of 30 seconds."""
    from transformers import WhisperConfig, WhisperModel  # pylint: disable=import-outside-toplevel
    small = {"d_model": 64, "encoder_layers": 2, "encoder_attention_heads": 4, "encoder_ffn_dim": 96, "decoder_layers": 1,
             "max_source_positions": 20, "num_mel_bins": 20}
    large = {"d_model": 768, "encoder_layers": 12, "encoder_attention_heads": 12, "encoder_ffn_dim": 3072, "decoder_layers": 1,
             "max_source_positions": 1500, "num_mel_bins": 80}
    return Encoder(WhisperModel(WhisperConfig(**(small if case.tiny else large))).encoder)


def decoder(case):
    return Decoder(128, 4, 2, 192, 2) if case.tiny else Decoder(4096, 32, 8, 14336, 4)


def unet(case):
    return UNetBlock(32, 64, 8, 64, 2) if case.tiny else UNetBlock(320, 640, 32, 1280, 8)


def mixer(case):
    return Mixer(32, 8, 3, 64, 32, 128, 2, 10) if case.tiny else Mixer(224, 16, 3, 768, 384, 3072, 12, 1000)


def recurrent(case):
    return Recurrent(32, 64, 1) if case.tiny else Recurrent(512, 512, 2)


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


def images(case, generator):
    return [torch.randn(case.batch, 3, case.length, case.length, generator=generator).to(KINDS[case.kind])]


def tokens(case, generator):
    """And which of them are there, as tokenizers say it: sequences of a batch are filled up at their ends."""
    ends = case.length - torch.arange(case.batch) * (case.length // (2 * case.batch))
    return [torch.randint(0, 100 if case.tiny else 30000, (case.batch, case.length), generator=generator),
            (torch.arange(case.length)[None, :] < ends[:, None]).long()]


def tokens_alone(case, generator):
    return tokens(case, generator)[:1]


def sounds(case, generator):
    return [torch.randn(case.batch, 20 if case.tiny else 80, 2 * case.length, generator=generator).to(KINDS[case.kind])]


def hidden(width):
    def make(case, generator):
        return [torch.randn(case.batch, case.length, width[case.tiny], generator=generator).to(KINDS[case.kind])]
    return make


def decoder_inputs(case, generator):
    """States of one new token a sequence and, for each layer, the keys and values before them."""
    width, heads, size, layers = (128, 2, 32, 2) if case.tiny else (4096, 8, 128, 4)
    states = torch.randn(case.batch, 1, width, generator=generator)
    kept = [torch.randn(case.batch, heads, case.length, size, generator=generator) for _ in range(2 * layers)]
    return [tensor.to(KINDS[case.kind]) for tensor in [states, *kept]]


def prefill_inputs(case, generator):
    return [torch.randn(case.batch, case.length, 128 if case.tiny else 4096, generator=generator).to(KINDS[case.kind])]


def unet_inputs(case, generator):
    channels, time = (32, 64) if case.tiny else (320, 1280)
    return [torch.randn(case.batch, channels, case.length, case.length, generator=generator).to(KINDS[case.kind]),
            torch.randn(case.batch, time, generator=generator).to(KINDS[case.kind])]


def labelled(inputs, classes):
    def make(case, generator):
        return [*inputs(case, generator), torch.randint(0, classes[case.tiny], (case.batch,), generator=generator)]
    return make


def vectors(case, generator):
    return [torch.randn(case.batch, 32 if case.tiny else 1024, generator=generator).to(KINDS[case.kind])]


MODELS = {
    "resnet50": (vision("resnet50", num_classes=10), images),
    "mobilenet_v2": (vision("mobilenet_v2", num_classes=10, width_mult=0.25), images),
    "efficientnet_b0": (vision("efficientnet_b0", num_classes=10), images),
    "densenet121": (vision("densenet121", num_classes=10, block_config=(2, 2)), images),
    "mobilenet_v3_large": (vision("mobilenet_v3_large", num_classes=10), images),
    "mnasnet1_0": (vision("mnasnet1_0", num_classes=10), images),
    "regnet_y_800mf": (vision("regnet_y_800mf", num_classes=10), images),
    "shufflenet_v2_x1_0": (vision("shufflenet_v2_x1_0", num_classes=10), images),
    "resnext50_32x4d": (vision("resnext50_32x4d", num_classes=10), images),
    "convnext_tiny": (vision("convnext_tiny", num_classes=10), images),
    "swin_t": (vision("swin_t", num_classes=10), images),
    "vit_b_16": (vit_b_16, images),
    "bert": (bert, tokens),
    "gpt2": (gpt2, tokens),
    "llama": (llama, tokens),
    "modernbert": (modernbert, tokens),
    "qwen3": (qwen3, tokens),
    "t5": (t5, tokens_alone),
    "whisper": (whisper, sounds),
    "decoder": (decoder, prefill_inputs),
    "decode": (decoder, decoder_inputs),
    "unet": (unet, unet_inputs),
    "mixer": (mixer, images),
    "lstm": (recurrent, hidden((512, 32))),
    "train_conv": (classifier, labelled(images, (10, 10))),
    "train_mlp": (perceptron, labelled(vectors, (1000, 10))),
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
    return [random_weight(name, shape, KINDS[case.kind], device) for name, shape in shapes.items()]


def inputs(case, device="cpu"):
    generator = torch.Generator().manual_seed(case.batch * 1009 + case.length)
    return [tensor.to(device) for tensor in MODELS[case.model][1](case, generator)]


def function(case, net, names):
    """(weights, *inputs) -> tensors: what is exported, and what PyTorch is timed with."""
    def forward(given, *tensors):
        return torch.func.functional_call(net, dict(zip(names, given)), tensors)

    def step(given, *tensors):
        def loss(given):
            return functional.cross_entropy(forward(given, *tensors[:-1]).float(), tensors[-1])
        gradients, value = torch.func.grad_and_value(loss)(given)
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
            [Case("lstm", kind, 2, 5, True) for kind in ("f32", "bf16")] +
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
}
