// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "compiler/input/types/boundary.h"

#include "compiler/dialect/flow/FlowOps.h"
#include "compiler/input/types/storage.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/IR/SymbolTable.h"
#include "llvm/Support/MathExtras.h"

using namespace mlir;

namespace tenon::compiler::input {
namespace {

/// How many elements share a byte; 1 where each has its own.
int64_t perByte(Type type) {
  auto tensor = dyn_cast<RankedTensorType>(type);
  if (!tensor || tensor.getRank() == 0 || !tensor.getElementType().isIntOrFloat())
    return 1;
  const unsigned width = tensor.getElementType().getIntOrFloatBitWidth();
  return width > 1 && width < 8 && 8 % width == 0 ? 8 / width : 1;
}

/// The type at the boundary; null where it is that of storage.h.
RankedTensorType crossingType(Type type) {
  auto tensor = dyn_cast<RankedTensorType>(type);
  if (!tensor)
    return {};
  SmallVector<int64_t> shape(tensor.getShape());
  if (auto complex = dyn_cast<ComplexType>(tensor.getElementType())) {
    if (!storageOf(complex))
      return {};
    shape.push_back(2);
    return RankedTensorType::get(shape, complex.getElementType(), tensor.getEncoding());
  }
  const int64_t shared = perByte(type);
  if (shared == 1)
    return {};
  if (!ShapedType::isDynamic(shape.back()))
    shape.back() = llvm::divideCeil(shape.back(), shared);
  return RankedTensorType::get(shape, IntegerType::get(type.getContext(), 8), tensor.getEncoding());
}

bool mayCrossBoundary(Type type) {
  auto tensor = dyn_cast<RankedTensorType>(type);
  return tensor ? !isForeign(tensor.getElementType()) || isHeldAsOther(type) : !isForeign(type);
}

SmallVector<Value> dynamicSizesOf(OpBuilder &b, Value tensor) {
  SmallVector<Value> sizes;
  auto type = cast<RankedTensorType>(tensor.getType());
  for (int64_t dimension = 0; dimension < type.getRank(); ++dimension)
    if (type.isDynamicDim(dimension))
      sizes.push_back(tensor::DimOp::create(b, tensor.getLoc(), tensor, dimension));
  return sizes;
}

/// A loop nest over the elements of `type`, each computed by `body` from what `maps` read.
Value generate(OpBuilder &b, Location loc, RankedTensorType type, ValueRange sizes, ValueRange inputs,
               SmallVector<AffineMap> maps, function_ref<Value(OpBuilder &, ValueRange)> body) {
  Value empty = tensor::EmptyOp::create(b, loc, type, sizes);
  maps.push_back(b.getMultiDimIdentityMap(unsigned(type.getRank())));
  const SmallVector<utils::IteratorType> iterators(size_t(type.getRank()), utils::IteratorType::parallel);
  return linalg::GenericOp::create(b, loc, type, inputs, empty, maps, iterators,
                                   [&](OpBuilder &inner, Location, ValueRange values) {
                                     linalg::YieldOp::create(inner, loc, body(inner, values));
                                   })
      .getResult(0);
}

/// The map of all dimensions, whose last result is `last`.
AffineMap alongLast(RankedTensorType type, function_ref<AffineExpr(AffineExpr)> last) {
  const auto rank = unsigned(type.getRank());
  SmallVector<AffineExpr> results;
  for (unsigned i = 0; i < rank; ++i)
    results.push_back(getAffineDimExpr(i, type.getContext()));
  results.back() = last(results.back());
  return AffineMap::get(rank, 0, results, type.getContext());
}

/// Elements out of their bytes.
Value unpack(OpBuilder &b, Value bytes, RankedTensorType type) {
  const Location loc = bytes.getLoc();
  const int64_t shared = perByte(type), last = type.getRank() - 1;
  Type element = type.getElementType();
  auto bits = b.getIntegerType(element.getIntOrFloatBitWidth());
  SmallVector<Value> sizes = dynamicSizesOf(b, bytes);
  if (type.isDynamicDim(last))
    sizes.back() = b.createOrFold<arith::MulIOp>(loc, sizes.back(), arith::ConstantIndexOp::create(b, loc, shared));
  AffineMap map = alongLast(type, [&](AffineExpr place) { return place.floorDiv(shared); });
  return generate(b, loc, type, sizes, bytes, {map}, [&](OpBuilder &inner, ValueRange values) -> Value {
    Value place = linalg::IndexOp::create(inner, loc, last);
    Value count = arith::ConstantIndexOp::create(inner, loc, shared);
    Value width = arith::ConstantIndexOp::create(inner, loc, bits.getWidth());
    Value distance = arith::MulIOp::create(inner, loc, arith::RemUIOp::create(inner, loc, place, count), width);
    distance = arith::IndexCastOp::create(inner, loc, inner.getI8Type(), distance);
    Value low = arith::ShRUIOp::create(inner, loc, values[0], distance);
    if (element.isUnsignedInteger() || element.isSignedInteger()) {
      Value mask = arith::ConstantIntOp::create(inner, loc, (1 << bits.getWidth()) - 1, 8);
      return fromStorage(inner, loc, arith::AndIOp::create(inner, loc, low, mask), element);
    }
    Value value = arith::TruncIOp::create(inner, loc, bits, low);
    return isa<FloatType>(element) ? arith::BitcastOp::create(inner, loc, element, value).getResult() : value;
  });
}

/// The same where rows of a tensor are whole bytes: who reads it finds its dimensions. Else null.
Value unpackRows(OpBuilder &b, Value bytes, RankedTensorType type) {
  const int64_t shared = perByte(type);
  if (!type.hasStaticShape() || type.getRank() == 0 || type.getShape().back() % shared != 0)
    return {};
  SmallVector<int64_t> shape = llvm::to_vector(type.getShape());
  shape.back() /= shared;
  Value rows = flow::TensorReshapeOp::create(b, bytes.getLoc(), RankedTensorType::get(shape, b.getI8Type()), bytes,
                                             ValueRange(), ValueRange());
  return unpack(b, rows, type);
}

/// The bits of an element in a byte, at its place there.
Value placed(OpBuilder &b, Location loc, Value value, int64_t place) {
  Type type = value.getType();
  auto bits = b.getIntegerType(type.getIntOrFloatBitWidth());
  Value byte;
  if (auto integer = dyn_cast<IntegerType>(type); integer && !integer.isSignless()) {
    Value mask = arith::ConstantIntOp::create(b, loc, (1 << bits.getWidth()) - 1, 8);
    byte = arith::AndIOp::create(b, loc, toStorage(b, loc, value), mask);
  } else {
    if (isa<FloatType>(type))
      value = arith::BitcastOp::create(b, loc, bits, value);
    byte = arith::ExtUIOp::create(b, loc, b.getI8Type(), value);
  }
  Value distance = arith::ConstantIntOp::create(b, loc, place * bits.getWidth(), 8);
  return arith::ShLIOp::create(b, loc, byte, distance);
}

/// Bytes out of their elements.
Value pack(OpBuilder &b, Value tensor, RankedTensorType type) {
  const Location loc = tensor.getLoc();
  auto from = cast<RankedTensorType>(tensor.getType());
  const int64_t shared = perByte(from), last = from.getRank() - 1;
  SmallVector<Value> sizes = dynamicSizesOf(b, tensor);
  if (!from.isDynamicDim(last) && from.getDimSize(last) % shared == 0) {
    SmallVector<AffineMap> maps;
    for (int64_t place = 0; place < shared; ++place)
      maps.push_back(alongLast(from, [&](AffineExpr byte) { return byte * shared + place; }));
    const SmallVector<Value> inputs(size_t(shared), tensor);
    return generate(b, loc, type, sizes, inputs, maps, [&](OpBuilder &inner, ValueRange values) {
      Value byte;
      for (int64_t place = 0; place < shared; ++place) {
        Value bits = placed(inner, loc, values[place], place);
        byte = byte ? arith::OrIOp::create(inner, loc, byte, bits).getResult() : bits;
      }
      return byte;
    });
  }
  // The last byte of a row may have less of them.
  auto number = [&](OpBuilder &at, int64_t value) {
    return arith::ConstantIndexOp::create(at, loc, value).getResult();
  };
  Value length = b.createOrFold<tensor::DimOp>(loc, tensor, last);
  if (from.isDynamicDim(last))
    sizes.back() = arith::CeilDivSIOp::create(b, loc, length, number(b, shared));
  return generate(b, loc, type, sizes, {}, {}, [&](OpBuilder &inner, ValueRange) {
    SmallVector<Value> indices;
    for (int64_t i = 0; i <= last; ++i)
      indices.push_back(linalg::IndexOp::create(inner, loc, i));
    Value first = arith::MulIOp::create(inner, loc, indices.back(), number(inner, shared));
    Value end = arith::SubIOp::create(inner, loc, length, number(inner, 1));
    Value none = arith::ConstantIntOp::create(inner, loc, 0, 8), byte = none;
    for (int64_t place = 0; place < shared; ++place) {
      Value at = arith::AddIOp::create(inner, loc, first, number(inner, place));
      indices.back() = arith::MinSIOp::create(inner, loc, at, end);
      Value bits = placed(inner, loc, tensor::ExtractOp::create(inner, loc, tensor, indices), place);
      Value isThere = arith::CmpIOp::create(inner, loc, arith::CmpIPredicate::sle, at, end);
      byte = arith::OrIOp::create(inner, loc, byte, arith::SelectOp::create(inner, loc, isThere, bits, none));
    }
    return byte;
  });
}

/// In one row.
Value flat(OpBuilder &b, Value tensor) {
  auto type = cast<RankedTensorType>(tensor.getType());
  const Location loc = tensor.getLoc();
  const SmallVector<Value> sizes = dynamicSizesOf(b, tensor);
  if (type.hasStaticShape())
    return flow::TensorReshapeOp::create(b, loc, RankedTensorType::get({type.getNumElements()}, type.getElementType()),
                                         tensor, sizes, ValueRange());
  Value count = arith::ConstantIndexOp::create(b, loc, 1);
  for (int64_t dimension = 0; dimension < type.getRank(); ++dimension)
    count = b.createOrFold<arith::MulIOp>(loc, count, b.createOrFold<tensor::DimOp>(loc, tensor, dimension));
  return flow::TensorReshapeOp::create(b, loc, RankedTensorType::get({ShapedType::kDynamic}, type.getElementType()),
                                       tensor, sizes, count);
}

/// The bytes of one row of elements.
Value bytesOf(OpBuilder &b, Value row) {
  auto type = cast<RankedTensorType>(row.getType());
  const Location loc = row.getLoc();
  const int64_t shared = perByte(type), each = int64_t(llvm::divideCeil(type.getElementTypeBitWidth(), 8));
  const int64_t count =
      type.hasStaticShape() ? int64_t(llvm::divideCeil(type.getNumElements() * each, shared)) : ShapedType::kDynamic;
  auto bytes = RankedTensorType::get({count}, b.getI8Type());
  if (shared != 1)
    return pack(b, row, bytes);
  const SmallVector<Value> sizes = dynamicSizesOf(b, row);
  SmallVector<Value> wanted;
  for (Value size : sizes)
    wanted.push_back(b.createOrFold<arith::MulIOp>(loc, size, arith::ConstantIndexOp::create(b, loc, each)));
  return flow::TensorBitCastOp::create(b, loc, bytes, row, sizes, wanted);
}

bool isIndexTensor(Type type) {
  auto tensor = dyn_cast<RankedTensorType>(type);
  return tensor && tensor.getElementType().isIndex();
}

} // namespace

Value bitcastTensor(OpBuilder &b, Value tensor, RankedTensorType type) {
  const SmallVector<Value> sizes = dynamicSizesOf(b, tensor);
  return flow::TensorBitCastOp::create(b, tensor.getLoc(), type, tensor, sizes, sizes);
}

void lowerPackedBitcasts(func::FuncOp function) {
  function.walk([](flow::TensorBitCastOp op) {
    auto from = cast<RankedTensorType>(op.getSource().getType()), to = cast<RankedTensorType>(op.getType());
    if (perByte(from) == 1 && perByte(to) == 1)
      return;
    OpBuilder b(op);
    const Location loc = op.getLoc();
    Value result;
    if (from.getShape() == to.getShape() && arith::BitcastOp::areCastCompatible(from, to)) {
      result = arith::BitcastOp::create(b, loc, to, op.getSource());
    } else {
      Value bytes = bytesOf(b, flat(b, op.getSource()));
      if (perByte(to) == 1) {
        result = flow::TensorBitCastOp::create(b, loc, to, bytes, dynamicSizesOf(b, bytes), op.getResultDims());
      } else {
        if (Value rows = unpackRows(b, bytes, to)) {
          op.replaceAllUsesWith(rows);
          op.erase();
          return;
        }
        const bool isKnown = !ShapedType::isDynamic(cast<RankedTensorType>(bytes.getType()).getDimSize(0));
        const int64_t count =
            isKnown ? cast<RankedTensorType>(bytes.getType()).getDimSize(0) * perByte(to) : ShapedType::kDynamic;
        Value row = unpack(b, bytes, RankedTensorType::get({count}, to.getElementType()));
        result = flow::TensorReshapeOp::create(b, loc, to, row, dynamicSizesOf(b, row), op.getResultDims());
      }
    }
    op.replaceAllUsesWith(result);
    op.erase();
  });
}

bool mayBePublic(func::FuncOp function) {
  return llvm::all_of(function.getArgumentTypes(), mayCrossBoundary) &&
         llvm::all_of(function.getResultTypes(), mayCrossBoundary);
}

func::FuncOp splitCalled(func::FuncOp function) {
  auto changes = [](Type type) { return crossingType(type) || isIndexTensor(type); };
  if (!function.isPublic() || function.isExternal() ||
      (llvm::none_of(function.getArgumentTypes(), changes) && llvm::none_of(function.getResultTypes(), changes)))
    return {};
  auto module = function->getParentOfType<ModuleOp>();
  SmallVector<func::CallOp> calls;
  module.walk([&](func::CallOp call) {
    if (call.getCallee() == function.getSymName())
      calls.push_back(call);
  });
  if (calls.empty())
    return {};
  OpBuilder b(function);
  auto inner =
      func::FuncOp::create(b, function.getLoc(), (function.getSymName() + "$inside").str(), function.getFunctionType());
  inner.setPrivate();
  inner.getBody().takeBody(function.getBody());
  SymbolTable(module).insert(inner);
  for (func::CallOp call : calls)
    call.setCallee(inner.getSymName());
  Block *entry = function.addEntryBlock();
  b.setInsertionPointToStart(entry);
  auto call = func::CallOp::create(b, function.getLoc(), inner, entry->getArguments());
  func::ReturnOp::create(b, function.getLoc(), call.getResults());
  return inner;
}

void convertBoundary(func::FuncOp function, SmallVectorImpl<Value> &kept) {
  OpBuilder b = OpBuilder::atBlockBegin(&function.front());
  for (BlockArgument argument : function.getArguments()) {
    auto type = dyn_cast<RankedTensorType>(argument.getType());
    RankedTensorType crossing = crossingType(argument.getType());
    if (!crossing && !isIndexTensor(argument.getType()))
      continue;
    SmallVector<OpOperand *> uses;
    for (OpOperand &use : argument.getUses())
      uses.push_back(&use);
    if (crossing)
      argument.setType(crossing);
    else
      kept.push_back(argument);
    // What stands between index and index changes its type with the others.
    Value value = perByte(type) != 1 ? unpack(b, argument, type) : bitcastTensor(b, argument, type);
    for (OpOperand *use : uses)
      use->set(value);
  }
  function.walk([&](func::ReturnOp returned) {
    b.setInsertionPoint(returned);
    for (OpOperand &operand : returned->getOpOperands()) {
      auto type = dyn_cast<RankedTensorType>(operand.get().getType());
      RankedTensorType crossing = crossingType(operand.get().getType());
      if (!crossing && !isIndexTensor(operand.get().getType()))
        continue;
      operand.set(perByte(type) != 1 ? pack(b, operand.get(), crossing)
                                     : bitcastTensor(b, operand.get(), crossing ? crossing : type));
      if (!crossing)
        kept.push_back(operand.get());
    }
  });
  auto cross = [](Type type) {
    RankedTensorType crossing = crossingType(type);
    return crossing ? Type(crossing) : type;
  };
  SmallVector<Type> arguments(llvm::map_range(function.getArgumentTypes(), cross)),
      results(llvm::map_range(function.getResultTypes(), cross));
  function.setType(FunctionType::get(function.getContext(), arguments, results));
}

} // namespace tenon::compiler::input
