// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The vectors of the row that a thread computes with the other lanes of it: which they are, where they lie, and which
// of them exist.
//
// Rows that are no multiple of a vector long start anywhere in one. Vectors are aligned all the same: those that lie in
// the row, with what is in front of the first and behind the last of them as edges, element by element, one or two a
// lane. So a row of 1001 bf16 that starts three elements behind a vector's start has 5 edges in front, 124 vectors and
// 4 edges behind. Every tensor with an element for each of the group's has them at the same places; what lies otherwise
// (a weight for each column) is read as runs that start anywhere (Bodies::setRagged).
#pragma once

#include "compiler/codegen/plan/strategy.h"

namespace tenon::compiler::codegen {

/// Vectors of a row that are computed together, and which of them exist.
struct RowBatch {
  llvm::SmallVector<Point> points;
  llvm::SmallVector<mlir::Value> exists; // null: it does
};

/// A row of a thread.
struct Row {
  Point point;        // positions on the parallel axes
  mlir::Value exists; // where it does not, the last one is computed, and nobody sees it
  mlir::Value front;  // ragged: elements in front of the first vector
  mlir::Value edges;  // ragged: elements outside of vectors
  mlir::Value vectors;
};

class RowVectors {
public:
  /// `lanes`: of a block; `blocks`, `rows`: as the plan has them
  RowVectors(Writer &w, uint32_t lanes, uint32_t blocks, uint32_t rows)
      : w_(w), k_(w.k), lanes_(lanes), blocks_(blocks), rows_(rows) {}

  /// Rows from here on are of `cluster` blocks, among which this one has `rank`.
  void setCluster(uint32_t cluster, mlir::Value rank);
  /// Vectors have `width` elements from here on; a plan's has `planned`.
  /// @param known of a row that the kernel has seen to be so many vectors long
  void setWidth(unsigned width, unsigned planned, bool isRagged, std::optional<int64_t> known = std::nullopt);
  /// The thread's row of that number: a block takes `rows` times as many as it has groups of lanes.
  Row rowOf(uint32_t number);
  void setRow(const Row &row) { row_ = row; }
  const Row &row() const { return row_; }

  unsigned width() const { return width_; }
  bool isRagged() const { return isRagged_; }
  mlir::Value lane() const { return lane_; } // of the row
  int64_t lanesOfRow() const { return int64_t(lanes_) * cluster_; }

  /// So many of the thread's vectors of the plan's width. Where it has no such vector it computes the last one, and
  /// nobody sees it.
  RowBatch kept(uint32_t from, uint32_t vectors);
  /// `count` vectors from `first` on, each as many lanes behind the one before as the row has.
  RowBatch following(mlir::Value first, unsigned count);
  /// What lies outside of vectors, as points of one element; nothing in rows that are not ragged.
  RowBatch edges();

private:
  Point pointAt(mlir::Value column);
  void findVectors(Row &row);

  Writer &w_;
  KernelBuilder &k_;
  const uint32_t lanes_, blocks_, rows_;
  unsigned width_ = 1, planned_ = 1;
  bool isRagged_ = false;
  uint32_t cluster_ = 1;
  mlir::Value lane_;
  Row row_;
  std::optional<int64_t> least_, most_; // vectors of a row, as far as its length is known
};

/// The map by which tensors with an element for each of the group's are indexed, where rows may be taken as ragged ones
/// by so many lanes; nothing where they may not.
std::optional<mlir::AffineMap> raggedOrder(const Writer &w, uint32_t lanes, unsigned width);

/// Whether rows may be taken as ragged ones, where they are no multiple of a vector long: i1, or null where they never
/// may. Each has a vector then.
mlir::Value canBeRagged(const Writer &w);

} // namespace tenon::compiler::codegen
