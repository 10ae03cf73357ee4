// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// flow.dispatch to a dispatch of the program: the grid from the export's count region, then bindings (operands, then
// untied results) and constants, with the copies and checks that immutable tensors ask for.
#pragma once

#include "compiler/dialect/flow/FlowOps.h"
#include "compiler/host/executable_table.h"
#include "compiler/host/function_state.h"

namespace tenon::compiler::host {

/// Errors at the operation: an export that was not linked, a grid that registers cannot compute, sizes that differ.
mlir::LogicalResult lowerDispatch(flow::DispatchOp op, const ExecutableTable &executables, FunctionState &state);

} // namespace tenon::compiler::host
