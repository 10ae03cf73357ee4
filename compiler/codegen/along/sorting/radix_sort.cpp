// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "compiler/codegen/along/sorting/radix_sort.h"

#include "compiler/codegen/along/lines/lines.h"
#include "compiler/codegen/along/sorting/block_ranks.h"
#include "compiler/codegen/kernel/combine.h"
#include "compiler/dialect/linalg_ext/LinalgExtOps.h"
#include "compiler/dispatch/analysis/kernel_config.h"

#include "llvm/Support/MathExtras.h"

using namespace mlir;

namespace tenon::compiler::codegen {
namespace {

enum Mode : int64_t { Line, Count, AddByLine, AddByDigit, Move };

constexpr StringLiteral kModeChoice = "radix";
constexpr uint32_t kThreads = RadixKey::kDigits;
constexpr int64_t kTileBytes = 32768;
constexpr int64_t kMostItems = 4096;
// Shorter lines are no faster than by a network of comparisons.
constexpr int64_t kLeastItems = 512;
constexpr int64_t kFewItemsPerThread = 8;
// So many chunks keep a large device busy.
constexpr int64_t kManyChunks = 1024;
constexpr int64_t kMostTiles = 8;
// A thread that moves items has no more registers than let so many blocks run at once.
constexpr uint32_t kResidentBlocks = 3;
// A thread adds up that many chunks' counts by itself.
constexpr int64_t kFewChunks = 64;

linalg_ext::SortOp sortOf(const KernelFunction &kernel) {
  return cast<linalg_ext::SortOp>(kernel.along.op);
}

/// What moves beside a key.
struct Cargo {
  std::optional<unsigned> operand; // an element of that; else the place in the line
  Type type;                       // null: nothing

  static Cargo of(const KernelFunction &kernel, unsigned key, Type position) {
    SmallVector<unsigned> others;
    for (auto [which, output] : llvm::enumerate(kernel.along.outputs))
      if (output.isStored && which != key)
        others.push_back(unsigned(which));
    if (others.empty())
      return {};
    if (others.size() > 1)
      return {std::nullopt, position};
    return {others.front(), kernel.along.outputs[others.front()].tensor.element};
  }
};

class RadixWriter {
public:
  explicit RadixWriter(AlongWriter &w)
      : w_(w), k_(w.k), along_(w.kernel.along), op_(sortOf(w.kernel)), key_(*Comparison::of(op_.getRegion().front())),
        position_(k_.b.getIntegerType(unsigned(w.choice("position")))),
        cargo_(Cargo::of(w.kernel, key_.operand(), position_)),
        lines_(w, LineShape(along_.outputs[0].tensor, op_.getDimension())), items_(unsigned(w.choice("items"))),
        pass_(unsigned(w.choiceOrZero("pass"))), chunkSize_(w.choiceOrZero("chunk")) {}

  void line();
  void count();
  void addByLine();
  void addByDigit();
  void move();

private:
  struct Item {
    Value key, cargo;
  };

  Value operand(unsigned which, Value place) {
    Value at = lines_.element(k_, line_, place);
    return op_.getInputs().empty() ? w_.start(along_.outputs[which], at) : w_.load(along_.inputs[which], at);
  }
  Value toPosition(Value number) {
    return position_.isInteger(64) ? number : arith::TruncIOp::create(k_.b, k_.loc, position_, number).getResult();
  }
  Value toNumber(Value position) {
    return position_.isInteger(64) ? position
                                   : arith::ExtUIOp::create(k_.b, k_.loc, k_.b.getI64Type(), position).getResult();
  }
  Value zero(Type type) { return arith::ConstantOp::create(k_.b, k_.loc, k_.b.getZeroAttr(type)); }

  Value readKey(Value place);
  Value readCargo(Value place);
  void give(Value place, const Item &item);
  bool isLast() const { return pass_ + 1 == key_.digits(); }

  /// Scratch memory has keys and cargo of one set or two, then the counts, then their sums.
  unsigned parts() const { return cargo_.type ? 2 : 1; }
  unsigned sets() const { return std::min(key_.digits() - 1, 2U); }
  Value scratch(unsigned number, Type type, Value element) {
    return k_.at(w_.arguments.pointers[along_.scratch[number].binding], storedType(type), element);
  }
  Value inSet(unsigned set, unsigned part, Value place) {
    return scratch(set * parts() + part, part == 0 ? key_.type() : cargo_.type,
                   k_.add(k_.mul(line_, lines_.length), place));
  }
  Value countOf(Value digit, Value chunk) {
    Value row = k_.add(k_.mul(line_, k_.number(RadixKey::kDigits)), digit);
    return scratch(sets() * parts(), position_, k_.add(k_.mul(row, chunks_), chunk));
  }
  Value sumOf(Value digit) {
    return scratch(sets() * parts() + 1, position_, k_.add(k_.mul(line_, k_.number(RadixKey::kDigits)), digit));
  }
  uint32_t positionBytes() const { return position_.getIntOrFloatBitWidth() / 8; }

  void findChunks() { chunks_ = k_.div(k_.add(lines_.length, k_.number(chunkSize_ - 1)), k_.number(chunkSize_)); }
  /// The block's chunk, and where it begins and ends.
  void enterChunk() {
    findChunks();
    line_ = k_.div(k_.block(), chunks_);
    chunk_ = k_.rem(k_.block(), chunks_);
    begin_ = k_.mul(chunk_, k_.number(chunkSize_));
    end_ = k_.min(k_.add(begin_, k_.number(chunkSize_)), lines_.length);
  }

  AlongWriter &w_;
  KernelBuilder &k_;
  const KernelAlong &along_;
  linalg_ext::SortOp op_;
  RadixKey key_;
  Type position_;
  Cargo cargo_;
  Lines lines_;
  unsigned items_, pass_;
  int64_t chunkSize_;
  Value line_, chunk_, chunks_, begin_, end_;
};

Value RadixWriter::readKey(Value place) {
  return pass_ == 0 ? operand(key_.operand(), place) : loadShared(k_, key_.type(), inSet((pass_ - 1) % 2, 0, place));
}

Value RadixWriter::readCargo(Value place) {
  if (!cargo_.type)
    return {};
  if (pass_ != 0)
    return loadShared(k_, cargo_.type, inSet((pass_ - 1) % 2, 1, place));
  return cargo_.operand ? operand(*cargo_.operand, place) : toPosition(place);
}

/// Into the results.
void RadixWriter::give(Value place, const Item &item) {
  Value at = lines_.element(k_, line_, place);
  for (auto [which, output] : llvm::enumerate(along_.outputs)) {
    if (!output.isStored)
      continue;
    w_.store(output.tensor, at,
             which == key_.operand()   ? item.key
             : cargo_.operand == which ? item.cargo
                                       : operand(unsigned(which), toNumber(item.cargo)));
  }
}

/// One block, one line: all digits, by way of shared memory.
void RadixWriter::line() {
  const uint64_t capacity = uint64_t(items_) * k_.threads;
  line_ = k_.block();
  BlockRanks ranks(k_, items_);
  Value keys = k_.shared(storedType(key_.type()), capacity);
  Value cargoes = cargo_.type ? k_.shared(storedType(cargo_.type), capacity) : Value();
  auto keyAt = [&](Value place) { return k_.at(keys, storedType(key_.type()), place); };
  auto cargoAt = [&](Value place) { return k_.at(cargoes, storedType(cargo_.type), place); };
  auto held = [&](Value place) {
    return Item{loadShared(k_, key_.type(), keyAt(place)),
                cargo_.type ? loadShared(k_, cargo_.type, cargoAt(place)) : Value()};
  };
  SmallVector<Type> types = {key_.type()};
  if (cargo_.type)
    types.push_back(cargo_.type);
  SmallVector<Item> items;
  for (unsigned i = 0; i < items_; ++i) {
    Value place = ranks.number(i);
    SmallVector<Value> item = k_.choose(
        k_.less(place, lines_.length), types,
        [&] {
          SmallVector<Value> read = {readKey(place)};
          if (cargo_.type)
            read.push_back(readCargo(place));
          return read;
        },
        [&] {
          SmallVector<Value> none = {key_.last(k_)};
          if (cargo_.type)
            none.push_back(zero(cargo_.type));
          return none;
        });
    items.push_back({item[0], cargo_.type ? item[1] : Value()});
  }
  SmallVector<Value> carried;
  for (const Item &item : items) {
    carried.push_back(item.key);
    if (cargo_.type)
      carried.push_back(item.cargo);
  }
  k_.loop(k_.number(0), k_.number(key_.digits()), k_.number(1), carried, [&](Value digit, ValueRange now) {
    SmallVector<Value> digits, next;
    for (unsigned i = 0; i < items_; ++i)
      digits.push_back(key_.digit(k_, now[i * types.size()], digit));
    for (auto [i, place] : llvm::enumerate(ranks.of(digits))) {
      storeShared(k_, now[i * types.size()], keyAt(place));
      if (cargo_.type)
        storeShared(k_, now[i * types.size() + 1], cargoAt(place));
    }
    k_.barrier();
    for (unsigned i = 0; i < items_; ++i) {
      const Item item = held(ranks.number(i));
      next.push_back(item.key);
      if (cargo_.type)
        next.push_back(item.cargo);
    }
    return next;
  });
  k_.loop(k_.thread(), lines_.length, k_.number(k_.threads), {}, [&](Value place, ValueRange) {
    give(place, held(place));
    return SmallVector<Value>();
  });
}

void RadixWriter::count() {
  Type i32 = k_.b.getI32Type();
  Value counts = k_.shared(i32, RadixKey::kDigits), thread = k_.thread();
  enterChunk();
  Value one = arith::ConstantOp::create(k_.b, k_.loc, k_.b.getI32IntegerAttr(1));
  k_.store(zero(i32), k_.at(counts, i32, thread), 4);
  k_.barrier();
  Value last = k_.sub(end_, k_.number(1));
  k_.loop(begin_, end_, k_.number(int64_t(items_) * kThreads), {}, [&](Value tile, ValueRange) {
    SmallVector<Value> places, keys;
    for (unsigned i = 0; i < items_; ++i) {
      places.push_back(k_.add(tile, k_.add(thread, k_.number(int64_t(i) * kThreads))));
      keys.push_back(readKey(k_.min(places.back(), last)));
    }
    for (auto [place, key] : llvm::zip_equal(places, keys)) {
      Value digit = arith::ExtUIOp::create(k_.b, k_.loc, k_.b.getI64Type(), key_.digit(k_, key, k_.number(pass_)));
      k_.when(k_.less(place, end_), [&] {
        LLVM::AtomicRMWOp::create(k_.b, k_.loc, LLVM::AtomicBinOp::add, k_.at(counts, i32, digit), one,
                                  LLVM::AtomicOrdering::monotonic);
      });
    }
    return SmallVector<Value>();
  });
  k_.barrier();
  Value found = k_.load(i32, k_.at(counts, i32, thread), 4);
  if (position_ != i32)
    found = arith::ExtUIOp::create(k_.b, k_.loc, position_, found);
  k_.store(found, countOf(thread, chunk_), positionBytes());
}

/// A block a line, a thread a digit: few chunks.
void RadixWriter::addByLine() {
  findChunks();
  line_ = k_.block();
  Value digit = k_.thread();
  Value sum = k_.loop(k_.number(0), chunks_, k_.number(1), zero(position_), [&](Value chunk, ValueRange now) {
                  Value at = countOf(digit, chunk), found = k_.load(position_, at, positionBytes());
                  k_.store(now[0], at, positionBytes());
                  return SmallVector<Value>{k_.add(now[0], found)};
                }).front();
  k_.store(sum, sumOf(digit), positionBytes());
}

/// A block a line and a digit: many chunks, of which each thread has one at a time.
void RadixWriter::addByDigit() {
  findChunks();
  line_ = k_.div(k_.block(), k_.number(RadixKey::kDigits));
  Value digit = k_.rem(k_.block(), k_.number(RadixKey::kDigits)), thread = k_.thread();
  Value sums = k_.shared(position_, kThreads / 32);
  Value sum =
      k_.loop(k_.number(0), chunks_, k_.number(kThreads), zero(position_), [&](Value first, ValueRange now) {
          Value chunk = k_.add(first, thread), isThere = k_.less(chunk, chunks_);
          Value found =
              k_.choose(
                    isThere, position_,
                    [&] { return SmallVector<Value>{k_.load(position_, countOf(digit, chunk), positionBytes())}; },
                    [&] { return SmallVector<Value>{zero(position_)}; })
                  .front();
          const BlockSum sum = BlockSum::of(k_, found, sums);
          k_.when(isThere, [&] { k_.store(k_.add(now[0], sum.before), countOf(digit, chunk), positionBytes()); });
          k_.barrier(); // the next sums take the place of these
          return SmallVector<Value>{k_.add(now[0], sum.all)};
        }).front();
  k_.when(k_.equal(thread, k_.number(0)), [&] { k_.store(sum, sumOf(digit), positionBytes()); });
}

void RadixWriter::move() {
  k_.wantResident(kResidentBlocks);
  const int64_t tileSize = int64_t(items_) * kThreads;
  enterChunk();
  Value thread = k_.thread(), tile = k_.number(tileSize);
  BlockRanks ranks(k_, items_);
  Value keys = k_.shared(storedType(key_.type()), uint64_t(tileSize));
  Value cargoes = cargo_.type ? k_.shared(storedType(cargo_.type), uint64_t(tileSize)) : Value();
  auto keyAt = [&](Value place) { return k_.at(keys, storedType(key_.type()), place); };
  auto cargoAt = [&](Value place) { return k_.at(cargoes, storedType(cargo_.type), place); };
  // How far the items of a digit go: from their place in the tile to that in the line.
  Value distances = k_.shared(position_, RadixKey::kDigits), sums = k_.shared(position_, kThreads / 32);
  auto distanceAt = [&](Value digit) { return k_.at(distances, position_, digit); };
  // A thread has a digit, and knows where the next item with it goes: behind smaller digits of the line, earlier
  // chunks, earlier tiles.
  const BlockSum smaller = BlockSum::of(k_, k_.load(position_, sumOf(thread), positionBytes()), sums);
  Value begin = k_.add(smaller.before, k_.load(position_, countOf(thread, chunk_), positionBytes()));
  Value last = k_.sub(end_, k_.number(1));
  k_.loop(begin_, end_, tile, begin, [&](Value first, ValueRange next) {
    Value count = k_.sub(end_, first), isWhole = k_.less(k_.number(tileSize - 1), count);
    // Of each item of the thread; in a tile that is not whole some are none, and what is read for them is the last.
    auto readAll = [&](Type type, Value first, llvm::function_ref<Value(Value)> read, Value none) {
      auto all = [&](bool mayEnd) {
        SmallVector<Value> values;
        for (unsigned i = 0; i < items_; ++i) {
          Value place = k_.add(first, ranks.number(i)), value = read(mayEnd ? k_.min(place, last) : place);
          values.push_back(mayEnd && none ? k_.select(k_.less(place, end_), value, none) : value);
        }
        return values;
      };
      return k_.choose(isWhole, SmallVector<Type>(items_, type), [&] { return all(false); }, [&] { return all(true); });
    };
    // What is none comes behind all others, and last among its equals.
    const SmallVector<Value> items =
        readAll(key_.type(), first, [&](Value place) { return readKey(place); }, key_.last(k_));
    const SmallVector<Value> digits =
        llvm::map_to_vector(items, [&](Value key) { return key_.digit(k_, key, k_.number(pass_)); });
    const SmallVector<Value> places = ranks.of(digits);
    for (auto [place, key] : llvm::zip_equal(places, items))
      storeShared(k_, key, keyAt(place));
    // Cargo is read only now, so that neither it nor its addresses take registers before.
    if (cargo_.type) {
      const SmallVector<Value> cargoes =
          readAll(cargo_.type, k_.opaque(first), [&](Value place) { return readCargo(place); }, {});
      for (auto [place, cargo] : llvm::zip_equal(places, cargoes))
        storeShared(k_, cargo, cargoAt(place));
    }
    Value start = ranks.start(thread);
    k_.store(k_.sub(next[0], toPosition(start)), distanceAt(thread), positionBytes());
    k_.barrier();
    for (unsigned i = 0; i < items_; ++i) {
      Value place = k_.add(thread, k_.number(int64_t(i) * kThreads));
      k_.when(k_.less(place, count), [&] {
        Item item{loadShared(k_, key_.type(), keyAt(place)),
                  cargo_.type ? loadShared(k_, cargo_.type, cargoAt(place)) : Value()};
        Value digit =
            arith::ExtUIOp::create(k_.b, k_.loc, k_.b.getI64Type(), key_.digit(k_, item.key, k_.number(pass_)));
        Value distance = k_.load(position_, distanceAt(digit), positionBytes());
        Value target = toNumber(k_.add(toPosition(place), distance));
        if (isLast())
          return give(target, item);
        storeShared(k_, item.key, inSet(pass_ % 2, 0, target));
        if (cargo_.type)
          storeShared(k_, item.cargo, inSet(pass_ % 2, 1, target));
      });
    }
    Value moved = k_.sub(ranks.start(k_.add(thread, k_.number(1))), start);
    return SmallVector<Value>{k_.add(next[0], toPosition(moved))};
  });
}

Plan plan(Mode mode, uint32_t threads, int64_t items, int64_t position, SmallVector<GridFactor> grid) {
  Plan made;
  made.strategy = "sort";
  made.threads = threads;
  made.choices = {{kModeChoice, mode}, {"items", items}, {"position", position}};
  made.grid = std::move(grid);
  return made;
}

/// Sorts lines of up to `capacity` elements.
Plan linePlan(const LineShape &shape, int64_t capacity, int64_t position) {
  const int64_t threads = std::min<int64_t>(capacity / kFewItemsPerThread, kThreads);
  return plan(Line, uint32_t(threads), capacity / threads, position, {{shape.lines(), 1}});
}

} // namespace

std::optional<AlongPlans> radixPlans(const KernelFunction &kernel, int64_t shortLine) {
  auto op = sortOf(kernel);
  std::optional<Comparison> comparison = Comparison::of(op.getRegion().front());
  if (!comparison)
    return std::nullopt;
  const RadixKey key(*comparison);
  const LineShape shape(kernel.along.outputs[0].tensor, op.getDimension());
  const std::optional<int64_t> length = shape.knownLength(), lines = shape.knownLines();
  const int64_t position = length && *length < (int64_t(1) << 31) ? 32 : 64;
  Type positionType = IntegerType::get(op.getContext(), unsigned(position));
  const Cargo cargo = Cargo::of(kernel, key.operand(), positionType);
  const int64_t bytes = dispatch::elementBytes(key.type()) + (cargo.type ? dispatch::elementBytes(cargo.type) : 0);
  const int64_t tile = std::min<int64_t>(int64_t(llvm::bit_floor(uint64_t(kTileBytes / bytes))), kMostItems);
  AlongPlans plans;
  if (length && *length <= tile) {
    const int64_t capacity = int64_t(llvm::PowerOf2Ceil(uint64_t(*length)));
    if (capacity < kLeastItems)
      return std::nullopt;
    plans.kernels.push_back(linePlan(shape, capacity, position));
    return plans;
  }
  if (!length) {
    const int64_t middle = std::clamp<int64_t>(2 * shortLine, kLeastItems, tile);
    for (auto [above, most] : {std::pair(shortLine, middle), std::pair(middle, tile)})
      if (above < most) {
        plans.kernels.push_back(linePlan(shape, most, position));
        plans.kernels.back().guards = {Guard{{shape.length}, above, most}};
      }
  }
  const int64_t items = tile / kThreads;
  const int64_t tiles =
      length ? std::clamp<int64_t>(lines.value_or(1) * *length / (tile * kManyChunks), 1, kMostTiles) : 2;
  const int64_t chunk = tile * tiles, fewChunks = kFewChunks * chunk;
  auto add = [&](Mode mode, unsigned pass, SmallVector<GridFactor> grid, int64_t above, std::optional<int64_t> most) {
    if (length && (*length <= above || (most && *length > *most)))
      return;
    Plan made = plan(mode, kThreads, items, position, std::move(grid));
    made.choices.push_back({"pass", pass});
    made.choices.push_back({"chunk", chunk});
    if (!length)
      made.guards = {Guard{{shape.length}, above, most}};
    plans.kernels.push_back(made);
  };
  for (unsigned pass = 0; pass < key.digits(); ++pass) {
    const SmallVector<GridFactor> chunks = {{shape.lines(), 1}, {{shape.length}, chunk}};
    add(Count, pass, chunks, tile, std::nullopt);
    add(AddByLine, pass, {{shape.lines(), 1}}, tile, fewChunks);
    add(AddByDigit, pass, {{shape.lines(), 1}, {{Extent{RadixKey::kDigits, {}}}, 1}}, fewChunks, std::nullopt);
    add(Move, pass, chunks, tile, std::nullopt);
  }
  SmallVector<Extent> elements = shape.lines(), sums = shape.lines();
  elements.push_back(shape.length);
  sums.push_back(Extent{RadixKey::kDigits, {}});
  for (unsigned set = 0; set < std::min(key.digits() - 1, 2U); ++set) {
    plans.scratch.push_back({storedType(key.type()), elements});
    if (cargo.type)
      plans.scratch.push_back({storedType(cargo.type), elements});
  }
  // Of unknown length: a line that is cut has more elements than its chunks have counts.
  SmallVector<Extent> counts = length ? sums : elements;
  if (length)
    counts.push_back(Extent{int64_t(llvm::divideCeil(uint64_t(*length), uint64_t(chunk))), {}});
  plans.scratch.push_back({positionType, counts});
  plans.scratch.push_back({positionType, sums});
  return plans;
}

bool isRadixSort(const AlongWriter &writer) {
  return bool(writer.kernel.strategy.getAs<IntegerAttr>(kModeChoice));
}

void writeRadixSort(AlongWriter &writer) {
  RadixWriter sort(writer);
  switch (Mode(writer.choice(kModeChoice))) {
  case Line:
    return sort.line();
  case Count:
    return sort.count();
  case AddByLine:
    return sort.addByLine();
  case AddByDigit:
    return sort.addByDigit();
  case Move:
    return sort.move();
  }
}

} // namespace tenon::compiler::codegen
