// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Clauses that hal.executable.export and hal.dispatch.extern have in common.
#pragma once

#include "mlir/IR/OpImplementation.h"

namespace tenon::compiler::hal {

/// Attributes and clauses in any order, each behind one of `words`, as long as there are any; `parse` reads what stands
/// behind the word.
mlir::ParseResult parseClauses(mlir::OpAsmParser &parser, mlir::NamedAttrList &attributes,
                               llvm::ArrayRef<llvm::StringRef> words,
                               llvm::function_ref<mlir::ParseResult(llvm::StringRef word)> parse);
/// `count(..) -> (index, index, index) {..}` or `condition(..) -> i1 {..}`, the keyword already read.
mlir::ParseResult parseTypedRegion(mlir::OpAsmParser &parser, llvm::StringRef keyword, mlir::Region &region);
/// What the region of a `count` returns.
llvm::SmallVector<mlir::Type> countTypes(mlir::MLIRContext *context);
/// `(ATTRIBUTE)`, added as `name`.
mlir::ParseResult parseParenthesizedAttr(mlir::OpAsmParser &parser, llvm::StringRef name, mlir::Type type,
                                         mlir::OperationState &result);
/// `(#hal.pipeline.layout<..>)`, with or without the attribute's name, added as `name`.
mlir::ParseResult parseLayoutClause(mlir::OpAsmParser &parser, llvm::StringRef name, mlir::OperationState &result);
/// Launch attributes are numbers of type index. Users write others too, which say the same.
void indexLaunchAttributes(mlir::OpAsmParser &parser, mlir::NamedAttrList &attributes,
                           llvm::ArrayRef<mlir::StringAttr> names);

} // namespace tenon::compiler::hal
