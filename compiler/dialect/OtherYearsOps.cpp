// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The parsers of the operations that OtherYears.cpp marks.
#include "compiler/dialect/OlderOp.h"
#include "compiler/dialect/OtherYears.h"

#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/Dialect/Tosa/IR/TosaOps.h"
#include "mlir/IR/ImplicitLocOpBuilder.h"
#include "mlir/IR/TypeUtilities.h"
#include "llvm/ADT/StringSwitch.h"

using namespace mlir;

namespace tenon::compiler::older {

/// `%x [[0], [1, 2]] : tensor<8x8xi4> into tensor<8x4x2xi4>`
struct ExpandShapeOp : OlderOp<ExpandShapeOp> {
  using OlderOp<ExpandShapeOp>::OlderOp;
  static StringRef getOperationName() { return "tensor.Expand_shape"; }
  static ParseResult parse(OpAsmParser &parser, OperationState &state) {
    OpAsmParser::UnresolvedOperand source;
    Type from, to;
    Attribute groups;
    return failure(parser.parseOperand(source) || parser.parseAttribute(groups, "reassociation", state.attributes) ||
                   parser.parseOptionalAttrDict(state.attributes) || parser.parseColonType(from) ||
                   parser.parseKeywordType("into", to) || parser.resolveOperand(source, from, state.operands) ||
                   parser.addTypeToList(to, state.types));
  }
};

/// MLIR's own parser ends the process where a kind is not for the elements.
bool takesElements(linalg::ElementwiseKind kind, unsigned arity, ArrayRef<Value> inputs) {
  const Type element = getElementTypeOrSelf(inputs.back().getType());
  if (arity == 1)
    return isa<FloatType>(element);
  if (getElementTypeOrSelf(inputs[arity - 2].getType()) != element)
    return false;
  switch (kind) {
  case linalg::ElementwiseKind::sub:
  case linalg::ElementwiseKind::div:
    return !element.isInteger(1);
  case linalg::ElementwiseKind::div_unsigned:
  case linalg::ElementwiseKind::max_unsigned:
  case linalg::ElementwiseKind::min_unsigned:
    return element.isInteger() && !element.isInteger(1);
  case linalg::ElementwiseKind::select:
    return isa<FloatType, IntegerType, IndexType, ComplexType>(element);
  default:
    return isa<FloatType, IntegerType, ComplexType>(element);
  }
}

/// `<add> indexing_maps = [..] ins(%x, %y : ..) outs(%z : ..) -> ..` is `kind=#linalg.elementwise_kind<add> ..`.
struct ElementwiseOp : OlderOp<ElementwiseOp> {
  using OlderOp<ElementwiseOp>::OlderOp;
  static StringRef getOperationName() { return "linalg.Elementwise"; }
  static ParseResult parse(OpAsmParser &parser, OperationState &state) {
    rename<linalg::ElementwiseOp>(parser, state);
    StringRef word;
    ArrayAttr maps;
    NamedAttrList attributes;
    SmallVector<OpAsmParser::UnresolvedOperand> names[2];
    SmallVector<Type> types[2], results;
    SmallVector<Value> values[2];
    const SMLoc where = parser.getCurrentLocation();
    std::optional<linalg::ElementwiseKind> kind;
    if (succeeded(parser.parseOptionalKeyword("kind"))) {
      linalg::ElementwiseKindAttr given;
      if (parser.parseEqual() || parser.parseAttribute(given))
        return failure();
      kind = given.getValue();
      word = linalg::stringifyElementwiseKind(*kind);
    } else {
      if (parser.parseLess() || parser.parseKeyword(&word) || parser.parseGreater())
        return failure();
      kind = linalg::symbolizeElementwiseKind(word);
    }
    if (!kind)
      return parser.emitError(where) << "found '" << word << "', which is no kind of elementwise operation";
    if (succeeded(parser.parseOptionalKeyword("indexing_maps")) && (parser.parseEqual() || parser.parseAttribute(maps)))
      return failure();
    if (parser.parseOptionalAttrDict(attributes))
      return failure();
    for (auto [keyword, index] : {std::pair("ins", 0), std::pair("outs", 1)}) {
      const SMLoc operands = parser.getCurrentLocation();
      if (parser.parseKeyword(keyword) || parser.parseLParen() || parser.parseOperandList(names[index]) ||
          parser.parseColonTypeList(types[index]) || parser.parseRParen() ||
          parser.resolveOperands(names[index], types[index], operands, values[index]))
        return failure();
    }
    if (parser.parseOptionalAttrDict(attributes) || parser.parseOptionalArrowTypeList(results))
      return failure();
    using Limits = linalg::ElementwiseCaseLimits; // kinds are in order of how many inputs they have
    const auto number = static_cast<uint32_t>(*kind);
    const unsigned arity = number < static_cast<uint32_t>(Limits::LastUnary)    ? 1
                           : number < static_cast<uint32_t>(Limits::LastBinary) ? 2
                                                                                : 3;
    if (values[0].size() != arity || values[1].size() != 1)
      return parser.emitError(where) << "found " << values[0].size() << " inputs and " << values[1].size()
                                     << " outputs, '" << word << "' has " << arity << " and 1";
    auto to = dyn_cast<RankedTensorType>(types[1].front());
    if (!to || (!results.empty() && results != types[1]) || !llvm::all_of(types[0], llvm::IsaPred<RankedTensorType>))
      return parser.emitError(where) << "wants tensors, and the result as what it is written into";
    if (!takesElements(*kind, arity, values[0]))
      return parser.emitError(where) << "of kind '" << word << "' does not take elements "
                                     << getElementTypeOrSelf(types[0].front());
    OpBuilder builder(parser.getContext());
    const AffineMap identity = builder.getMultiDimIdentityMap(static_cast<unsigned>(to.getRank()));
    if (!maps)
      maps = builder.getAffineMapArrayAttr(SmallVector<AffineMap>(arity + 1, identity));
    attributes.set("kind", linalg::ElementwiseKindAttr::get(parser.getContext(), *kind));
    attributes.set("indexing_maps", maps);
    attributes.set("operandSegmentSizes", builder.getDenseI32ArrayAttr({static_cast<int32_t>(arity), 1}));
    Block &block = state.addRegion()->emplaceBlock();
    for (Type type : llvm::concat<Type>(types[0], types[1]))
      block.addArgument(getElementTypeOrSelf(type), parser.getEncodedSourceLoc(where));
    builder.setInsertionPointToStart(&block);
    ImplicitLocOpBuilder body(parser.getEncodedSourceLoc(where), builder);
    linalg::ElementwiseOp::getRegionBuilder()(body, block, attributes.getAttrs(), {});
    state.addOperands(values[0]);
    state.addOperands(values[1]);
    state.addTypes(types[1]);
    state.addAttributes(attributes.getAttrs());
    return success();
  }
};

/// What stands behind the name of a clause.
enum class Clause { unknown, axis, order, sizes, word, attribute, type };

Clause clauseOf(StringRef name) {
  return llvm::StringSwitch<Clause>(name)
      .Case("axis", Clause::axis)
      .Case("perms", Clause::order)
      .Cases({"dilation", "kernel", "out_pad", "pad", "stride"}, Clause::sizes)
      .Cases({"mode", "nan_mode", "rounding_mode"}, Clause::word)
      .Cases({"input_unsigned", "inverse", "local_bound", "max_val", "min_val", "output_unsigned"}, Clause::attribute)
      .Cases({"per_channel", "round", "scale32", "values"}, Clause::attribute)
      .Case("acc_type", Clause::type)
      .Default(Clause::unknown);
}

template <typename Int> ParseResult parseIntegers(OpAsmParser &parser, SmallVector<Int> &integers) {
  return parser.parseCommaSeparatedList(OpAsmParser::Delimiter::Square,
                                        [&] { return parser.parseInteger(integers.emplace_back()); });
}

/// The word of `mode<BILINEAR>`.
ParseResult parseMode(OpAsmParser &parser, StringRef name, Attribute &value) {
  StringRef word;
  SMLoc where;
  if (parser.parseLess() || parser.getCurrentLocation(&where) || parser.parseKeyword(&word) || parser.parseGreater())
    return failure();
  MLIRContext *context = parser.getContext();
  if (name == "mode") {
    if (auto mode = tosa::symbolizeResizeMode(word))
      value = tosa::ResizeModeAttr::get(context, *mode);
  } else if (name == "nan_mode") {
    if (auto mode = tosa::symbolizeNanPropagationMode(word))
      value = tosa::NanPropagationModeAttr::get(context, *mode);
  } else if (auto mode = tosa::symbolizeRoundingMode(word)) {
    value = tosa::RoundingModeAttr::get(context, *mode);
  }
  if (!value)
    return parser.emitError(where) << "found '" << word << "', which is no " << name;
  return success();
}

/// `axis(0)`, `perms([1, 0])`, `min_val(0.0 : f32)`, `nan_mode<IGNORE>`
ParseResult parseClauses(OpAsmParser &parser, NamedAttrList &attributes) {
  StringRef name;
  while (true) {
    const SMLoc where = parser.getCurrentLocation();
    if (failed(parser.parseOptionalKeyword(&name)))
      return success();
    Builder &builder = parser.getBuilder();
    const Clause clause = clauseOf(name);
    Attribute value;
    int32_t axis = 0;
    SmallVector<int32_t> order;
    SmallVector<int64_t> sizes;
    Type type;
    if (clause == Clause::unknown)
      return parser.emitError(where) << "found '" << name << "(', which is no clause of TOSA: write '{" << name
                                     << " = ..}' as MLIR 22 does";
    if (clause == Clause::word ? parseMode(parser, name, value) : parser.parseLParen())
      return failure();
    if (clause == Clause::axis) {
      if (parser.parseInteger(axis))
        return failure();
      value = builder.getI32IntegerAttr(axis);
    } else if (clause == Clause::order) {
      if (parseIntegers(parser, order))
        return failure();
      value = builder.getDenseI32ArrayAttr(order);
    } else if (clause == Clause::sizes) {
      if (parseIntegers(parser, sizes))
        return failure();
      value = builder.getDenseI64ArrayAttr(sizes);
    } else if (clause == Clause::type) {
      if (parser.parseType(type))
        return failure();
      value = TypeAttr::get(type);
    } else if (clause == Clause::attribute && parser.parseAttribute(value)) {
      return failure();
    }
    if (clause != Clause::word && parser.parseRParen())
      return failure();
    attributes.set(name, value);
  }
}

ParseResult parseTosa(OpAsmParser &parser, OperationState &state) {
  SmallVector<OpAsmParser::UnresolvedOperand> operands;
  const SMLoc where = parser.getCurrentLocation();
  FunctionType type;
  if (parser.parseOperandList(operands) || parseClauses(parser, state.attributes) ||
      parser.parseOptionalAttrDict(state.attributes) || parser.parseColonType(type) ||
      parser.resolveOperands(operands, type.getInputs(), where, state.operands))
    return failure();
  state.addTypes(type.getResults());
  return success();
}

constexpr StringLiteral kTosaNames[] = {"tosa.Apply_scale",
                                        "tosa.Argmax",
                                        "tosa.Arithmetic_right_shift",
                                        "tosa.Avg_pool2d",
                                        "tosa.Clamp",
                                        "tosa.Concat",
                                        "tosa.Const",
                                        "tosa.Conv2d",
                                        "tosa.Conv3d",
                                        "tosa.Depthwise_conv2d",
                                        "tosa.Div",
                                        "tosa.Fft2d",
                                        "tosa.Fully_connected",
                                        "tosa.Matmul",
                                        "tosa.Max_pool2d",
                                        "tosa.Maximum",
                                        "tosa.Minimum",
                                        "tosa.Mul",
                                        "tosa.Negate",
                                        "tosa.Pad",
                                        "tosa.Reduce_all",
                                        "tosa.Reduce_any",
                                        "tosa.Reduce_max",
                                        "tosa.Reduce_min",
                                        "tosa.Reduce_prod",
                                        "tosa.Reduce_product",
                                        "tosa.Reduce_sum",
                                        "tosa.Rescale",
                                        "tosa.Reshape",
                                        "tosa.Resize",
                                        "tosa.Reverse",
                                        "tosa.Rfft2d",
                                        "tosa.Slice",
                                        "tosa.Tile",
                                        "tosa.Transpose",
                                        "tosa.Transpose_conv2d"};

template <size_t I> struct TosaOp : OlderOp<TosaOp<I>> {
  using OlderOp<TosaOp<I>>::OlderOp;
  static StringRef getOperationName() { return kTosaNames[I]; }
  static ParseResult parse(OpAsmParser &parser, OperationState &state) { return parseTosa(parser, state); }
};

/// Operations that take a shape look at once for the constant that it is.
struct ConstShapeOp : OlderOp<ConstShapeOp> {
  using OlderOp<ConstShapeOp>::OlderOp;
  static StringRef getOperationName() { return "tosa.Const_shape"; }
  static ParseResult parse(OpAsmParser &parser, OperationState &state) {
    rename<tosa::ConstShapeOp>(parser, state);
    if (parseTosa(parser, state))
      return failure();
    if (Attribute value = state.attributes.erase("value"))
      state.addAttribute("values", value);
    return success();
  }
};

template <size_t... Is> void addTosa(DialectRegistry &registry, std::index_sequence<Is...>) {
  addTo<tosa::TosaDialect, ConstShapeOp, TosaOp<Is>...>(registry);
}

} // namespace tenon::compiler::older

namespace tenon::compiler {

void registerOtherYears(DialectRegistry &registry) {
  older::addTo<tensor::TensorDialect, older::ExpandShapeOp>(registry);
  older::addTo<linalg::LinalgDialect, older::ElementwiseOp>(registry);
  older::addTosa(registry, std::make_index_sequence<std::size(older::kTosaNames)>());
}

} // namespace tenon::compiler
