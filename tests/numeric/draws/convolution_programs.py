# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The programs of random convolutions (draws/convolution_forms.py) as MLIR: named operations of linalg, sums of products, TOSA, zeros between the
elements of an image, and what is computed from the results."""
import itertools

from mlir_text import Function, Tensor, is_float, literal

PLACES, WINDOW = "dhw", "zyx"


class Written:
    """What a form is as a program."""

    def unknown(self, letters):
        return ["n" in self.dynamic and letter == "n" or "p" in self.dynamic and letter in PLACES for letter in letters]

    def text(self, name="run"):
        f = Function(name)
        tensors = {}
        for role, (kind, data) in self.given.items():
            letters = {"image": self.image, "filters": self.filters}.get(
                role, self.out if role == "residual" or role == "start" and self.start == "tensor" else "".join(self.last))
            if role == "start" and self.way == "tosa":
                letters = "f"
            tensors[role] = f.argument(kind, *data.shape, dynamic=self.unknown(letters))
        if self.way == "tosa":
            value = self.write_tosa(f, tensors)
        else:
            value = self.write_sums(f, tensors)
        f.give(self.write_behind(f, tensors, value))
        return str(f)

    def shaped(self, f, image):
        """Sizes of the result, from those of the image with its border."""
        sizes = dict(zip(self.out, self.shape(self.out, self.outs)))
        if "n" in sizes:
            sizes["n"] = image.shape[self.image.index("n")]
        for i, letter in enumerate(self.places):
            size = image.shape[self.image.index(letter)]
            if not isinstance(size, int):
                rest = f.index_op("arith.subi", size, self.extent[i])
                sizes[letter] = f.index_op("arith.addi", f.index_op("arith.divui", rest, self.stride[i]), 1)
        return [sizes[letter] for letter in self.out]

    def widened(self, f, image):
        if self.way == "transposed":
            # Zeros between, and around: the window less one, less what is cut.
            low = [window - 1 + cut[0] for window, cut in zip(self.window, self.around)]
            high = [window - 1 + cut[1] for window, cut in zip(self.window, self.around)]
            if min(low + high) < 0:
                raise ValueError("border")
            whole = [(size - 1) * stride + 1 + a + b for size, stride, a, b in zip(self.size, self.stride, low, high)]
            shape = self.shape(self.image, whole)
            zeros = f.fill(self.operand, shape, 0)
            at = dict(zip(self.places, low))
            step = dict(zip(self.places, self.stride))
            result = Tensor(f.fresh(), self.operand, shape)
            f.line(f"{result.name} = tensor.insert_slice {image.name} into {zeros.name}[{', '.join(str(at.get(each, 0)) for each in self.image)}] "
                   f"[{', '.join(map(str, self.shape(self.image)))}] [{', '.join(str(step.get(each, 1)) for each in self.image)}] : {image.type} into {result.type}")
            return result
        if not any(self.before) and not any(self.behind):
            return image
        before, behind = dict(zip(self.places, self.before)), dict(zip(self.places, self.behind))
        return f.pad(image, [before.get(each, 0) for each in self.image], [behind.get(each, 0) for each in self.image], self.zero[0])

    def write_sums(self, f, tensors):
        image, filters = self.widened(f, tensors["image"]), tensors["filters"]
        shape = self.shaped(f, image)
        if self.start == "tensor":
            start = tensors["start"]
        elif self.start == "bias":
            empty = f.empty(self.result, shape)
            start = Tensor(f.fresh(), self.result, shape)
            kept = [i for i, letter in enumerate(self.out) if letter not in self.last]
            f.line(f"{start.name} = linalg.broadcast ins({tensors['start'].name} : {tensors['start'].type}) outs({empty.name} : {empty.type}) dimensions = [{', '.join(map(str, kept))}]")
        else:
            start = f.fill(self.result, shape, 0)
        if self.way == "named":
            return self.write_named(f, image, filters, start)
        return self.write_generic(f, image, filters, start)

    def write_named(self, f, image, filters, start):
        result = Tensor(f.fresh(), self.result, start.shape)
        rank = len(self.places)
        dense = lambda values: f"dense<[{', '.join(map(str, values))}]> : vector<{rank}xi64>"
        attributes = "" if self.name in ("conv_1d", "conv_2d", "conv_3d") else \
            f" {{dilations = {dense(self.dilation)}, strides = {dense(self.stride)}}}"
        operands = [image, filters]
        names, types = [each.name for each in operands], [each.type for each in operands]
        if self.zero_points:
            names += [f.constant("i32", each) for each in self.zero]
            types += ["i32", "i32"]
        f.line(f"{result.name} = linalg.{self.name}{'_q' if self.zero_points else ''}{attributes} ins({', '.join(names)} : {', '.join(types)}) "
               f"outs({start.name} : {start.type}) -> {result.type}")
        return result

    def write_generic(self, f, image, filters, start):
        window = WINDOW[-len(self.places):]
        reduced = [letter for letter in "cyxz" if letter in self.filters]
        loops = [*self.out, *reduced] if self.random.random() < 0.5 else [*self.out, *reversed(reduced)]
        if any(letter not in loops for letter in self.image + self.filters):
            raise ValueError("letters")
        turned = self.way == "transposed"
        of = {letter: i for i, letter in enumerate(loops)}
        stride = [1] * len(self.places) if turned else self.stride

        def read(letter):
            if letter not in self.places:
                return of[letter]
            i = self.places.index(letter)
            return f"d{of[letter]} * {stride[i]} + d{of[window[i]]} * {self.dilation[i]}"

        def filter_index(letter):
            if turned and letter in window:
                return f"{self.window[window.index(letter)] - 1} - d{of[letter]}"
            return of[letter]

        turn = any(isinstance(filter_index(letter), str) for letter in self.filters)
        if turn:  # a copy that is turned around, as compilers write it
            identity = list(range(len(filters)))
            empty = f.empty(filters.kind, filters.shape)
            back = [f"{self.window[window.index(letter)] - 1} - d{i}" if letter in window else i for i, letter in enumerate(self.filters)]
            filters = f.generic([(filters, back)], [(empty, identity)], "p" * len(filters), lambda a, b: a)[0]

        def body(x, y, s):
            x, y = (f.convert(each, self.operand, self.result) for each in (x, y))
            letter = "f" if is_float(self.result) else "i"
            return f.op("arith.add" + letter, self.result, s, f.op("arith.mul" + letter, self.result, x, y))

        return f.generic([(image, [read(letter) for letter in self.image]), (filters, [of[letter] for letter in self.filters])],
                         [(start, [of[letter] for letter in self.out])],
                         "".join("r" if letter in reduced else "p" for letter in loops), body)[0]

    def write_tosa(self, f, tensors):
        image, filters, bias = tensors["image"], tensors["filters"], tensors["start"]
        kind = "i32" if self.operand == "i8" else self.result
        shape = self.shape(self.out, self.outs)
        if "n" in self.dynamic:
            shape[0] = image.shape[0]
        result = Tensor(f.fresh(), kind, shape)
        zero = []
        for number, value in enumerate(self.zero):
            text = literal(self.operand, value)
            zero.append(f"%z{number}")
            f.line(f'%z{number} = "tosa.const"() <{{values = dense<{text}> : tensor<1x{self.operand}>}}> : () -> tensor<1x{self.operand}>')
        accumulator = "i32" if self.operand == "i8" else "f32"
        array = lambda values: f"array<i64: {', '.join(map(str, values))}>"
        if self.name == "transpose_conv2d":
            attributes = f"out_pad = {array(itertools.chain(*self.around))}"
        else:
            attributes = f"pad = {array(itertools.chain(*zip(self.before, self.behind)))}, dilation = {array(self.dilation)}"
        f.line(f"{result.name} = tosa.{self.name} {image.name}, {filters.name}, {bias.name}, {zero[0]}, {zero[1]} {{acc_type = {accumulator}, "
               f"{attributes}, stride = {array(self.stride)}}} : ({image.type}, {filters.type}, {bias.type}, tensor<1x{self.operand}>, "
               f"tensor<1x{self.operand}>) -> {result.type}")
        return result

    def write_behind(self, f, tensors, value):
        """One elementwise operation behind the sums, or several."""
        kind = value.kind
        if not (self.bias or self.residual or self.activation or self.requantised or self.narrow):
            return value
        per = [self.out.index(letter) for letter in self.last]
        inputs, broadcast = [value], {}
        for role in ("bias", "residual", "scale"):
            if role in tensors:
                if role != "residual":
                    broadcast[len(inputs)] = per
                inputs.append(tensors[role])
        roles = ["value", *[role for role in ("bias", "residual", "scale") if role in tensors]]

        def body(*scalars):
            of = dict(zip(roles, scalars))
            x = of["value"]
            add = "arith.addf" if is_float(kind) else "arith.addi"
            constant = lambda number: f.constant(kind, number)
            for role in ("bias", "residual"):
                if role in of:
                    x = f.op(add, kind, x, of[role])
            six = lambda y: f.op("arith.minimumf", kind, f.op("arith.maximumf", kind, y, constant(0)), constant(6))
            if self.activation == "relu":
                x = f.op("arith.maximumf", kind, x, constant(0))
            elif self.activation == "relu6":
                x = six(x)
            elif self.activation == "silu":
                exponential = f.op("math.exp", kind, f.op("arith.negf", kind, x))
                x = f.op("arith.divf", kind, x, f.op("arith.addf", kind, constant(1), exponential))
            elif self.activation == "hardswish":
                x = f.op("arith.divf", kind, f.op("arith.mulf", kind, x, six(f.op("arith.addf", kind, x, constant(3)))), constant(6))
            if self.requantised == "float":
                y = f.op("math.roundeven", "f32", f.op("arith.mulf", "f32", f.op("arith.sitofp", "i32", x, to="f32"), of["scale"]))
                y = f.op("arith.minimumf", "f32", f.op("arith.maximumf", "f32", y, f.constant("f32", -128)), f.constant("f32", 127))
                return f.op("arith.fptosi", "f32", y, to="i8")
            if self.requantised == "integer":
                product = f.op("arith.muli", "i64", f.op("arith.extsi", "i32", x, to="i64"), f.op("arith.extsi", "i32", of["scale"], to="i64"))
                y = f.op("arith.shrsi", "i64", f.op("arith.addi", "i64", product, f.constant("i64", 1 << 39)), f.constant("i64", 40))
                y = f.op("arith.addi", "i32", f.op("arith.trunci", "i64", y, to="i32"), f.constant("i32", 3))
                y = f.op("arith.minsi", "i32", f.op("arith.maxsi", "i32", y, f.constant("i32", -128)), f.constant("i32", 127))
                return f.op("arith.trunci", "i32", y, to="i8")
            return f.convert(x, kind, self.operand) if self.narrow else x

        to = "i8" if self.requantised else self.operand if self.narrow else kind
        return f.map(to, body, *inputs, broadcast=broadcast)
