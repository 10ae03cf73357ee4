# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Models of transformers and torchvision, at the sizes they were published in or, of a tiny case, at ones the emulator runs.

A maker takes a case (models.Case) and returns a module that is called with tensors alone and returns one.
"""
from torch import nn


class Plain(nn.Module):
    """A model of transformers that returns one tensor, and is called with tensors alone."""

    def __init__(self, inner, result, **keywords):
        super().__init__()
        self.inner, self.result, self.keywords = inner, result, keywords

    def forward(self, tokens, present):
        return getattr(self.inner(input_ids=tokens, attention_mask=present, **self.keywords), self.result)


def vision(name, always=None, **tiny):
    def make(case):
        import torchvision  # pylint: disable=import-outside-toplevel
        return getattr(torchvision.models, name)(weights=None, **(always or {}), **(tiny if case.tiny else {}))
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


class Segmenter(nn.Module):
    """Of torchvision, whose models return names with their tensors."""

    def __init__(self, inner):
        super().__init__()
        self.inner = inner

    def forward(self, images):
        return self.inner(images)["out"]


def deeplab(case):
    from torchvision.models import segmentation  # pylint: disable=import-outside-toplevel
    make = segmentation.lraspp_mobilenet_v3_large if case.tiny else segmentation.deeplabv3_resnet50
    return Segmenter(make(weights=None, weights_backbone=None, num_classes=21))


def distilbert(case):
    from transformers import DistilBertConfig, DistilBertModel  # pylint: disable=import-outside-toplevel
    small = {"dim": 64, "n_layers": 2, "n_heads": 4, "hidden_dim": 96, "vocab_size": 100}
    return Plain(DistilBertModel(DistilBertConfig(**(small if case.tiny else {}))), "last_hidden_state")


def deberta(case):
    """The base size of the third version: a row of positions is multiplied with queries and keys, and gathered by distance."""
    from transformers import DebertaV2Config, DebertaV2Model  # pylint: disable=import-outside-toplevel
    shared = {"relative_attention": True, "pos_att_type": ["p2c", "c2p"], "position_buckets": 256, "norm_rel_ebd": "layer_norm",
              "share_att_key": True, "position_biased_input": False, "type_vocab_size": 0}
    small = {"hidden_size": 64, "num_hidden_layers": 2, "num_attention_heads": 2, "intermediate_size": 96, "vocab_size": 100}
    large = {"hidden_size": 768, "num_hidden_layers": 12, "num_attention_heads": 12, "intermediate_size": 3072, "vocab_size": 128100}
    return Plain(DebertaV2Model(DebertaV2Config(**shared, **(small if case.tiny else large))), "last_hidden_state")


def pythia(case):
    """The one of 410 million weights, eight layers of it."""
    from transformers import GPTNeoXConfig, GPTNeoXModel  # pylint: disable=import-outside-toplevel
    small = {"hidden_size": 64, "num_hidden_layers": 2, "num_attention_heads": 2, "intermediate_size": 96, "vocab_size": 100}
    large = {"hidden_size": 1024, "num_hidden_layers": 8, "num_attention_heads": 16, "intermediate_size": 4096, "vocab_size": 50304}
    return Plain(GPTNeoXModel(GPTNeoXConfig(**(small if case.tiny else large))), "last_hidden_state", use_cache=False)


def gemma2(case):
    """The widths of the one of 2 billion weights, four layers of it: every other one looks at a window, and scores are capped."""
    from transformers import Gemma2Config, Gemma2Model  # pylint: disable=import-outside-toplevel
    small = {"hidden_size": 64, "num_hidden_layers": 2, "num_attention_heads": 4, "num_key_value_heads": 2, "head_dim": 32,
             "intermediate_size": 96, "vocab_size": 100, "sliding_window": 8}
    large = {"hidden_size": 2304, "num_hidden_layers": 4, "num_attention_heads": 8, "num_key_value_heads": 4, "head_dim": 256,
             "intermediate_size": 9216, "vocab_size": 256000, "sliding_window": 1024}
    return Plain(Gemma2Model(Gemma2Config(**(small if case.tiny else large))), "last_hidden_state", use_cache=False)


def wav2vec2(case):
    """The base size: seven convolutions over a wave, then a transformer."""
    from transformers import Wav2Vec2Config, Wav2Vec2Model  # pylint: disable=import-outside-toplevel
    small = {"hidden_size": 64, "num_hidden_layers": 2, "num_attention_heads": 4, "intermediate_size": 96, "conv_dim": [16, 16, 16],
             "conv_stride": [5, 2, 2], "conv_kernel": [10, 3, 3], "num_feat_extract_layers": 3, "num_conv_pos_embeddings": 16,
             "num_conv_pos_embedding_groups": 4}
    return Encoder(Wav2Vec2Model(Wav2Vec2Config(**(small if case.tiny else {}))))


def segformer(case):
    """b0 with its head that says a class of every fourth pixel."""
    from transformers import SegformerConfig, SegformerForSemanticSegmentation  # pylint: disable=import-outside-toplevel
    small = {"hidden_sizes": [16, 32, 48, 64], "depths": [1, 1, 1, 1], "decoder_hidden_size": 32}

    class Classes(Encoder):
        def forward(self, given):
            return self.inner(given).logits
    return Classes(SegformerForSemanticSegmentation(SegformerConfig(num_labels=19, **(small if case.tiny else {}))))


def clip(case):
    """The base size with patches of 32: how near each image is to each text."""
    from transformers import CLIPConfig, CLIPModel  # pylint: disable=import-outside-toplevel

    class Nearness(nn.Module):
        def __init__(self, inner):
            super().__init__()
            self.inner = inner

        def forward(self, texts, images):
            return self.inner(input_ids=texts, pixel_values=images).logits_per_image
    if not case.tiny:
        return Nearness(CLIPModel(CLIPConfig()))
    small = {"hidden_size": 64, "num_hidden_layers": 2, "num_attention_heads": 4, "intermediate_size": 96}
    return Nearness(CLIPModel(CLIPConfig(text_config=small | {"vocab_size": 100, "max_position_embeddings": 32, "eos_token_id": 99},
                                         vision_config=small | {"image_size": 32, "patch_size": 8}, projection_dim=32)))


def diffusion(case):
    """The U-Net of Stable Diffusion 1.5, of 860 million weights: noise in latent images, of when and of a text's states."""
    from diffusers import UNet2DConditionModel  # pylint: disable=import-outside-toplevel

    class Noise(nn.Module):
        def __init__(self, inner):
            super().__init__()
            self.inner = inner

        def forward(self, images, times, texts):
            return self.inner(images, times, texts, return_dict=False)[0]
    small = {"block_out_channels": (32, 64), "down_block_types": ("CrossAttnDownBlock2D", "DownBlock2D"), "layers_per_block": 1,
             "up_block_types": ("UpBlock2D", "CrossAttnUpBlock2D"), "cross_attention_dim": 32, "norm_num_groups": 8}
    large = {"block_out_channels": (320, 640, 1280, 1280), "cross_attention_dim": 768}
    return Noise(UNet2DConditionModel(sample_size=case.length, attention_head_dim=8, **(small if case.tiny else large)))
