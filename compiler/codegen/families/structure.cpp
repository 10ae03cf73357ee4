// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "compiler/codegen/families/structure.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/LLVMIR/NVVMDialect.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "llvm/Support/MathExtras.h"

using namespace mlir;

namespace tenon::compiler::codegen {
namespace {

constexpr unsigned kDeepest = 16; // that arithmetic is looked at

/// Whether a value is the same for all threads of a block, as far as arithmetic says it.
bool isOfBlock(Value value, unsigned depth = 0) {
  if (depth == kDeepest)
    return false;
  auto isToo = [&](Value operand) { return isOfBlock(operand, depth + 1); };
  if (auto argument = dyn_cast<BlockArgument>(value)) {
    auto loop = dyn_cast<scf::ForOp>(argument.getOwner()->getParentOp());
    return loop && argument == loop.getInductionVar() && isToo(loop.getLowerBound()) && isToo(loop.getStep());
  }
  Operation *op = value.getDefiningOp();
  if (isa<arith::ConstantOp, NVVM::BlockIdXOp, NVVM::BlockIdYOp, NVVM::BlockIdZOp, NVVM::GridDimXOp>(op))
    return true;
  return isa<arith::AddIOp, arith::SubIOp, arith::MulIOp, arith::DivUIOp, arith::RemUIOp, arith::MinUIOp,
             arith::ExtUIOp, arith::TruncIOp>(op) &&
         llvm::all_of(op->getOperands(), isToo);
}

/// The most that a value of isOfBlock() is; UINT64_MAX: any number. @param mostOf constants that may be others
uint64_t mostOfBlock(Value value, const llvm::DenseMap<Value, uint64_t> &mostOf) {
  constexpr uint64_t kMostBlocks = INT32_MAX;
  auto most = [&](Value operand) { return mostOfBlock(operand, mostOf); };
  if (!isOfBlock(value))
    return UINT64_MAX;
  if (auto argument = dyn_cast<BlockArgument>(value))
    return most(cast<scf::ForOp>(argument.getOwner()->getParentOp()).getUpperBound());
  Operation *op = value.getDefiningOp();
  if (auto found = mostOf.find(value); found != mostOf.end())
    return found->second;
  if (auto constant = dyn_cast<arith::ConstantOp>(op))
    return cast<IntegerAttr>(constant.getValue()).getValue().getZExtValue();
  if (op->getNumOperands() == 0)
    return kMostBlocks;
  if (isa<arith::SubIOp>(op))
    return UINT64_MAX; // it may be below 0
  if (isa<arith::ExtUIOp, arith::TruncIOp, arith::DivUIOp>(op))
    return most(op->getOperand(0));
  const uint64_t x = most(op->getOperand(0)), y = most(op->getOperand(1));
  if (isa<arith::MinUIOp>(op))
    return std::min(x, y);
  if (isa<arith::RemUIOp>(op))
    return std::min(x, y == 0 ? x : y - 1);
  return isa<arith::AddIOp>(op) ? llvm::SaturatingAdd(x, y) : llvm::SaturatingMultiply(x, y);
}

/// Whether the code that is made for the use is as good, whatever number it is.
bool takesAnyNumber(OpOperand &use) {
  Operation *user = use.getOwner();
  const unsigned operand = use.getOperandNumber();
  // LLVM makes two instructions of a division by a constant, and there are seven where it has a name: no matter where
  // a block does it once, for all of its elements.
  if (isa<arith::DivUIOp, arith::RemUIOp>(user))
    return operand == 0 || isOfBlock(user->getOperand(0));
  if (isa<scf::ForOp>(user))
    return operand != 2; // the step
  if (isa<arith::SelectOp>(user))
    return operand != 0;
  if (auto assembly = dyn_cast<LLVM::InlineAsmOp>(user))
    return !assembly.getConstraints().contains('n');              // else it is part of the text
  if (isa<arith::TruncIOp, arith::ExtUIOp, arith::ExtSIOp>(user)) // the same number, of other bits
    return llvm::all_of(user->getUses(), takesAnyNumber);
  // No bounds of floats: those of a clamp are known to what is written around (ptxas_errors.h).
  return isa<arith::AddIOp, arith::SubIOp, arith::MulIOp, arith::MinUIOp, arith::MaxUIOp, arith::MinSIOp,
             arith::MaxSIOp, arith::CmpIOp, arith::AddFOp, arith::SubFOp, arith::MulFOp, arith::CmpFOp, scf::YieldOp,
             LLVM::GEPOp>(user);
}

// Numbers up to this may decide more than they are: LLVM writes out loops of so few rounds, and a division by the
// smaller one of a number and eight is one by the number. Small products wait for both (an H200, 144 x 544 x 272 bf16,
// whose five steps were no constant: 10 % slower; 384 x 768 x 768, of six tiles: 6 %).
constexpr int64_t kFew = 8;

/// Whether the value, or what is computed from it, is a divisor.
bool divides(Value value, unsigned depth = 0) {
  return depth < kDeepest &&
         llvm::any_of(
             value.getUses(),
             [&](OpOperand &use) {
               Operation *user = use.getOwner();
               if (isa<arith::DivUIOp, arith::RemUIOp>(user))
                 return use.getOperandNumber() == 1;
               return isa<arith::AddIOp, arith::SubIOp, arith::MulIOp, arith::MinUIOp, arith::ExtUIOp, arith::TruncIOp>(
                          user) &&
                      divides(user->getResult(0), depth + 1);
             });
}

bool decidesMore(arith::ConstantOp constant) {
  auto value = dyn_cast<IntegerAttr>(constant.getValue());
  auto counts = [](OpOperand &use) { return isa<scf::ForOp>(use.getOwner()) && use.getOperandNumber() < 2; };
  return value && value.getValue().sle(kFew) &&
         (llvm::any_of(constant->getUses(), counts) || divides(constant.getResult()));
}

bool isNumber(Operation &op) {
  auto constant = dyn_cast<arith::ConstantOp>(op);
  if (!constant || decidesMore(constant))
    return false;
  Type type = constant.getType();
  return (type.isInteger(64) || type.isInteger(32) || type.isF32()) && llvm::all_of(op.getUses(), takesAnyNumber);
}

} // namespace

Structure::Structure(OwningOpRef<ModuleOp> written) : written_(std::move(written)), hash_(0) {
  auto addBlock = [&](Block &block) {
    blocks_.try_emplace(&block, blocks_.size());
    for (Value argument : block.getArguments())
      values_.try_emplace(argument, values_.size());
  };
  written_->getOperation()->walk<WalkOrder::PreOrder>([&](Operation *op) {
    operations_.push_back(op);
    for (Region &region : op->getRegions())
      llvm::for_each(region, addBlock);
    for (Value result : op->getResults())
      values_.try_emplace(result, values_.size());
    const bool isOne = isNumber(*op);
    if (isOne)
      constants_.push_back(op);
    if (isa<arith::ConstantOp>(op))
      isNumber_[op] = isOne;
    hash_ = llvm::hash_combine(hash_, op->getName().getAsOpaquePointer(), op->getNumOperands(),
                               isOne ? llvm::hash_code(0) : op->hashProperties());
    for (Value operand : op->getOperands())
      hash_ = llvm::hash_combine(hash_, values_.lookup(operand));
  });
}

bool Structure::isLike(const Structure &other) const {
  if (hash_ != other.hash_ || operations_.size() != other.operations_.size() ||
      constants_.size() != other.constants_.size() || values_.size() != other.values_.size() ||
      blocks_.size() != other.blocks_.size())
    return false;
  auto areAlike = [&](Operation *left, Operation *right) {
    if (left->getName() != right->getName() || left->getNumOperands() != right->getNumOperands() ||
        left->getResultTypes() != right->getResultTypes() || left->getNumRegions() != right->getNumRegions() ||
        left->getNumSuccessors() != right->getNumSuccessors() ||
        left->getDiscardableAttrDictionary() != right->getDiscardableAttrDictionary() ||
        isNumber_.lookup(left) != other.isNumber_.lookup(right) ||
        blocks_.lookup(left->getBlock()) != other.blocks_.lookup(right->getBlock()))
      return false;
    if (!isNumber_.lookup(left) &&
        !left->getName().compareOpProperties(left->getPropertiesStorage(), right->getPropertiesStorage()))
      return false;
    for (auto [one, two] : llvm::zip_equal(left->getOperands(), right->getOperands()))
      if (values_.lookup(one) != other.values_.lookup(two))
        return false;
    for (auto [one, two] : llvm::zip_equal(left->getSuccessors(), right->getSuccessors()))
      if (blocks_.lookup(one) != other.blocks_.lookup(two))
        return false;
    for (auto [one, two] : llvm::zip_equal(left->getRegions(), right->getRegions())) {
      if (one.getBlocks().size() != two.getBlocks().size())
        return false;
      for (auto [block, its] : llvm::zip_equal(one, two))
        if (block.getArgumentTypes() != its.getArgumentTypes())
          return false;
    }
    return true;
  };
  for (auto [left, right] : llvm::zip_equal(operations_, other.operations_))
    if (!areAlike(left, right))
      return false;
  return true;
}

std::vector<int64_t> Structure::numbers() const {
  std::vector<int64_t> numbers;
  for (Operation *op : constants_) {
    Attribute value = cast<arith::ConstantOp>(op).getValue();
    auto real = dyn_cast<FloatAttr>(value);
    numbers.push_back(real ? int64_t(real.getValue().bitcastToAPInt().getZExtValue())
                           : cast<IntegerAttr>(value).getValue().getSExtValue());
  }
  return numbers;
}

void Structure::narrowDivisions(ArrayRef<int64_t> most) {
  llvm::DenseMap<Value, uint64_t> mostOf; // numbers
  for (auto [constant, value] : llvm::zip_equal(constants_, most))
    mostOf[constant->getResult(0)] = uint64_t(value);
  for (Operation *op : operations_) {
    if (!isa<arith::DivUIOp, arith::RemUIOp>(op) || !op->getResult(0).getType().isInteger(64) ||
        !mostOf.contains(op->getOperand(1)) || mostOfBlock(op->getOperand(0), mostOf) > UINT32_MAX ||
        mostOfBlock(op->getOperand(1), mostOf) > UINT32_MAX)
      continue;
    OpBuilder b(op);
    auto narrow = [&](Value value) -> Value { return arith::TruncIOp::create(b, op->getLoc(), b.getI32Type(), value); };
    Value x = narrow(op->getOperand(0)), by = narrow(op->getOperand(1));
    Value result = isa<arith::DivUIOp>(op) ? arith::DivUIOp::create(b, op->getLoc(), x, by).getResult()
                                           : arith::RemUIOp::create(b, op->getLoc(), x, by).getResult();
    op->getResult(0).replaceAllUsesWith(arith::ExtUIOp::create(b, op->getLoc(), b.getI64Type(), result));
  }
}

Type Structure::typeOf(size_t index) const {
  return constants_[index]->getResult(0).getType();
}

void Structure::name(size_t index, StringRef name) {
  Operation *constant = constants_[index];
  Value value = constant->getResult(0);
  auto function = constant->getParentOfType<LLVM::LLVMFuncOp>();
  // Where the kernel begins, so that every use is behind it.
  OpBuilder atStart = OpBuilder::atBlockBegin(&function.getBody().front());
  auto stands = module().lookupSymbol<LLVM::LLVMFuncOp>(name);
  if (!stands) {
    OpBuilder b = OpBuilder::atBlockBegin(module().getBody());
    stands = LLVM::LLVMFuncOp::create(b, module().getLoc(), name, LLVM::LLVMFunctionType::get(value.getType(), {}));
  }
  value.replaceAllUsesWith(LLVM::CallOp::create(atStart, constant->getLoc(), stands, ValueRange()).getResult());
}

} // namespace tenon::compiler::codegen
