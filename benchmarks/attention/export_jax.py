# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The forms of exported.py that users of JAX write, and what jax.export makes of them."""
import re

import exported


def functions():
    import jax  # pylint: disable=import-outside-toplevel
    from jax import lax, numpy as jnp  # pylint: disable=import-outside-toplevel

    attend = jax.nn.dot_product_attention

    def written(kept, new, position):
        return lax.dynamic_update_slice(kept, new, (0, position, 0, 0))

    def in_window(q, k, v, position):
        n = jnp.arange(k.shape[1])
        return attend(q, k, v, mask=((n <= position) & (n > position - exported.WINDOW))[None, None, None, :])

    def appended(q, keys, values, k, v, position):
        keys, values = written(keys, k, position), written(values, v, position)
        return attend(q, keys, values, key_value_seq_lengths=jnp.full((q.shape[0],), position + 1)), keys, values

    def grouped_appended(q, keys, values, k, v, position):
        """Sums over named dimensions, what is hidden being a large negative number."""
        keys, values = written(keys, k, position), written(values, v, position)
        batch, rows, heads, depth = q.shape
        shared = keys.shape[2]
        q = q.reshape(batch, rows, shared, heads // shared, depth) * (depth ** -0.5)
        scores = jnp.einsum("btkgd,bskd->bkgts", q, keys, preferred_element_type=jnp.float32)
        scores = jnp.where((jnp.arange(keys.shape[1]) <= position)[None, None, None, None, :], scores, -0.7 * float(jnp.finfo(jnp.float32).max))
        weights = jax.nn.softmax(scores, axis=-1).astype(q.dtype)
        return jnp.einsum("bkgts,bskd->btkgd", weights, values).reshape(batch, rows, heads, depth), keys, values

    def repeated(q, k, v, lengths):
        k, v = (jnp.repeat(x, q.shape[2] // x.shape[2], axis=2) for x in (k, v))
        scores = jnp.einsum("bqhd,bkhd->bhqk", q, k).astype(jnp.float32) / jnp.sqrt(q.shape[-1])
        seen = jnp.arange(k.shape[1])[None, :] < lengths[:, None]
        weights = jax.nn.softmax(jnp.where(seen[:, None, None, :], scores, -1e30), axis=-1).astype(q.dtype)
        return jnp.einsum("bhqk,bkhd->bqhd", weights, v)

    def lengths_appended(q, keys, values, k, v, lengths):
        at = jnp.arange(q.shape[0])
        keys, values = keys.at[at, lengths].set(k[:, 0]), values.at[at, lengths].set(v[:, 0])
        return attend(q, keys, values, key_value_seq_lengths=lengths + 1), keys, values

    return {"jax_plain": attend, "jax_lengths": lambda q, k, v, lengths: attend(q, k, v, key_value_seq_lengths=lengths), "jax_repeated": repeated,
            "jax_written": appended, "jax_window": in_window, "jax_appended": appended, "jax_grouped_appended": grouped_appended, "jax_lengths_appended": lengths_appended}


def text(form):
    import jax  # pylint: disable=import-outside-toplevel
    from jax import numpy as jnp  # pylint: disable=import-outside-toplevel

    given = [jax.ShapeDtypeStruct(shape, jnp.bfloat16 if len(letters) == 4 else jnp.int32) for shape, letters in form.shapes()]
    name = re.sub(r"_[0-9]+$", "", form.name())
    called = jax.jit(functions()[name], donate_argnums=(1, 2) if form.writes else ())
    made = str(jax.export.export(called, platforms=["cuda"])(*given).mlir_module())
    # The importer of IREE knows no algorithm of a product, and takes none for f32 sums, which these are.
    made = re.sub(r", algorithm = <[^>]*>", "", made)
    return made.replace("func.func public @main(", "func.func public @run(")
