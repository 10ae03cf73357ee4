// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "compiler/codegen/along/sorting/radix_sweep.h"

#include "compiler/codegen/along/sorting/block_ranks.h"
#include "compiler/codegen/along/sorting/radix_items.h"
#include "compiler/codegen/kernel/combine.h"
#include "compiler/dialect/linalg_ext/LinalgExtOps.h"
#include "compiler/dispatch/analysis/kernel_config.h"

#include "mlir/Dialect/SCF/IR/SCF.h"
#include "llvm/Support/MathExtras.h"

using namespace mlir;

namespace tenon::compiler::codegen {
namespace {

enum Mode : int64_t { Clear, Count, Move };

constexpr StringLiteral kModeChoice = "sweep";
constexpr StringLiteral kDevice = "device";
constexpr uint32_t kThreads = RadixKey::kDigits;
constexpr int64_t kTileBytes = 32768;
constexpr int64_t kMostItems = 4096;
// A thread that moves items has no more registers than let so many blocks run at once: more tiles at once look back at
// more of each other.
constexpr uint32_t kResidentBlocks = 2;
// So many blocks that count keep a large device busy; more add up more counts.
constexpr int64_t kCountingBlocks = 1024;
constexpr int64_t kMostCounted = 8;
// Tiles that a block looks at together when it looks back. Of 16, what was looked at in vain took twice the time.
constexpr unsigned kAhead = 4;

class SweepWriter {
public:
  explicit SweepWriter(AlongWriter &w)
      : w_(w), k_(w.k), items_(w), perThread_(unsigned(w.choice("items"))), pass_(unsigned(w.choiceOrZero("pass"))),
        tileSize_(int64_t(perThread_) * kThreads), state_(k_.b.getIntegerType(unsigned(w.choice("state")))) {}

  void clear();
  void count();
  void move();

private:
  Type i32() { return k_.b.getI32Type(); }
  Value integer(Type type, int64_t value) {
    return arith::ConstantOp::create(k_.b, k_.loc, k_.b.getIntegerAttr(type, value));
  }
  Value truth(bool value) { return arith::ConstantOp::create(k_.b, k_.loc, k_.b.getBoolAttr(value)); }
  static uint32_t bytesOf(Type type) { return type.getIntOrFloatBitWidth() / 8; }
  bool isLast() const { return pass_ + 1 == items_.key.digits(); }

  /// Scratch memory has keys and cargo of one set or two, then counts, states and tickets.
  unsigned parts() const { return items_.hasCargo() ? 2 : 1; }
  unsigned sets() const { return std::min(items_.key.digits() - 1, 2U); }
  Value scratch(unsigned number, Type type, Value element) {
    return k_.at(w_.arguments.pointers[w_.kernel.scratch[number].binding], storedType(type), element);
  }
  Value inSet(unsigned set, unsigned part, Value place) {
    return scratch(set * parts() + part, part == 0 ? items_.key.type() : items_.cargo.type,
                   k_.add(k_.mul(line_, items_.lines.length), place));
  }
  /// How often the line has a value of a digit.
  Value countAt(unsigned digit, Value value) {
    Value row = k_.add(k_.mul(line_, k_.number(items_.key.digits())), k_.number(digit));
    return scratch(sets() * parts(), items_.position, k_.add(k_.mul(row, k_.number(RadixKey::kDigits)), value));
  }
  /// What a tile of the line says about a value. Steps take turns with two of those, and each sets the next one's to 0.
  Value stateAt(unsigned step, Value tile, Value value) {
    Value row = k_.add(k_.mul(k_.add(k_.mul(line_, k_.number(2)), k_.number(step % 2)), tiles_), tile);
    return scratch(sets() * parts() + 1, state_, k_.add(k_.mul(row, k_.number(RadixKey::kDigits)), value));
  }
  Value ticketAt(unsigned step) { return scratch(sets() * parts() + 2, i32(), k_.number(step)); }

  /// Of a state, two bits say what the others count.
  int64_t saysOwn() const { return int64_t(1) << (state_.getIntOrFloatBitWidth() - 2); }
  int64_t saysAll() const { return int64_t(uint64_t(1) << (state_.getIntOrFloatBitWidth() - 1)); }
  void say(Value tile, Value value, int64_t what, Value count);
  Value ofEarlierTiles(Value tile, Value value);

  Value tilesOf(Value length) { return k_.div(k_.add(length, k_.number(tileSize_ - 1)), k_.number(tileSize_)); }
  Value nextTicket();
  Value readKey(Value place) {
    return pass_ == 0 ? items_.readKey(line_, place)
                      : loadShared(k_, items_.key.type(), inSet((pass_ - 1) % 2, 0, place));
  }
  Value readCargo(Value place) {
    return pass_ == 0 ? items_.readCargo(line_, place)
                      : loadShared(k_, items_.cargo.type, inSet((pass_ - 1) % 2, 1, place));
  }
  Value digitOf(Value key) { return items_.key.digit(k_, key, k_.number(pass_)); }

  AlongWriter &w_;
  KernelBuilder &k_;
  RadixItems items_;
  unsigned perThread_, pass_;
  int64_t tileSize_;
  Type state_;
  Value line_, tiles_;
};

/// A block a line.
void SweepWriter::clear() {
  line_ = k_.block();
  for (unsigned digit = 0; digit < items_.key.digits(); ++digit) {
    k_.store(integer(items_.position, 0), countAt(digit, k_.thread()), bytesOf(items_.position));
    k_.when(k_.both(k_.equal(line_, k_.number(0)), k_.equal(k_.thread(), k_.number(0))),
            [&] { k_.store(integer(i32(), 0), ticketAt(digit), 4); });
  }
}

/// A block counts some tiles of a line, all digits of them, and makes them say nothing for the first step.
void SweepWriter::count() {
  const unsigned digits = items_.key.digits();
  Value counts = k_.shared(i32(), uint64_t(digits) * RadixKey::kDigits), thread = k_.thread();
  auto sharedAt = [&](unsigned digit, Value value) {
    return k_.at(counts, i32(), k_.add(k_.number(int64_t(digit) * RadixKey::kDigits), value));
  };
  const int64_t tilesPerBlock = w_.choice("counted");
  Value length = items_.lines.length, counted = k_.number(tilesPerBlock);
  tiles_ = tilesOf(length);
  Value blocks = k_.div(k_.add(tiles_, k_.number(tilesPerBlock - 1)), counted);
  line_ = k_.div(k_.block(), blocks);
  Value firstTile = k_.mul(k_.rem(k_.block(), blocks), counted);
  Value lastTile = k_.min(k_.add(firstTile, counted), tiles_);
  for (unsigned digit = 0; digit < digits; ++digit)
    k_.store(integer(i32(), 0), sharedAt(digit, thread), 4);
  k_.barrier();
  auto countDigits = [&](Value key) {
    for (unsigned digit = 0; digit < digits; ++digit) {
      Value value = items_.toNumber(items_.key.digit(k_, key, k_.number(digit)));
      LLVM::AtomicRMWOp::create(k_.b, k_.loc, LLVM::AtomicBinOp::add, sharedAt(digit, value), integer(i32(), 1),
                                LLVM::AtomicOrdering::monotonic);
    }
  };
  k_.loop(firstTile, lastTile, k_.number(1), {}, [&](Value tile, ValueRange) {
    k_.store(integer(state_, 0), stateAt(0, tile, thread), bytesOf(state_));
    Value first = k_.mul(tile, k_.number(tileSize_)), end = k_.add(first, k_.number(tileSize_));
    k_.branch(
        k_.less(length, end),
        [&] {
          k_.loop(k_.add(first, thread), length, k_.number(kThreads), {}, [&](Value place, ValueRange) {
            countDigits(items_.readKey(line_, place));
            return SmallVector<Value>();
          });
        },
        [&] {
          SmallVector<Value> keys; // loads that are on their way together
          for (unsigned i = 0; i < perThread_; ++i)
            keys.push_back(items_.readKey(line_, k_.add(first, k_.add(thread, k_.number(int64_t(i) * kThreads)))));
          for (Value key : keys)
            countDigits(key);
        });
    return SmallVector<Value>();
  });
  k_.barrier();
  for (unsigned digit = 0; digit < digits; ++digit) {
    Value found = k_.load(i32(), sharedAt(digit, thread), 4);
    if (items_.position != i32())
      found = arith::ExtUIOp::create(k_.b, k_.loc, items_.position, found);
    k_.when(arith::CmpIOp::create(k_.b, k_.loc, arith::CmpIPredicate::ne, found, integer(items_.position, 0)), [&] {
      LLVM::AtomicRMWOp::create(k_.b, k_.loc, LLVM::AtomicBinOp::add, countAt(digit, thread), found,
                                LLVM::AtomicOrdering::monotonic, kDevice);
    });
  }
}

/// All threads get the number of a tile that no other block has. Those before it have a block already.
Value SweepWriter::nextTicket() {
  Value shared = k_.shared(i32(), 1);
  k_.when(k_.equal(k_.thread(), k_.number(0)), [&] {
    Value ticket = LLVM::AtomicRMWOp::create(k_.b, k_.loc, LLVM::AtomicBinOp::add, ticketAt(pass_), integer(i32(), 1),
                                             LLVM::AtomicOrdering::monotonic, kDevice);
    k_.store(ticket, shared, 4);
  });
  k_.barrier();
  return items_.toNumber(k_.load(i32(), shared, 4));
}

void SweepWriter::say(Value tile, Value value, int64_t what, Value count) {
  Value said = k_.b.createOrFold<arith::OrIOp>(k_.loc, count, integer(state_, what));
  LLVM::StoreOp::create(k_.b, k_.loc, said, stateAt(pass_, tile, value), bytesOf(state_), /*isVolatile=*/false,
                        /*isNonTemporal=*/false, /*isInvariantGroup=*/false, LLVM::AtomicOrdering::monotonic, kDevice);
}

/// How many items with a value the tiles before this one have, as a state without its two bits. Threads spin here, and
/// what they execute others of the multiprocessor do not: so numbers of tiles are 32 bits.
Value SweepWriter::ofEarlierTiles(Value tile, Value value) {
  auto is = [&](arith::CmpIPredicate predicate, Value state) -> Value {
    return arith::CmpIOp::create(k_.b, k_.loc, predicate, state, integer(state.getType(), 0));
  };
  Value begin = stateAt(pass_, k_.number(0), value), nothing = integer(i32(), 0), yes = truth(true);
  // Carried: how many tiles are left to look at, and what those behind them have.
  auto loop = scf::WhileOp::create(
      k_.b, k_.loc, TypeRange{i32(), state_}, ValueRange{k_.word(tile), integer(state_, 0)},
      [&](OpBuilder &, Location, ValueRange now) {
        scf::ConditionOp::create(k_.b, k_.loc, is(arith::CmpIPredicate::ne, now[0]), now);
      },
      [&](OpBuilder &, Location, ValueRange now) {
        SmallVector<Value> said;
        for (unsigned i = 0; i < kAhead; ++i) {
          // In front of the first tile there is none; nobody looks behind the first one.
          Value other = arith::MaxSIOp::create(k_.b, k_.loc, k_.sub(now[0], integer(i32(), i + 1)), nothing);
          Value row =
              k_.mul(arith::ExtUIOp::create(k_.b, k_.loc, k_.b.getI64Type(), other), k_.number(RadixKey::kDigits));
          said.push_back(LLVM::LoadOp::create(k_.b, k_.loc, state_, k_.at(begin, state_, row), bytesOf(state_),
                                              /*isVolatile=*/false, /*isNonTemporal=*/false, /*isInvariant=*/false,
                                              /*isInvariantGroup=*/false, LLVM::AtomicOrdering::monotonic, kDevice));
        }
        Value left = now[0], sum = now[1], goesOn = yes, isDone = truth(false);
        for (Value state : said) {
          Value isTaken = k_.both(goesOn, is(arith::CmpIPredicate::ne, state)); // it has said something
          Value isAll = k_.both(isTaken, is(arith::CmpIPredicate::slt, state)); // by the uppermost bit
          sum = k_.add(sum, k_.select(isTaken, k_.both(state, integer(state_, saysOwn() - 1)), integer(state_, 0)));
          left = k_.sub(left, k_.select(isTaken, integer(i32(), 1), nothing));
          isDone = k_.select(isAll, yes, isDone);
          goesOn = k_.both(isTaken, k_.exclusiveOr(isAll, yes));
        }
        scf::YieldOp::create(k_.b, k_.loc, ValueRange{k_.select(isDone, nothing, left), sum});
      });
  return loop.getResult(1);
}

void SweepWriter::move() {
  k_.wantResident(kResidentBlocks);
  Value thread = k_.thread(), length = items_.lines.length;
  tiles_ = tilesOf(length);
  Value ticket = nextTicket();
  line_ = k_.div(ticket, tiles_);
  Value tile = k_.rem(ticket, tiles_), first = k_.mul(tile, k_.number(tileSize_));
  Value count = k_.sub(length, first), isWhole = k_.less(k_.number(tileSize_ - 1), count);
  BlockRanks ranks(k_, perThread_);
  SharedItems shared(k_, items_, uint64_t(tileSize_));
  // Of each item of the thread; in a tile that is not whole some are none, and what is read for them is the last.
  auto readAll = [&](Type type, Value first, llvm::function_ref<Value(Value)> read, Value none) {
    auto all = [&](bool mayEnd) {
      SmallVector<Value> values;
      for (unsigned i = 0; i < perThread_; ++i) {
        Value place = k_.add(first, ranks.number(i));
        Value value = read(mayEnd ? k_.min(place, k_.sub(length, k_.number(1))) : place);
        values.push_back(mayEnd && none ? k_.select(k_.less(place, length), value, none) : value);
      }
      return values;
    };
    return k_.choose(
        isWhole, SmallVector<Type>(perThread_, type), [&] { return all(false); }, [&] { return all(true); });
  };
  // What is none comes behind all others, and last among its equals.
  const SmallVector<Value> keys =
      readAll(items_.key.type(), first, [&](Value place) { return readKey(place); }, items_.key.last(k_));
  const SmallVector<Value> places = ranks.of(llvm::map_to_vector(keys, [&](Value key) { return digitOf(key); }));
  // A thread has a value of the digit, too.
  Value start = ranks.start(thread), mine = k_.sub(ranks.start(k_.add(thread, k_.number(1))), start);
  Value own = state_.isInteger(64) ? mine : k_.b.createOrFold<arith::TruncIOp>(k_.loc, state_, mine);
  Value isFirst = k_.equal(tile, k_.number(0));
  k_.branch(isFirst, [&] { say(tile, thread, saysAll(), own); }, [&] { say(tile, thread, saysOwn(), own); });
  for (auto [place, key] : llvm::zip_equal(places, keys))
    shared.storeKey(place, key);
  // Cargo is read only now, so that neither it nor its addresses take registers before.
  if (items_.hasCargo()) {
    const SmallVector<Value> cargoes =
        readAll(items_.cargo.type, k_.opaque(first), [&](Value place) { return readCargo(place); }, {});
    for (auto [place, cargo] : llvm::zip_equal(places, cargoes))
      shared.storeCargo(place, cargo);
  }
  Value earlier = ofEarlierTiles(tile, thread);
  k_.when(k_.less(k_.number(0), tile), [&] { say(tile, thread, saysAll(), k_.add(earlier, own)); });
  if (!isLast())
    k_.store(integer(state_, 0), stateAt(pass_ + 1, tile, thread), bytesOf(state_));
  // How far the items of a value go, from their place in the tile to that in the line: behind smaller values of the
  // line, and behind earlier tiles.
  Type position = items_.position;
  Value distances = k_.shared(position, RadixKey::kDigits), sums = k_.shared(position, kThreads / 32);
  const BlockSum smaller = BlockSum::of(k_, k_.load(position, countAt(pass_, thread), bytesOf(position)), sums);
  Value begin = k_.add(smaller.before, items_.toPosition(items_.toNumber(earlier)));
  k_.store(k_.sub(begin, items_.toPosition(start)), k_.at(distances, position, thread), bytesOf(position));
  k_.barrier();
  for (unsigned i = 0; i < perThread_; ++i) {
    Value place = k_.add(thread, k_.number(int64_t(i) * kThreads));
    k_.when(k_.less(place, count), [&] {
      const RadixItem item = shared.load(place);
      Value distance =
          k_.load(position, k_.at(distances, position, items_.toNumber(digitOf(item.key))), bytesOf(position));
      Value target = items_.toNumber(k_.add(items_.toPosition(place), distance));
      if (isLast())
        return items_.give(line_, target, item);
      storeShared(k_, item.key, inSet(pass_ % 2, 0, target));
      if (items_.hasCargo())
        storeShared(k_, item.cargo, inSet(pass_ % 2, 1, target));
    });
  }
}

} // namespace

int64_t radixTile(const KernelFunction &kernel, const RadixKey &key, IntegerType position) {
  const RadixCargo cargo = RadixCargo::of(kernel, key.operand(), position);
  const int64_t bytes = dispatch::elementBytes(key.type()) + (cargo.type ? dispatch::elementBytes(cargo.type) : 0);
  return std::min<int64_t>(int64_t(llvm::bit_floor(uint64_t(kTileBytes / bytes))), kMostItems);
}

void addRadixSweep(AlongPlans &plans, const KernelFunction &kernel, const RadixKey &key, IntegerType position,
                   ArrayRef<Guard> guards) {
  const LineShape shape(kernel.along.outputs[0].tensor, cast<linalg_ext::SortOp>(kernel.along.op).getDimension());
  const std::optional<int64_t> length = shape.knownLength(), lines = shape.knownLines();
  const int64_t tile = radixTile(kernel, key, position);
  const int64_t counted =
      length ? std::clamp<int64_t>(lines.value_or(1) * *length / (tile * kCountingBlocks), 1, kMostCounted) : 2;
  // Two bits of a state are no count.
  auto state = IntegerType::get(position.getContext(), length && *length < (int64_t(1) << 30) ? 32 : 64);
  auto add = [&](Mode mode, SmallVector<GridFactor> grid, SmallVector<std::pair<StringRef, int64_t>> more) {
    Plan made;
    made.strategy = "sort";
    made.threads = kThreads;
    made.choices = {{kModeChoice, mode},
                    {"items", tile / kThreads},
                    {"position", position.getWidth()},
                    {"state", state.getWidth()}};
    llvm::append_range(made.choices, more);
    made.grid = std::move(grid);
    made.guards.assign(guards.begin(), guards.end());
    plans.kernels.push_back(made);
  };
  add(Clear, {{shape.lines(), 1}}, {});
  add(Count, {{shape.lines(), 1}, {{shape.length}, tile * counted}}, {{"counted", counted}});
  for (unsigned pass = 0; pass < key.digits(); ++pass)
    add(Move, {{shape.lines(), 1}, {{shape.length}, tile}}, {{"pass", pass}, {kBlocksWait, 1}});

  const RadixCargo cargo = RadixCargo::of(kernel, key.operand(), position);
  SmallVector<Extent> elements = shape.lines(), counts = shape.lines();
  elements.push_back(shape.length);
  counts.push_back(Extent{int64_t(key.digits()) * RadixKey::kDigits, {}});
  for (unsigned set = 0; set < std::min(key.digits() - 1, 2U); ++set) {
    plans.scratch.push_back({storedType(key.type()), elements});
    if (cargo.type)
      plans.scratch.push_back({storedType(cargo.type), elements});
  }
  plans.scratch.push_back({position, counts});
  // Two states of each value and tile. A line of unknown length has more than a tile, and so no more than twice as many
  // tiles as its length has.
  Scratch states = {state, length ? shape.lines() : elements};
  if (length)
    states.extents.push_back(
        Extent{int64_t(llvm::divideCeil(uint64_t(*length), uint64_t(tile))) * 2 * RadixKey::kDigits, {}});
  else
    states.share = tile / (2 * 2 * RadixKey::kDigits);
  plans.scratch.push_back(states);
  plans.scratch.push_back({IntegerType::get(position.getContext(), 32), {Extent{int64_t(key.digits()), {}}}});
}

bool isRadixSweep(const AlongWriter &writer) {
  return bool(writer.kernel.strategy.getAs<IntegerAttr>(kModeChoice));
}

void writeRadixSweep(AlongWriter &writer) {
  SweepWriter sweep(writer);
  switch (Mode(writer.choice(kModeChoice))) {
  case Clear:
    return sweep.clear();
  case Count:
    return sweep.count();
  case Move:
    return sweep.move();
  }
}

} // namespace tenon::compiler::codegen
