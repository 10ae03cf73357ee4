// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// An operation here has a parser and nothing else: what it parses is an operation of another name. Only text in MLIR's
// generic form ("tensor.pack"(%x) : ..) makes one, which is refused by its name.
#include "compiler/dialect/OlderNames.h"

#include "compiler/dialect/flow/FlowOps.h"
#include "compiler/dialect/shared/assembly.h"
#include "compiler/dialect/util/UtilOps.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"

using namespace mlir;

namespace tenon::compiler::older {

/// The traits are those that the parser looks at before it parses: none.
template <typename Self> struct OlderOp : Op<Self, OpTrait::VariadicOperands, OpTrait::VariadicResults> {
  using Op<Self, OpTrait::VariadicOperands, OpTrait::VariadicResults>::Op;
  static ArrayRef<StringRef> getAttributeNames() { return {}; }
  void print(OpAsmPrinter &printer) { printer.printGenericOp(this->getOperation(), /*printOpName=*/false); }
};

/// The parser has loaded the dialect of the older name, which may be another one.
template <typename Newer> void rename(OpAsmParser &parser, OperationState &state) {
  const StringRef name = Newer::getOperationName();
  parser.getContext()->getOrLoadDialect(name.split('.').first);
  state.name = OperationName(name, parser.getContext());
}

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

} // namespace tenon::compiler::older

namespace tenon::compiler {
namespace {

template <typename Dialect, typename... Ops> void addTo(DialectRegistry &registry) {
  registry.addExtension(
      +[](MLIRContext *, Dialect *dialect) { (RegisteredOperationName::insert<Ops>(*dialect), ...); });
}

} // namespace

void registerOlderNames(DialectRegistry &registry) {
  addTo<arith::ArithDialect, older::MaxFOp, older::MinFOp>(registry);
  addTo<flow::FlowDialect, older::DispatchRegionOp, older::RegionReturnOp>(registry);
  addTo<linalg::LinalgDialect, older::InitTensorOp>(registry);
  addTo<tensor::TensorDialect, older::PackOp, older::UnpackOp>(registry);
  addTo<util::UtilDialect, older::DoNotOptimizeOp>(registry);
}

} // namespace tenon::compiler
