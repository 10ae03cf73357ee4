// A kernel before code generation: one function on tensors in a module of its own.
//
//   func.func @add(%n: i64, %x: tensor<?xf32> {tenon.dims = array<i64: 0>}, %y: tensor<?xf32> {tenon.dims = ...})
//       -> (tensor<?xf32> {tenon.dims = array<i64: 0>}) attributes {tenon.elements_per_thread = 4 : i64} {
//     %0 = arith.index_cast %n : i64 to index
//     %1 = tensor.empty(%0) : tensor<?xf32>
//     %2 = linalg.generic {...} ins(%x, %y : ...) outs(%1 : ...) { ... }
//     return %2 : tensor<?xf32>
//   }
//
// Arguments: scalars and tensors in any order. `tenon.dims` gives, for each dynamic dimension of an argument or result,
// the number of the i64 argument that holds it. The body: constants, one linalg.generic, and for each of its results a
// start: tensor.empty (none), linalg.fill of a scalar over it, or a tensor argument; the results are returned in order.
//
// The kernel's parameters: a pointer per tensor argument, a pointer per result, then the scalar arguments, laid out by
// abi::computeParameterLayout. Launch: 256 threads a workgroup, ceildiv(elements of a result, 256 * elements per
// thread) workgroups.
#pragma once

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"

#include <cstdint>

namespace tenon::compiler::codegen {

/// Size of a dimension: known, or held by an argument of the kernel function.
struct Extent {
  int64_t size = 0;
  int32_t argument = -1; // of the function; -1: `size` is it
};

/// A tensor in memory, row-major and dense, and how the loops index it.
struct KernelTensor {
  mlir::Type element;
  mlir::AffineMap map;
  llvm::SmallVector<Extent> shape; // [rank]
  uint32_t binding = 0;            // which pointer
};

struct KernelInput {
  mlir::BlockArgument bodyArgument;
  mlir::Value scalar; // an argument or constant of the function; null: `tensor` is read
  KernelTensor tensor;
};

struct KernelOutput {
  mlir::BlockArgument bodyArgument;
  KernelTensor tensor;
  mlir::Value startScalar;                 // start value of every element
  std::optional<KernelTensor> startTensor; // start values; neither: undefined
};

struct KernelFunction {
  mlir::func::FuncOp function;
  mlir::linalg::GenericOp op;
  uint32_t elementsPerThread = 1;
  llvm::SmallVector<uint32_t> tensorArguments; // [n] of the function: bindings 0..n-1
  llvm::SmallVector<uint32_t> scalarArguments; // [m] of the function: constants 0..m-1
  llvm::SmallVector<Extent> loops;             // [loops of op]
  llvm::SmallVector<KernelInput> inputs;
  llvm::SmallVector<KernelOutput> outputs; // bindings n..

  /// Reads a function of the form above; anything else is an error at the operation.
  static mlir::FailureOr<KernelFunction> read(mlir::func::FuncOp function);
};

} // namespace tenon::compiler::codegen
