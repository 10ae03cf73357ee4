// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Operations that were renamed: text of other years has another name, and is read as what the operation is called here.
// Nothing behind the parser knows that there was another name.
#pragma once

#include "mlir/IR/DialectRegistry.h"

namespace tenon::compiler {

/// tensor.pack, tensor.unpack, linalg.init_tensor, arith.maxf, arith.minf, util.do_not_optimize, iree_linalg_ext.pack
/// and unpack; iree_tensor_ext.bitcast, the younger name of flow.tensor.bitcast; and, which is MLIR's own today,
/// flow.dispatch.region.
void registerOlderNames(mlir::DialectRegistry &registry);

} // namespace tenon::compiler
