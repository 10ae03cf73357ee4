// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "compiler/dispatch/analysis/kernel_config.h"

#include "compiler/dialect/linalg_ext/LinalgExtOps.h"
#include "compiler/input/types/storage.h"

#include "mlir/Dialect/Affine/IR/AffineOps.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "llvm/ADT/SmallBitVector.h"

#include <algorithm>

using namespace mlir;

namespace tenon::compiler::dispatch {
namespace {

bool isSupportedMath(Operation &op) {
  return isa<math::AbsFOp, math::AbsIOp, math::AcosOp, math::AcoshOp, math::AsinOp, math::AsinhOp, math::AtanOp,
             math::Atan2Op, math::AtanhOp, math::CbrtOp, math::CeilOp, math::CopySignOp, math::CosOp, math::CoshOp,
             math::CountLeadingZerosOp, math::CountTrailingZerosOp, math::CtPopOp, math::ErfOp, math::ErfcOp,
             math::ExpOp, math::Exp2Op, math::ExpM1Op, math::FloorOp, math::FmaOp, math::IsFiniteOp, math::IsInfOp,
             math::IsNaNOp, math::IsNormalOp, math::LogOp, math::Log10Op, math::Log1pOp, math::Log2Op, math::PowFOp,
             math::RoundOp, math::RoundEvenOp, math::RsqrtOp, math::SinOp, math::SinhOp, math::SqrtOp, math::TanOp,
             math::TanhOp, math::TruncOp>(op);
}

LogicalResult verifyType(Operation *where, Type type, StringRef what) {
  if (isSupportedElement(type))
    return success();
  return where->emitError() << "no kernel can be generated: " << what << " has type " << type
                            << "; supported are i1, i8, i16, i32, i64, f16, bf16, f32, f64";
}

/// An element of f8E4M3FN or f8E5M2 that is read as a byte and widened.
bool isWidening(Operation &op) {
  Type small = isa<arith::BitcastOp>(op) ? op.getResult(0).getType()
               : isa<arith::ExtFOp>(op)  ? op.getOperand(0).getType()
                                         : Type();
  return small && input::isWidenedInKernels(small);
}

LogicalResult verifyBodyOp(Operation &op);

/// A loop, which stays one, carries numbers.
LogicalResult verifyLoop(scf::WhileOp loop) {
  for (Region &region : loop->getRegions()) {
    for (Type type : region.getArgumentTypes())
      if (!type.isIndex() && failed(verifyType(loop, type, "a value")))
        return failure();
    for (Operation &inner : region.front())
      if (failed(verifyBodyOp(inner)))
        return failure();
  }
  return success();
}

LogicalResult verifyBodyOp(Operation &op) {
  if (auto loop = dyn_cast<scf::WhileOp>(op))
    return verifyLoop(loop);
  if (isa<scf::ConditionOp, scf::YieldOp>(op))
    return success(); // of a loop: its operands are those of the others
  if (isa<linalg::YieldOp, linalg::IndexOp, affine::AffineApplyOp, linalg_ext::YieldOp>(op))
    return success();
  if (auto extract = dyn_cast<tensor::ExtractOp>(op))
    return verifyType(&op, extract.getType(), "a value");
  const bool known = isa<arith::ArithDialect>(op.getDialect()) || isSupportedMath(op);
  if (!known || op.getNumRegions() != 0)
    return op.emitError() << "no kernel can be generated: '" << op.getName()
                          << "' is not supported inside a linalg operation";
  if (isWidening(op))
    return success();
  for (Type type : op.getResultTypes())
    if (!type.isIndex() && failed(verifyType(&op, type, "a value")))
      return failure();
  for (Type type : op.getOperandTypes())
    if (!type.isIndex() && failed(verifyType(&op, type, "a value")))
      return failure();
  return success();
}

LogicalResult verifyMaps(linalg::GenericOp op) {
  for (OpOperand &init : op.getDpsInitsMutable()) {
    AffineMap map = op.getMatchingIndexingMap(&init);
    llvm::SmallBitVector seen(op.getNumLoops());
    for (AffineExpr result : map.getResults()) {
      auto dim = dyn_cast<AffineDimExpr>(result);
      if (!dim || seen.test(dim.getPosition()) ||
          op.getIteratorTypesArray()[dim.getPosition()] != utils::IteratorType::parallel)
        return op.emitError() << "no kernel can be generated: the indexing map of a result, " << AffineMapAttr::get(map)
                              << ", must name every parallel loop once and no other";
      seen.set(dim.getPosition());
    }
    if (seen.count() != op.getNumParallelLoops())
      return op.emitError() << "no kernel can be generated: the indexing map of a result, " << AffineMapAttr::get(map)
                            << ", must name every parallel loop once and no other";
  }
  for (OpOperand *input : op.getDpsInputOperands())
    if (op.getMatchingIndexingMap(input).getNumSymbols() != 0)
      return op.emitError() << "no kernel can be generated: an indexing map has symbols";
  for (utils::IteratorType type : op.getIteratorTypesArray())
    if (type != utils::IteratorType::parallel && type != utils::IteratorType::reduction)
      return op.emitError() << "no kernel can be generated: a loop is neither parallel nor a reduction";
  return success();
}

// A thread's straight-line code: beyond it, wider threads only cost registers and compile time.
constexpr uint32_t kMaxWorkPerThread = 256;
constexpr uint32_t kLibraryCallWork = 16, kLoopWork = 64;

uint32_t workOf(Operation &op) {
  if (op.getNumRegions() != 0)
    return kLoopWork;
  const bool isLong = isa<math::MathDialect>(op.getDialect()) || isa<arith::DivFOp, arith::RemFOp>(op);
  return isLong ? kLibraryCallWork : 1;
}

/// Rough number of instructions for one element.
uint32_t bodyWork(linalg::GenericOp op) {
  uint32_t work = 0;
  for (Operation &inner : op.getBody()->without_terminator())
    work += workOf(inner);
  return work;
}

/// Element numbers and byte offsets of known sizes stay far from the end of 64 bits.
bool isAddressable(RankedTensorType type) {
  constexpr int64_t kMaxElements = int64_t(1) << 48;
  int64_t elements = 1;
  for (int64_t size : type.getShape()) {
    if (ShapedType::isDynamic(size) || size == 0)
      continue;
    if (size > kMaxElements / elements)
      return false;
    elements *= size;
  }
  return true;
}

} // namespace

bool isSupportedElement(Type type) {
  if (auto integer = dyn_cast<IntegerType>(type)) {
    const unsigned width = integer.getWidth();
    return integer.isSignless() && (width == 1 || width == 8 || width == 16 || width == 32 || width == 64);
  }
  return isa<Float16Type, BFloat16Type, Float32Type, Float64Type>(type);
}

uint32_t elementBytes(Type type) {
  return std::max(1u, type.getIntOrFloatBitWidth() / 8);
}

bool isScalarOp(Operation *op) {
  const bool known =
      isa<arith::ArithDialect>(op->getDialect()) || isa<affine::AffineApplyOp>(op) || isSupportedMath(*op);
  auto isScalar = [](Type type) { return type.isIndex() || isSupportedElement(type); };
  return known && op->getNumRegions() == 0 && llvm::all_of(op->getOperandTypes(), isScalar) &&
         llvm::all_of(op->getResultTypes(), isScalar);
}

bool isSimpleMap(AffineMap map) {
  return map.isProjectedPermutation(/*allowZeroInResults=*/true);
}

uint32_t elementsPerThread(linalg::GenericOp op) {
  if (op.getNumLoops() == 0 || op.getNumReductionLoops() != 0 || !llvm::all_of(op.getIndexingMapsArray(), isSimpleMap))
    return 1;
  uint32_t widest = 2; // 8-bit elements: 8 to a thread, as 16-bit ones
  for (Value operand : op->getOperands())
    if (auto type = dyn_cast<RankedTensorType>(operand.getType()))
      widest = std::max(widest, elementBytes(type.getElementType()));
  uint32_t elements = 16 / widest;
  for (const uint32_t work = bodyWork(op); elements > 1 && elements * work > kMaxWorkPerThread;)
    elements /= 2;
  return elements;
}

namespace {

LogicalResult verifyOperands(Operation *op) {
  for (Value operand : op->getOperands()) {
    Type type = operand.getType();
    auto tensor = dyn_cast<RankedTensorType>(type);
    if (tensor && !isAddressable(tensor))
      return op->emitError() << "no kernel can be generated: " << type << " has more than 2^48 elements";
    if (tensor && tensor.getEncoding())
      return op->emitError() << "no kernel can be generated: tensor type " << type << " has an encoding";
    if (!type.isIndex() && failed(verifyType(op, tensor ? tensor.getElementType() : type, "an operand")))
      return failure();
  }
  return success();
}

} // namespace

/// Whether the body computes one of the values from the loop's index.
static bool asksFor(ValueRange values, linalg::GenericOp op, unsigned loop) {
  llvm::SmallDenseSet<Operation *> seen;
  SmallVector<Value> open(values);
  while (!open.empty()) {
    Operation *inner = open.pop_back_val().getDefiningOp();
    if (!inner || inner->getBlock() != op.getBody() || !seen.insert(inner).second)
      continue;
    if (auto index = dyn_cast<linalg::IndexOp>(inner); index && index.getDim() == loop)
      return true;
    llvm::append_range(open, inner->getOperands());
  }
  return false;
}

std::optional<unsigned> unrolledLoopOf(linalg::GenericOp op) {
  if (op.getNumReductionLoops() != 0 || op->getNumResults() != 1 || op.getNumLoops() < 2)
    return std::nullopt;
  AffineMap result = op.getMatchingIndexingMap(op.getDpsInitOperand(0));
  if (!result.isPermutation())
    return std::nullopt;
  auto isRead = [&](unsigned loop) {
    return llvm::any_of(op.getDpsInputOperands(),
                        [&](OpOperand *input) { return op.getMatchingIndexingMap(input).isFunctionOfDim(loop); }) ||
           llvm::any_of(op.getBody()->getOps<tensor::ExtractOp>(),
                        [&](tensor::ExtractOp read) { return asksFor(read.getIndices(), op, loop); });
  };
  const SmallVector<int64_t> sizes = op.getStaticLoopRanges();
  for (unsigned loop = 0; loop < op.getNumLoops(); ++loop) {
    // Adjacent elements are a vector's.
    const bool isLast = result.getDimPosition(result.getNumResults() - 1) == loop;
    if (sizes[loop] > 1 && sizes[loop] <= kMostUnrolled && !isLast && !isRead(loop))
      return loop;
  }
  return std::nullopt;
}

LogicalResult verifyKernelOp(linalg::GenericOp op) {
  if (!op.hasPureTensorSemantics() || op.getNumDpsInits() == 0)
    return op.emitError() << "no kernel can be generated: only linalg operations on tensors are supported";
  if (failed(verifyOperands(op)) || failed(verifyMaps(op)))
    return failure();
  for (Operation &inner : *op.getBody())
    if (failed(verifyBodyOp(inner)))
      return failure();
  return success();
}

LogicalResult verifyAlongOp(Operation *op) {
  if (failed(verifyOperands(op)))
    return failure();
  if (op->getNumRegions() == 0 || op->getRegion(0).empty())
    return success();
  for (Operation &inner : op->getRegion(0).front()) {
    if (isa<tensor::ExtractOp, linalg::IndexOp>(inner))
      return inner.emitError() << "no kernel can be generated: '" << inner.getName() << "' is not supported inside '"
                               << op->getName() << "'";
    if (failed(verifyBodyOp(inner)))
      return failure();
  }
  return success();
}

} // namespace tenon::compiler::dispatch
