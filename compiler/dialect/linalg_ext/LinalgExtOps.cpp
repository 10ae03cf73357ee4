// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "compiler/dialect/linalg_ext/LinalgExtOps.h"

#include "compiler/dialect/shared/assembly.h"

#include "mlir/IR/Builders.h"
#include "mlir/IR/DialectImplementation.h"
#include "llvm/ADT/TypeSwitch.h"

using namespace mlir;

// `dimension_map = [0, 1]`; text before 2023 has `dimension_map(dense<[0, 1]> : tensor<2xi64>)`.
static ParseResult parseDimensionMap(OpAsmParser &parser, DenseI64ArrayAttr &map) {
  if (parser.parseKeyword("dimension_map"))
    return failure();
  if (succeeded(parser.parseOptionalLParen())) {
    DenseIntElementsAttr old;
    const SMLoc where = parser.getCurrentLocation();
    if (parser.parseAttribute(old) || parser.parseRParen())
      return failure();
    if (!old.getElementType().isInteger(64))
      return parser.emitError(where) << "found " << old.getType() << ", a tensor of i64 is wanted";
    map = parser.getBuilder().getDenseI64ArrayAttr(llvm::to_vector(old.getValues<int64_t>()));
    return success();
  }
  if (parser.parseEqual())
    return failure();
  map = dyn_cast_or_null<DenseI64ArrayAttr>(DenseI64ArrayAttr::parse(parser, Type()));
  return success(bool(map));
}

static void printDimensionMap(OpAsmPrinter &printer, Operation *, DenseI64ArrayAttr map) {
  printer << "dimension_map = ";
  map.print(printer);
}

// `image_dimensions([1, 2])`; text of 2023 has `tensor_format("nhwc")`, where it is said at all.
static ParseResult parseImageDimensions(OpAsmParser &parser, DenseI64ArrayAttr &dimensions) {
  if (succeeded(parser.parseOptionalKeyword("tensor_format"))) {
    std::string format;
    SMLoc where;
    if (parser.parseLParen() || parser.getCurrentLocation(&where) || parser.parseString(&format) ||
        parser.parseRParen())
      return failure();
    if (format != "nhwc" && format != "nchw")
      return parser.emitError(where) << "found \"" << format << "\", \"nhwc\" or \"nchw\" is wanted";
    dimensions =
        parser.getBuilder().getDenseI64ArrayAttr(format == "nhwc" ? ArrayRef<int64_t>{1, 2} : ArrayRef<int64_t>{2, 3});
    return success();
  }
  if (parser.parseKeyword("image_dimensions") || parser.parseLParen())
    return failure();
  dimensions = dyn_cast_or_null<DenseI64ArrayAttr>(DenseI64ArrayAttr::parse(parser, Type()));
  return failure(!dimensions || parser.parseRParen());
}

static void printImageDimensions(OpAsmPrinter &printer, Operation *, DenseI64ArrayAttr dimensions) {
  printer << "image_dimensions(";
  dimensions.print(printer);
  printer << ')';
}

static ParseResult parseOptionalRegion(OpAsmParser &parser, Region &region) {
  OptionalParseResult found = parser.parseOptionalRegion(region);
  return found.has_value() ? *found : ParseResult(success());
}

static void printOptionalRegion(OpAsmPrinter &printer, Operation *, Region &region) {
  if (!region.empty())
    printer.printRegion(region);
}

namespace tenon::compiler::linalg_ext {

// `{name = value}`, and as newer text has it `<name = value>`.
static ParseResult parseAttributes(OpAsmParser &parser, NamedAttrList &attributes) {
  return failure(compiler::parseAttributes(parser, attributes) || parser.parseOptionalAttrDict(attributes));
}

static void printAttributes(OpAsmPrinter &printer, Operation *, DictionaryAttr attributes) {
  printer.printOptionalAttrDict(attributes.getValue(), {"operandSegmentSizes"});
}

} // namespace tenon::compiler::linalg_ext

#include "compiler/dialect/linalg_ext/LinalgExtDialect.cpp.inc"
#define GET_ATTRDEF_CLASSES
#include "compiler/dialect/linalg_ext/LinalgExtAttrs.cpp.inc"
#define GET_OP_CLASSES
#include "compiler/dialect/linalg_ext/LinalgExtOps.cpp.inc"

namespace tenon::compiler::linalg_ext {

void LinalgExtDialect::registerAttributes() {
  addAttributes<
#define GET_ATTRDEF_LIST
#include "compiler/dialect/linalg_ext/LinalgExtAttrs.cpp.inc"
      >();
}

Attribute IteratorTypeAttr::parse(AsmParser &parser, Type) {
  StringRef word;
  if (parser.parseLess() || parseKeywordOf(parser, word, {"parallel", "reduction"}) || parser.parseGreater())
    return {};
  return get(parser.getContext(), word);
}

void IteratorTypeAttr::print(AsmPrinter &printer) const {
  printer << '<' << getWord() << '>';
}

void LinalgExtDialect::initialize() {
  registerAttributes();
  addOperations<
#define GET_OP_LIST
#include "compiler/dialect/linalg_ext/LinalgExtOps.cpp.inc"
      >();
}

bool isAlongOp(Operation *op) {
  return isa<ScanOp, SortOp, TopkOp, ScatterOp, RouteOp, TileTransformOp>(op);
}

OpOperand &initOf(Operation *op, unsigned result) {
  return op->getOpOperand(op->getNumOperands() - op->getNumResults() + result);
}

int64_t batchRankOf(RankedTensorType indices, RankedTensorType slices, RankedTensorType whole, int64_t depth,
                    bool mayOverlap) {
  const bool hasDepth = indices.getRank() > 0 && indices.getShape().back() == depth;
  const int64_t sliceRank = slices.getRank() - (indices.getRank() - 1);
  const bool fits = sliceRank + depth == whole.getRank() ||
                    (mayOverlap && sliceRank + depth > whole.getRank() && sliceRank <= whole.getRank());
  return hasDepth && (fits || depth != 1) ? indices.getRank() - 1 : indices.getRank();
}

bool slicesMayOverlap(ScatterOp scatter) {
  auto typeOf = [](Value value) { return cast<RankedTensorType>(value.getType()); };
  const RankedTensorType updates = typeOf(scatter.getInputs()[0]), whole = typeOf(scatter.getOutputs()[0]);
  const ArrayRef<int64_t> named = scatter.getDimensionMap();
  const int64_t batchRank =
      batchRankOf(typeOf(scatter.getInputs()[1]), updates, whole, int64_t(named.size()), /*mayOverlap=*/true);
  const int64_t wholeRank = whole.getRank(), sliceRank = updates.getRank() - batchRank;
  return llvm::any_of(named, [&](int64_t dimension) {
    const int64_t along = dimension + sliceRank - wholeRank;
    // A slice of one element along it stands where it is named.
    return along >= 0 && updates.getDimSize(batchRank + along) != 1;
  });
}

Operation *bodyOwner(Operation *op) {
  Operation *parent = op->getParentOp();
  return parent && isa<LinalgExtDialect>(parent->getDialect()) ? parent : nullptr;
}

} // namespace tenon::compiler::linalg_ext
