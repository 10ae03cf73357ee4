// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// One asynchronous copy as a list of pieces to move, all of them checked (async/async.h says when it is carried out).
#pragma once

#include "emulator/machine/machine.h"

#include <vector>

namespace tenon::emulator {

/// What happens to each element on its way.
enum class ElementOp : uint8_t { Copy, Add, Min, Max, Inc, Dec, And, Or, Xor, RoundTf32 };
enum class ElementType : uint8_t { U8, U16, U32, S32, U64, S64, F16, BF16, F32, F64 };
/// In bytes.
inline uint32_t elementSize(ElementType type) {
  switch (type) {
  case ElementType::U8:
    return 1;
  case ElementType::U16:
  case ElementType::F16:
  case ElementType::BF16:
    return 2;
  case ElementType::U32:
  case ElementType::S32:
  case ElementType::F32:
    return 4;
  case ElementType::U64:
  case ElementType::S64:
  case ElementType::F64:
    return 8;
  }
  return 1;
}

struct CopyPiece {
  uint8_t *to = nullptr;
  const uint8_t *from = nullptr; // null: filled with CopyPlan::fill
  uint32_t bytes = 0;
};

struct CopyPlan {
  ShadowChecker *checker = nullptr; // hears when the bytes come; null: no shadow memory
  std::vector<CopyPiece> pieces;
  ElementOp op = ElementOp::Copy;
  ElementType type = ElementType::U8;
  uint64_t fill = 0;            // the element that a piece without source is made of
  uint64_t *mbarrier = nullptr; // the object that hears of `mbarrierBytes`, or null: a bulk group
  uint32_t mbarrierBytes = 0;
  std::vector<uint8_t> buffer; // the source, once it was read
  bool isRead = false, isDone = false;
  bool contended = false; // other blocks run now: what is reduced into may be theirs as well
};

} // namespace tenon::emulator
