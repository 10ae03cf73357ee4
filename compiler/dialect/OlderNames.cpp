// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// An operation here has a parser and nothing else: what it parses is an operation of another name. Only text in MLIR's
// generic form ("tensor.pack"(%x) : ..) makes one, which is refused by its name.
#include "compiler/dialect/OlderNames.h"

#include "compiler/dialect/OlderOp.h"
#include "compiler/dialect/flow/FlowOps.h"
#include "compiler/dialect/linalg_ext/LinalgExtOps.h"
#include "compiler/dialect/shared/assembly.h"
#include "compiler/dialect/util/UtilOps.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"

using namespace mlir;

namespace tenon::compiler::older {

template <typename Newer> ParseResult parseAs(OpAsmParser &parser, OperationState &state) {
  rename<Newer>(parser, state);
  return Newer::parse(parser, state);
}

/// The text behind the name is the same.
struct PackOp : OlderOp<PackOp> {
  using OlderOp<PackOp>::OlderOp;
  static StringRef getOperationName() { return "tensor.pack"; }
  static ParseResult parse(OpAsmParser &parser, OperationState &state) {
    return parseAs<linalg::PackOp>(parser, state);
  }
};
struct UnpackOp : OlderOp<UnpackOp> {
  using OlderOp<UnpackOp>::OlderOp;
  static StringRef getOperationName() { return "tensor.unpack"; }
  static ParseResult parse(OpAsmParser &parser, OperationState &state) {
    return parseAs<linalg::UnPackOp>(parser, state);
  }
};
struct MaxFOp : OlderOp<MaxFOp> {
  using OlderOp<MaxFOp>::OlderOp;
  static StringRef getOperationName() { return "arith.maxf"; }
  static ParseResult parse(OpAsmParser &parser, OperationState &state) {
    return parseAs<arith::MaximumFOp>(parser, state);
  }
};
struct MinFOp : OlderOp<MinFOp> {
  using OlderOp<MinFOp>::OlderOp;
  static StringRef getOperationName() { return "arith.minf"; }
  static ParseResult parse(OpAsmParser &parser, OperationState &state) {
    return parseAs<arith::MinimumFOp>(parser, state);
  }
};

/// `linalg.init_tensor [4, %d] : tensor<4x?xf32>` is `tensor.empty(%d) : tensor<4x?xf32>`.
struct InitTensorOp : OlderOp<InitTensorOp> {
  using OlderOp<InitTensorOp>::OlderOp;
  static StringRef getOperationName() { return "linalg.init_tensor"; }
  static ParseResult parse(OpAsmParser &parser, OperationState &state) {
    rename<tensor::EmptyOp>(parser, state);
    SmallVector<int64_t> sizes;
    SmallVector<OpAsmParser::UnresolvedOperand> dynamic;
    auto parseSize = [&]() -> ParseResult {
      OptionalParseResult isOperand = parser.parseOptionalOperand(dynamic.emplace_back());
      if (isOperand.has_value()) {
        sizes.push_back(ShapedType::kDynamic);
        return *isOperand;
      }
      dynamic.pop_back();
      return parser.parseInteger(sizes.emplace_back());
    };
    RankedTensorType type;
    if (parser.parseCommaSeparatedList(OpAsmParser::Delimiter::Square, parseSize) ||
        parser.parseOptionalAttrDict(state.attributes))
      return failure();
    const SMLoc where = parser.getCurrentLocation();
    if (parser.parseColonType(type) ||
        parser.resolveOperands(dynamic, parser.getBuilder().getIndexType(), state.operands))
      return failure();
    if (type.getShape() != ArrayRef<int64_t>(sizes))
      return parser.emitError(where) << "found " << type << ", the sizes in front of it are wanted";
    state.addTypes(type);
    return success();
  }
};

/// `util.do_not_optimize(%a) : f32` is `util.optimization_barrier %a : f32`.
struct DoNotOptimizeOp : OlderOp<DoNotOptimizeOp> {
  using OlderOp<DoNotOptimizeOp>::OlderOp;
  static StringRef getOperationName() { return "util.do_not_optimize"; }
  static ParseResult parse(OpAsmParser &parser, OperationState &state) {
    rename<util::OptimizationBarrierOp>(parser, state);
    SmallVector<OpAsmParser::UnresolvedOperand> operands;
    const SMLoc where = parser.getCurrentLocation();
    return failure(parser.parseOperandList(operands, OpAsmParser::Delimiter::Paren) ||
                   parser.parseOptionalAttrDict(state.attributes) || parser.parseOptionalColonTypeList(state.types) ||
                   parser.resolveOperands(operands, state.types, where, state.operands));
  }
};

/// `flow.dispatch.region -> (tensor<?xf32>{%d}) { .. flow.return %x : tensor<?xf32> }` is scf.execute_region: which
/// operations become one kernel is decided here as everywhere. Sizes of results are those of what it returns, and the
/// workload and how many workgroups it is divided into say how another compiler would launch it.
struct DispatchRegionOp : OlderOp<DispatchRegionOp> {
  using OlderOp<DispatchRegionOp>::OlderOp;
  static StringRef getOperationName() { return "flow.dispatch.region"; }
  static ParseResult parse(OpAsmParser &parser, OperationState &state) {
    rename<scf::ExecuteRegionOp>(parser, state);
    SmallVector<OpAsmParser::UnresolvedOperand> workload, dims;
    SmallVector<Value> indices;
    auto parseResult = [&]() -> ParseResult {
      Type &type = state.types.emplace_back();
      return failure(parser.parseType(type) || parseDims(parser, type, dims));
    };
    if (parser.parseOperandList(workload, OpAsmParser::Delimiter::OptionalSquare) || parser.parseArrow() ||
        parser.parseCommaSeparatedList(OpAsmParser::Delimiter::Paren, parseResult) ||
        parser.parseOptionalAttrDictWithKeyword(state.attributes) || parser.parseRegion(*state.addRegion()))
      return failure();
    Region count; // of workgroups
    if (succeeded(parser.parseOptionalKeyword("count"))) {
      SmallVector<Type> types;
      if (parseHostRegion(parser, count, types))
        return failure();
    }
    llvm::append_range(workload, dims);
    return parser.resolveOperands(workload, parser.getBuilder().getIndexType(), indices); // names that are there
  }
};
struct RegionReturnOp : OlderOp<RegionReturnOp> {
  using OlderOp<RegionReturnOp>::OlderOp;
  static StringRef getOperationName() { return "flow.return"; }
  static ParseResult parse(OpAsmParser &parser, OperationState &state) { return parseAs<scf::YieldOp>(parser, state); }
};

/// `iree_linalg_ext.pack %x padding_value(%p : f32) dims_pos = [0] inner_tiles = [2] into %to : (tensor<..> tensor<..>)
/// -> tensor<..>` of 2022 is linalg.pack; the same for unpack.
template <typename Newer> ParseResult parsePack(OpAsmParser &parser, OperationState &state) {
  rename<Newer>(parser, state);
  Builder &builder = parser.getBuilder();
  constexpr bool kIsPack = std::is_same_v<Newer, linalg::PackOp>;
  OpAsmParser::UnresolvedOperand source, to, padding;
  Type paddingType, sourceType, toType, result;
  SmallVector<int64_t> permutation, positions, tiles;
  SmallVector<OpAsmParser::UnresolvedOperand> dynamicTiles;
  auto parseIntegers = [&](SmallVector<int64_t> &integers) -> ParseResult {
    return failure(parser.parseEqual() || parser.parseCommaSeparatedList(OpAsmParser::Delimiter::Square, [&] {
      return parser.parseInteger(integers.emplace_back());
    }));
  };
  auto parseTile = [&]() -> ParseResult {
    OptionalParseResult isOperand = parser.parseOptionalOperand(dynamicTiles.emplace_back());
    if (isOperand.has_value()) {
      tiles.push_back(ShapedType::kDynamic);
      return *isOperand;
    }
    dynamicTiles.pop_back();
    return parser.parseInteger(tiles.emplace_back());
  };
  const SMLoc where = parser.getCurrentLocation();
  if (parser.parseOperand(source))
    return failure();
  if (kIsPack && succeeded(parser.parseOptionalKeyword("padding_value")) &&
      (parser.parseLParen() || parser.parseOperand(padding) || parser.parseColonType(paddingType) ||
       parser.parseRParen()))
    return failure();
  if (succeeded(parser.parseOptionalKeyword("outer_dims_perm")) && parseIntegers(permutation))
    return failure();
  if (failed(parser.parseOptionalKeyword("dims_pos")) && parser.parseKeyword("inner_dims_pos"))
    return failure();
  if (parseIntegers(positions) || parser.parseKeyword("inner_tiles") || parser.parseEqual() ||
      parser.parseCommaSeparatedList(OpAsmParser::Delimiter::Square, parseTile) || parser.parseKeyword("into") ||
      parser.parseOperand(to) || parser.parseOptionalAttrDict(state.attributes) || parser.parseColon() ||
      parser.parseLParen() || parser.parseType(sourceType) || parser.parseType(toType) || parser.parseRParen() ||
      parser.parseArrow() || parser.parseType(result) || parser.resolveOperand(source, sourceType, state.operands) ||
      parser.resolveOperand(to, toType, state.operands) ||
      (paddingType && parser.resolveOperand(padding, paddingType, state.operands)) ||
      parser.resolveOperands(dynamicTiles, builder.getIndexType(), state.operands))
    return failure();
  if (!isa<RankedTensorType>(sourceType) || toType != result || !isa<RankedTensorType>(result))
    return parser.emitError(where) << "wants tensors, and the result as what it is written into";
  state.addAttribute("outer_dims_perm", builder.getDenseI64ArrayAttr(permutation));
  state.addAttribute("inner_dims_pos", builder.getDenseI64ArrayAttr(positions));
  state.addAttribute("static_inner_tiles", builder.getDenseI64ArrayAttr(tiles));
  if (kIsPack)
    state.addAttribute("operandSegmentSizes", builder.getDenseI32ArrayAttr(
                                                  {1, 1, paddingType ? 1 : 0, static_cast<int>(dynamicTiles.size())}));
  state.addTypes(result);
  return success();
}
struct ExtPackOp : OlderOp<ExtPackOp> {
  using OlderOp<ExtPackOp>::OlderOp;
  static StringRef getOperationName() { return "iree_linalg_ext.pack"; }
  static ParseResult parse(OpAsmParser &parser, OperationState &state) {
    return parsePack<linalg::PackOp>(parser, state);
  }
};
struct ExtUnpackOp : OlderOp<ExtUnpackOp> {
  using OlderOp<ExtUnpackOp>::OlderOp;
  static StringRef getOperationName() { return "iree_linalg_ext.unpack"; }
  static ParseResult parse(OpAsmParser &parser, OperationState &state) {
    return parsePack<linalg::UnPackOp>(parser, state);
  }
};

/// The dialect of which IREE has flow.tensor.bitcast since 2025.
struct TensorExtDialect : Dialect {
  MLIR_DEFINE_EXPLICIT_INTERNAL_INLINE_TYPE_ID(TensorExtDialect)
  explicit TensorExtDialect(MLIRContext *context)
      : Dialect(getDialectNamespace(), context, TypeID::get<TensorExtDialect>()) {}
  static constexpr StringLiteral getDialectNamespace() { return StringLiteral("iree_tensor_ext"); }
};
struct TensorExtBitcastOp : OlderOp<TensorExtBitcastOp> {
  using OlderOp<TensorExtBitcastOp>::OlderOp;
  static StringRef getOperationName() { return "iree_tensor_ext.bitcast"; }
  static ParseResult parse(OpAsmParser &parser, OperationState &state) {
    return parseAs<flow::TensorBitCastOp>(parser, state);
  }
};

} // namespace tenon::compiler::older

namespace tenon::compiler {

void registerOlderNames(DialectRegistry &registry) {
  older::addTo<arith::ArithDialect, older::MaxFOp, older::MinFOp>(registry);
  older::addTo<flow::FlowDialect, older::DispatchRegionOp, older::RegionReturnOp>(registry);
  older::addTo<linalg_ext::LinalgExtDialect, older::ExtPackOp, older::ExtUnpackOp>(registry);
  older::addTo<linalg::LinalgDialect, older::InitTensorOp>(registry);
  older::addTo<tensor::TensorDialect, older::PackOp, older::UnpackOp>(registry);
  older::addTo<util::UtilDialect, older::DoNotOptimizeOp>(registry);
  registry.insert<older::TensorExtDialect>();
  older::addTo<older::TensorExtDialect, older::TensorExtBitcastOp>(registry);
}

} // namespace tenon::compiler
