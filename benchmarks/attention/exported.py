# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""One token against keys that are kept, as users of PyTorch and JAX write it: a cache with more slots than keys, whose length is a
tensor; the new key written into it, or put behind it; sequences of different lengths; windows; sizes that the program does not know.

FORMS has each as a function of PyTorch; those of JAX (export_jax.py) have the same meaning as the one of their name here.
"""
import dataclasses
import math
import typing

import torch
from torch.nn import functional

WINDOW = 1024


def attend(q, k, v, mask):
    return functional.scaled_dot_product_attention(q, k, v, attn_mask=mask, enable_gqa=True)


def in_steps(q, k, v, mask):
    """As transformers has it where nobody asks for more: keys are repeated, softmax is one of f32."""
    batch, shared, slots, depth = k.shape
    each = q.shape[1] // shared
    k, v = (x[:, :, None].expand(batch, shared, each, slots, depth).reshape(batch, shared * each, slots, depth) for x in (k, v))
    scores = torch.matmul(q, k.transpose(2, 3)) * depth ** -0.5
    if mask is not None:
        scores = scores + torch.where(mask, torch.zeros((), dtype=q.dtype, device=q.device), torch.full((), torch.finfo(q.dtype).min, dtype=q.dtype, device=q.device))
    return torch.matmul(functional.softmax(scores, dim=-1, dtype=torch.float32).to(q.dtype), v)


def places(k):
    return torch.arange(k.shape[2], device=k.device)


def up_to(k, position):
    return (places(k)[None, :] <= position[:, None])[None, None]


def below(k, lengths):
    return (places(k)[None, :] < lengths[:, None])[:, None, None, :]


def appended(by):
    def run(q, keys, values, k, v, position):
        keys, values = keys.index_copy(2, position, k), values.index_copy(2, position, v)
        return by(q, keys, values, up_to(keys, position)), keys, values
    return run


def written(by):
    """The caller's caches change."""
    def run(q, keys, values, k, v, position):
        keys.index_copy_(2, position, k)
        values.index_copy_(2, position, v)
        return by(q, keys, values, up_to(keys, position))
    return run


def behind(by):
    def run(q, keys, values, k, v):
        keys, values = torch.cat((keys, k), 2), torch.cat((values, v), 2)
        return by(q, keys, values, None), keys, values
    return run


def in_window(q, k, v, position):
    return attend(q, k, v, up_to(k, position) & (places(k)[None, :] > position[:, None] - WINDOW)[None, None])


def heads_inside(inner):
    """Of tensors that have heads behind the slots."""
    def run(q, *given):
        made = inner(q.transpose(1, 2), *(x.transpose(1, 2) if x.dim() == 4 else x for x in given))
        made = made if isinstance(made, tuple) else (made,)
        return tuple(x.transpose(1, 2) for x in made)
    return run


def each_at(q, keys, values, k, v, lengths):
    """Every sequence has a place of its own for the new key."""
    at = torch.arange(q.shape[0], device=q.device)
    keys, values = (kept.transpose(1, 2).index_put((at, lengths.long()), new[:, :, 0]).transpose(1, 2) for kept, new in ((keys, k), (values, v)))
    return attend(q, keys, values, below(keys, lengths + 1)), keys, values


@dataclasses.dataclass(frozen=True)
class Form:
    title: str
    function: typing.Callable
    new: bool = False        # a key and its values are given beside those that are kept
    number: str = ""         # "one": where the token stands, "each": a length of each sequence
    unknown: str = ""        # sizes: "b", "n"
    inside: bool = False     # heads lie behind the slots
    by: str = "torch"
    writes: bool = False     # the caches are the caller's, who has the new key written into them: assigned to, or donated
    batch: int = 8
    slots: int = 8192
    heads: int = 32
    shared: int = 8          # heads of keys
    depth: int = 128

    def name(self):
        return self.title

    def number_type(self):
        return torch.int64 if self.by == "torch" else torch.int32

    def shapes(self):
        """Of the tensors, each with the letters of its sizes; those without are numbers."""
        order = "bnhd" if self.inside else "bhnd"
        size = {"b": self.batch, "n": self.slots, "d": self.depth}
        def tensor(heads, slots):
            return tuple({**size, "h": heads, "n": slots}[c] for c in order)
        kept, one = tensor(self.shared, self.slots), tensor(self.shared, 1)
        found = [(tensor(self.heads, 1), order.replace("n", "1")), (kept, order), (kept, order)] + [(one, order.replace("n", "1"))] * (2 * self.new)
        if self.number:
            scalar = self.by == "jax" and self.number == "one"
            found.append(((), "") if scalar else ((self.batch if self.number == "each" else 1,), "b" if self.number == "each" else "1"))
        return found

    def read_bytes(self):
        return 2 * 2 * self.batch * self.shared * self.slots * self.depth

    def operations(self):
        return 4 * self.batch * self.heads * self.slots * self.depth


def jax(title, function, **more):
    return Form(title, heads_inside(function), inside=True, by="jax", **more)


def one_position(inner):
    return lambda *given: inner(*given[:-1], given[-1].reshape(1).long())


FORMS = [
    Form("kept", lambda q, k, v, position: attend(q, k, v, up_to(k, position)), number="one"),
    Form("kept_64_heads", lambda q, k, v, position: attend(q, k, v, up_to(k, position)), number="one", heads=64),
    Form("kept_appended", appended(attend), new=True, number="one"),
    Form("kept_appended_steps", appended(in_steps), new=True, number="one"),
    Form("lengths", lambda q, k, v, lengths: attend(q, k, v, below(k, lengths)), number="each"),
    Form("lengths_steps", lambda q, k, v, lengths: in_steps(q, k, v, below(k, lengths)), number="each"),
    Form("lengths_appended", each_at, new=True, number="each"),
    Form("window", in_window, number="one"),
    Form("behind", behind(attend), new=True),
    Form("behind_unknown", behind(attend), new=True, unknown="n"),
    Form("behind_unknown_steps", behind(in_steps), new=True, unknown="n"),
    Form("unknown", lambda q, k, v: attend(q, k, v, None), unknown="n"),
    Form("lengths_unknown", lambda q, k, v, lengths: attend(q, k, v, below(k, lengths)), number="each", unknown="bn"),
    Form("lengths_unknown_steps", lambda q, k, v, lengths: in_steps(q, k, v, below(k, lengths)), number="each", unknown="bn"),
    jax("jax_plain", lambda q, k, v: attend(q, k, v, None)),
    jax("jax_lengths", lambda q, k, v, lengths: attend(q, k, v, below(k, lengths)), number="each"),
    jax("jax_repeated", lambda q, k, v, lengths: attend(q, k, v, below(k, lengths)), number="each"),
    jax("jax_window", one_position(in_window), number="one"),
    jax("jax_appended", one_position(appended(attend)), new=True, number="one"),
    jax("jax_grouped_appended", one_position(appended(attend)), new=True, number="one"),
    jax("jax_lengths_appended", each_at, new=True, number="each"),
]
# Caches that are written, and the same as values: then a program copies them.
BATCHES = (1, 16, 128)
DONATED = [Form(f"written_{batch}", written(attend), new=True, number="one", batch=batch, writes=True) for batch in BATCHES]
DONATED += [jax(f"jax_written_{batch}", one_position(written(attend)), new=True, number="one", batch=batch, writes=True) for batch in BATCHES]
AS_VALUES = [dataclasses.replace(form, function=(one_position(heads_inside(appended(attend))) if form.inside else appended(attend)), writes=False)
             for form in DONATED]
SETS = {"first": FORMS, "exported": FORMS, "donated": DONATED, "as_values": AS_VALUES,
        "donated_tiny": [dataclasses.replace(form, batch=3, slots=200, heads=8, shared=2, depth=64) for form in DONATED],
        "exported_tiny": [dataclasses.replace(form, batch=3, slots=200, heads=8, shared=2, depth=64) for form in FORMS]}


def given(form, generator, device):
    """Tensors to call it with: three quarters of the slots hold keys, or as many as chance says."""
    tensors = []
    for shape, letters in form.shapes():
        if len(letters) == 4:
            tensors.append(torch.randn(shape, generator=generator, device=device).to(torch.bfloat16))
        elif form.number == "one":
            tensors.append(torch.full(shape, math.ceil(form.slots * 0.75), dtype=form.number_type(), device=device))
        else:
            tensors.append(torch.randint(form.slots // 4, form.slots - 1, shape, generator=generator, device=device).to(form.number_type()))
    return tensors
