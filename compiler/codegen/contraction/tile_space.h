// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Where the tile of a block lies, and elements of both sides at positions of it. Positions are numbers of rows, columns
// and reduced elements, however many axes each of them is; rows and reduced elements may be numbered by patches. Rows
// of a routed product are numbered by their experts, and a tile ends where its expert's rows do.
#pragma once

#include "compiler/codegen/contraction/patches.h"
#include "compiler/codegen/contraction/routes.h"

namespace tenon::compiler::codegen {

/// Tiles that would leave the product at its last rows or columns begin that much earlier: at the last multiple of so
/// many positions at which fewer than so many of theirs are not there. Of what such a tile and the one in front of it
/// both have, the latter stores the results. 0: tiles are where they are.
struct PulledBack {
  uint32_t rows = 0, columns = 0;
};

/// How far rows of the operands are from each other in memory where a kernel of warpgroups runs: any, multiples of 16
/// bytes, or others, which split vectors.
enum class RowStarts : uint8_t { Any, Aligned, Split };

/// What those who write a contraction's kernel share.
struct ProductKernel {
  const KernelFunction &kernel;
  const GroupShape &shape;
  const Product &product;
  KernelBuilder &k;
  GroupSpace &space;
  Bodies &bodies;
  uint32_t rows, columns;      // of a tile
  uint32_t cluster = 1;        // blocks that run together and compute tiles below each other
  bool isSideBySide = false;   // or, of rows that one tile has all of, side by side
  uint32_t depth;              // reduced elements of a step
  mlir::ValueRange tensorMaps; // of the left operand, of the right (null: it is computed) and of the result, or none
  Patches rowPatches = {};     // of `rows` positions
  Patches reducedPatches = {}; // of `depth` positions
  PulledBack pulledBack = {};
  uint16_t target = 0;   // number of the architecture
  int64_t least = 1;     // rows, or columns, where one of these sizes alone is unknown
  uint32_t parts = 1;    // of the tiles of the last round (kernels/shared_tiles.h)
  uint32_t inRound = 0;  // blocks
  bool isInTurn = false; // consumers have whole tiles, one after the other (kernels/warpgroup/warpgroup_roles.h)
  uint32_t deep = 1;     // blocks of a cluster that have some steps each of one tile (kernels/divided_sums.h)
  RowStarts starts = RowStarts::Any;
  mlir::Value shares = {}; // memory of the sums that parts leave, and of what says that they have
  mlir::Value shareFlags = {};

  /// Of the tiles of a cluster together.
  uint32_t clusterRows() const { return isSideBySide ? rows : rows * cluster; }
  uint32_t clusterColumns() const { return isSideBySide ? columns * cluster : columns; }
};

/// How many tiles of warpgroups a band is high, of `tiles` below each other, where `together` are a cluster and count
/// as one. A multiprocessor has one of them; those that run at once are a square, which reads the fewest rows of both
/// operands, and all bands are alike. An H200, 8192 x 8192 x 8192 of bf16: 1414 -> 1397 us beside bands of 8 tiles;
/// power is the limit there, and bytes take some.
int64_t tilesOfBand(int64_t tiles, uint32_t rows, uint32_t columns, uint32_t together);

class TileSpace {
public:
  /// Finds tile `number`; of a cluster's tiles the one of this block. Blocks that run together
  /// compute tiles that are near each other, so that caches hold what they share.
  TileSpace(const ProductKernel &kernel, mlir::Value number);
  /// A tile that begins anywhere, of an element of the batch.
  TileSpace(const ProductKernel &kernel, mlir::Value inBatch, mlir::Value firstRow, mlir::Value firstColumn);
  /// The tile of this block, of a launch that has a block for each, or as many as have it together.
  explicit TileSpace(const ProductKernel &kernel)
      : TileSpace(kernel, kernel.k.div(kernel.k.block(), kernel.k.number(kernel.deep))) {}

  mlir::Value firstRow() const { return firstRow_; }
  mlir::Value firstColumn() const { return firstColumn_; }
  /// How many there are, those of a cluster counted as one; a block whose number is not below has none.
  mlir::Value tiles() const { return tiles_; }
  mlir::Value rows() const { return rows_; }
  mlir::Value columns() const { return columns_; }
  /// Numbers of them, those of steps that end early included; of an element of the batch that has only some terms, of
  /// these.
  mlir::Value reduced() const { return reduced_; }
  bool reducedIsWhole() const;
  bool rowsAreWhole() const {
    return !routes_ && isWhole(kernel_.product.rows, kernel_.clusterRows(), kernel_.rowPatches);
  }
  bool columnsAreWhole() const { return isWhole(kernel_.product.columns, kernel_.clusterColumns(), {}); }

  /// Elements of the batch.
  mlir::Value batch() { return sizeOf(kernel_.product.batch); }
  /// The tile's position on an axis of the batch.
  mlir::Value inBatch(unsigned axis) const { return origin_.index[axis]; }
  /// An element of the result.
  Point resultAt(mlir::Value row, mlir::Value column);
  /// Whether a row of the tile, or one behind it, is one of the product, or of its expert.
  mlir::Value isRow(mlir::Value row);
  /// Whether it is one, and this tile stores it.
  mlir::Value isResult(mlir::Value row, mlir::Value column);
  /// Whether no tile in front of this one stores the results from there on; true where tiles are not pulled back.
  mlir::Value isOwn(mlir::Value row, mlir::Value column);
  /// It, or one near it that exists, as do `width` of them along the columns.
  Point resultNear(mlir::Value row, mlir::Value column, unsigned width);
  /// Whose matrix the right side's elements are of, in a routed product.
  mlir::Value expert() const { return expert_; }
  /// Where a box begins that holds these and those behind them.
  Point beginOf(const Operand &operand, mlir::Value across, mlir::Value reduced);
  /// Whether vectors of `width` elements of the operand are whole and aligned.
  mlir::Value isAligned(const Operand &operand, unsigned width);
  /// Elements of the operand, as the body multiplies them, `width` of them along its vector axis. Beyond the last row
  /// or column it is the last one again, beyond the last reduced position, where `mayEnd`, it is zero.
  llvm::SmallVector<mlir::Value> read(const Operand &operand, mlir::Value across, mlir::Value reduced, unsigned width,
                                      bool mayEnd);
  /// The same in steps: where the elements are; begun, what they are computed from is on its way.
  struct Begun {
    const Operand *operand;
    unsigned width;
    Point point;
    mlir::Value exists; // null: yes
  };
  Begun at(const Operand &operand, mlir::Value across, mlir::Value reduced, unsigned width, bool mayEnd);
  Begun begin(const Operand &operand, mlir::Value across, mlir::Value reduced, unsigned width, bool mayEnd);
  llvm::SmallVector<mlir::Value> finish(const Begun &begun);
  /// Where `width` elements of an operand that is copied as bytes begin, and whether they are there.
  struct Source {
    mlir::Value address;
    mlir::Value exists; // null: yes
  };
  Source source(const Operand &operand, mlir::Value across, mlir::Value reduced, unsigned width, bool mayEnd);
  /// The same for who reads nothing where they are not: then the address may lie outside of the tensor.
  Source sourceWhere(const Operand &operand, mlir::Value across, mlir::Value reduced, unsigned width, bool mayEnd);
  /// The number of an element of such an operand in its tensor, and whether it is there.
  struct Numbered {
    mlir::Value element;
    mlir::Value exists; // null: yes
  };
  Numbered numbered(const Operand &operand, mlir::Value across, mlir::Value reduced, bool mayEnd);

  /// Product of the sizes of some axes, where all are known.
  std::optional<int64_t> knownSize(llvm::ArrayRef<unsigned> axes) const;

private:
  bool isWhole(llvm::ArrayRef<unsigned> axes, uint32_t side, const Patches &patches) const;
  mlir::Value sizeOf(llvm::ArrayRef<unsigned> axes);
  /// How many numbers positions on the axes have.
  mlir::Value numbersOf(llvm::ArrayRef<unsigned> axes, const Patches &patches);
  /// Of any tile: of no position there is none.
  int64_t leastSize(llvm::ArrayRef<unsigned> axes) const;
  void pullBack();
  /// Whether each tile lies inside, as all of them do that are pulled back by single positions.
  bool areRowsInside() const;
  bool areColumnsInside() const;
  /// Where places are chosen: how many this tile sums, and the one that has a number among them.
  mlir::Value chosen(const dispatch::SummedPlaces &places,
                     llvm::function_ref<int64_t(const dispatch::SummedPlaces::Run &)> of);
  mlir::Value countOf(const dispatch::SummedPlaces &places);
  mlir::Value numberOfReduced();
  std::pair<mlir::Value, mlir::Value> divide(const dispatch::SummedPlaces &places, mlir::Value number);
  mlir::Value placeOf(const dispatch::SummedPlaces &places, mlir::Value number);
  void placeInBatch(mlir::Value number);
  void place(Point &point, llvm::ArrayRef<unsigned> axes, mlir::Value number, const Patches &patches = {});
  /// Null: each is there.
  mlir::Value exists(const Point &point, llvm::ArrayRef<unsigned> axes, const Patches &patches);
  void clamp(Point &point, llvm::ArrayRef<unsigned> axes, const Patches &patches);
  void placeRow(Point &point, mlir::Value row);
  void placeNearRow(Point &point, mlir::Value row);
  mlir::Value isInside(const KernelBorder &border, const Point &point);
  bool isOfExpert(const Operand &operand) const { return operand.border && operand.border->expert; }
  mlir::Value addressOfWeights(const Operand &operand, const Point &point);
  Lanes readWeights(const Operand &operand, const Point &point, unsigned width);
  std::pair<Point, mlir::Value> locate(const Operand &operand, mlir::Value across, mlir::Value reduced, unsigned width,
                                       bool mayEnd);

  const ProductKernel &kernel_;
  KernelBuilder &k_;
  Point origin_; // of the batch
  mlir::Value firstRow_, firstColumn_;
  mlir::Value ownRow_, ownColumn_;       // the first that this tile stores, where it is pulled back
  mlir::Value rows_, columns_, reduced_; // sizes; of a routed product, the position behind the expert's last row
  mlir::Value tiles_;
  std::optional<Routes> routes_;
  mlir::Value expert_;
};

} // namespace tenon::compiler::codegen
