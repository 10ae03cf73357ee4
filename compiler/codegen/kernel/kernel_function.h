// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
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
// the number of the integer argument that holds it, read as unsigned; a result without it has the sizes of its start.
// The body: constants and arithmetic on scalars, one or several linalg.generic (a group,
// dispatch/analysis/groups/group.h), and for each of their results a start: tensor.empty (none), linalg.fill of a
// scalar over it, or a tensor argument. Each value that it returns is a result of a linalg.generic, and returned once.
//
// Between the operations of an attention stands a linalg.softmax, the only one (dispatch/attention/build.h).
//
// Instead of linalg.generic it may hold one operation of iree_linalg_ext along a dimension (codegen/along), whose
// results it returns.
//
// Behind its results it may return tensor.empty: scratch memory that its kernels, or blocks of one, share.
//
// The kernel's parameters: a pointer per tensor argument, a pointer per result that is not tied to one, then the scalar
// arguments, laid out by abi::computeParameterLayout.
//
// `tenon.strategy` says how it is computed (codegen/strategies). Without it each thread computes
// `tenon.elements_per_thread` elements of the one linalg.generic, in order: 256 threads a workgroup, and as many
// workgroups as ceildiv(elements of a result, 256 * elements per thread).
//
// A fallback of a hand-written kernel (`tenon.workgroup_size`) is launched with the workgroup and the grid of that
// kernel. How that kernel maps threads to elements is unknown, so the fallback's threads step through the elements:
// thread t of T in the whole grid computes elements t, t + T, t + 2T, ... Any grid computes each element once. A result
// tied to an argument (`tenon.tied`) is written over it, which is safe where each element is read only by the thread
// that writes it: the argument is read by the indexing map of the result, or not at all.
//
// Where its export declares other constants than scalars, `tenon.layout` is that layout: a tuple's members are scalar
// arguments of the function, a tensor map is a parameter that the kernel does not read.
#pragma once

#include "compiler/dialect/hal/HalAttrs.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "llvm/ADT/MapVector.h"

#include <array>
#include <cstdint>
#include <optional>
#include <vector>

namespace tenon::compiler::codegen {

/// Size of a dimension: known, or an integer of the kernel function: an argument or what is computed from some.
struct Extent {
  int64_t size = 0;
  mlir::Value value; // read as unsigned; null: `size` is it
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
  mlir::Value scalar;   // an argument or constant of the function
  mlir::Value computed; // a result of another operation of the function, or of its softmax
  KernelTensor tensor;  // neither: this is read
  bool isMemory() const { return !scalar && !computed; }
};

/// A factor of a product that is read from an image with zeros around it (dispatch/analysis/border.h), or from the
/// weights of a routed product (dispatch/analysis/products/routes.h).
struct KernelBorder {
  mlir::Value value;                   // of the body: what is read, or 0
  KernelTensor tensor;                 // its map leads to places outside of it, too
  llvm::SmallVector<bool> mayLeave;    // [rank] whether a dimension has such places
  std::optional<unsigned> expert = {}; // of weights: the dimension whose place each row names; the map has 0 there
};

struct KernelOutput {
  mlir::BlockArgument bodyArgument;
  bool isStored = false; // else only other operations of the function read it
  KernelTensor tensor;
  mlir::Value startScalar;                 // start value of every element
  std::optional<KernelTensor> startTensor; // start values; neither: undefined, or nobody reads it
};

/// One linalg.generic of the function.
struct KernelOp {
  mlir::linalg::GenericOp op;
  llvm::SmallVector<Extent> loops; // [loops of op]
  llvm::SmallVector<KernelInput> inputs;
  llvm::SmallVector<KernelOutput> outputs; // in the order of the operation's results
  llvm::SmallVector<KernelBorder> borders;
};

/// A result of an operation along a dimension, and what it starts from: a scalar everywhere, a tensor, or nothing.
struct KernelAlongOutput {
  bool isStored = false;
  KernelTensor tensor; // no map
  mlir::Value startScalar;
  std::optional<KernelTensor> startTensor;
};

/// An operand of an operation along a dimension: a tensor, or the same scalar everywhere.
struct KernelAlongInput : KernelTensor {
  mlir::Value scalar;
};

/// One operation of iree_linalg_ext instead of linalg.generic, which has the kernel to itself.
struct KernelAlong {
  mlir::Operation *op = nullptr; // null: there is none
  llvm::SmallVector<KernelAlongInput> inputs;
  llvm::SmallVector<KernelAlongOutput> outputs; // in the order of the operation's results
};

/// A parameter behind the pointers.
struct KernelConstant {
  mlir::Type declared;                   // a tuple or a tensor map; null: the scalar
  llvm::SmallVector<uint32_t> arguments; // of the function: the scalar, a tuple's members, none for a tensor map
};

struct KernelFunction {
  mlir::func::FuncOp function;
  std::vector<KernelOp> ops;
  mlir::linalg::SoftmaxOp softmax; // between two of them (dispatch/attention); null: there is none
  KernelAlong along;               // where there are no ops
  /// What kernels or blocks leave for each other, and nobody else reads; without a shape.
  llvm::SmallVector<KernelTensor> scratch;
  mlir::DictionaryAttr strategy; // which strategy computes it, and how; null: one thread an element, see below
  uint32_t threads = 256;        // of a workgroup
  uint32_t elementsPerThread = 1;
  std::optional<std::array<int32_t, 3>> workgroupSize; // of the export it is a fallback of, launched in any grid
  uint32_t bindings = 0;                               // pointers: tensor arguments, then results that are not tied
  llvm::SmallVector<uint32_t> tensorArguments;         // [n] of the function: bindings 0..n-1
  llvm::SmallVector<uint32_t> scalarArguments;         // [m] of the function, in order
  llvm::SmallVector<KernelConstant> constants;         // in the order of the parameters
  hal::PipelineLayoutAttr layout;                      // as declared; null: each scalar argument is a constant
  llvm::SmallMapVector<mlir::Value, KernelTensor, 2> gathered; // arguments that a body reads by itself; no map

  mlir::Location loc() const;
  /// Where there is one operation.
  const KernelOp &only() const { return ops.front(); }

  /// Every tensor that the kernel reads or writes, unread starts left out.
  llvm::SmallVector<const KernelTensor *> tensors() const;
  /// By a result of its own or, as launches bind it, another's.
  bool isWritten(uint32_t binding) const;
  /// Whether launches bind some result to the memory of an argument.
  bool overwrites() const;

  /// Reads a function of the form above; anything else is an error at the operation.
  static mlir::FailureOr<KernelFunction> read(mlir::func::FuncOp function);
};

} // namespace tenon::compiler::codegen
