// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Attributes and types of hal: targets, objects, layouts. HalAttrs.td describes each.
#pragma once

#include "abi/layout.h"
#include "compiler/dialect/hal/HalDialect.h"

#include "mlir/IR/BuiltinAttributeInterfaces.h"
#include "mlir/IR/BuiltinAttributes.h"
#include "mlir/IR/BuiltinTypes.h"

#define GET_TYPEDEF_CLASSES
#include "compiler/dialect/hal/HalTypes.h.inc"
#define GET_ATTRDEF_CLASSES
#include "compiler/dialect/hal/HalAttrs.h.inc"
