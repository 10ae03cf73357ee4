# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Samples of PyTorch's own tests of operators as programs: exported by torch.export, lowered to tensor code by IREE's importer.

Needs torch, iree-base-compiler and iree-turbine. The importer may end the process, or never come back: whoever calls this
does so in a process that may die."""
import os
import random
import signal
import tempfile
from ctypes import c_char_p, c_void_p

import numpy as np
import torch
from torch.testing._internal.common_methods_invocations import op_db
from torch.testing._internal.common_modules import module_db
from torch.utils import _pytree

import iree.compiler.api.ctypes_dl as iree_api
import iree.compiler.ir as iree_ir
from iree.compiler.extras.fx_importer import FxImporter
from iree.turbine.dynamo.decompositions import DEFAULT_DECOMPOSITIONS

SECONDS = 60  # for one sample, to be imported
ELEMENTS = 300000  # samples of more are left out
TYPES = {"f32": torch.float32, "f64": torch.float64, "f16": torch.float16, "bf16": torch.bfloat16, "i1": torch.bool,
         "i8": torch.int8, "u8": torch.uint8, "i16": torch.int16, "i32": torch.int32, "i64": torch.int64,
         "c64": torch.complex64}
# What a call takes and returns of them; complex numbers are pairs.
KINDS = {torch.float32: "f32", torch.float64: "f64", torch.float16: "f16", torch.bfloat16: "bf16", torch.bool: "i1",
         torch.int8: "i8", torch.uint8: "i8", torch.int16: "i16", torch.int32: "i32", torch.int64: "i64",
         torch.complex64: "f32", torch.complex128: "f64"}
WIDER = {torch.float32: torch.float64, torch.float16: torch.float64, torch.bfloat16: torch.float64,
         torch.complex64: torch.complex128}
# The sizes that samples are made of, and longer ones: no power of two, and more than a warp.
BIGGER = {"XS": (3, 6), "S": (5, 17), "M": (10, 48), "L": (20, 100)}


class LeftOut(Exception):
    """This sample is no program: it has no tensors, is random, or is not what eager PyTorch takes."""


class NotImported(Exception):
    """torch.export or IREE's importer does not take it."""


class OutOfTime(Exception):
    pass


def ring(number, frame):
    raise OutOfTime


def as_numpy(tensor):
    tensor = tensor.detach().resolve_conj().resolve_neg()
    if tensor.is_complex():
        tensor = torch.view_as_real(tensor.contiguous())
    return (tensor.double() if tensor.dtype.is_floating_point else tensor.to(torch.int64)).numpy().copy()


class Calls(torch.nn.Module):
    """A function of its tensors alone: whatever else it takes is part of the program."""

    def __init__(self, function, args, kwargs):
        super().__init__()
        self.leaves, self.form = _pytree.tree_flatten((args, kwargs))
        self.function = function
        self.places = [place for place, leaf in enumerate(self.leaves) if isinstance(leaf, torch.Tensor)]

    def tensors(self):
        return [self.leaves[place].detach().clone() for place in self.places]

    def forward(self, *tensors):
        leaves = list(self.leaves)
        for place, tensor in zip(self.places, tensors):
            leaves[place] = tensor
        args, kwargs = _pytree.tree_unflatten(leaves, self.form)
        return tuple(leaf for leaf in _pytree.tree_leaves(self.function(*args, **kwargs)) if isinstance(leaf, torch.Tensor))


class Gradients(torch.nn.Module):
    """The gradients of a weighted sum of all results, by all inputs of floats."""

    def __init__(self, module):
        super().__init__()
        self.module = module

    def forward(self, *tensors):
        places = [place for place, tensor in enumerate(tensors) if tensor.dtype.is_floating_point]

        def loss(*floats):
            given = list(tensors)
            for place, value in zip(places, floats):
                given[place] = value
            results = [result for result in self.module(*given) if result.dtype.is_floating_point]
            return sum((result * torch.linspace(0.5, 1.5, max(result.numel(), 1), dtype=result.dtype)[:result.numel()]
                        .reshape(result.shape)).sum() for result in results)

        return torch.func.grad(loss, tuple(range(len(places))))(*[tensors[place] for place in places])


class Program:
    """text: tensor code, whose function is `main`. calls: (inputs, results, wider results or None) each, with inputs and results
    as judge.Device has them."""

    def __init__(self, module, form):
        given = module.tensors()
        if not given or sum(tensor.numel() for tensor in given) > ELEMENTS:
            raise LeftOut("no tensors, or very large ones")
        if any(tensor.layout != torch.strided or tensor.dtype not in KINDS for tensor in given):
            raise LeftOut("a tensor that is not dense, or of another type")
        if form == "gradients":
            if not any(tensor.dtype.is_floating_point for tensor in given):
                raise LeftOut("nothing to derive by")
            module = Gradients(module)
        self.module, self.calls = module, []
        self.expect(given)
        self.text = self.imported(given, form)
        if "@global_seed" in self.text:
            raise LeftOut("random")

    def expect(self, given):
        """What eager PyTorch gives, the same each time, or it is random; and what it gives in wider types, where it does."""
        results = []
        for seed in (0, 9):
            torch.manual_seed(seed)
            try:
                results.append([(KINDS[result.dtype], as_numpy(result)) for result in self.module(*[t.clone() for t in given])])
            except OutOfTime:
                raise
            except Exception as error:
                raise LeftOut(f"not taken: {error}") from error
        if not results[0] or not all(np.array_equal(a, b, equal_nan=True) for (_, a), (_, b) in zip(*results)):
            raise LeftOut("no results, or random ones")
        try:
            wider = [as_numpy(result) for result in self.module(*[t.to(WIDER.get(t.dtype, t.dtype)) for t in given])]
        except OutOfTime:
            raise
        except Exception:
            wider = None
        self.calls.append(([(KINDS[tensor.dtype], as_numpy(tensor)) for tensor in given], results[0], wider))

    def imported(self, given, form):
        table = torch._decomp.get_decompositions(DEFAULT_DECOMPOSITIONS)
        try:
            if form == "gradients":
                from torch.fx.experimental.proxy_tensor import make_fx
                graph = make_fx(torch.func.functionalize(self.module.forward), decomposition_table=table,
                                tracing_mode="fake")(*given)
                importer = FxImporter(context=iree_ir.Context())
                importer.import_graph_module(graph)
                return lowered(str(importer.module))
            options = {}
            if form == "dynamic":
                options["dynamic_shapes"] = {"tensors": tuple(
                    {d: torch.export.Dim.AUTO for d in range(t.dim()) if t.shape[d] >= 2} for t in given)}
            with torch.no_grad():
                exported = torch.export.export(self.module, tuple(given), strict=False, **options)
                if form == "dynamic":
                    self.expect_other_sizes(exported, given)
                try:
                    return self.of_exported(exported, table)
                except NotImported:  # what PyTorch itself takes apart may be known in parts
                    every = torch.export.default_decompositions()
                    every.update(table)
                    return self.of_exported(exported, every)
        except (NotImported, OutOfTime):
            raise
        except Exception as error:
            raise NotImported(f"{type(error).__name__}: {error}") from error

    @staticmethod
    def of_exported(exported, table):
        importer = FxImporter(context=iree_ir.Context())
        importer.import_frozen_program(exported.run_decompositions(table), func_name="main")
        return lowered(str(importer.module))

    def expect_other_sizes(self, exported, given):
        """A second call, each unknown size of which is another one; its elements are some of the first one's."""
        places = {node.name: node.meta["val"] for node in exported.graph.nodes if node.op == "placeholder"}
        others, generator = {}, torch.Generator().manual_seed(5)

        def size(extent):
            if isinstance(extent, int):
                return extent
            for symbol in sorted(extent.node.expr.free_symbols, key=str):
                if symbol not in others:
                    others[symbol] = int(extent.node.shape_env.backed_var_to_val[symbol]) + 1 + len(others) % 3
            return int(extent.node.expr.subs(others))

        shapes = [[size(extent) for extent in places[name].shape] for name in exported.graph_signature.user_inputs]
        if not others:
            return
        drawn = [tensor.reshape(-1)[torch.randint(0, tensor.numel(), (int(np.prod(shape)),), generator=generator)].reshape(shape)
                 if tensor.numel() else torch.zeros(shape, dtype=tensor.dtype) for tensor, shape in zip(given, shapes)]
        try:
            self.expect(drawn)
        except LeftOut:
            pass  # sizes that depend on each other in a way that the program does not say


def lowered(torch_text):
    """IREE's input: linalg on tensors, as iree-compile --compile-to=input prints it."""
    iree_api._init_dylib()
    phase = iree_api._dylib.ireeCompilerInvocationSetCompileToPhase
    phase.argtypes, phase.restype = [c_void_p, c_char_p], None
    session = iree_api.Session()
    session.set_flags("--iree-input-type=auto", "--iree-input-demote-f64-to-f32=false")
    with tempfile.TemporaryDirectory() as folder, session.invocation() as invocation:
        source, target, said = (os.path.join(folder, name) for name in ("torch.mlir", "input.mlir", "said"))
        with open(source, "w", encoding="utf-8") as file:
            file.write(torch_text)
        # What it says goes to standard error, whoever that is.
        kept, log = os.dup(2), os.open(said, os.O_WRONLY | os.O_CREAT)
        os.dup2(log, 2)
        try:
            invocation.enable_console_diagnostics()
            good = invocation.parse_source(iree_api.Source.open_file(session, source))
            phase(invocation._inv_p, b"input")
            good = good and invocation.execute()
        finally:
            os.dup2(kept, 2)
            os.close(kept)
            os.close(log)
        if not good:
            with open(said, encoding="utf-8", errors="replace") as file:
                text = file.read()
            raise NotImported(text.split("error: ", 1)[-1].splitlines()[0] if text else "no message")
        output = iree_api.Output.open_file(target)
        invocation.output_ir(output)
        output.keep()
        output.close()
        with open(target, encoding="utf-8") as file:
            return file.read()


def use_bigger_sizes():
    import sys
    for name, module in list(sys.modules.items()):
        if name.startswith("torch.testing._internal"):
            for size, (small, big) in BIGGER.items():
                if getattr(module, size, None) == small:
                    setattr(module, size, big)


def operators(form):
    """Names of what there are tests of, modules behind operators."""
    names = [operator.name + (f".{operator.variant_test_name}" if operator.variant_test_name else "") for operator in op_db
             if form != "gradients" or operator.supports_autograd]
    return sorted(set(names)) + ([] if form == "gradients" else sorted(module.name for module in module_db))


def samples_of(name, kind):
    """The function, args and kwargs of each sample, the same each time; none of a type that the operator has not."""
    torch.manual_seed(1)
    np.random.seed(1)
    random.seed(1)
    dtype = TYPES[kind]
    for operator in op_db:
        if operator.name + (f".{operator.variant_test_name}" if operator.variant_test_name else "") == name:
            if dtype not in operator.dtypes:
                return []
            return [(operator.op, (sample.input, *sample.args), sample.kwargs)
                    for sample in operator.sample_inputs("cpu", dtype, requires_grad=False)]
    made = []
    for info in module_db:
        if info.name != name or not dtype.is_floating_point:
            continue
        for sample in info.module_inputs_func(info, "cpu", dtype, requires_grad=False, training=False):
            if sample.forward_input is not None:
                module = info.module_cls(*sample.constructor_input.args, **sample.constructor_input.kwargs).to(dtype).eval()
                made.append((module.requires_grad_(False), sample.forward_input.args, sample.forward_input.kwargs))
    return made


def chosen(count, first, more, name):
    """The numbers of the first samples, and of some others."""
    rest = range(min(first, count), count)
    return [*range(min(first, count)), *sorted(random.Random(name).sample(rest, min(more, len(rest))))]


def program(sample, form):
    """The program of one sample, within SECONDS."""
    function, args, kwargs = sample
    signal.signal(signal.SIGALRM, ring)
    signal.alarm(SECONDS)
    try:
        return Program(Calls(function, args, kwargs), form)
    except OutOfTime as error:
        raise NotImported("out of time") from error
    finally:
        signal.alarm(0)
