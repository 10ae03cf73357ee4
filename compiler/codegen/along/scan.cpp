// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "compiler/codegen/along/scan.h"

#include "compiler/codegen/along/lines/lines.h"
#include "compiler/codegen/along/scan_rows.h"
#include "compiler/codegen/kernel/bodies/gathered.h"
#include "compiler/dialect/linalg_ext/LinalgExtOps.h"
#include "compiler/dispatch/analysis/kernel_config.h"

#include "llvm/Support/MathExtras.h"

using namespace mlir;

namespace tenon::compiler::codegen {
namespace {

constexpr uint32_t kWarp = 32;
constexpr uint32_t kThreads = 256;
// Of a line where these are so few that each has multiprocessors for itself.
constexpr uint32_t kMostThreads = 1024;
// Vectors of a tile that a thread holds at once: that many loads are in flight.
constexpr int64_t kMostChunks = 4;
// Fewer blocks than these leave a large device idle.
constexpr int64_t kManyBlocks = 512;
constexpr int64_t kMostParts = 1024;
// Blocks for longer lines, so that those which begin last take little of the whole.
constexpr int64_t kBlocksOfVeryLong = 2048, kVeryLongLine = 16 << 20;
// A line shorter than that gains nothing from a second kernel, unless lines are so few that nearly all multiprocessors
// would be idle (an H200, one line of 16384 f32: 3.7 us by one block, 2.2 by 16).
constexpr int64_t kLongLine = 32768, kFewLines = 32, kLineOfFew = 8192;
// Where it is not known how long they are: blocks for those that are no longer than so many small tiles.
constexpr int64_t kPartsOfFew = 128, kLongOfFew = 131072;
// The same for threads that walk down lines of their own.
constexpr int64_t kManyThreads = 65536;
constexpr int64_t kDeepLine = 2048;
// Where both are known, how many lines are few, and how long then those are that are cut: a walk waits for memory once
// every kAhead elements. Of more lines only what a cache has for the second kernel (an H200, 100 x 1999 x 130 f32 along
// the middle: 115 us, cut 130; 100 x 1024 x 64: 45, cut 21).
constexpr int64_t kFewWalks = 4096, kDeepOfFew = 256, kDeepOfKnown = 512, kMostOfCache = 32 << 20;
// Elements that a walking thread loads before it combines them.
constexpr int64_t kAhead = 16;
// Small blocks: few lines are spread over more of the device.
constexpr uint32_t kWalkers = 64;

Plan plan(uint32_t threads, ArrayRef<std::pair<StringRef, int64_t>> choices) {
  Plan result;
  result.strategy = "scan";
  result.threads = threads;
  result.choices.assign(choices.begin(), choices.end());
  return result;
}

uint32_t widthOf(Type element) {
  return 16 / std::max(dispatch::elementBytes(element), 2u);
}

/// Lines side by side, each by `lanes` threads.
Plan rowsPlan(const LineShape &shape, uint32_t lanes, int64_t chunks, int64_t width) {
  const int64_t rows = lanes < kThreads && lanes == kWarp ? kThreads / kWarp : 1;
  Plan result = plan(uint32_t(lanes * rows), {{"lanes", lanes}, {"chunks", chunks}, {"width", width}});
  result.grid = {{shape.lines(), rows}};
  return result;
}

/// A guard, and those that hold as well.
SmallVector<Guard> both(const Guard &guard, ArrayRef<Guard> also) {
  SmallVector<Guard> guards = {guard};
  llvm::append_range(guards, also);
  return guards;
}

/// Two kernels for lines cut in parts.
void addParts(AlongPlans &plans, const Plan &whole, int64_t parts, ArrayRef<Guard> guards) {
  for (int64_t pass : {1, 2}) {
    Plan kernel = whole;
    kernel.choices.push_back({"parts", parts});
    kernel.choices.push_back({"pass", pass});
    if (kernel.grid.size() == 1)
      kernel.grid.push_back({{Extent{parts, {}}}, 1});
    kernel.guards.assign(guards.begin(), guards.end());
    plans.kernels.push_back(kernel);
  }
}

/// A value of each part; `most`: of all parts, where that is known and the lines are not.
void addScratch(AlongPlans &plans, Type accumulator, const LineShape &shape, int64_t parts,
                std::optional<int64_t> most = {}) {
  SmallVector<Extent> extents = shape.lines();
  extents.push_back(Extent{parts, {}});
  plans.scratch.push_back({storedType(accumulator), extents, most});
}

int64_t partsFor(int64_t lines, int64_t wanted, int64_t most = kMostParts) {
  return std::clamp<int64_t>(
      int64_t(llvm::PowerOf2Ceil(uint64_t(llvm::divideCeil(wanted, std::max<int64_t>(lines, 1))))), 2, most);
}

/// How many parts lines are cut in where it is known only then how many there are: those of more than `above` and at
/// most `most`.
struct Cut {
  int64_t above, most, parts;
};
constexpr Cut kCutRows[] = {{0, 4, 512}, {4, 32, 64}, {32, kManyBlocks / 2, 8}};
constexpr int64_t kMostRowParts = 2048;
constexpr Cut kCutColumns[] = {{0, 64, 1024}, {64, 1024, 64}, {1024, kManyThreads / 4, 4}};
constexpr int64_t kMostColumnParts = kManyThreads;

/// Vectors of a thread's tile where lines are cut: fewer where there would not be blocks enough.
int64_t chunksOf(int64_t lines, int64_t length, uint32_t width) {
  const auto blocks = uint64_t(lines * llvm::divideCeil(length, kThreads * width));
  return int64_t(llvm::bit_floor(std::clamp<uint64_t>(blocks / kManyBlocks, 1, kMostChunks)));
}

AlongPlans rowsPlans(const LineShape &shape, const Sum &sum) {
  const uint32_t width = widthOf(sum.element);
  const int64_t warpTile = int64_t(kWarp) * width * kMostChunks;
  const std::optional<int64_t> length = shape.knownLength(), lines = shape.knownLines();
  AlongPlans result;
  const Plan block = rowsPlan(shape, kThreads, kMostChunks, width);
  const bool fewLines = lines && *lines < kManyBlocks / 2, leaveIdle = lines && *lines <= kFewLines;
  const SmallVector<Extent> by = {shape.length};
  const auto isLong =
      length ? SmallVector<Guard>() : SmallVector<Guard>{Guard{by, leaveIdle ? kLongOfFew : kLongLine, std::nullopt}};
  auto addLong = [&] {
    if (lines && length) {
      const Plan cut = rowsPlan(shape, kThreads, chunksOf(*lines, *length, width), width);
      const int64_t most =
                        partsFor(*lines, *length >= kVeryLongLine ? kBlocksOfVeryLong : kManyBlocks, kBlocksOfVeryLong),
                    tiles = llvm::divideCeil(*length, kThreads * width * cut.choice("chunks"));
      const int64_t parts = std::clamp<int64_t>(tiles, 2, most);
      addParts(result, cut, parts, isLong);
      return addScratch(result, sum.type, shape, parts);
    }
    if (lines) {
      const int64_t parts = partsFor(*lines, kMostParts, kBlocksOfVeryLong);
      addParts(result, block, parts, isLong);
      return addScratch(result, sum.type, shape, parts);
    }
    for (const Cut &cut : kCutRows)
      addParts(result, block, cut.parts, both(Guard{shape.lines(), cut.above, cut.most}, isLong));
    addScratch(result, sum.type, shape, kCutRows[0].parts, kMostRowParts);
    Plan many = block;
    many.guards = both(Guard{shape.lines(), kManyBlocks / 2, std::nullopt}, isLong);
    result.kernels.push_back(many);
  };
  if (length) {
    if ((fewLines || !lines) && *length >= (leaveIdle ? kLineOfFew : kLongLine)) {
      addLong();
      return result;
    }
    if (*length <= warpTile) {
      const int64_t chunks =
          llvm::PowerOf2Ceil(uint64_t(std::max<int64_t>(llvm::divideCeil(*length, kWarp * width), 1)));
      result.kernels = {rowsPlan(shape, kWarp, chunks, width)};
      return result;
    }
    const int64_t lanes =
        std::min<int64_t>(llvm::PowerOf2Ceil(uint64_t(llvm::divideCeil(*length, width * kMostChunks))),
                          fewLines ? kMostThreads : kThreads);
    result.kernels = {rowsPlan(shape, uint32_t(lanes), kMostChunks, width)};
    return result;
  }
  Plan warp = rowsPlan(shape, kWarp, kMostChunks, width);
  warp.guards = {Guard{by, 0, warpTile, /*orEmpty=*/true}};
  Plan small = rowsPlan(shape, 2 * kWarp, kMostChunks, width);
  small.guards = {Guard{by, warpTile, 2 * warpTile}};
  const bool mayCut = fewLines || !lines;
  Plan middle = fewLines ? rowsPlan(shape, kMostThreads, kMostChunks, width) : block;
  const int64_t longest = leaveIdle ? kLineOfFew : kLongLine; // of a block
  middle.guards = {Guard{by, 2 * warpTile, mayCut ? std::optional(longest) : std::nullopt}};
  result.kernels = {warp, small, middle};
  if (leaveIdle)
    addParts(result, rowsPlan(shape, kThreads, 1, width), std::min(kPartsOfFew, partsFor(*lines, kMostParts)),
             Guard{by, kLineOfFew, kLongOfFew});
  if (mayCut)
    addLong();
  return result;
}

AlongPlans walkPlans(const LineShape &shape, const std::optional<Sum> &sum) {
  Plan whole = plan(kWalkers, {{"lanes", 1}});
  whole.grid = {{shape.lines(), kWalkers}};
  const std::optional<int64_t> length = shape.knownLength(), lines = shape.knownLines();
  AlongPlans result;
  int64_t deep = kDeepLine;
  if (sum && lines && length && *lines <= kFewWalks)
    deep = kDeepOfFew;
  else if (sum && lines && length && *lines * *length * dispatch::elementBytes(sum->element) <= kMostOfCache)
    deep = kDeepOfKnown;
  if (!sum || (lines && *lines >= kManyThreads / 4) || (length && *length < deep)) {
    result.kernels = {whole};
    return result;
  }
  // A part is at least as long as what is loaded ahead, as good as always.
  const int64_t shortest = 4 * kAhead;
  const SmallVector<Extent> by = {shape.length};
  auto addCut = [&](int64_t parts, ArrayRef<Guard> guards) {
    SmallVector<Extent> threads = shape.lines();
    threads.push_back(Extent{parts, {}});
    Plan pieces = plan(kWalkers, {{"lanes", 1}});
    const size_t before = result.kernels.size();
    addParts(result, pieces, parts, guards);
    for (Plan &kernel : llvm::drop_begin(result.kernels, before))
      kernel.grid = {{threads, kWalkers}};
  };
  if (!length) {
    whole.guards = {Guard{by, 0, kDeepLine, /*orEmpty=*/true}};
    result.kernels.push_back(whole);
  }
  const auto isDeep = length ? SmallVector<Guard>() : SmallVector<Guard>{Guard{by, kDeepLine, std::nullopt}};
  if (lines) {
    int64_t parts = partsFor(*lines, kManyThreads);
    if (length)
      parts = std::clamp<int64_t>(parts, 2, *length / shortest);
    addCut(parts, isDeep);
    addScratch(result, sum->type, shape, parts);
    return result;
  }
  for (const Cut &cut : kCutColumns) {
    const Guard guard{shape.lines(), cut.above, cut.most};
    const int64_t fewer = kDeepLine / shortest;
    if (length) {
      addCut(std::clamp<int64_t>(cut.parts, 2, *length / shortest), guard);
    } else if (cut.parts <= fewer) {
      addCut(cut.parts, both(guard, isDeep));
    } else {
      addCut(fewer, both(guard, Guard{by, kDeepLine, cut.parts * shortest}));
      addCut(cut.parts, both(guard, Guard{by, cut.parts * shortest, std::nullopt}));
    }
  }
  addScratch(result, sum->type, shape, kCutColumns[0].parts, kMostColumnParts);
  Plan many = whole;
  many.guards = both(Guard{shape.lines(), kManyThreads / 4, std::nullopt}, isDeep);
  result.kernels.push_back(many);
  return result;
}

/// A thread per line, or per part of a line.
class Walker {
public:
  Walker(AlongWriter &w, linalg_ext::ScanOp op, const std::optional<Sum> &sum)
      : w_(w), k_(w.k), along_(w.kernel.along), sum_(sum), isInclusive_(op.getInclusive()),
        lines_(w, LineShape(along_.inputs[0], op.getDimension())),
        parts_(std::max<int64_t>(w.choiceOrZero("parts"), 1)), pass_(w.choiceOrZero("pass")) {}

  void run() {
    Value thread = k_.add(k_.mul(k_.block(), k_.number(k_.threads)), k_.thread());
    Value all = k_.mul(lines_.count, k_.number(parts_));
    k_.when(k_.less(thread, all), [&] {
      // Neighbours along `inner` are neighbours in memory: parts are counted outside of them.
      Value inner = lines_.inner;
      part_ = parts_ == 1 ? k_.number(0) : k_.rem(k_.div(thread, inner), k_.number(parts_));
      line_ = parts_ == 1
                  ? thread
                  : k_.add(k_.mul(k_.div(k_.div(thread, inner), k_.number(parts_)), inner), k_.rem(thread, inner));
      first_ = lines_.first(k_, line_);
      Value piece = k_.div(k_.add(lines_.length, k_.number(parts_ - 1)), k_.number(parts_));
      begin_ = k_.min(k_.mul(piece, part_), lines_.length);
      end_ = k_.min(k_.add(begin_, piece), lines_.length);
      if (pass_ == 1)
        combinePart();
      else
        walk();
    });
  }

private:
  Value at(Value position) { return k_.add(first_, k_.mul(position, lines_.inner)); }
  Value load(Value position) { return w_.load(along_.inputs[0], at(position)); }

  /// body(position, values of kAhead elements from there, or of one) for all of the part.
  SmallVector<Value> eachElement(Value begin, ValueRange carried,
                                 llvm::function_ref<SmallVector<Value>(Value, Value, ValueRange)> body) {
    Value ahead = k_.number(kAhead);
    Value whole = k_.add(begin, k_.mul(k_.div(k_.sub(end_, begin), ahead), ahead));
    SmallVector<Value> state = k_.loop(begin, whole, ahead, carried, [&](Value position, ValueRange now) {
      SmallVector<Value> values;
      for (int64_t i = 0; i < kAhead; ++i)
        values.push_back(load(k_.add(position, k_.number(i))));
      SmallVector<Value> next = llvm::to_vector(now);
      for (int64_t i = 0; i < kAhead; ++i)
        next = body(k_.add(position, k_.number(i)), values[i], next);
      return next;
    });
    return k_.loop(whole, end_, k_.number(1), state,
                   [&](Value position, ValueRange now) { return body(position, load(position), now); });
  }

  Value scratchAt(Value part) { return k_.add(k_.mul(line_, k_.number(parts_)), part); }

  void combinePart() {
    Value sum = eachElement(begin_, neutral(k_, *sum_), [&](Value, Value value, ValueRange now) {
                  return SmallVector<Value>{combine(k_, *sum_, now[0], widen(k_, *sum_, value))};
                }).front();
    storeShared(k_, sum,
                k_.at(w_.arguments.pointers[w_.kernel.scratch[0].binding], storedType(sum_->type), scratchAt(part_)));
  }

  /// What all before this part come to.
  Value carriedIn() {
    Value start = isInclusive_ ? neutral(k_, *sum_) : widen(k_, *sum_, w_.start(along_.outputs[1], line_));
    if (parts_ == 1)
      return start;
    return k_
        .loop(k_.number(0), part_, k_.number(1), start,
              [&](Value part, ValueRange now) {
                Value before = loadShared(k_, sum_->type,
                                          k_.at(w_.arguments.pointers[w_.kernel.scratch[0].binding],
                                                storedType(sum_->type), scratchAt(part)));
                return SmallVector<Value>{combine(k_, *sum_, now[0], before)};
              })
        .front();
  }

  void walk() {
    const KernelTensor &result = along_.outputs[0].tensor;
    const bool stored = along_.outputs[0].isStored;
    auto put = [&](Value position, Value value) {
      if (stored)
        w_.store(result, at(position), value);
    };
    Value last; // of the elements of the result
    if (sum_) {
      Value start = carriedIn();
      SmallVector<Value> carried = {start, narrow(k_, *sum_, start)};
      last = eachElement(begin_, carried, [&](Value position, Value value, ValueRange now) {
        Value next = combine(k_, *sum_, now[0], widen(k_, *sum_, value));
        Value out = narrow(k_, *sum_, isInclusive_ ? next : now[0]);
        put(position, out);
        return SmallVector<Value>{next, out};
      })[1];
    } else {
      // The first element of the result is known without the region.
      Value start = w_.start(along_.outputs[1], line_);
      last = k_.choose(
                   k_.less(begin_, end_), start.getType(),
                   [&] {
                     Value first = isInclusive_ ? load(begin_) : start;
                     put(begin_, first);
                     Value from = isInclusive_ ? k_.add(begin_, k_.number(1)) : begin_;
                     if (isInclusive_)
                       return eachElement(from, first, [&](Value position, Value value, ValueRange now) {
                         SmallVector<Value> next = w_.region({now[0], value});
                         put(position, next[0]);
                         return next;
                       });
                     // The last element of the line is in no element of the result.
                     Value rest = end_;
                     end_ = k_.sub(end_, k_.number(1));
                     SmallVector<Value> all =
                         eachElement(begin_, first, [&](Value position, Value value, ValueRange now) {
                           SmallVector<Value> next = w_.region({now[0], value});
                           put(k_.add(position, k_.number(1)), next[0]);
                           return next;
                         });
                     end_ = rest;
                     return all;
                   },
                   [&] { return SmallVector<Value>{start}; })
                 .front();
    }
    if (!along_.outputs[1].isStored)
      return;
    // The part that holds the end of the line says what stands there; of an empty line the first does.
    Value endsHere = k_.both(k_.equal(end_, lines_.length), k_.less(begin_, end_));
    Value isEmpty = k_.both(k_.equal(lines_.length, k_.number(0)), k_.equal(part_, k_.number(0)));
    Value start = w_.start(along_.outputs[1], line_);
    k_.when(arith::OrIOp::create(k_.b, k_.loc, endsHere, isEmpty),
            [&] { w_.store(along_.outputs[1].tensor, line_, k_.select(isEmpty, start, last)); });
  }

  AlongWriter &w_;
  KernelBuilder &k_;
  const KernelAlong &along_;
  std::optional<Sum> sum_;
  bool isInclusive_;
  Lines lines_;
  int64_t parts_, pass_;
  Value line_, part_, first_, begin_, end_;
};

std::optional<Sum> sumOf(linalg_ext::ScanOp op) {
  std::optional<dispatch::Combiner> combiner = dispatch::combinerOf(op.getRegion().front());
  if (!combiner)
    return std::nullopt;
  return Sum::of(*combiner, op.getRegion().front().getArgument(0).getType());
}

} // namespace

bool Scan::takes(Operation *op) const {
  return isa<linalg_ext::ScanOp>(op);
}

AlongPlans Scan::plans(const KernelFunction &kernel) const {
  auto op = cast<linalg_ext::ScanOp>(kernel.along.op);
  const LineShape shape(kernel.along.inputs[0], op.getDimension());
  const std::optional<Sum> sum = sumOf(op);
  return sum && shape.isAdjacent() ? rowsPlans(shape, *sum) : walkPlans(shape, sum);
}

void Scan::write(AlongWriter &writer) const {
  auto op = cast<linalg_ext::ScanOp>(writer.kernel.along.op);
  const std::optional<Sum> sum = sumOf(op);
  if (writer.choice("lanes") == 1)
    Walker(writer, op, sum).run();
  else
    writeScanRows(writer, *sum, op.getDimension(), op.getInclusive());
}

} // namespace tenon::compiler::codegen
