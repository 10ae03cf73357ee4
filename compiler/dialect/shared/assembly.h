// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Pieces of assembly that several operations share: symbol visibility, regions with named arguments, and the typed
// operand and result lists of dispatches.
#pragma once

#include "mlir/IR/BuiltinAttributes.h"
#include "mlir/IR/OpImplementation.h"

namespace tenon::compiler {

/// Number of dynamic dimensions of a shaped type; 0 for any other type.
unsigned dynamicDimCount(mlir::Type type);

/// An error of `op` where these are not the dynamic dimensions of `type`, its source or result, as `which` says.
mlir::LogicalResult verifyDims(mlir::Operation *op, llvm::StringRef which, mlir::Type type, mlir::ValueRange dims);

/// `{%d0, %d1}` behind a type, as many as it has dynamic dimensions.
mlir::ParseResult parseDims(mlir::OpAsmParser &parser, mlir::Type type,
                            llvm::SmallVectorImpl<mlir::OpAsmParser::UnresolvedOperand> &dims);
/// The sizes of a ranked tensor whose dynamic ones are `dims`.
llvm::SmallVector<mlir::OpFoldResult> shapeWith(mlir::OpBuilder &builder, mlir::RankedTensorType type,
                                                mlir::ValueRange dims);

/// One keyword of `words`, or an error that lists them.
mlir::ParseResult parseKeywordOf(mlir::AsmParser &parser, llvm::StringRef &word, llvm::ArrayRef<llvm::StringRef> words);

/// The attributes of an operation, in every notation and any order: `<name = value, ..>` (what the operation defines
/// itself, as newer IREE prints it), `<{..}>`, `attributes {..}`. Nothing is there: nothing is read.
mlir::ParseResult parseAttributes(mlir::OpAsmParser &parser, mlir::NamedAttrList &attributes);
/// One of those, if it stands here: whether it does, and how that went.
mlir::OptionalParseResult parseOptionalAttributes(mlir::OpAsmParser &parser, mlir::NamedAttrList &attributes);
/// ` <name = value, ..> attributes {..}`: what the operation defines itself, then the others.
void printAttributes(mlir::OpAsmPrinter &printer, mlir::Operation *op, llvm::ArrayRef<llvm::StringRef> elided);

/// `public`, `private` or `nested`; absent means public, and is printed as that.
mlir::ParseResult parseSymbolVisibility(mlir::OpAsmParser &parser, mlir::StringAttr &visibility);
void printSymbolVisibility(mlir::OpAsmPrinter &printer, mlir::StringAttr visibility);

/// `(%device: !hal.device, %workload: index) -> (index, index, index) { ... }`
mlir::ParseResult parseHostRegion(mlir::OpAsmParser &parser, mlir::Region &region,
                                  llvm::SmallVectorImpl<mlir::Type> &resultTypes);
void printHostRegion(mlir::OpAsmPrinter &printer, mlir::Region &region, mlir::TypeRange resultTypes);

/// What follows the name of a dispatch: `[workload](arguments) attributes : (types) -> results`.
struct DispatchSignature {
  llvm::SmallVector<mlir::OpAsmParser::UnresolvedOperand> workload, arguments, argumentDims, resultDims;
  llvm::SmallVector<mlir::Type> argumentTypes, resultTypes;
  llvm::SmallVector<int64_t> tiedOperands; // per result: index of its argument, or -1
  llvm::SMLoc argumentsLoc;
};

/// `[%w, ...](%a, ...)`
mlir::ParseResult parseDispatchOperands(mlir::OpAsmParser &parser, DispatchSignature &signature);
/// `(types{dims}) -> results`, where a result is `type{dims}`, `%tied{dims}` or `%tied as type{dims}`, several of them
/// in parentheses or not. Errors: a type with other than its number of dynamic dimensions, a tied name that is no
/// argument.
mlir::ParseResult parseDispatchTypes(mlir::OpAsmParser &parser, DispatchSignature &signature);
/// Resolves everything parsed and adds the segment sizes and `tied_operands` to `result`. An argument that is passed
/// twice has one name: a tie by name means the first of them; `{tied_operands = array<i64: ..>}`, if given, says which.
mlir::ParseResult resolveDispatch(mlir::OpAsmParser &parser, DispatchSignature &signature,
                                  mlir::OperationState &result);

/// Whether a result is tied to an argument that an earlier argument equals, so that its name does not tell.
bool areTiesAmbiguous(mlir::ValueRange arguments, llvm::ArrayRef<int64_t> tiedOperands);
void printDispatchOperands(mlir::OpAsmPrinter &printer, mlir::ValueRange workload, mlir::ValueRange arguments);
void printDispatchTypes(mlir::OpAsmPrinter &printer, mlir::ValueRange arguments, mlir::ValueRange argumentDims,
                        mlir::TypeRange resultTypes, mlir::ValueRange resultDims, llvm::ArrayRef<int64_t> tiedOperands);

} // namespace tenon::compiler
