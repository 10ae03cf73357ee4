// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "compiler/host/dispatch_lowering.h"

#include "compiler/dialect/donation.h"
#include "compiler/host/scalars/dispatch_constants.h"

using namespace mlir;

namespace tenon::compiler::host {
namespace {

/// The operand whose memory a result takes although it is not tied to it (dispatch/in_place).
std::optional<unsigned> writtenOver(flow::DispatchOp op, unsigned result) {
  auto over = op->getAttrOfType<DenseI64ArrayAttr>(kInPlaceAttr);
  if (!over || int64_t(result) >= over.size() || over[result] < 0)
    return std::nullopt;
  return unsigned(over[result]);
}

bool isWrittenOver(flow::DispatchOp op, unsigned argument) {
  auto over = op->getAttrOfType<DenseI64ArrayAttr>(kInPlaceAttr);
  return over && llvm::is_contained(over.asArrayRef(), int64_t(argument));
}

/// What messages call the parts of a dispatch. A user has never heard of the kernels that the compiler made.
class DispatchNames {
public:
  DispatchNames(flow::DispatchOp op, const LinkedExport &target) {
    if (target.isGenerated)
      return;
    SymbolRefAttr name = op.entryPoint();
    text_ = "@" + name.getRootReference().str() + "::@" + name.getLeafReference().str();
  }

  std::string operand(unsigned index) const {
    return text_.empty() ? "an operand" : "operand " + std::to_string(index) + " of " + text_;
  }
  std::string declaredSize(unsigned index) const {
    return text_.empty() ? "the size of the other operands" : "the size declared for " + operand(index);
  }
  std::string result(unsigned index) const {
    return text_.empty() ? "the result" : "result " + std::to_string(index) + " of " + text_;
  }

private:
  std::string text_; // "@executable::@export"; empty: generated
};

class DispatchLowering {
public:
  DispatchLowering(flow::DispatchOp op, const ExecutableTable &executables, FunctionState &state)
      : op_(op), executables_(executables), state_(state) {}

  LogicalResult lower();

private:
  LogicalResult lowerGrid(const LinkedExport &target, Dispatch &dispatch);
  LogicalResult lowerBindings(const LinkedExport &target, Dispatch &dispatch);
  LogicalResult lowerResults(const LinkedExport &target, Dispatch &dispatch);
  void lowerConstants(const LinkedExport &target, Dispatch &dispatch);
  /// Memory that was given up, whose value is last read at `lastUse`.
  void own(BufferIndex buffer, Position lastUse) {
    state_.buffers.own(buffer);
    state_.buffers.takeOver(buffer, lastUse);
  }
  void noteWritten(BufferIndex buffer) {
    if (state_.buffers.isInput(buffer))
      state_.writtenInputs.insert(buffer);
  }

  flow::DispatchOp op_;
  const ExecutableTable &executables_;
  FunctionState &state_;
};

LogicalResult DispatchLowering::lowerGrid(const LinkedExport &target, Dispatch &dispatch) {
  hal::ExecutableExportOp exportOp = target.op;
  Region &region = exportOp.getWorkgroupCount();
  if (!region.hasOneBlock())
    return exportOp.emitOpError() << "has a count region with control flow, which is not supported";
  Block &block = region.front();
  // The first argument is the device, which registers know nothing of.
  for (auto [argument, value] : llvm::zip(block.getArguments().drop_front(), op_.getWorkload()))
    state_.scalars.define(argument, state_.scalars.lookup(value));
  for (Operation &inner : block.without_terminator()) {
    if (failed(state_.scalars.lower(&inner))) {
      emitRemark(op_.getLoc()) << "while computing the grid of this dispatch";
      return failure();
    }
  }
  OperandRange counts = block.getTerminator()->getOperands();
  if (counts.size() != 3)
    return exportOp.emitOpError() << "has a count region that returns " << counts.size() << " values, wanted 3";
  for (auto [axis, count] : llvm::enumerate(counts))
    dispatch.grid[axis] = state_.scalars.lookup(count);
  return success();
}

/// Tensor operands, in order. One that the kernel writes, because it is tied or because nothing says that it is only
/// read, is written in place only where no other reader can tell.
LogicalResult DispatchLowering::lowerBindings(const LinkedExport &target, Dispatch &dispatch) {
  Position position = state_.positions[op_];
  DispatchNames names(op_, target);
  SmallVector<unsigned> operands = op_.tensorArguments();
  for (auto [binding, argument] : llvm::enumerate(operands)) {
    Value operand = op_.getArguments()[argument];
    const TensorValue &value = state_.tensors[operand];
    FailureOr<Shape> declared = state_.shapeFrom(op_, operand.getType(), op_.argumentDims(argument));
    if (failed(declared))
      return failure();
    for (auto [dim, sizes] : llvm::enumerate(llvm::zip_equal(value.shape, *declared))) {
      std::string dimName = "dimension " + std::to_string(dim) + " of " + names.operand(argument);
      if (failed(
              state_.requireEqual(op_, std::get<0>(sizes), std::get<1>(sizes), dimName, names.declaredSize(argument))))
        return failure();
    }
    bool written = op_.isTied(argument) || binding >= target.mayWrite.size() || target.mayWrite[binding];
    // What is written over is not read; but for the launch itself, which reads each element before it is written.
    size_t readers = size_t(llvm::count_if(operands, [&](unsigned other) {
      return state_.tensors[op_.getArguments()[other]].buffer == value.buffer &&
             (other == argument || !isWrittenOver(op_, other));
    }));
    if (op_.isTied(argument) && isWrittenOver(op_, argument))
      own(value.buffer, state_.lastUse(operand));
    bool inPlace = state_.buffers.mayOverwrite(value.buffer, position) && readers == 1;
    if (written && inPlace)
      noteWritten(value.buffer);
    dispatch.bindings.push_back(written && !inPlace ? state_.copyOf(op_, operand.getType(), value, position)
                                                    : value.buffer);
  }
  return success();
}

LogicalResult DispatchLowering::lowerResults(const LinkedExport &target, Dispatch &dispatch) {
  DispatchNames names(op_, target);
  SmallVector<unsigned> operands = op_.tensorArguments();
  DenseMap<BufferIndex, Position> takenOver;
  for (auto [index, result] : llvm::enumerate(op_.getResults())) {
    if (failed(state_.checkElementType(op_, result)))
      return failure();
    FailureOr<Shape> shape = state_.shapeFrom(op_, result.getType(), op_.resultDims(unsigned(index)));
    if (failed(shape))
      return failure();
    std::string name = names.result(unsigned(index));
    state_.requireNonNegative(op_, *shape, name);
    Register bytes = state_.bytesOf(result.getType(), *shape);
    std::optional<unsigned> tied = op_.getTiedOperandIndex(unsigned(index));
    std::optional<unsigned> over = tied ? tied : writtenOver(op_, unsigned(index));
    if (!over) {
      state_.tensors[result] = {state_.buffers.addTransient(bytes, state_.lastUse(result)), *shape};
      dispatch.bindings.push_back(state_.tensors[result].buffer);
      continue;
    }
    Value operand = op_.getArguments()[*over];
    Register operandBytes = state_.bytesOf(operand.getType(), state_.tensors[operand].shape);
    if (failed(
            state_.requireEqual(op_, bytes, operandBytes, "the size of " + name, "that of the operand it is tied to")))
      return failure();
    BufferIndex buffer = dispatch.bindings[size_t(llvm::find(operands, *over) - operands.begin())];
    if (!tied) {
      own(buffer, 0);
      noteWritten(buffer);
      dispatch.bindings.push_back(buffer);
    }
    Position last = std::max(state_.lastUse(result), takenOver[buffer]);
    state_.buffers.takeOver(buffer, last);
    takenOver[buffer] = last;
    state_.tensors[result] = {buffer, *shape};
  }
  return success();
}

/// Behind bindings and results: a tensor map is encoded from the shape of one.
void DispatchLowering::lowerConstants(const LinkedExport &target, Dispatch &dispatch) {
  SmallVector<Register> scalars;
  for (unsigned argument : op_.scalarArguments())
    scalars.push_back(state_.scalars.lookup(op_.getArguments()[argument]));
  SmallVector<Value> bound;
  for (unsigned argument : op_.tensorArguments())
    bound.push_back(op_.getArguments()[argument]);
  for (unsigned result : op_.untiedResults())
    bound.push_back(op_.getResult(result));
  dispatch.constants =
      constantWords(state_.function.registers, hal::ExecutableExportOp(target.op).getLayout(), scalars,
                    [&](unsigned binding) { return ArrayRef<Register>(state_.tensors[bound[binding]].shape); });
}

LogicalResult DispatchLowering::lower() {
  if (op_.getEntryPoints().size() != 1)
    return op_.emitOpError() << "names " << op_.getEntryPoints().size() << " entry points, wanted 1";
  SymbolRefAttr name = op_.entryPoint();
  auto executable = executables_.find(name.getRootReference().getValue());
  if (executable == executables_.end() || !executable->second.exports.contains(name.getLeafReference().getValue()))
    return op_.emitOpError() << "names " << name << ", which is not a linked export";
  const LinkedExport &target = executable->second.exports.find(name.getLeafReference().getValue())->second;

  Dispatch dispatch;
  dispatch.executable = executable->second.index;
  dispatch.exportOrdinal = target.ordinal;
  if (failed(lowerGrid(target, dispatch)) || failed(lowerBindings(target, dispatch)) ||
      failed(lowerResults(target, dispatch)))
    return failure();
  lowerConstants(target, dispatch);
  // A copy of what is in its place already.
  if (op_->hasAttr(kCopiesStartAttr) && op_->hasAttr(kInPlaceAttr))
    return success();
  state_.function.commands.push_back({std::move(dispatch), locationText(op_.getLoc())});
  return success();
}

} // namespace

LogicalResult lowerDispatch(flow::DispatchOp op, const ExecutableTable &executables, FunctionState &state) {
  return DispatchLowering(op, executables, state).lower();
}

} // namespace tenon::compiler::host
