// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The kernel of skinny_product.h while it is written: what blocks of one tile (skinny_product.cpp, in rounds of steps
// skinny_rounds.cpp), blocks that go from tile to tile (skinny_ring.cpp), and all of them when sums are there
// (skinny_results.cpp) share.
#pragma once

#include "compiler/codegen/contraction/kernels/skinny/skinny_shape.h"
#include "compiler/codegen/contraction/operands/run_inputs.h"
#include "compiler/codegen/kernel/tensor_core.h"

namespace tenon::compiler::codegen {

class SkinnyProduct {
public:
  SkinnyProduct(const ProductKernel &kernel, const SkinnyShape &how, bool hasTensorCores)
      : kernel_(kernel), how_(how), product_(kernel.product), k_(kernel.k), bodies_(kernel.bodies),
        space_(!how.isRing ? TileSpace(kernel_) : TileSpace(kernel_, k_.number(0), k_.number(0), k_.number(0))),
        core_(k_, how.fewAreRows ? kernel.product.rightWarpElement() : kernel.product.warpElement(),
              how.fewAreRows ? kernel.product.warpElement() : kernel.product.rightWarpElement(), kernel.target),
        wide_(how.fewAreRows ? kernel.product.right : kernel.product.left),
        few_(how.fewAreRows ? kernel.product.left : kernel.product.right), isMma_(hasTensorCores),
        each_(kernel.depth / skinny::kLanesOfGroup), type_(kernel.product.sum.sum.type) {}

  void run();

private:
  using Value = mlir::Value;
  using Values = llvm::SmallVector<Value>;
  /// What a lane holds of a step: [positions][each], [few of the lane][each].
  struct Step {
    llvm::SmallVector<Values> wide, few;
  };

  uint32_t fewOfLane() const { return isMma_ ? how_.few / skinny::kFragment : fewAtOnce_; }
  Value fewPosition(uint32_t number);
  Value widePosition(uint32_t number);
  Values vectorOf(const Operand &operand, Value across, Value reduced, uint32_t count, bool isFast, bool mayEnd);
  Value firstReduced(Value step) {
    return k_.add(k_.mul(step, k_.number(kernel_.depth)), k_.mul(lane_, k_.number(each_)));
  }
  llvm::SmallVector<TileSpace::Begun> beginWide(Value step);
  void finishWide(llvm::ArrayRef<TileSpace::Begun> begun, Step &step);
  void loadWide(Step &loaded, Value reduced, bool isFast, bool mayEnd);
  void loadFew(Step &loaded, Value reduced, uint32_t count, bool isFast, bool mayEnd);
  Values multiplyParts(const Step &wide, Value reduced, bool isFast, bool mayEnd, Values sums);
  Values extendedAll(const Operand &operand, Values values);
  Values multiply(const Step &step, Values sums);
  Values multiplyMma(const Step &step, Values sums);
  Value word(const Values &values, uint32_t number);
  Values steps(bool isFast);
  std::optional<uint32_t> stepsOfWarp() const;
  Values stepsInTurn(uint32_t count, Values sums);
  Values stepsOneByOne(Value begin, bool isFast, bool mayEnd, Values sums);
  Values whereExact(Value unlike, Values sums);
  size_t sumCount() const { return isMma_ ? how_.positions * how_.few / 4 : how_.positions * fewAtOnce_; }
  uint32_t fewAtOnceOf(int64_t few) const;
  uint32_t singlyTogether() const;
  void runFew();
  uint32_t residentThreads() const;
  Values combineWarps(Values sums, uint32_t &warps);
  void forEachSum(llvm::function_ref<void(size_t number, Value few, Value wide)> body);
  Value slot(Value warp, Value few, Value wide);
  void leave(llvm::ArrayRef<Value> sums, Value warp);
  bool areFewAdjacent() const;
  void storeResults(uint32_t warps);
  // Of a product with gates (GroupShape::gatesAxis).
  struct Cell {
    mlir::Value row, column; // of the block, of its first gate
  };
  uint32_t columnsOfUnit() const;
  uint32_t cellsOfBlock() const;
  Cell cellAt(mlir::Value number);
  void loadCells();
  void storeCell(const Cell &cell, const Point &point, uint32_t warps);
  void storeCells(uint32_t warps);

  // Rounds of steps beside each other (skinny_rounds.cpp).
  bool isBesideNext(size_t input) const;
  Value areSharedAligned();
  llvm::SmallVector<llvm::SmallVector<Values>> loadRound(Value step);
  Values rounds();

  // Tile after tile (skinny_ring.cpp).
  /// The first step of a round.
  struct Place {
    Value tile, step;
  };
  uint32_t runsOfRound() const { return how_.positions * how_.turns; }
  uint32_t stepsOfRound() const { return how_.depthWarps * how_.turns; }
  Value tiles();
  Value stepsOfTile() { return k_.div(space_.reduced(), k_.number(kernel_.depth)); }
  Value stepOf(const Place &place, uint32_t turn) { return k_.add(place.step, k_.number(turn)); }
  Value firstStep() { return k_.mul(depthWarp_, k_.number(how_.turns)); } // of a tile, of the warp
  void runTiles();
  void forEachTile(Values carried, llvm::function_ref<Values(Value tile, mlir::ValueRange carried)> body);
  void runRing();
  Place behind(const Place &place);
  TileSpace::Begun runAt(const Place &place, uint32_t turn, uint32_t position);
  Value ringSlot(Value stage, uint32_t run, size_t input);
  void ask(const Place &place, Value stage);
  Values loadOthers(const Place &place);
  Value takeOther(llvm::ArrayRef<Value> &others, uint32_t turn, size_t input);
  Values multiplyRuns(llvm::ArrayRef<TileSpace::Begun> runs, llvm::ArrayRef<Values> loaded, Value reduced, Values sums);
  Values multiplyTurn(const Place &place, uint32_t turn, Value stage, llvm::ArrayRef<Value> others, Values sums);

  ProductKernel kernel_;
  const SkinnyShape &how_;
  const Product &product_;
  KernelBuilder &k_;
  Bodies &bodies_;
  TileSpace space_;
  TensorCore core_;
  const Operand &wide_, &few_;
  const bool isMma_;
  const uint32_t each_; // reduced elements of a lane
  const mlir::Type type_;
  uint32_t fewAtOnce_ = skinny::kFragment; // without tensor cores
  uint32_t warpsAcross_ = 1, wideOfWarp_ = 0;
  Value arena_;
  Value group_, lane_; // g and t
  Value depthWarp_;    // which part of the reduced elements
  Value fewBase_, wideBase_;
  Value firstWide_;                 // of the block
  std::optional<RunInputs> inputs_; // of a lane in a step
  Value ring_;
  std::optional<Point> loadedCell_; // whose operands are on their way; none: each thread has several cells
  bool isApart_ = false;            // a register holds an element and the fourth one behind it, not the next one
};

} // namespace tenon::compiler::codegen
