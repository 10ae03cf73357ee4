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
  written_->getOperation()->walk<WalkOrder::PreOrder>([&](Operation *op) { operations_.push_back(op); });
  llvm::DenseMap<Value, uint32_t> values(uint32_t(2 * operations_.size()));
  llvm::DenseMap<Block *, uint32_t> blocks;
  blocks.try_emplace(nullptr, 0); // that of the module
  isNumber_.resize(unsigned(operations_.size()));
  for (auto [index, op] : llvm::enumerate(operations_)) {
    if (isNumber(*op)) {
      constants_.push_back(op);
      isNumber_.set(unsigned(index));
    }
    llvm::append_values(links_, op->getNumOperands(), op->getNumSuccessors(), op->getNumResults(), op->getNumRegions(),
                        blocks.lookup(op->getBlock()));
    for (Region &region : op->getRegions()) {
      links_.push_back(uint32_t(region.getBlocks().size()));
      for (Block &block : region) {
        blocks.try_emplace(&block, uint32_t(blocks.size()));
        links_.push_back(block.getNumArguments());
        for (Value argument : block.getArguments())
          values.try_emplace(argument, uint32_t(values.size()));
      }
    }
    for (Value result : op->getResults())
      values.try_emplace(result, uint32_t(values.size()));
  }
  // Blocks may be used before they are there, and values by what stands before them.
  for (auto [index, op] : llvm::enumerate(operations_)) {
    for (Value operand : op->getOperands())
      links_.push_back(values.lookup(operand));
    for (Block *successor : op->getSuccessors())
      links_.push_back(blocks.lookup(successor));
    hash_ = llvm::hash_combine(hash_, op->getName().getAsOpaquePointer(),
                               isNumber_[unsigned(index)] ? llvm::hash_code(0) : op->hashProperties());
  }
  hash_ = llvm::hash_combine(hash_, llvm::hash_combine_range(links_));
}

bool Structure::isLike(const Structure &other) const {
  // So much is the same that what remains can be taken side by side.
  if (hash_ != other.hash_ || operations_.size() != other.operations_.size() || isNumber_ != other.isNumber_ ||
      links_ != other.links_)
    return false;
  auto areAlike = [](Operation *left, Operation *right, bool areNumbers) {
    if (left->getName() != right->getName() || left->getResultTypes() != right->getResultTypes() ||
        left->getDiscardableAttrDictionary() != right->getDiscardableAttrDictionary())
      return false;
    if (!areNumbers &&
        !left->getName().compareOpProperties(left->getPropertiesStorage(), right->getPropertiesStorage()))
      return false;
    for (auto [one, two] : llvm::zip_equal(left->getRegions(), right->getRegions()))
      for (auto [block, its] : llvm::zip_equal(one, two))
        if (block.getArgumentTypes() != its.getArgumentTypes())
          return false;
    return true;
  };
  for (unsigned index = 0; index < operations_.size(); ++index)
    if (!areAlike(operations_[index], other.operations_[index], isNumber_[index]))
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
