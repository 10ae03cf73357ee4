// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "compiler/input/steps/tosa_of_other_years.h"

#include "compiler/dialect/OtherYears.h"

#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/Dialect/Tosa/IR/TosaOps.h"
#include "mlir/IR/Verifier.h"

using namespace mlir;

namespace tenon::compiler::input {
namespace {

/// One operation of TOSA, on its way.
class TosaReader {
public:
  explicit TosaReader(Operation *op)
      : op_(op), builder_(op), name_(unmarkOtherYears(op->getName().getStringRef())), operands_(op->getOperands()),
        attributes_(op->getAttrDictionary()) {}

  LogicalResult run() {
    const StringRef word = StringRef(name_).split('.').second;
    const bool isTransform = word == "fft2d" || word == "rfft2d"; // of two results
    auto isRead = [&](Type type) {
      return isa<RankedTensorType>(type) || (word == "apply_scale" && isa<IntegerType>(type));
    };
    if (op_->getNumResults() != (isTransform ? 2 : 1) || !llvm::all_of(op_->getResultTypes(), isRead))
      return op_->emitError() << "'" << name_ << "' wants "
                              << (isTransform ? "two results, tensors that have" : "one result, a tensor that has")
                              << " a rank";
    for (Value operand : operands_)
      if (!isRead(operand.getType()) && !isa<tosa::shapeType>(operand.getType()))
        return op_->emitError() << "'" << name_ << "' wants operands that are tensors, and have a rank";
    changeArrays();
    if (LogicalResult changed = change(word); failed(changed))
      return changed;
    OperationState state(op_->getLoc(), name_, operands_, op_->getResultTypes(), attributes_.getAttrs());
    Operation *today = builder_.create(state);
    op_->replaceAllUsesWith(today);
    op_->erase();
    return verify(today);
  }

private:
  /// `stride = [1, 1]` of 2022 is `array<i64: 1, 1>`.
  void changeArrays() {
    for (StringRef name : {"dilation", "kernel", "out_pad", "pad", "stride"}) {
      auto array = dyn_cast_or_null<ArrayAttr>(attributes_.get(name));
      if (array && llvm::all_of(array, llvm::IsaPred<IntegerAttr>))
        attributes_.set(name, builder_.getDenseI64ArrayAttr(llvm::map_to_vector(
                                  array.getAsRange<IntegerAttr>(), [](IntegerAttr size) { return size.getInt(); })));
    }
  }

  LogicalResult change(StringRef word) {
    if (word == "const") {
      rename("value", "values");
      return success();
    }
    if (word == "clamp")
      return changeClamp();
    if (word == "mul")
      return operands_.size() == 3 ? success()
                                   : wantOperands(2, [&] { addConstant(takeInteger("shift"), builder_.getI8Type()); });
    if (word == "negate")
      return changeZeroPoints<tosa::UnaryOpQuantizationAttr>(1, {"input1_zp", "input_zp"}, "output_zp", 0, -1);
    if (word == "avg_pool2d")
      return changeZeroPoints<tosa::UnaryOpQuantizationAttr>(1, {"input_zp"}, "output_zp", 0, -1, /*accumulates=*/true);
    if (word == "matmul")
      return changeZeroPoints<tosa::MatMulOpQuantizationAttr>(2, {"a_zp"}, "b_zp", 0, 1);
    if (word == "conv2d" || word == "conv3d" || word == "depthwise_conv2d" || word == "transpose_conv2d") {
      attributes_.erase("out_shape");
      return changeZeroPoints<tosa::ConvOpQuantizationAttr>(3, {"input_zp"}, "weight_zp", 0, 1, /*accumulates=*/true);
    }
    if (word == "fully_connected")
      return changeFullyConnected();
    if (word == "reshape")
      return changeShapes(1, {"new_shape"});
    if (word == "tile")
      return changeShapes(1, {"multiples"});
    if (word == "slice")
      return changeShapes(1, {"start", "size"});
    if (word == "pad")
      return changePad();
    if (word == "transpose")
      return changeTranspose();
    if (word == "rescale")
      return changeRescale();
    if (word == "div")
      name_ = "tosa.intdiv";
    if (word == "reduce_prod")
      name_ = "tosa.reduce_product";
    if (auto axis = dyn_cast_or_null<IntegerAttr>(attributes_.get("axis")))
      attributes_.set("axis", builder_.getI32IntegerAttr(static_cast<int32_t>(axis.getInt())));
    return success();
  }

  LogicalResult wantOperands(size_t count, llvm::function_ref<void()> then) {
    if (operands_.size() != count)
      return op_->emitError() << "'" << name_ << "' has " << operands_.size() << " operands, " << count
                              << " are wanted with attributes of 2022 to 2024";
    then();
    return success();
  }

  void rename(StringRef from, StringRef to) {
    if (Attribute value = attributes_.erase(from))
      attributes_.set(to, value);
  }

  /// 0: it is not there.
  int64_t takeInteger(StringRef name) {
    auto value = dyn_cast_or_null<IntegerAttr>(attributes_.erase(name));
    return value ? value.getInt() : 0;
  }

  bool takeBool(StringRef name) {
    auto value = dyn_cast_or_null<BoolAttr>(attributes_.erase(name));
    return value && value.getValue();
  }

  static Type elementOf(Value value) { return getElementTypeOrSelf(value.getType()); }

  Value constant(DenseElementsAttr values) {
    return tosa::ConstOp::create(builder_, op_->getLoc(), values.getType(), values);
  }

  /// One element, of an integer or floating-point type.
  Value constant(int64_t value, Type element) {
    auto type = RankedTensorType::get({1}, element);
    if (isa<FloatType>(element))
      return constant(
          DenseElementsAttr::get(type, builder_.getFloatAttr(element, static_cast<double>(value)).getValue()));
    const unsigned width = element.getIntOrFloatBitWidth();
    return constant(DenseElementsAttr::get(type, APInt(width, static_cast<uint64_t>(value), true, true)));
  }
  void addConstant(int64_t value, Type element) { operands_.push_back(constant(value, element)); }

  Value shape(ArrayRef<int64_t> sizes) {
    auto type = tosa::shapeType::get(builder_.getContext(), static_cast<int>(sizes.size()));
    return tosa::ConstShapeOp::create(builder_, op_->getLoc(), type, builder_.getIndexTensorAttr(sizes));
  }

  /// min_int and max_int are of i64, min_fp and max_fp of f32, whatever the elements are.
  LogicalResult changeClamp() {
    const Type element = elementOf(op_->getResult(0));
    auto integers = std::pair(dyn_cast_or_null<IntegerAttr>(attributes_.erase("min_int")),
                              dyn_cast_or_null<IntegerAttr>(attributes_.erase("max_int")));
    auto floats = std::pair(dyn_cast_or_null<FloatAttr>(attributes_.erase("min_fp")),
                            dyn_cast_or_null<FloatAttr>(attributes_.erase("max_fp")));
    if (attributes_.get("min_val"))
      return success();
    if (isa<FloatType>(element) && floats.first && floats.second) {
      attributes_.set("min_val", builder_.getFloatAttr(element, floats.first.getValueAsDouble()));
      attributes_.set("max_val", builder_.getFloatAttr(element, floats.second.getValueAsDouble()));
      return success();
    }
    if (!element.isInteger() || !integers.first || !integers.second)
      return op_->emitError() << "'tosa.clamp' has no bounds for elements of " << element
                              << ": min_val and max_val, or min_int and max_int, or min_fp and max_fp are wanted";
    const unsigned width = element.getIntOrFloatBitWidth();
    auto bound = [&](IntegerAttr value) { // no element is beyond these
      const int64_t least = APInt::getSignedMinValue(width).getSExtValue();
      const int64_t most = APInt::getSignedMaxValue(width).getSExtValue();
      return builder_.getIntegerAttr(element, std::clamp(value.getInt(), least, most));
    };
    if (width > 64)
      return op_->emitError() << "'tosa.clamp' of " << element << " is not supported";
    attributes_.set("min_val", bound(integers.first));
    attributes_.set("max_val", bound(integers.second));
    return success();
  }

  /// Zero points as two more operands, of the elements of operands `first` and `second`; -1: of the result.
  template <typename Quantization>
  LogicalResult changeZeroPoints(size_t count, ArrayRef<StringRef> firstNames, StringRef secondName, int first,
                                 int second, bool accumulates = false) {
    if (operands_.size() == count + 2)
      return success();
    int64_t values[2] = {0, takeInteger(secondName)};
    for (StringRef name : firstNames)
      values[0] += takeInteger(name);
    if (Attribute given = attributes_.erase("quantization_info")) {
      auto quantization = dyn_cast<Quantization>(given);
      if (!quantization)
        return op_->emitError() << "'" << name_ << "' has the quantization_info of another operation, " << given;
      std::tie(values[0], values[1]) = pointsOf(quantization);
    }
    return wantOperands(count, [&] {
      const Type result = elementOf(op_->getResult(0));
      for (auto [value, which] : {std::pair(values[0], first), std::pair(values[1], second)})
        addConstant(value, which < 0 ? result : elementOf(operands_[static_cast<size_t>(which)]));
      if (accumulates && !attributes_.get("acc_type")) {
        const bool isPool = count == 1;
        const Type sums = isa<FloatType>(result) ? (result.isF64() ? result : builder_.getF32Type())
                          : isPool               ? Type(builder_.getI32Type())
                                                 : result;
        attributes_.set("acc_type", TypeAttr::get(sums));
      }
    });
  }
  static std::pair<int64_t, int64_t> pointsOf(tosa::UnaryOpQuantizationAttr q) {
    return {q.getInputZp(), q.getOutputZp()};
  }
  static std::pair<int64_t, int64_t> pointsOf(tosa::MatMulOpQuantizationAttr q) { return {q.getAZp(), q.getBZp()}; }
  static std::pair<int64_t, int64_t> pointsOf(tosa::ConvOpQuantizationAttr q) {
    return {q.getInputZp(), q.getWeightZp()};
  }

  /// x[n, c] w[k, c] b[k] -> [n, k]: a convolution of one point.
  LogicalResult changeFullyConnected() {
    SmallVector<int64_t> result(cast<RankedTensorType>(op_->getResult(0).getType()).getShape());
    for (Value operand : ArrayRef<Value>(operands_).take_front(2))
      if (cast<ShapedType>(operand.getType()).getRank() != 2)
        return op_->emitError() << "'tosa.fully_connected' wants input and weights of rank 2";
    if (operands_.size() != 3 || result.size() != 2)
      return op_->emitError() << "'tosa.fully_connected' wants input, weights and bias, and a result of rank 2";
    auto asImage = [&](Value value) -> Value {
      auto type = cast<RankedTensorType>(value.getType());
      auto wide = RankedTensorType::get({type.getDimSize(0), 1, 1, type.getDimSize(1)}, type.getElementType());
      SmallVector<ReassociationIndices> groups = {{0}, {1, 2, 3}};
      SmallVector<OpFoldResult> sizes = tensor::getMixedSizes(builder_, op_->getLoc(), value);
      sizes.insert(sizes.begin() + 1, 2, builder_.getIndexAttr(1));
      return tensor::ExpandShapeOp::create(builder_, op_->getLoc(), wide, value, groups, sizes);
    };
    name_ = "tosa.conv2d";
    operands_[0] = asImage(operands_[0]);
    operands_[1] = asImage(operands_[1]);
    attributes_.set("pad", builder_.getDenseI64ArrayAttr({0, 0, 0, 0}));
    attributes_.set("stride", builder_.getDenseI64ArrayAttr({1, 1}));
    attributes_.set("dilation", builder_.getDenseI64ArrayAttr({1, 1}));
    if (failed(changeZeroPoints<tosa::ConvOpQuantizationAttr>(3, {"input_zp"}, "weight_zp", 0, 1, true)))
      return failure();
    const Type element = elementOf(op_->getResult(0));
    OperationState state(op_->getLoc(), name_, operands_, RankedTensorType::get({result[0], 1, 1, result[1]}, element),
                         attributes_.getAttrs());
    Operation *product = builder_.create(state);
    if (failed(verify(product)))
      return failure();
    SmallVector<int64_t> sizes = {ShapedType::isDynamic(result[0]) ? -1 : result[0], result[1]};
    if (ShapedType::isDynamic(result[1]))
      return op_->emitError() << "'tosa.fully_connected' wants a static number of results for each input";
    name_ = "tosa.reshape";
    operands_ = {product->getResult(0), shape(sizes)};
    attributes_ = NamedAttrList();
    return success();
  }

  LogicalResult changeShapes(size_t count, ArrayRef<StringRef> names) {
    if (operands_.size() == count + names.size())
      return success();
    return wantShapes(count, names);
  }

  LogicalResult wantShapes(size_t count, ArrayRef<StringRef> names) {
    for (StringRef name : names) {
      auto sizes = dyn_cast_or_null<DenseI64ArrayAttr>(attributes_.erase(name));
      if (!sizes || operands_.size() < count)
        return op_->emitError() << "'" << name_ << "' wants " << name
                                << " as an operand, !tosa.shape, or as an attribute, "
                                << "array<i64: ..>";
      operands_.push_back(shape(sizes.asArrayRef()));
    }
    return success();
  }

  /// The integers of a constant.
  FailureOr<SmallVector<int64_t>> integersOf(Value value) {
    DenseIntElementsAttr elements;
    if (!matchPattern(value, m_Constant(&elements)))
      if (Operation *source = value.getDefiningOp()) // one that is read after this
        for (StringRef name : {"value", "values"})
          if (auto found = source->getAttrOfType<DenseIntElementsAttr>(name))
            elements = found;
    if (!elements)
      return op_->emitError() << "'" << name_ << "' wants a constant as operand 1, as in MLIR 22";
    SmallVector<int64_t> integers;
    for (const APInt &integer : elements.getValues<APInt>())
      integers.push_back(integer.getSExtValue());
    return integers;
  }

  LogicalResult changePad() {
    if (operands_.size() < 2)
      return op_->emitError() << "'tosa.pad' has no operand that says how much";
    if (!isa<tosa::shapeType>(operands_[1].getType())) {
      FailureOr<SmallVector<int64_t>> sizes = integersOf(operands_[1]);
      if (failed(sizes))
        return failure();
      operands_[1] = shape(*sizes);
    }
    const Type element = elementOf(operands_[0]);
    int64_t zero = takeInteger("input_zp");
    if (auto given = dyn_cast_or_null<tosa::PadOpQuantizationAttr>(attributes_.erase("quantization_info")))
      zero = given.getInputZp();
    if (operands_.size() == 2) {
      addConstant(zero, element);
    } else if (auto type = cast<RankedTensorType>(operands_[2].getType()); type.getRank() == 0) {
      operands_[2] = tensor::ExpandShapeOp::create(builder_, op_->getLoc(), RankedTensorType::get({1}, element),
                                                   operands_[2], ArrayRef<ReassociationIndices>{});
    }
    return success();
  }

  LogicalResult changeTranspose() {
    if (operands_.size() == 1)
      return success();
    FailureOr<SmallVector<int64_t>> order =
        operands_.size() == 2 ? integersOf(operands_[1]) : op_->emitError("'tosa.transpose' has no operand");
    if (failed(order))
      return failure();
    operands_.pop_back();
    attributes_.set("perms", builder_.getDenseI32ArrayAttr(SmallVector<int32_t>(order->begin(), order->end())));
    return success();
  }

  LogicalResult changeRescale() {
    if (operands_.size() == 5)
      return success();
    auto integers = [&](StringRef name, Type element) -> Value {
      SmallVector<int64_t> values;
      Attribute given = attributes_.erase(name);
      if (auto bytes = dyn_cast_or_null<DenseI8ArrayAttr>(given))
        values.assign(bytes.asArrayRef().begin(), bytes.asArrayRef().end());
      else if (auto words = dyn_cast_or_null<DenseI32ArrayAttr>(given))
        values.assign(words.asArrayRef().begin(), words.asArrayRef().end());
      else
        return {};
      SmallVector<APInt> elements;
      for (int64_t value : values)
        elements.emplace_back(element.getIntOrFloatBitWidth(), static_cast<uint64_t>(value), true, true);
      return constant(
          DenseElementsAttr::get(RankedTensorType::get({static_cast<int64_t>(values.size())}, element), elements));
    };
    auto scale32 = dyn_cast_or_null<BoolAttr>(attributes_.get("scale32"));
    const bool isWide = scale32 && scale32.getValue();
    Value multiplier = integers("multiplier", isWide ? builder_.getI32Type() : builder_.getI16Type());
    Value shift = integers("shift", builder_.getI8Type());
    if (operands_.size() != 1 || !multiplier || !shift || !scale32)
      return op_->emitError() << "'tosa.rescale' wants five operands, or one with the attributes multiplier, shift and "
                              << "scale32 of 2022 to 2024";
    operands_.append({multiplier, shift});
    addConstant(takeInteger("input_zp"), elementOf(operands_[0]));
    addConstant(takeInteger("output_zp"), elementOf(op_->getResult(0)));
    if (!attributes_.get("rounding_mode")) {
      const auto mode =
          takeBool("double_round") && isWide ? tosa::RoundingMode::DOUBLE_ROUND : tosa::RoundingMode::SINGLE_ROUND;
      attributes_.set("rounding_mode", tosa::RoundingModeAttr::get(builder_.getContext(), mode));
    }
    for (StringRef name : {"per_channel", "input_unsigned", "output_unsigned"})
      if (!attributes_.get(name))
        attributes_.set(name, builder_.getBoolAttr(false));
    return success();
  }

  Operation *op_;
  OpBuilder builder_;
  std::string name_;
  SmallVector<Value> operands_;
  NamedAttrList attributes_;
};

} // namespace

LogicalResult readTosaOfOtherYears(Operation *op) {
  return TosaReader(op).run();
}

} // namespace tenon::compiler::input
