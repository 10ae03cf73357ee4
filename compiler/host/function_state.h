// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// A function of the program while it is built: what was made of the values so far, and what later operations need.
//
// The lowerings of single operations (function_lowering.cpp, dispatch_lowering.cpp) share it: registers of scalars,
// where each tensor lives and how large it is, and until when its contents are read.
#pragma once

#include "compiler/host/program/buffer_table.h"
#include "compiler/host/program/program.h"
#include "compiler/host/scalars/scalar_lowering.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "llvm/ADT/SetVector.h"

namespace tenon::compiler::host {

using Shape = llvm::SmallVector<Register>;

/// Where a tensor value lives.
struct TensorValue {
  BufferIndex buffer = 0;
  Shape shape;            // [rank]
  bool undefined = false; // contents are tensor.empty's
};

bool isTensor(mlir::Value value);

/// The program's type of a function argument or result; nothing for a type that it cannot hold.
std::optional<ValueType> toValueType(mlir::Type type);
/// The same of a function's argument, which may be a buffer view, of which nothing is read.
std::optional<ValueType> toInputType(mlir::Type type);
/// The same of a value that a block hands to another: an integer of any width up to 64 bits is held as i64.
std::optional<ValueType> handedOnType(mlir::Type type);

/// An element that is read back from the device once the block's commands are done.
struct ReadValue {
  BufferIndex buffer = 0;
  Register element = 0; // byte
};

struct FunctionState {
  explicit FunctionState(mlir::Block &block) : block(block), scalars(function) {}

  void findLive();
  Position lastUse(mlir::Value value) const;
  mlir::FailureOr<Shape> shapeFrom(mlir::Operation *user, mlir::Type type, mlir::ValueRange dynamicDims);
  void requireNonNegative(mlir::Operation *user, const Shape &shape, const std::string &subject);
  /// Checks that `found` is not above `most` when the program is called.
  void requireAtMost(mlir::Operation *op, Register found, Register most, const std::string &message);
  Register bytesOf(mlir::Type type, llvm::ArrayRef<Register> shape);
  mlir::LogicalResult requireEqual(mlir::Operation *user, Register found, Register wanted, std::string foundName,
                                   std::string wantedName);
  BufferIndex copyOf(mlir::Operation *user, mlir::Type type, const TensorValue &source, Position lastUse);
  /// A value that is looked at after the last command; its type is one that a block can hand on.
  ResultValue outputOf(mlir::Value value);
  mlir::LogicalResult checkElementType(mlir::Operation *user, mlir::Value value);

  mlir::Block &block;
  Function function;
  ScalarLowering scalars;
  BufferTable buffers;
  llvm::DenseMap<mlir::Value, TensorValue> tensors;
  llvm::DenseMap<mlir::Value, ReadValue> reads;
  llvm::DenseMap<mlir::Operation *, Position> positions; // live operations only
  llvm::SmallSetVector<BufferIndex, 4> writtenInputs;    // that are given up
};

} // namespace tenon::compiler::host
