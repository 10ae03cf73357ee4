// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "compiler/host/function_lowering.h"

#include "compiler/dialect/check/CheckOps.h"
#include "compiler/dialect/donation.h"
#include "compiler/dialect/hal/HalOps.h"
#include "compiler/dialect/hal/declarations.h"
#include "compiler/dialect/util/UtilOps.h"
#include "compiler/host/block_graph.h"
#include "compiler/host/dispatch_lowering.h"
#include "compiler/host/expectation_lowering.h"
#include "compiler/host/function_state.h"
#include "compiler/host/program/arena_layout.h"
#include "compiler/host/shape_lowering.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/ControlFlow/IR/ControlFlowOps.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "llvm/ADT/TypeSwitch.h"

using namespace mlir;

namespace tenon::compiler::host {
namespace {

/// What the blocks of a function are to each other.
using BlockNumbers = DenseMap<Block *, uint32_t>;

/// A block: of a function that has others, or the only one.
class FunctionLowering {
public:
  FunctionLowering(StringRef name, const HostBlock &host, const ProgramTables &tables, ConstantPool &constants)
      : host_(host), tables_(tables), constants_(constants), state_(*host.block) {
    state_.function.name = name.str();
  }

  /// @param all the function's blocks, where it has several
  FailureOr<Function> run(ArrayRef<HostBlock> all = {}, const BlockNumbers &numbers = BlockNumbers());

private:
  LogicalResult lowerInputs();
  LogicalResult lowerOperation(Operation *op);
  LogicalResult lowerConstant(Operation *op, ElementsAttr value);
  LogicalResult lowerAssert(cf::AssertOp op);
  LogicalResult lowerReturn(func::ReturnOp op);
  LogicalResult lowerAlias(hal::TensorAliasOp op);
  LogicalResult lowerExtract(tensor::ExtractOp op);
  LogicalResult lowerBranch(Operation *op);
  Target targetOf(Register condition, Block *next, ValueRange operands);
  uint32_t handOn(Value value);
  LogicalResult lowerStores();

  const HostBlock &host_;
  const ProgramTables &tables_;
  ConstantPool &constants_;
  ArrayRef<HostBlock> all_;
  BlockNumbers numbers_;
  DenseMap<Value, uint32_t> handedOn_; // index among the results
  FunctionState state_;
};

LogicalResult FunctionLowering::lowerConstant(Operation *op, ElementsAttr value) {
  FailureOr<uint32_t> index = constants_.intern(value, op->getLoc());
  if (failed(index))
    return failure();
  FailureOr<Shape> shape = state_.shapeFrom(op, value.getType(), {});
  if (failed(shape))
    return failure();
  state_.tensors[op->getResult(0)] = {state_.buffers.addConstant(*index), *shape};
  return success();
}

/// Before anything of the block is launched.
LogicalResult FunctionLowering::lowerAssert(cf::AssertOp op) {
  state_.scalars.require(state_.scalars.lookup(op.getArg()), op.getMsg().str(), op.getLoc());
  return success();
}

/// Assigns to an input, at the end of the block. What others still want of the input is copied before: what it was, and
/// what was computed in its memory.
LogicalResult FunctionLowering::lowerAlias(hal::TensorAliasOp op) {
  const TensorValue source = state_.tensors[op.getSource()], storage = state_.tensors[op.getStorage()];
  for (auto [dim, sizes] : llvm::enumerate(llvm::zip_equal(source.shape, storage.shape)))
    if (failed(state_.requireEqual(op, std::get<0>(sizes), std::get<1>(sizes),
                                   "dimension " + std::to_string(dim) + " of what is assigned",
                                   "that of the argument that it is assigned to")))
      return failure();
  state_.writtenInputs.insert(storage.buffer);
  if (source.buffer == storage.buffer)
    return success();
  for (Operation *before = op->getPrevNode(); before; before = before->getPrevNode())
    if (readsAtEnd(before))
      for (Value operand : before->getOperands())
        if (isTensor(operand) && state_.tensors.lookup(operand).buffer == storage.buffer)
          return op.emitError("assigns to an argument that '")
                 << before->getName()
                 << "' reads in the same block: the host reads it when the block is done, which is "
                 << "behind the assignment; read a copy of it, or return it as a result";
  for (Operation *behind = op->getNextNode(); behind; behind = behind->getNextNode())
    for (OpOperand &use : behind->getOpOperands()) {
      auto alias = dyn_cast<hal::TensorAliasOp>(behind);
      if (!isTensor(use.get()) || (alias && &use == &alias.getStorageMutable()))
        continue;
      TensorValue &value = state_.tensors[use.get()];
      if (value.buffer == storage.buffer)
        value.buffer = state_.copyOf(op, use.get().getType(), value, kEndOfCall);
    }
  state_.function.commands.push_back({Copy{source.buffer, storage.buffer}, locationText(op.getLoc())});
  return success();
}

// --- The function ---------------------------------------------------------------------------------------------------

LogicalResult FunctionLowering::lowerReturn(func::ReturnOp op) {
  for (Value value : op.getOperands()) {
    state_.function.results.push_back(state_.outputOf(value));
  }
  return success();
}

LogicalResult FunctionLowering::lowerOperation(Operation *op) {
  return llvm::TypeSwitch<Operation *, LogicalResult>(op)
      .Case<flow::DispatchOp>([&](auto dispatch) { return lowerDispatch(dispatch, tables_.executables, state_); })
      .Case<tensor::DimOp, tensor::EmptyOp, tensor::CastOp, tensor::ExpandShapeOp, tensor::CollapseShapeOp,
            flow::TensorTieShapeOp, flow::TensorBitCastOp, flow::TensorReshapeOp, util::OptimizationBarrierOp>(
          [&](Operation *shaped) { return lowerShape(shaped, state_); })
      .Case<check::ExpectTrueOp, check::ExpectFalseOp, check::ExpectAllTrueOp, check::ExpectEqOp,
            check::ExpectEqConstOp, check::ExpectAlmostEqOp, check::ExpectAlmostEqConstOp>(
          [&](auto expectation) { return lowerExpectation(expectation, constants_, state_); })
      .Case<hal::TensorAliasOp>([&](auto alias) { return lowerAlias(alias); })
      .Case<tensor::ExtractOp>([&](auto extract) { return lowerExtract(extract); })
      .Case<cf::BranchOp, cf::CondBranchOp, cf::SwitchOp>([&](Operation *branch) { return lowerBranch(branch); })
      .Case<util::GlobalLoadOp, util::GlobalStoreOp>([](Operation *) { return success(); }) // ends of the block
      .Case<cf::AssertOp>([&](auto assertion) { return lowerAssert(assertion); })
      .Case<func::ReturnOp>([&](auto returned) { return lowerReturn(returned); })
      .Case<arith::ConstantOp, util::UnfoldableConstantOp>([&](auto constant) {
        if (isTensor(constant.getResult()))
          return lowerConstant(constant, cast<ElementsAttr>(constant.getValue()));
        return state_.scalars.lowerConstant(constant, constant.getValue());
      })
      .Default([&](Operation *other) {
        if (llvm::any_of(other->getOperands(), isTensor) || llvm::any_of(other->getResults(), isTensor) ||
            other->getNumResults() == 0)
          return LogicalResult(other->emitOpError() << "is not supported: no kernel was formed for it, and it is not "
                                                       "an operation that the host runs");
        return state_.scalars.lower(other);
      });
}

/// What a caller knows it by: "argument 2".
static std::string nameOf(Value value) {
  auto argument = dyn_cast<BlockArgument>(value);
  return argument && argument.getOwner()->isEntryBlock() ? "argument " + std::to_string(argument.getArgNumber())
                                                         : std::string();
}

/// Values of other blocks, or the function's arguments; then the globals that are loaded.
LogicalResult FunctionLowering::lowerInputs() {
  SmallVector<Value> inputs(host_.parameters);
  for (util::GlobalLoadOp load : host_.loads)
    inputs.push_back(load.getResult());
  std::vector<std::string> names;
  llvm::transform(inputs, std::back_inserter(names), nameOf);
  state_.function.registers.nameInputs(std::move(names));
  for (auto [position, value] : llvm::enumerate(inputs)) {
    const auto index = uint32_t(position);
    std::optional<ValueType> type = handedOnType(value.getType());
    if (!type)
      return emitError(value.getLoc()) << "a value of type " << value.getType()
                                       << " is used in another block than the one that computes it, where a program "
                                          "can only have tensors and scalars";
    if (type->isTensor) {
      TensorValue tensor{state_.buffers.addInput(index), {}};
      for (auto [dim, size] : llvm::enumerate(type->shape))
        tensor.shape.push_back(size < 0 ? state_.function.registers.dim(index, uint32_t(dim))
                                        : state_.function.registers.constant(size));
      state_.tensors[value] = std::move(tensor);
    } else if (!type->isUnread) {
      state_.scalars.defineArgument(value, index);
    }
    state_.function.inputs.push_back(std::move(*type));
  }
  for (util::GlobalLoadOp load : host_.loads)
    state_.function.loads.push_back(tables_.globals.lookup(load.getGlobal()));
  return success();
}

// --- Blocks ---------------------------------------------------------------------------------------------------------

/// An element of a tensor on the device. Nothing in this block computes with it (block_graph.h), it is only handed on.
LogicalResult FunctionLowering::lowerExtract(tensor::ExtractOp op) {
  auto type = dyn_cast<RankedTensorType>(op.getTensor().getType());
  if (!type || failed(state_.checkElementType(op, op.getTensor())))
    return type ? failure() : op.emitOpError() << "is not supported: the tensor has no rank";
  const TensorValue &value = state_.tensors[op.getTensor()];
  RegisterProgram &registers = state_.function.registers;
  Register element = registers.constant(0);
  for (auto [axis, index] : llvm::enumerate(op.getIndices())) {
    const Register at = state_.scalars.lookup(index), size = value.shape[axis];
    const std::string name = "index " + std::to_string(axis) + " of tensor.extract";
    if (!registers.isNonNegative(at))
      state_.scalars.require(registers.less(registers.constant(-1), at), name + " is negative", op.getLoc());
    state_.scalars.require(registers.less(at, size), name + " is not below the size of the dimension", op.getLoc());
    element = registers.add(registers.mul(element, size), at);
  }
  const Register bytes = registers.constant(abi::byteSize(*elementTypeOf(type.getElementType())));
  state_.reads[op.getResult()] = {value.buffer, registers.mul(element, bytes)};
  return success();
}

/// The number of `value` among the block's results.
uint32_t FunctionLowering::handOn(Value value) {
  auto [found, isNew] = handedOn_.try_emplace(value, uint32_t(state_.function.results.size()));
  if (isNew)
    state_.function.results.push_back(state_.outputOf(value));
  return found->second;
}

Target FunctionLowering::targetOf(Register condition, Block *next, ValueRange operands) {
  Target target{.condition = condition, .block = numbers_.lookup(next), .arguments = {}};
  for (Value operand : operands)
    target.arguments.push_back(handOn(operand));
  for (Value value : ArrayRef(all_[target.block].parameters).drop_front(operands.size()))
    target.arguments.push_back(handOn(value));
  return target;
}

LogicalResult FunctionLowering::lowerBranch(Operation *op) {
  std::vector<Target> &targets = state_.function.targets;
  if (auto branch = dyn_cast<cf::BranchOp>(op)) {
    targets.push_back(targetOf(kNoRegister, branch.getDest(), branch.getDestOperands()));
  } else if (auto branch = dyn_cast<cf::CondBranchOp>(op)) {
    const Register condition = state_.scalars.lookup(branch.getCondition());
    targets.push_back(targetOf(condition, branch.getTrueDest(), branch.getTrueDestOperands()));
    targets.push_back(targetOf(kNoRegister, branch.getFalseDest(), branch.getFalseDestOperands()));
  } else {
    auto choice = cast<cf::SwitchOp>(op);
    RegisterProgram &registers = state_.function.registers;
    const Register flag = state_.scalars.lookup(choice.getFlag());
    if (std::optional<DenseIntElementsAttr> values = choice.getCaseValues())
      for (auto [index, value] : llvm::enumerate(values->getValues<APInt>())) {
        const Register wanted = registers.constant(value.getSExtValue());
        targets.push_back(targetOf(registers.equal(flag, wanted), choice.getCaseDestinations()[index],
                                   choice.getCaseOperands(unsigned(index))));
      }
    targets.push_back(targetOf(kNoRegister, choice.getDefaultDestination(), choice.getDefaultOperands()));
  }
  return success();
}

LogicalResult FunctionLowering::lowerStores() {
  for (util::GlobalStoreOp store : host_.stores)
    state_.function.stores.push_back({tables_.globals.lookup(store.getGlobal()), handOn(store.getValue())});
  return success();
}

FailureOr<Function> FunctionLowering::run(ArrayRef<HostBlock> all, const BlockNumbers &numbers) {
  all_ = all;
  numbers_ = numbers;
  if (failed(lowerInputs()))
    return failure();
  state_.findLive();
  for (Operation &op : *host_.block)
    if (state_.positions.contains(&op) && failed(lowerOperation(&op)))
      return failure();
  if (failed(lowerStores()))
    return failure();
  state_.function.buffers = state_.buffers.all();
  for (BufferIndex buffer : state_.writtenInputs)
    state_.function.donated.push_back(state_.function.buffers[buffer].index);
  llvm::sort(state_.function.donated);
  layOutArena(state_.function);
  state_.function.dropUnused();
  return std::move(state_.function);
}

/// Inputs of the function that its blocks write, or hand on to ones that do.
void findDonated(Function &function) {
  std::vector<std::vector<bool>> isWritten; // [blocks][inputs]
  for (const Function &block : function.blocks) {
    isWritten.emplace_back(block.inputs.size());
    for (uint32_t input : block.donated)
      isWritten.back()[input] = true;
  }
  for (bool changes = true; changes;) {
    changes = false;
    for (auto [number, block] : llvm::enumerate(function.blocks))
      for (const Target &target : block.targets)
        for (auto [parameter, result] : llvm::enumerate(target.arguments)) {
          const ResultValue &value = block.results[result];
          if (!isWritten[target.block][parameter] || !value.type.isTensor)
            continue;
          const Buffer &buffer = block.buffers[value.buffer];
          if (buffer.source == BufferSource::Input && !isWritten[number][buffer.index])
            changes = isWritten[number][buffer.index] = true;
        }
  }
  for (uint32_t input = 0; input < function.inputs.size(); ++input)
    if (isWritten.front()[input])
      function.donated.push_back(input);
}

/// Arguments that the function assigns to.
std::vector<uint32_t> updatedArguments(func::FuncOp op) {
  std::vector<uint32_t> updated;
  for (BlockArgument argument : op.getArguments())
    if (llvm::any_of(argument.getUsers(), [&](Operation *user) {
          auto alias = dyn_cast<hal::TensorAliasOp>(user);
          return alias && alias.getStorage() == argument;
        }))
      updated.push_back(argument.getArgNumber());
  return updated;
}

FailureOr<Function> lowerBlocks(func::FuncOp op, const ProgramTables &tables, ConstantPool &constants) {
  Function function;
  function.name = op.getSymName().str();
  for (Type type : op.getArgumentTypes())
    function.inputs.push_back(*toInputType(type));
  for (Type type : op.getResultTypes())
    function.results.push_back({.type = *toValueType(type), .shape = {}});
  SmallVector<HostBlock> blocks = formBlocks(op);
  BlockNumbers numbers;
  for (auto [index, host] : llvm::enumerate(blocks))
    numbers[host.block] = uint32_t(index);
  bool ok = true;
  for (const HostBlock &host : blocks) {
    FailureOr<Function> block = FunctionLowering(op.getSymName(), host, tables, constants).run(blocks, numbers);
    ok &= succeeded(block);
    if (ok)
      function.blocks.push_back(std::move(*block));
  }
  if (!ok)
    return failure();
  findDonated(function);
  return function;
}

} // namespace

LogicalResult verifySignature(func::FuncOp function, function_ref<bool(Type)> excused) {
  constexpr StringLiteral kWanted = ": a tensor or a scalar is wanted, as tensor<4xf32>, tensor<?xi8>, i32 or f32";
  bool ok = true;
  for (BlockArgument argument : function.getArguments()) {
    if (toInputType(argument.getType()) || excused(argument.getType()))
      continue;
    emitError(argument.getLoc()) << "argument " << argument.getArgNumber() << " of '@" << function.getSymName()
                                 << "' has type " << argument.getType() << ", which a program cannot take" << kWanted;
    ok = false;
  }
  for (auto [index, type] : llvm::enumerate(function.getResultTypes())) {
    if (toValueType(type) || excused(type))
      continue;
    function.emitError() << "result " << index << " of '@" << function.getSymName() << "' has type " << type
                         << ", which a program cannot return" << kWanted;
    ok = false;
  }
  return success(ok);
}

FailureOr<Function> lowerFunction(func::FuncOp function, const ProgramTables &tables, ConstantPool &constants) {
  if (failed(verifySignature(function)))
    return failure();
  const std::vector<uint32_t> updated = updatedArguments(function);
  HostBlock only{&function.getBody().front(), {}, {}, {}};
  llvm::append_range(only.parameters, function.getArguments());
  FailureOr<Function> lowered = needsBlocks(function)
                                    ? lowerBlocks(function, tables, constants)
                                    : FunctionLowering(function.getSymName(), only, tables, constants).run();
  if (succeeded(lowered))
    lowered->updated = updated;
  return lowered;
}

} // namespace tenon::compiler::host
