// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// What bodies read by place (tensor.extract) at points that a thread has on their way together. Such a read stands
// behind branches (a pad, a part of a concatenation), and no load behind one comes before what waits for the load of
// another: so all of them are read first, and then what is computed of each.
#pragma once

#include "compiler/codegen/kernel/bodies/bodies.h"

namespace tenon::compiler::codegen {

/// What the body of an operation reads by place: each read, or the last of the selects that take it and nothing else
/// does.
llvm::SmallVector<mlir::Value> readsOf(mlir::linalg::GenericOp op);

/// Whether some body reads what another tensor names: a row of a table, whose place a thread waits for before it can
/// ask for elements.
bool readsNamedPlaces(const KernelFunction &kernel);

class EarlyReads {
public:
  EarlyReads(Bodies &bodies, const KernelFunction &kernel, const GroupShape &shape);

  /// Reads all there is at the points, of operations that run over every element and know nothing that others compute.
  void read(llvm::ArrayRef<Point> points);
  /// Computes something of one of them, whose reads are known meanwhile.
  template <typename Compute> auto at(const Point &point, Compute compute) {
    assume(point);
    auto computed = compute();
    bodies_.assumeNothing();
    return computed;
  }

private:
  void assume(const Point &point);

  Bodies &bodies_;
  llvm::SmallVector<std::pair<const KernelOp *, mlir::Value>> reads_;
  llvm::DenseMap<unsigned, llvm::SmallVector<Lanes>> known_; // of points, in the order of the reads
};

} // namespace tenon::compiler::codegen
