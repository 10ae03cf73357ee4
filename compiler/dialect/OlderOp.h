// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// What operations that only text of other years has are made with.
#pragma once

#include "mlir/IR/DialectRegistry.h"
#include "mlir/IR/OpDefinition.h"
#include "mlir/IR/OpImplementation.h"

namespace tenon::compiler::older {

/// The traits are those that the parser looks at before it parses: none.
template <typename Self>
struct OlderOp : mlir::Op<Self, mlir::OpTrait::VariadicOperands, mlir::OpTrait::VariadicResults> {
  using mlir::Op<Self, mlir::OpTrait::VariadicOperands, mlir::OpTrait::VariadicResults>::Op;
  static llvm::ArrayRef<llvm::StringRef> getAttributeNames() { return {}; }
  void print(mlir::OpAsmPrinter &printer) { printer.printGenericOp(this->getOperation(), /*printOpName=*/false); }
};

/// The parser has loaded the dialect of the older name, which may be another one.
template <typename Newer> void rename(mlir::OpAsmParser &parser, mlir::OperationState &state) {
  const llvm::StringRef name = Newer::getOperationName();
  parser.getContext()->getOrLoadDialect(name.split('.').first);
  state.name = mlir::OperationName(name, parser.getContext());
}

/// `Ops` are there where `Dialect` is.
template <typename Dialect, typename... Ops> void addTo(mlir::DialectRegistry &registry) {
  registry.addExtension(
      +[](mlir::MLIRContext *, Dialect *dialect) { (mlir::RegisteredOperationName::insert<Ops>(*dialect), ...); });
}

} // namespace tenon::compiler::older
