// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Reads a kernel function: what each operation reads and writes, and over which loops.
#include "compiler/codegen/kernel/kernel_signature.h"

#include "compiler/dialect/linalg_ext/LinalgExtOps.h"
#include "compiler/dispatch/analysis/groups/form_group.h"
#include "compiler/dispatch/analysis/kernel_config.h"
#include "compiler/dispatch/analysis/products/contraction.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"

using namespace mlir;

namespace tenon::compiler::codegen {
namespace {

class Reader {
public:
  explicit Reader(func::FuncOp function) { kernel.function = function; }

  LogicalResult run() {
    if (failed(readBody()) || failed(readLaunch(kernel)) || failed(readArguments(kernel)))
      return failure();
    auto bindings = readResultBindings(kernel);
    if (failed(bindings) || failed(readConstants(kernel)))
      return failure();
    resultBindings_ = std::move(*bindings);
    readScratch();
    if (kernel.along.op)
      return readAlong();
    for (KernelOp &op : kernel.ops)
      if (failed(dispatch::verifyKernelOp(op.op)) || failed(readInputs(op)) || failed(readOutputs(op)) ||
          failed(readGathered(op)) || failed(readBorders(op)))
        return failure();
    if (failed(checkTied()) || failed(checkGroup()))
      return failure();
    for (KernelOp &op : kernel.ops)
      if (failed(readLoops(op)))
        return failure();
    return success();
  }

  KernelFunction kernel;

private:
  LogicalResult readBody() {
    func::FuncOp function = kernel.function;
    if (!function.getBody().hasOneBlock())
      return function.emitError() << "a kernel function must have one block";
    for (Operation &op : function.front()) {
      if (auto generic = dyn_cast<linalg::GenericOp>(op))
        kernel.ops.push_back({generic, {}, {}, {}, {}});
      else if (auto softmax = dyn_cast<linalg::SoftmaxOp>(op); softmax && !kernel.softmax)
        kernel.softmax = softmax;
      else if (linalg_ext::isAlongOp(&op) && !kernel.along.op)
        kernel.along.op = &op;
      else if (!isa<arith::ConstantOp, tensor::EmptyOp, linalg::FillOp, func::ReturnOp>(op) &&
               !dispatch::isScalarOp(&op))
        return op.emitError() << "'" << op.getName() << "' is not supported in a kernel function";
    }
    if (kernel.ops.empty() == !kernel.along.op)
      return function.emitError() << "a kernel function must hold a linalg.generic, or one operation along a dimension";
    llvm::SmallDenseSet<Value> returned;
    for (Value value : function.front().getTerminator()->getOperands())
      if (!value.getDefiningOp<tensor::EmptyOp>() &&
          (kernel.along.op ? value.getDefiningOp() != kernel.along.op
                           : !value.getDefiningOp<linalg::GenericOp>() || !returned.insert(value).second))
        return function.emitError() << "a kernel function must return results of its linalg.generic, each once";
    return success();
  }

  void readScratch() {
    for (auto [number, value] : llvm::enumerate(kernel.function.front().getTerminator()->getOperands()))
      if (value.getDefiningOp<tensor::EmptyOp>())
        kernel.scratch.push_back(
            {cast<RankedTensorType>(value.getType()).getElementType(), {}, {}, resultBindings_[number]});
  }

  FailureOr<KernelTensor> readArgument(BlockArgument argument, AffineMap map) {
    const unsigned number = argument.getArgNumber();
    auto type = cast<RankedTensorType>(argument.getType());
    auto shape = readShape(kernel.function, type, kernel.function.getArgAttr(number, dispatch::kDimsAttr));
    if (failed(shape))
      return failure();
    const auto *position = llvm::find(kernel.tensorArguments, number);
    return KernelTensor{type.getElementType(), map, *shape, uint32_t(position - kernel.tensorArguments.begin())};
  }

  FailureOr<KernelTensor> readTensor(linalg::GenericOp op, OpOperand &operand) {
    auto argument = dyn_cast<BlockArgument>(operand.get());
    if (!argument || argument.getOwner() != &kernel.function.front())
      return op.emitError() << "operand " << operand.getOperandNumber()
                            << " of a kernel's operation must be an argument of the kernel function";
    return readArgument(argument, op.getMatchingIndexingMap(&operand));
  }

  /// Tensors that the body reads by itself: tensor.extract.
  LogicalResult readGathered(KernelOp &op) {
    WalkResult walk = op.op.getBody()->walk([&](tensor::ExtractOp extract) {
      auto argument = dyn_cast<BlockArgument>(extract.getTensor());
      if (!argument || argument.getOwner() != &kernel.function.front()) {
        extract.emitError() << "no kernel can be generated: 'tensor.extract' in a body must read an argument of the "
                               "kernel function";
        return WalkResult::interrupt();
      }
      FailureOr<KernelTensor> tensor = readArgument(argument, AffineMap());
      if (failed(tensor))
        return WalkResult::interrupt();
      kernel.gathered.insert({argument, *tensor});
      return WalkResult::advance();
    });
    return failure(walk.wasInterrupted());
  }

  /// Of these, images with a border and routed weights, which a product reads by maps.
  LogicalResult readBorders(KernelOp &op) {
    const std::optional<dispatch::Contraction> product = dispatch::contractionOf(op.op);
    if (!product)
      return success();
    for (const dispatch::ContractionSide *side : {&product->left, &product->right}) {
      if (side->routed) {
        FailureOr<KernelTensor> weights = readArgument(cast<BlockArgument>(side->routed->tensor), side->routed->map);
        if (failed(weights))
          return failure();
        const SmallVector<bool> mayLeave(weights->shape.size(), false);
        op.borders.push_back({dispatch::beforeExtension(side->value), *weights, mayLeave, side->routed->dimension});
      }
      if (!side->border)
        continue;
      FailureOr<KernelTensor> tensor = readArgument(cast<BlockArgument>(side->border->image), side->border->map);
      if (failed(tensor))
        return failure();
      op.borders.push_back({dispatch::beforeExtension(side->value), *tensor, side->border->mayLeave});
    }
    return success();
  }

  LogicalResult readInputs(KernelOp &op) {
    for (OpOperand *operand : op.op.getDpsInputOperands()) {
      KernelInput input;
      input.bodyArgument = op.op.getMatchingBlockArgument(operand);
      if (dispatch::beforeSoftmax(operand->get()).getDefiningOp<linalg::GenericOp>()) {
        input.computed = operand->get();
      } else if (isa<RankedTensorType>(operand->get().getType())) {
        FailureOr<KernelTensor> tensor = readTensor(op.op, *operand);
        if (failed(tensor))
          return failure();
        input.tensor = *tensor;
      } else {
        input.scalar = operand->get();
      }
      op.inputs.push_back(input);
    }
    return op.op->hasAttr(dispatch::kRoutedAttr) ? verifyTable(op) : success();
  }

  /// Of a routed product, behind all other inputs.
  static LogicalResult verifyTable(const KernelOp &op) {
    linalg::GenericOp generic = op.op;
    Type type = op.inputs.empty() || !op.inputs.back().isMemory() ? Type() : generic.getDpsInputs().back().getType();
    auto table = dyn_cast_or_null<RankedTensorType>(type);
    if (table && table.getElementType().isInteger(32) && table.getRank() == 2 &&
        table.getDimSize(1) == dispatch::kRouteLine && op.inputs.back().bodyArgument.use_empty())
      return success();
    return generic.emitError() << "'" << dispatch::kRoutedAttr << "' wants a table of i32, rows of "
                               << dispatch::kRouteLine << ", as the last input, which the body does not read";
  }

  LogicalResult readOutputs(KernelOp &op) {
    Operation *terminator = kernel.function.front().getTerminator();
    for (auto [number, init] : llvm::enumerate(op.op.getDpsInitsMutable())) {
      KernelOutput output;
      output.bodyArgument = op.op.getMatchingBlockArgument(&init);
      output.tensor = {
          cast<RankedTensorType>(init.get().getType()).getElementType(), op.op.getMatchingIndexingMap(&init), {}, 0};
      const auto returned = llvm::find(terminator->getOperands(), op.op->getResult(number));
      output.isStored = returned != terminator->operand_end();
      if (output.isStored) {
        const unsigned result = returned - terminator->operand_begin();
        auto shape = readResultShape(result, init.get());
        if (failed(shape))
          return failure();
        output.tensor.shape = *shape;
        output.tensor.binding = resultBindings_[result];
      } else if (auto shape = readResultShape(std::nullopt, init.get()); succeeded(shape)) {
        output.tensor.shape = *shape;
      } else {
        return failure();
      }
      // A reduction over no element is its start, also where its body does not look at it.
      const bool isStartRead = !output.bodyArgument.use_empty() || op.op.getNumReductionLoops() != 0;
      if (!isStartRead) {
        op.outputs.push_back(output);
        continue;
      }
      if (auto fill = init.get().getDefiningOp<linalg::FillOp>()) {
        output.startScalar = fill.getInputs()[0];
      } else if (!init.get().getDefiningOp<tensor::EmptyOp>()) {
        FailureOr<KernelTensor> start = readTensor(op.op, init);
        if (failed(start))
          return failure();
        output.startTensor = *start;
      }
      op.outputs.push_back(output);
    }
    return success();
  }

  /// An operation along a dimension: its operands are arguments of the function, or fills and tensor.empty as outs.
  LogicalResult readAlong() {
    Operation *op = kernel.along.op;
    const unsigned inputs = op->getNumOperands() - op->getNumResults();
    Operation *terminator = kernel.function.front().getTerminator();
    for (OpOperand &operand : op->getOpOperands()) {
      auto argument = dyn_cast<BlockArgument>(operand.get());
      if (operand.getOperandNumber() < inputs) {
        if (auto fill = operand.get().getDefiningOp<linalg::FillOp>()) {
          auto shape = readResultShape(std::nullopt, operand.get());
          if (failed(shape))
            return failure();
          Type element = cast<RankedTensorType>(operand.get().getType()).getElementType();
          kernel.along.inputs.push_back({{element, {}, *shape, 0}, fill.getInputs()[0]});
          continue;
        }
        FailureOr<KernelTensor> tensor = argument ? readArgument(argument, AffineMap()) : FailureOr<KernelTensor>();
        if (failed(tensor))
          return op->emitError() << "operand " << operand.getOperandNumber()
                                 << " of a kernel's operation must be an argument of the kernel function";
        kernel.along.inputs.push_back({*tensor, {}});
        continue;
      }
      KernelAlongOutput output;
      if (argument) {
        FailureOr<KernelTensor> start = readArgument(argument, AffineMap());
        if (failed(start))
          return failure();
        output.startTensor = *start;
      } else if (auto fill = operand.get().getDefiningOp<linalg::FillOp>()) {
        output.startScalar = fill.getInputs()[0];
      }
      const auto returned = llvm::find(terminator->getOperands(), op->getResult(operand.getOperandNumber() - inputs));
      output.isStored = returned != terminator->operand_end();
      const unsigned number = returned - terminator->operand_begin();
      auto shape = readResultShape(output.isStored ? std::optional(number) : std::nullopt, operand.get());
      if (failed(shape))
        return failure();
      output.tensor = {cast<RankedTensorType>(operand.get().getType()).getElementType(),
                       {},
                       *shape,
                       output.isStored ? resultBindings_[number] : 0};
      kernel.along.outputs.push_back(output);
    }
    return dispatch::verifyAlongOp(op);
  }

  /// What a result is said to measure; where nothing is said, what it starts from does.
  FailureOr<SmallVector<Extent>> readResultShape(std::optional<unsigned> result, Value start) {
    func::FuncOp function = kernel.function;
    auto type = cast<RankedTensorType>(start.getType());
    Attribute dims = result ? function.getResultAttr(*result, dispatch::kDimsAttr) : Attribute();
    if (dims || type.hasStaticShape())
      return readShape(function, type, dims);
    if (auto fill = start.getDefiningOp<linalg::FillOp>())
      start = fill.getOutputs()[0];
    if (auto argument = dyn_cast<BlockArgument>(start))
      return readShape(function, type, function.getArgAttr(argument.getArgNumber(), dispatch::kDimsAttr));
    auto empty = start.getDefiningOp<tensor::EmptyOp>();
    if (!empty)
      return function.emitError() << "'" << dispatch::kDimsAttr << "' gives 0 sizes, a result has type " << type;
    SmallVector<Extent> shape;
    unsigned next = 0;
    for (int64_t size : type.getShape())
      shape.push_back(ShapedType::isDynamic(size) ? Extent{0, empty.getDynamicSizes()[next++]} : Extent{size, {}});
    return shape;
  }

  LogicalResult checkGroup() {
    SmallVector<linalg::GenericOp> ops;
    for (const KernelOp &op : kernel.ops)
      ops.push_back(op.op);
    std::string reason;
    if (dispatch::groupOf(ops, reason))
      return success();
    return kernel.function.emitError() << "the operations of a kernel function are not one group: " << reason;
  }

  /// A result that is written over an argument: no thread may read there what another has written already.
  LogicalResult checkTied() {
    linalg::GenericOp op = kernel.only().op;
    for (const KernelOutput &output : kernel.only().outputs) {
      if (kernel.ops.size() > 1 || output.tensor.binding >= kernel.tensorArguments.size())
        continue;
      for (const KernelTensor *tensor : kernel.tensors()) {
        if (tensor->binding != output.tensor.binding || tensor == &output.tensor)
          continue;
        if (dispatch::elementBytes(tensor->element) != dispatch::elementBytes(output.tensor.element))
          return op.emitError() << "no kernel can be generated: elements of " << output.tensor.element
                                << " are written over elements of " << tensor->element
                                << ", elements of one size are wanted: let the argument hold elements of the "
                                   "result's size, or write to a tensor of its own";
        if (tensor->map != output.tensor.map)
          return op.emitError() << "no kernel can be generated: a result is written over argument "
                                << kernel.tensorArguments[tensor->binding]
                                << ", which is read elsewhere than it is written (" << AffineMapAttr::get(tensor->map)
                                << ", the result has " << AffineMapAttr::get(output.tensor.map)
                                << "): a thread would read what another has written; read it where it is "
                                   "written, or write to a tensor of its own";
      }
    }
    return success();
  }

  /// The size of a loop is that of any dimension it indexes alone; a known size is best.
  LogicalResult readLoops(KernelOp &op) {
    for (unsigned loop = 0; loop < op.op.getNumLoops(); ++loop) {
      std::optional<Extent> extent;
      auto look = [&](const KernelTensor &tensor) {
        for (auto [position, expr] : llvm::enumerate(tensor.map.getResults())) {
          auto dim = dyn_cast<AffineDimExpr>(expr);
          if (dim && dim.getPosition() == loop && (!extent || extent->value))
            extent = tensor.shape[position];
        }
      };
      for (const KernelOutput &output : op.outputs)
        look(output.tensor);
      for (auto [operand, input] : llvm::zip_equal(op.op.getDpsInputOperands(), op.inputs)) {
        if (input.isMemory())
          look(input.tensor);
        else if (input.computed && !extent)
          look(computedAs(input.computed, op.op.getMatchingIndexingMap(operand)));
      }
      if (!extent)
        return op.op.emitError() << "no kernel can be generated: no operand gives the size of loop " << loop;
      op.loops.push_back(*extent);
    }
    return success();
  }

  /// A result of another operation, as if it were read from memory.
  KernelTensor computedAs(Value value, AffineMap map) const {
    for (const KernelOp &other : kernel.ops)
      for (auto [result, output] : llvm::zip_equal(other.op->getResults(), other.outputs))
        if (result == dispatch::beforeSoftmax(value))
          return {output.tensor.element, map, output.tensor.shape, 0};
    llvm_unreachable("what is computed is a result of an operation of the function");
  }

  SmallVector<uint32_t> resultBindings_; // [results of the function]
};

} // namespace

FailureOr<KernelFunction> KernelFunction::read(func::FuncOp function) {
  Reader reader(function);
  if (failed(reader.run()))
    return failure();
  return std::move(reader.kernel);
}

} // namespace tenon::compiler::codegen
