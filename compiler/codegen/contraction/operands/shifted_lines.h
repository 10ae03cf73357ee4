// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Lines of 128 bytes of an operand's tile (a step of one row, or 64 positions of one reduced element) that begin
// anywhere in memory, as rows do that are no multiples of 16 bytes. Asynchronous copies bring vectors of 16 bytes that
// lie at multiples of 16 alone. So a line arrives as the nine vectors that hold it, and is shifted in shared memory
// once they are there, in its place:
//
//   memory       | . a b c | d e f g | ... | x y z . |       nine vectors, the line begins 2 bytes behind the first
//   the line     | . a b c | d e f g | ... |  its place in the stage, eight vectors, swizzled (operand_tile.h)
//   beside it    | x y z 0 |  2               the ninth vector; by how much it begins behind the first
//   shifted      | a b c d | e f g ... y z |
//
// The vectors of later steps are on their way meanwhile. What is behind the end of the
// reduced elements, or of the tensor, is not read: copies leave zeros there.
#pragma once

#include "compiler/codegen/contraction/tile_space.h"
#include "compiler/codegen/kernel/tensor_core.h"

namespace tenon::compiler::codegen {

class ShiftedLines {
public:
  /// @param threads of the team that brings operands, and in which each thread calls what follows
  /// @param memory bytesOf() of shared memory, aligned to 16
  ShiftedLines(const ProductKernel &kernel, TensorCore &core, uint32_t threads, mlir::Value memory)
      : kernel_(kernel), k_(kernel.k), core_(core), threads_(threads), memory_(memory) {}

  // More steps than are on their way, the one that is shifted among them.
  static constexpr uint32_t kSlots = 4;
  static constexpr uint32_t kLineBytes = 128;
  /// Beside stages of so many lines.
  static constexpr uint32_t bytesOf(uint32_t lines) { return kSlots * lines * (kVectorBytes + kNoteBytes); }

  /// Whether a product's operands can be brought so.
  static bool mayBring(const Product &product);
  /// Whether one of them is not known to have aligned rows.
  static bool mayBeSplit(const GroupShape &shape, const Product &product);
  /// And are, where that is so.
  static bool mayBring(const ProductKernel &kernel);

  /// Elements are counted from the aligned vector in which the tensor begins.
  struct Source {
    mlir::Value base;   // of that vector
    mlir::Value before; // elements of it that are not the tensor's
    mlir::Value end;    // of the tensor
  };
  /// Of an operand in a tile: the same for all of its steps, but for how far these are from each other.
  struct Pieces {
    mlir::Value base;                       // Source's
    llvm::SmallVector<mlir::Value> vectors; // numbers (i32) of this thread's vectors of the first step
    llvm::SmallVector<mlir::Value> lasts;   // of those behind lines of this thread
    llvm::SmallVector<mlir::Value> notes;   // bytes (i32) from the first vector to the line
    mlir::Value next;                       // elements from a step to the next one
    // Steps (i32) of which all vectors are the tensor's, and all reduced elements are there.
    mlir::Value firstInside, behindInside;
  };
  Pieces findPieces(TileSpace &space, const Operand &operand);
  /// Asks for the vectors of a step of the operand, whose stage is there. @param step its number in the ring
  void ask(TileSpace &space, const Operand &operand, const Pieces &pieces, mlir::Value stage, mlir::Value step,
           mlir::Value inTile);
  /// Shifts the lines of both operands, once all threads know that copies are there.
  void shift(mlir::Value stage, mlir::Value step);

private:
  static constexpr uint32_t kVectorBytes = 16, kNoteBytes = 4;
  // Of a line.
  static constexpr uint32_t kVectors = kLineBytes / kVectorBytes;

  struct Line {
    mlir::Value vector; // in which it begins
    mlir::Value behind; // elements from there to the line
    mlir::Value end;    // of what there is
  };
  Source sourceOf(const Operand &operand);
  /// The number of the line's first element in its tensor; where `mayEnd`, also whether it is there, or one near it.
  TileSpace::Numbered firstOf(TileSpace &space, const Operand &operand, mlir::Value line, mlir::Value firstReduced,
                              bool mayEnd);
  Line lineOf(TileSpace &space, const Operand &operand, const Source &source, mlir::Value line,
              mlir::Value firstReduced);
  void findInside(TileSpace &space, const Operand &operand, const Source &source, Pieces &pieces);
  void copy(const Operand &operand, const Source &source, const Line &line, mlir::Value vector, mlir::Value to);
  void copyFirst(const Operand &operand, const Source &source, const Line &line, mlir::Value to);
  void askInside(const Operand &operand, const Pieces &pieces, mlir::Value stage, mlir::Value step, mlir::Value inTile);
  void askAtEnds(TileSpace &space, const Operand &operand, mlir::Value stage, mlir::Value step, mlir::Value inTile);
  mlir::Value addressOf(const Source &source, mlir::Value vector);
  mlir::Value place(mlir::Value arena, mlir::Value line, mlir::Value vector);
  bool isLeft(const Operand &operand) const { return &operand == &kernel_.product.left; }
  uint32_t linesOf(const Operand &operand) const { return isLeft(operand) ? kernel_.rows : kernel_.columns; }
  /// A line of the stage: those of the left operand come first.
  mlir::Value inStage(const Operand &operand, mlir::Value line);
  /// Its last vector, and its note.
  mlir::Value beside(mlir::Value step, mlir::Value inStage);
  mlir::Value note(mlir::Value step, mlir::Value inStage);
  /// body(number, which of them) for this thread's numbers below `count`: one after the other in the code, or in a
  /// loop.
  void forEach(uint32_t count, llvm::function_ref<void(mlir::Value, uint32_t)> body);
  void loopOver(uint32_t count, llvm::function_ref<void(mlir::Value)> body);

  const ProductKernel &kernel_;
  KernelBuilder &k_;
  TensorCore &core_;
  const uint32_t threads_;
  mlir::Value memory_;
};

} // namespace tenon::compiler::codegen
