// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "compiler/dispatch/products/gates.h"

#include "compiler/dispatch/analysis/groups/gates.h"
#include "compiler/dispatch/analysis/products/contraction.h"
#include "compiler/dispatch/analysis/products/small_products.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/IR/Matchers.h"

using namespace mlir;

namespace tenon::compiler::dispatch {
namespace {

constexpr int64_t kMostGates = 8;

bool isPlain(linalg::GenericOp op) {
  return op.hasPureTensorSemantics() && op->getNumResults() == 1 && !isOfAttention(op) &&
         op.getBody()->getOps<linalg::IndexOp>().empty() && op.getBody()->getOps<tensor::ExtractOp>().empty();
}

bool hasKnownSizes(linalg::GenericOp op) {
  return llvm::all_of(op->getOperandTypes(), [](Type type) {
    auto tensor = dyn_cast<RankedTensorType>(type);
    return !tensor || tensor.hasStaticShape();
  });
}

/// The next operation of what is computed from each result of a product, in its order: the only reader.
linalg::GenericOp nextOf(linalg::GenericOp op) {
  if (!op->hasOneUse())
    return {};
  OpOperand &use = *op->use_begin();
  auto next = dyn_cast<linalg::GenericOp>(use.getOwner());
  if (!next || next->getBlock() != op->getBlock() || !isPlain(next) || next.getNumReductionLoops() != 0 ||
      next.isDpsInit(&use) || !hasKnownSizes(next))
    return {};
  const AffineMap written = next.getIndexingMapMatchingResult(next->getResult(0));
  return next.getMatchingIndexingMap(&use).isIdentity() && written.isIdentity() ? next : linalg::GenericOp();
}

/// Which gate begins at an offset, and is as long as the loops say.
std::optional<unsigned> gateAt(int64_t offset, int64_t units, int64_t columns) {
  return offset >= 0 && offset % units == 0 && offset + units <= columns ? std::optional(unsigned(offset / units))
                                                                         : std::nullopt;
}

/// One read of the columns, by an operation that computes an element for each row and unit.
struct GateRead {
  linalg::GenericOp reader;
  std::optional<unsigned> operand; // or
  tensor::ExtractOp extracted;
  unsigned gate = 0;
};

/// Reads of what is computed from the columns, of which each row of a unit reads its own.
class Reads {
public:
  /// False: something reads it in another way.
  bool find(Value columns) {
    const auto type = cast<RankedTensorType>(columns.getType());
    for (OpOperand &use : columns.getUses()) {
      auto extracted = dyn_cast<tensor::ExtractOp>(use.getOwner());
      auto reader = dyn_cast<linalg::GenericOp>(extracted ? extracted->getParentOp() : use.getOwner());
      if (!reader || !isReader(reader, columns.getParentBlock(), type))
        return false;
      GateRead read{.reader = reader};
      std::optional<unsigned> gate;
      if (extracted) {
        read.extracted = extracted;
        gate = gateOf(extracted, reader, type);
      } else if (!reader.isDpsInit(&use)) {
        read.operand = use.getOperandNumber();
        gate = gateOf(reader.getMatchingIndexingMap(&use), reader, type);
      }
      if (!gate)
        return false;
      read.gate = *gate;
      reads.push_back(read);
    }
    return !reads.empty() && type.getShape().back() / units <= kMostGates;
  }

  SmallVector<GateRead> reads;
  int64_t units = 0;

private:
  bool isReader(linalg::GenericOp op, Block *block, RankedTensorType type) {
    const SmallVector<int64_t> sizes = op.getStaticLoopRanges();
    const bool isOne = op->getBlock() == block && op.hasPureTensorSemantics() && op.getNumReductionLoops() == 0 &&
                       int64_t(op.getNumLoops()) == type.getRank() &&
                       llvm::all_of(op->getResults(), [&](OpResult value) {
                         return op.getIndexingMapMatchingResult(value).isIdentity();
                       });
    if (!isOne || ArrayRef(sizes).drop_back() != type.getShape().drop_back() || sizes.back() < 1 ||
        type.getShape().back() % sizes.back() != 0 || type.getShape().back() == sizes.back() ||
        (units != 0 && units != sizes.back()))
      return false;
    units = sizes.back();
    return true;
  }

  /// Whether the dimension is read where the loop of its number is.
  static bool isAt(AffineExpr expr, unsigned dimension, int64_t size) {
    auto constant = dyn_cast<AffineConstantExpr>(expr);
    return loopOf(expr) == dimension || (constant && constant.getValue() == 0 && size == 1);
  }

  std::optional<unsigned> gateOf(AffineMap map, linalg::GenericOp op, RankedTensorType type) const {
    const unsigned last = map.getNumResults() - 1;
    for (unsigned dimension = 0; dimension < last; ++dimension)
      if (!isAt(map.getResult(dimension), dimension, type.getDimSize(dimension)))
        return std::nullopt;
    AffineExpr rest = simplifyAffineExpr(map.getResult(last) - getAffineDimExpr(last, op.getContext()),
                                         map.getNumDims(), map.getNumSymbols());
    auto offset = dyn_cast<AffineConstantExpr>(rest);
    return offset ? gateAt(offset.getValue(), units, type.getShape().back()) : std::nullopt;
  }

  std::optional<unsigned> gateOf(tensor::ExtractOp op, linalg::GenericOp reader, RankedTensorType type) const {
    auto loopAt = [](Value index) {
      auto loop = index.getDefiningOp<linalg::IndexOp>();
      return loop ? std::optional<unsigned>(loop.getDim()) : std::nullopt;
    };
    const unsigned last = type.getRank() - 1;
    for (unsigned dimension = 0; dimension < last; ++dimension) {
      Value index = op.getIndices()[dimension];
      if (loopAt(index) != dimension && !(matchPattern(index, m_Zero()) && type.getDimSize(dimension) == 1))
        return std::nullopt;
    }
    Value index = op.getIndices()[last];
    APInt offset(64, 0);
    if (auto sum = index.getDefiningOp<arith::AddIOp>(); sum && matchPattern(sum.getRhs(), m_ConstantInt(&offset)))
      index = sum.getLhs();
    return loopAt(index) == last ? gateAt(offset.getSExtValue(), units, type.getShape().back()) : std::nullopt;
  }
};

/// What has the gates as a dimension of its own: the product, and what is computed from each of its results.
class Divided {
public:
  Divided(int64_t gates, int64_t units) : gates_(gates), units_(units) {}

  /// A copy of an operation, the loop of whose columns becomes two, of which `before`, divided already, takes the place
  /// of `instead`.
  linalg::GenericOp copy(linalg::GenericOp op, unsigned loop, Value instead, Value before) const {
    OpBuilder b(op);
    SmallVector<Value> inputs, starts;
    SmallVector<AffineMap> maps;
    for (OpOperand *input : op.getDpsInputOperands()) {
      const AffineMap map = op.getMatchingIndexingMap(input);
      const bool isBefore = input->get() == instead;
      inputs.push_back(isBefore ? before : divided(b, op.getLoc(), input->get(), map, loop));
      maps.push_back(mapOf(map, loop, /*gatesLast=*/isBefore));
    }
    maps.push_back(mapOf(op.getIndexingMapMatchingResult(op->getResult(0)), loop, /*gatesLast=*/true));
    auto type = cast<RankedTensorType>(op->getResult(0).getType());
    SmallVector<int64_t> shape(type.getShape());
    shape.back() = units_;
    shape.push_back(gates_);
    Value start = tensor::EmptyOp::create(b, op.getLoc(), shape, type.getElementType());
    if (auto fill = op.getDpsInits()[0].getDefiningOp<linalg::FillOp>())
      start = linalg::FillOp::create(b, op.getLoc(), fill.getInputs()[0], start).getResult(0);
    SmallVector<utils::IteratorType> types = op.getIteratorTypesArray();
    types.insert(types.begin() + loop + 1, utils::IteratorType::parallel);
    auto made = linalg::GenericOp::create(b, op.getLoc(), start.getType(), inputs, start, maps, types);
    IRMapping mapping;
    op.getRegion().cloneInto(&made.getRegion(), mapping);
    return made;
  }

private:
  AffineMap mapOf(AffineMap map, unsigned loop, bool gatesLast) const {
    MLIRContext *context = map.getContext();
    AffineExpr unit = getAffineDimExpr(loop, context), gate = getAffineDimExpr(loop + 1, context);
    SmallVector<AffineExpr> dims, results;
    for (unsigned dim = 0; dim < map.getNumDims(); ++dim)
      dims.push_back(getAffineDimExpr(dim <= loop ? dim : dim + 1, context));
    for (AffineExpr expr : map.getResults()) {
      if (loopOf(expr) == loop)
        llvm::append_range(results, gatesLast ? ArrayRef{unit, gate} : ArrayRef{gate, unit});
      else
        results.push_back(expr.replaceDims(dims));
    }
    return AffineMap::get(map.getNumDims() + 1, 0, results, context);
  }

  /// A tensor whose columns are gates, and units of each.
  Value divided(OpBuilder &b, Location loc, Value value, AffineMap map, unsigned loop) const {
    const std::optional<unsigned> dimension = map.getResultPosition(getAffineDimExpr(loop, map.getContext()));
    if (!dimension)
      return value;
    auto type = cast<RankedTensorType>(value.getType());
    SmallVector<int64_t> shape;
    SmallVector<ReassociationIndices> dimensions;
    for (int64_t each = 0; each < type.getRank(); ++each) {
      dimensions.push_back({int64_t(shape.size())});
      if (each == int64_t(*dimension)) {
        shape.push_back(gates_);
        dimensions.back().push_back(int64_t(shape.size()));
        shape.push_back(units_);
      } else {
        shape.push_back(type.getDimSize(each));
      }
    }
    auto expanded = RankedTensorType::get(shape, type.getElementType());
    return tensor::ExpandShapeOp::create(b, loc, expanded, value, dimensions);
  }

  int64_t gates_, units_;
};

/// Each operand has the columns as a dimension of its own, or not at all.
bool namesColumns(linalg::GenericOp op, unsigned loop) {
  return llvm::all_of(op.getIndexingMapsArray(), [&](AffineMap map) {
    return llvm::count_if(map.getResults(), [&](AffineExpr expr) { return loopOf(expr) == loop; }) <= 1 &&
           llvm::all_of(map.getResults(),
                        [&](AffineExpr expr) { return loopOf(expr) == loop || !expr.isFunctionOfDim(loop); });
  });
}

/// Whether lanes multiply the right side row by row: of few rows, or of so many of a small product (small_products.h)
/// as they take at all. Tiles are somewhat faster of the latter alone, and then the cell is a kernel of its own.
bool isOfLanes(const Contraction &product) {
  if (const std::optional<FewRows> few = fewRowsOf(product))
    return few->wide == &product.right;
  linalg::GenericOp op = product.op;
  const Type factor = factorTypeOf(product.right.value);
  const int64_t rows = *knownSizeOf(op, product.rows), columns = *knownSizeOf(op, product.columns),
                reduced = *knownSizeOf(op, product.reduced);
  return isForTensorCores(product) && (factor.isF16() || factor.isBF16()) && rows <= kMostFew && rows <= columns &&
         columns >= kLeastWide && reduced >= kLeastReduced &&
         isSmallProduct(columns * *knownSizeOf(op, product.batch), reduced);
}

/// The loop of the columns: of few rows, beside a matrix that is only read, and lies along what is summed.
std::optional<unsigned> columnsOf(linalg::GenericOp op) {
  if (op.getNumReductionLoops() == 0 || !isPlain(op) || !hasKnownSizes(op) || !op->getDiscardableAttrs().empty())
    return std::nullopt;
  const std::optional<Contraction> product = productOf(op);
  if (!product || product->right.inputs.size() != 1 || product->isRouted() || !product->places.empty() ||
      product->reduced.size() != 1 || product->columns.size() != 1 || !isOfLanes(*product) ||
      !isa<BlockArgument>(beforeExtension(product->right.value)))
    return std::nullopt;
  const AffineMap result = op.getIndexingMapMatchingResult(op->getResult(0)),
                  matrix = op.getMatchingIndexingMap(op.getDpsInputOperand(product->right.inputs.front()));
  Operation *start = op.getDpsInits()[0].getDefiningOp();
  if (!isa_and_nonnull<linalg::FillOp, tensor::EmptyOp>(start) ||
      loopOf(result.getResults().back()) != product->columns.front() ||
      loopOf(matrix.getResults().back()) != product->reduced.front())
    return std::nullopt;
  return product->columns.front();
}

/// Every reader gets its gates as operands of their own.
void readDivided(const Reads &found, Value before, Value divided) {
  for (const GateRead &read : found.reads) {
    linalg::GenericOp op = read.reader;
    MLIRContext *context = op.getContext();
    SmallVector<AffineExpr> results;
    for (unsigned loop = 0; loop < op.getNumLoops(); ++loop)
      results.push_back(getAffineDimExpr(loop, context));
    results.push_back(getAffineConstantExpr(read.gate, context));
    const AffineMap map = AffineMap::get(op.getNumLoops(), 0, results, context);
    SmallVector<AffineMap> maps = op.getIndexingMapsArray();
    if (read.operand) {
      maps[*read.operand] = map;
      op->setOperand(*read.operand, divided);
    } else {
      const unsigned inputs = op.getNumDpsInputs();
      maps.insert(maps.begin() + inputs, map);
      tensor::ExtractOp extracted = read.extracted;
      BlockArgument element = op.getBody()->insertArgument(inputs, extracted.getType(), extracted.getLoc());
      extracted.getResult().replaceAllUsesWith(element);
      extracted.erase();
      op.getInputsMutable().append(divided);
    }
    op.setIndexingMapsAttr(OpBuilder(context).getAffineMapArrayAttr(maps));
  }
}

void divide(linalg::GenericOp product) {
  const std::optional<unsigned> loop = columnsOf(product);
  if (!loop)
    return;
  SmallVector<linalg::GenericOp> behind; // what is computed from each result
  linalg::GenericOp last = product;
  for (linalg::GenericOp next = nextOf(last); next; next = nextOf(last)) {
    behind.push_back(next);
    last = next;
  }
  Reads reads;
  if (!reads.find(last->getResult(0)) || !namesColumns(product, *loop) ||
      !llvm::all_of(behind, [](linalg::GenericOp op) { return namesColumns(op, op.getNumLoops() - 1); }))
    return;
  const int64_t columns = cast<RankedTensorType>(last->getResult(0).getType()).getShape().back();
  const Divided divided(columns / reads.units, reads.units);
  linalg::GenericOp made = divided.copy(product, *loop, Value(), Value());
  made->setAttr(kGatesAttr, UnitAttr::get(made.getContext()));
  Value before = product->getResult(0), now = made->getResult(0);
  for (linalg::GenericOp op : behind) {
    now = divided.copy(op, op.getNumLoops() - 1, before, now)->getResult(0);
    before = op->getResult(0);
  }
  readDivided(reads, before, now);
  for (linalg::GenericOp op : llvm::reverse(behind))
    op.erase();
  product.erase();
}

} // namespace

void divideIntoGates(func::FuncOp function) {
  // Products first, since what is computed from one goes with it.
  SmallVector<linalg::GenericOp> products;
  for (Block &block : function.getBody())
    for (auto op : block.getOps<linalg::GenericOp>())
      if (op.getNumReductionLoops() != 0)
        products.push_back(op);
  for (linalg::GenericOp product : products)
    divide(product);
}

} // namespace tenon::compiler::dispatch
