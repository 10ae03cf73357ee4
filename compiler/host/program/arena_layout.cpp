// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "compiler/host/program/arena_layout.h"

#include "abi/format/arithmetic.h"

#include <algorithm>
#include <map>
#include <numeric>

namespace tenon::compiler::host {
namespace {

struct Piece {
  BufferIndex buffer = 0;
  size_t first = 0, last = 0; // commands that use it, both included
  int64_t factor = 0;         // bytes, or what the family's product is multiplied with
  int64_t units = 0, offset = 0;
};

bool meet(size_t aFirst, size_t aLast, size_t bFirst, size_t bLast) {
  return aFirst <= bLast && bFirst <= aLast;
}

/// Transients whose sizes are multiples of one register; kNoRegister: of one byte.
struct Family {
  Register product = kNoRegister;
  std::vector<Piece> pieces;
  Register unit = kNoRegister, bytes = kNoRegister;
  size_t first = 0, last = 0; // of all its pieces
  size_t slot = 0;
};

/// bytes = factor * product.
std::pair<int64_t, Register> splitSize(const RegisterProgram &registers, Register bytes) {
  if (std::optional<int64_t> value = registers.constantValue(bytes))
    return {*value, kNoRegister};
  const RegisterOperation operation = registers.operations()[bytes];
  if (operation.opcode == Opcode::Mul)
    for (auto [factor, rest] : {std::pair(operation.a, operation.b), std::pair(operation.b, operation.a)}) {
      std::optional<int64_t> value = registers.constantValue(factor);
      if (!value || *value <= 0)
        continue;
      const auto [inner, product] = splitSize(registers, rest);
      if (abi::ArithmeticResult both = abi::evaluate(Opcode::Mul, *value, inner); both.ok())
        return {both.value, product};
    }
  return {1, bytes};
}

void useBuffer(std::map<BufferIndex, Piece> &pieces, BufferIndex buffer, size_t command) {
  Piece &piece = pieces.try_emplace(buffer, Piece{.buffer = buffer, .first = command}).first->second;
  piece.last = command;
}

/// Transients that commands use, without what outlives the call.
std::map<BufferIndex, Piece> findPieces(const Function &function) {
  std::map<BufferIndex, Piece> pieces;
  for (size_t at = 0; at < function.commands.size(); ++at) {
    if (const auto *dispatch = std::get_if<Dispatch>(&function.commands[at].body)) {
      for (BufferIndex binding : dispatch->bindings)
        useBuffer(pieces, binding, at);
    } else if (const auto *copy = std::get_if<Copy>(&function.commands[at].body)) {
      useBuffer(pieces, copy->source, at);
      useBuffer(pieces, copy->target, at);
    }
  }
  for (const ResultValue &result : function.results)
    if (result.element != kNoRegister) // read back once the commands are done
      useBuffer(pieces, result.buffer, function.commands.size());
  std::erase_if(pieces,
                [&](const auto &entry) { return function.buffers[entry.first].source != BufferSource::Transient; });
  auto outlives = [&](const ResultValue &value) {
    if (value.type.isTensor)
      pieces.erase(value.buffer);
  };
  for (const ResultValue &result : function.results)
    outlives(result);
  for (const Expectation &expectation : function.expectations) {
    outlives(expectation.found);
    if (expectation.wanted)
      outlives(*expectation.wanted);
  }
  return pieces;
}

/// In the order of their first transients.
std::vector<Family> formFamilies(const Function &function) {
  std::vector<Family> families;
  for (auto &[buffer, piece] : findPieces(function)) {
    const auto [factor, product] = splitSize(function.registers, function.buffers[buffer].size);
    auto family = std::find_if(families.begin(), families.end(),
                               [product = product](const Family &known) { return known.product == product; });
    if (family == families.end())
      family = families.insert(families.end(), Family{.product = product, .pieces = {}});
    piece.factor = factor;
    family->pieces.push_back(piece);
  }
  return families;
}

/// First fit by decreasing size, in units. @return units of the whole
int64_t pack(std::vector<Piece> &pieces) {
  std::vector<Piece *> order;
  for (Piece &piece : pieces)
    order.push_back(&piece);
  std::sort(order.begin(), order.end(), [](const Piece *a, const Piece *b) {
    return a->units != b->units ? a->units > b->units : a < b; // of equal ones, the first in the vector
  });
  int64_t total = 0;
  std::vector<const Piece *> placed; // by offset
  for (Piece *piece : order) {
    for (const Piece *other : placed)
      if (meet(piece->first, piece->last, other->first, other->last) && piece->offset < other->offset + other->units &&
          other->offset < piece->offset + piece->units)
        piece->offset = other->offset + other->units;
    total = std::max(total, piece->offset + piece->units);
    placed.insert(std::upper_bound(placed.begin(), placed.end(), piece,
                                   [](const Piece *a, const Piece *b) { return a->offset < b->offset; }),
                  piece);
  }
  return total;
}

/// Offsets within the family, and its size.
void packFamily(Family &family, RegisterProgram &registers) {
  const Register alignment = registers.constant(kArenaAlignment);
  if (family.product == kNoRegister) {
    family.unit = alignment;
    for (Piece &piece : family.pieces)
      piece.units = piece.factor / kArenaAlignment + (piece.factor % kArenaAlignment != 0);
  } else {
    int64_t common = 0;
    for (const Piece &piece : family.pieces)
      common = std::gcd(common, piece.factor);
    family.unit = registers.binary(Opcode::Align, registers.mul(family.product, registers.constant(common)), alignment);
    for (Piece &piece : family.pieces)
      piece.units = piece.factor / common;
  }
  family.bytes = registers.mul(family.unit, registers.constant(pack(family.pieces)));
  family.first = family.pieces.front().first;
  for (const Piece &piece : family.pieces) {
    family.first = std::min(family.first, piece.first);
    family.last = std::max(family.last, piece.last);
  }
}

/// Families of one slot follow each other in time. @return slots
size_t assignSlots(std::vector<Family> &families) {
  std::vector<Family *> order;
  for (Family &family : families)
    order.push_back(&family);
  std::sort(order.begin(), order.end(),
            [](const Family *a, const Family *b) { return a->first != b->first ? a->first < b->first : a < b; });
  std::vector<size_t> ends; // [slots] last command of the slot's last family
  for (Family *family : order) {
    auto free = std::find_if(ends.begin(), ends.end(), [&](size_t end) { return end < family->first; });
    family->slot = size_t(free - ends.begin());
    if (free == ends.end())
      ends.push_back(family->last);
    else
      *free = family->last;
  }
  return ends.size();
}

} // namespace

void layOutArena(Function &function) {
  RegisterProgram &registers = function.registers;
  std::vector<Family> families = formFamilies(function);
  if (families.empty())
    return;
  for (Family &family : families)
    packFamily(family, registers);
  const size_t slots = assignSlots(families);
  Register base = registers.constant(0);
  for (size_t slot = 0; slot < slots; ++slot) {
    Register bytes = kNoRegister;
    for (const Family &family : families) {
      if (family.slot != slot)
        continue;
      bytes = bytes == kNoRegister ? family.bytes : registers.binary(Opcode::Max, bytes, family.bytes);
      for (const Piece &piece : family.pieces)
        function.buffers[piece.buffer].offset =
            registers.add(base, registers.mul(family.unit, registers.constant(piece.offset)));
    }
    base = registers.add(base, bytes);
  }
  function.arena = base;
}

} // namespace tenon::compiler::host
