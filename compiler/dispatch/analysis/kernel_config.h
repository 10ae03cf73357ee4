// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// What a generated kernel may contain, and the names of what stands on a kernel function.
#pragma once

#include "mlir/IR/AffineMap.h"
#include "mlir/IR/Types.h"

#include <cstdint>
#include <optional>

namespace mlir::linalg {
class GenericOp;
}

namespace tenon::compiler::dispatch {

inline constexpr uint32_t kThreadsPerWorkgroup = 256;

// On arguments and results of a kernel function: for each dynamic dimension, in order, which argument holds it.
inline constexpr llvm::StringLiteral kDimsAttr = "tenon.dims";
// On a result of a kernel function: the number of the tensor argument whose memory it takes; absent: it has its own.
inline constexpr llvm::StringLiteral kTiedAttr = "tenon.tied";
// On a tensor argument of a kernel function: launches bind a result to its memory. Each thread reads of it what it
// writes itself, and has read it then.
inline constexpr llvm::StringLiteral kOverwrittenAttr = "tenon.overwritten";
// On a kernel function: how many adjacent elements one thread computes.
inline constexpr llvm::StringLiteral kElementsPerThreadAttr = "tenon.elements_per_thread";
// On a module or a kernel function: products of f32 may round their factors to tf32.
inline constexpr llvm::StringLiteral kTf32Attr = "tenon.tf32";
// On a kernel function: which strategy of codegen/strategies computes it, with its choices: {name = "rows", ...}.
inline constexpr llvm::StringLiteral kStrategyAttr = "tenon.strategy";
// On a kernel function: the workgroup size of the export that it is a fallback of; the grid may have any size and
// shape.
inline constexpr llvm::StringLiteral kWorkgroupSizeAttr = "tenon.workgroup_size";
// On a kernel function: the layout that an export declares, where a constant is more than a scalar: a tuple is passed
// as its members, one argument each, a tensor map as none.
inline constexpr llvm::StringLiteral kLayoutAttr = "tenon.layout";
// On a kernel function: the last size of a launch is no argument of the kernel, but 1 where it runs and 0 where it does
// not.
inline constexpr llvm::StringLiteral kConditionalAttr = "tenon.conditional";
// On a kernel function: the most and the least elements that a row has wherever the kernel runs. Without a least one,
// or where it is 0, rows may be empty.
inline constexpr llvm::StringLiteral kLongestAttr = "tenon.longest", kShortestAttr = "tenon.shortest";
// Elements of a column, of all tensors, that the threads of a block keep, where reduced elements are not adjacent in
// memory.
inline constexpr int64_t kMostOfKeptColumn = 256;
// On a sort: which of its operands begin as the place of each element along the dimension, and are not in memory.
inline constexpr llvm::StringLiteral kPlacesAttr = "tenon.places";
// On a hal.executable.source: the compiler made it.
inline constexpr llvm::StringLiteral kGeneratedAttr = "tenon.generated";

/// i1, i8, i16, i32, i64, f16, bf16, f32, f64: what tensors hold and scalars are.
bool isSupportedElement(mlir::Type type);
/// Bytes of one element in memory: i1 takes 1.
uint32_t elementBytes(mlir::Type type);

/// Arithmetic on scalars that a kernel can do once, outside of its loops.
bool isScalarOp(mlir::Operation *op);

/// Every result of the map is a loop or the constant 0, no loop twice.
bool isSimpleMap(mlir::AffineMap map);

/// Elements that one thread of the kernel for `op` computes: 1, 2, 4 or 8.
uint32_t elementsPerThread(mlir::linalg::GenericOp op);

/// A loop of a few rounds that no input is indexed by: a thread that has read what one round needs has it for all of
/// them, and runs through the loop (codegen/strategies/elementwise.h).
inline constexpr int64_t kMostUnrolled = 4;
std::optional<unsigned> unrolledLoopOf(mlir::linalg::GenericOp op);

/// Whether a kernel can be generated for `op`. Otherwise an error at the operation names what is not supported: element
/// types, operations of the body, indexing maps, tensors read by other means than indexing maps.
mlir::LogicalResult verifyKernelOp(mlir::linalg::GenericOp op);
/// The same for an operation along a dimension (iree_linalg_ext).
mlir::LogicalResult verifyAlongOp(mlir::Operation *op);

} // namespace tenon::compiler::dispatch
