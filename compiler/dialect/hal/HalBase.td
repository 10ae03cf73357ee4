// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// hal: executables (hand-written device code with its declared ABI), devices and targets. The text is that of IREE's
// custom dispatches, every era of it; what Tenon adds is named where it is defined.
#ifndef TENON_COMPILER_DIALECT_HAL_BASE
#define TENON_COMPILER_DIALECT_HAL_BASE

include "mlir/IR/AttrTypeBase.td"
include "mlir/IR/BuiltinAttributeInterfaces.td"
include "mlir/IR/OpBase.td"

def Hal_Dialect : Dialect {
  let name = "hal";
  let summary = "executables, their exports and the devices that run them";
  let cppNamespace = "::tenon::compiler::hal";
  let useDefaultAttributePrinterParser = 1;
  let useDefaultTypePrinterParser = 1;
  let hasOperationAttrVerify = 1;
  let extraClassDeclaration = [{
  private:
    void registerAttributesAndTypes();
    void registerOperations();
  public:
  }];
}

#endif
