// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "compiler/codegen/contraction/operands/shifted_lines.h"

#include "compiler/codegen/kernel/straddling.h"
#include "compiler/dispatch/analysis/kernel_config.h"

using namespace mlir;

namespace tenon::compiler::codegen {
namespace {

// A thread shifts half of a line at a time: the words of a whole one are more than registers.
constexpr uint32_t kHalves = 2, kWordBytes = 4;

int64_t elementBytesOf(const Operand &operand) {
  return dispatch::elementBytes(operand.value.getType());
}

VectorType vectorOf(KernelBuilder &k) {
  return VectorType::get(4, k.b.getI32Type());
}

/// Whether lines of the operand lie in the tile as they do in memory (operand_tile.h), in rows of one axis. Each step's
/// are as far behind the step's before, so sums run over one axis, too.
bool hasLines(const Product &product, const Operand &operand) {
  const ArrayRef<unsigned> axes = operand.isAlongReduced ? product.reduced : ArrayRef(operand.across);
  return operand.plain && (operand.isAlongReduced || elementBytesOf(operand) == 2 || product.isReadAcross(operand)) &&
         axes.size() == 1 && product.reduced.size() == 1 && operand.tensor().map.isProjectedPermutation();
}

} // namespace

bool ShiftedLines::mayBring(const Product &product) {
  return product.warpElement() && !product.routes && product.places.empty() && hasLines(product, product.left) &&
         hasLines(product, product.right);
}

bool ShiftedLines::mayBeSplit(const GroupShape &shape, const Product &product) {
  return llvm::any_of(ArrayRef{&product.left, &product.right}, [&](const Operand *operand) {
    const std::optional<int64_t> size = shape.axes[operand->vectorAxis].size;
    return !size || *size * elementBytesOf(*operand) % kVectorBytes != 0;
  });
}

bool ShiftedLines::mayBring(const ProductKernel &kernel) {
  const Product &product = kernel.product;
  auto isWritten = [&](const Operand &operand) {
    return kernel.bodies.arguments().written.contains(operand.tensor().binding);
  };
  return mayBring(product) && !kernel.rowPatches && !kernel.reducedPatches && !isWritten(product.left) &&
         !isWritten(product.right) && mayBeSplit(kernel.shape, product);
}

void ShiftedLines::forEach(uint32_t count, llvm::function_ref<void(Value, uint32_t)> body) {
  // LLVM would compute all places before the loop of steps, in more registers than there are.
  Value thread = k_.opaque(k_.thread());
  for (uint32_t number = 0; number * threads_ < count; ++number) {
    Value own = k_.add(thread, k_.number(int64_t(number) * threads_));
    auto visit = [&] { body(own, number); };
    (number + 1) * threads_ <= count ? visit() : k_.when(k_.less(own, k_.number(count)), visit);
  }
}

void ShiftedLines::loopOver(uint32_t count, llvm::function_ref<void(Value)> body) {
  k_.loop(k_.opaque(k_.thread()), k_.number(count), k_.number(threads_), {}, [&](Value own, ValueRange) {
    body(own);
    return SmallVector<Value>();
  });
}

Value ShiftedLines::place(Value arena, Value line, Value vector) {
  Value turned = k_.exclusiveOr(vector, k_.rem(line, k_.number(kVectors)));
  return k_.at(arena, k_.b.getI8Type(),
               k_.add(k_.mul(line, k_.number(kLineBytes)), k_.mul(turned, k_.number(kVectorBytes))));
}

Value ShiftedLines::inStage(const Operand &operand, Value line) {
  return isLeft(operand) ? line : k_.add(line, k_.number(kernel_.rows));
}

Value ShiftedLines::beside(Value step, Value inStage) {
  Value slot = k_.mul(k_.rem(step, k_.number(kSlots)), k_.number(int64_t(kernel_.rows) + kernel_.columns));
  return k_.at(memory_, vectorOf(k_), k_.add(slot, inStage));
}

Value ShiftedLines::note(Value step, Value inStage) {
  const int64_t lines = int64_t(kernel_.rows) + kernel_.columns;
  Value notes = k_.at(memory_, k_.b.getI8Type(), k_.number(kSlots * lines * kVectorBytes));
  return k_.at(notes, k_.b.getI32Type(), k_.add(k_.mul(k_.rem(step, k_.number(kSlots)), k_.number(lines)), inStage));
}

ShiftedLines::Source ShiftedLines::sourceOf(const Operand &operand) {
  const KernelTensor &tensor = operand.tensor();
  // Where it is needed: over all tiles, registers are for what steps need.
  Value base = kernel_.bodies.base(tensor), end = k_.opaque(k_.number(1));
  Value address = LLVM::PtrToIntOp::create(k_.b, k_.loc, k_.b.getI64Type(), base);
  Value before = arith::AndIOp::create(k_.b, k_.loc, address, k_.number(kVectorBytes - 1));
  for (const Extent &extent : tensor.shape)
    end = k_.mul(end, kernel_.bodies.arguments().sizeOf(k_.b, k_.loc, extent));
  Value elements = k_.div(before, k_.number(elementBytesOf(operand)));
  return {k_.at(base, k_.b.getI8Type(), k_.sub(k_.number(0), before)), elements, k_.add(end, elements)};
}

TileSpace::Numbered ShiftedLines::firstOf(TileSpace &space, const Operand &operand, Value line, Value firstReduced,
                                          bool mayEnd) {
  Value across = isLeft(operand) ? space.firstRow() : space.firstColumn();
  if (operand.isAlongReduced)
    return space.numbered(operand, k_.add(across, line), firstReduced, /*mayEnd=*/false);
  Value depth = k_.number(kernel_.depth), inLine = k_.number(kLineBytes / elementBytesOf(operand));
  return space.numbered(operand, k_.add(across, k_.mul(k_.div(line, depth), inLine)),
                        k_.add(firstReduced, k_.rem(line, depth)), mayEnd);
}

ShiftedLines::Line ShiftedLines::lineOf(TileSpace &space, const Operand &operand, const Source &source, Value line,
                                        Value firstReduced) {
  Value inVector = k_.number(kVectorBytes / elementBytesOf(operand));
  Value count = k_.number(kLineBytes / elementBytesOf(operand));
  const TileSpace::Numbered first = firstOf(space, operand, line, firstReduced, /*mayEnd=*/true);
  if (operand.isAlongReduced && !space.reducedIsWhole())
    count = k_.min(count, k_.sub(space.reduced(), firstReduced));
  if (!operand.isAlongReduced && first.exists)
    count = k_.select(first.exists, count, k_.number(0));
  Value begin = k_.add(first.element, source.before);
  return {k_.div(begin, inVector), k_.rem(begin, inVector), k_.min(k_.add(begin, count), source.end)};
}

Value ShiftedLines::addressOf(const Source &source, Value vector) {
  return k_.at(source.base, vectorOf(k_), vector);
}

/// A vector of the line. Of the tensor's first one some elements may not be the tensor's: copyFirst() brings it.
void ShiftedLines::copy(const Operand &operand, const Source &source, const Line &line, Value vector, Value to) {
  Value inVector = k_.number(kVectorBytes / elementBytesOf(operand)), number = k_.add(line.vector, vector);
  Value first = k_.mul(number, inVector), count = k_.min(k_.sub(line.end, k_.min(first, line.end)), inVector);
  // A number that is not 0 where it is not that one.
  Value isWhole = k_.select(k_.equal(source.before, k_.number(0)), k_.number(1), number);
  k_.when(k_.less(k_.number(0), isWhole),
          [&] { core_.copyVector(to, addressOf(source, number), k_.mul(count, k_.number(elementBytesOf(operand)))); });
}

void ShiftedLines::copyFirst(const Operand &operand, const Source &source, const Line &line, Value to) {
  const auto elementBytes = uint32_t(elementBytesOf(operand));
  Type element = k_.b.getIntegerType(elementBytes * 8);
  k_.loop(k_.number(0), k_.number(kVectorBytes / elementBytes), k_.number(1), {}, [&](Value number, ValueRange) {
    Value isInside = k_.both(k_.less(number, line.end), k_.less(source.before, k_.add(number, k_.number(1))));
    auto read = [&]() -> SmallVector<Value> {
      return {k_.load(element, k_.at(source.base, element, number), elementBytes)};
    };
    auto zero = [&]() -> SmallVector<Value> {
      return {arith::ConstantOp::create(k_.b, k_.loc, k_.b.getIntegerAttr(element, 0))};
    };
    k_.store(k_.choose(isInside, element, read, zero).front(), k_.at(to, element, number), elementBytes);
    return SmallVector<Value>();
  });
}

/// Lines lie in the order of their numbers.
void ShiftedLines::findInside(TileSpace &space, const Operand &operand, const Source &source, Pieces &pieces) {
  const int64_t elementBytes = elementBytesOf(operand);
  Value none = k_.number(0), inVector = k_.number(kVectorBytes / elementBytes), one = k_.number(1);
  auto firstOfLine = [&](int64_t line) {
    Value element = firstOf(space, operand, k_.number(line), none, /*mayEnd=*/false).element;
    return k_.add(element, source.before);
  };
  // The tensor's first vector may begin before it does.
  Value isWhole = k_.less(none, k_.select(k_.equal(source.before, none), one, k_.div(firstOfLine(0), inVector)));
  pieces.firstInside = k_.word(k_.select(isWhole, none, one));
  // Behind the last vector of the first step; those of so many more are the tensor's, too.
  Value end = k_.add(firstOfLine(linesOf(operand) - 1), k_.number((kLineBytes + kVectorBytes) / elementBytes));
  Value next = k_.select(k_.equal(pieces.next, none), one, pieces.next); // the same lines in each step
  Value inTensor = k_.add(k_.div(k_.sub(source.end, k_.min(end, source.end)), next), one);
  // Numbers of vectors, and of steps, are words.
  Value areWords = k_.less(source.end, k_.number((int64_t(kVectorBytes) << 32) / elementBytes));
  Value areInside = k_.both(areWords, k_.less(end, k_.add(source.end, one)));
  Value steps = k_.min(inTensor, k_.div(space.reduced(), k_.number(kernel_.depth)));
  pieces.behindInside = k_.word(k_.select(areInside, steps, none));
}

ShiftedLines::Pieces ShiftedLines::findPieces(TileSpace &space, const Operand &operand) {
  const Source source = sourceOf(operand);
  const int64_t elementBytes = elementBytesOf(operand);
  Value none = k_.number(0);
  auto firstAt = [&](Value reduced) { return firstOf(space, operand, none, reduced, /*mayEnd=*/false).element; };
  Pieces pieces;
  pieces.base = source.base;
  pieces.next = k_.number(kernel_.depth);
  if (!operand.isAlongReduced)
    pieces.next = k_.mul(k_.sub(firstAt(k_.number(1)), firstAt(none)), k_.number(kernel_.depth));
  findInside(space, operand, source, pieces);
  auto lineAt = [&](Value number) {
    const TileSpace::Numbered first = firstOf(space, operand, number, none, /*mayEnd=*/false);
    Value begin = k_.add(first.element, source.before), inVector = k_.number(kVectorBytes / elementBytes);
    return Line{k_.div(begin, inVector), k_.rem(begin, inVector), {}};
  };
  forEach(linesOf(operand) * kVectors, [&](Value number, uint32_t) {
    const Line line = lineAt(k_.div(number, k_.number(kVectors)));
    pieces.vectors.push_back(k_.word(k_.add(line.vector, k_.rem(number, k_.number(kVectors)))));
  });
  // Threads that have no line find one behind the tile's: nobody asks for it.
  Value thread = k_.opaque(k_.thread());
  for (uint32_t first = 0; first < linesOf(operand); first += threads_) {
    const Line line = lineAt(k_.add(thread, k_.number(first)));
    pieces.lasts.push_back(k_.word(k_.add(line.vector, k_.number(kVectors))));
    pieces.notes.push_back(k_.word(k_.mul(line.behind, k_.number(elementBytes))));
  }
  return pieces;
}

void ShiftedLines::askInside(const Operand &operand, const Pieces &pieces, Value stage, Value step, Value inTile) {
  Value moved = k_.at(pieces.base, operand.value.getType(), k_.mul(inTile, pieces.next));
  auto copy = [&](Value to, Value word) {
    Value vector = arith::ExtUIOp::create(k_.b, k_.loc, k_.b.getI64Type(), word);
    core_.copyAsync(to, k_.at(moved, vectorOf(k_), vector), {});
  };
  forEach(linesOf(operand) * kVectors, [&](Value number, uint32_t which) {
    Value line = k_.div(number, k_.number(kVectors)), vector = k_.rem(number, k_.number(kVectors));
    copy(place(stage, inStage(operand, line), vector), pieces.vectors[which]);
  });
  forEach(linesOf(operand), [&](Value number, uint32_t which) {
    Value line = inStage(operand, number);
    copy(beside(step, line), pieces.lasts[which]);
    k_.store(pieces.notes[which], note(step, line), kNoteBytes);
  });
}

/// Steps that have vectors which are not the tensor's, or not all of their reduced elements.
void ShiftedLines::askAtEnds(TileSpace &space, const Operand &operand, Value stage, Value step, Value inTile) {
  const Source source = sourceOf(operand);
  Value firstReduced = k_.mul(inTile, k_.number(kernel_.depth)), inLine = k_.number(kVectors);
  loopOver(linesOf(operand) * kVectors, [&](Value number) {
    Bodies::Scope scope(kernel_.bodies);
    Value inTile = k_.div(number, inLine), vector = k_.rem(number, inLine);
    const Line line = lineOf(space, operand, source, inTile, firstReduced);
    Value to = place(stage, inStage(operand, inTile), vector), none = k_.number(0);
    copy(operand, source, line, vector, to);
    k_.when(k_.both(k_.less(none, source.before), k_.equal(k_.add(line.vector, vector), none)),
            [&] { copyFirst(operand, source, line, to); });
  });
  loopOver(linesOf(operand), [&](Value number) {
    Bodies::Scope scope(kernel_.bodies);
    const Line line = lineOf(space, operand, source, number, firstReduced);
    copy(operand, source, line, inLine, beside(step, inStage(operand, number)));
    Value bytes = k_.mul(line.behind, k_.number(elementBytesOf(operand)));
    k_.store(k_.word(bytes), note(step, inStage(operand, number)), kNoteBytes);
  });
}

void ShiftedLines::ask(TileSpace &space, const Operand &operand, const Pieces &pieces, Value stage, Value step,
                       Value inTile) {
  auto compare = [&](arith::CmpIPredicate how, Value word) {
    return arith::CmpIOp::create(k_.b, k_.loc, how, k_.word(inTile), word).getResult();
  };
  k_.branch(
      k_.both(compare(arith::CmpIPredicate::uge, pieces.firstInside),
              compare(arith::CmpIPredicate::ult, pieces.behindInside)),
      [&] { askInside(operand, pieces, stage, step, inTile); },
      [&] { askAtEnds(space, operand, stage, step, inTile); });
}

/// A thread has a line, and shifts one half of it after the other: what is written has been read. Where lanes vote, or
/// wait for each other, code of the producer that has no lines gets no uniform registers either, from which copies of
/// boxes take addresses.
void ShiftedLines::shift(Value stage, Value step) {
  constexpr uint32_t kInHalf = kVectors / kHalves, kWords = kVectorBytes / kWordBytes;
  const auto elementBytes = unsigned(elementBytesOf(kernel_.product.left));
  const bool isRounded = kernel_.product.warpElement().isTF32();
  forEach(kernel_.rows + kernel_.columns, [&](Value line, uint32_t) {
    Value behind = k_.load(k_.b.getI32Type(), note(step, line), kNoteBytes);
    auto vectorAt = [&](uint32_t vector) {
      return vector < kVectors ? place(stage, line, k_.number(vector)) : beside(step, line);
    };
    auto shiftLine = [&] {
      SmallVector<Value> words;
      auto read = [&](uint32_t vector) {
        Value all = k_.load(vectorOf(k_), vectorAt(vector), kVectorBytes);
        for (uint32_t word = 0; word < kWords; ++word)
          words.push_back(LLVM::ExtractElementOp::create(k_.b, k_.loc, all, k_.number(word)));
      };
      read(0);
      for (uint32_t half = 0; half < kHalves; ++half) {
        for (uint32_t vector = 1; vector <= kInHalf; ++vector)
          read(half * kInHalf + vector);
        SmallVector<Value> run = shiftedWords(k_, words, behind, elementBytes, kInHalf * kWords);
        if (isRounded)
          for (Value &word : run)
            word = core_.toTf32(arith::BitcastOp::create(k_.b, k_.loc, k_.b.getF32Type(), word));
        for (uint32_t vector = 0; vector < kInHalf; ++vector)
          k_.store(vectorOfWords(k_, ArrayRef(run).slice(vector * kWords, kWords)), vectorAt(half * kInHalf + vector),
                   kVectorBytes);
        words.erase(words.begin(), words.end() - kWords);
      }
    };
    Value zero = arith::ConstantOp::create(k_.b, k_.loc, k_.b.getI32IntegerAttr(0));
    isRounded ? shiftLine()
              : k_.when(arith::CmpIOp::create(k_.b, k_.loc, arith::CmpIPredicate::ne, behind, zero), shiftLine);
  });
}

} // namespace tenon::compiler::codegen
