// A hal.executable.export as the linker and the loader know it.
#pragma once

#include "abi/layout.h"
#include "compiler/bridge/locations.h"
#include "compiler/dialect/hal/HalOps.h"

namespace tenon::compiler::bridge {

/// The declared ABI. An error at `location`: a constant of a type that has no place in a parameter block.
mlir::FailureOr<abi::Layout> toLayout(hal::PipelineLayoutAttr attribute, mlir::Location location);

/// Name, ordinal, layout and launch of an export, after tenon-normalize-executables. An error at the export: no
/// workgroup size, or a number that is negative or does not fit.
mlir::FailureOr<abi::Export> toExport(hal::ExecutableExportOp op, LocationMap &locations);

} // namespace tenon::compiler::bridge
