// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "emulator/async/async.h"

#include "emulator/async/mbarrier.h"
#include "emulator/check/shadow_checker.h"
#include "emulator/machine/cluster.h"
#include "emulator/machine/fault.h"
#include "emulator/machine/half_value.h"
#include "emulator/memory/cell.h"

#include <algorithm>
#include <cstring>
#include <cuda.h>

namespace tenon::emulator {
namespace {

/// To 10 bits of mantissa, halves to even, as cvt.rn.tf32 does.
uint32_t roundTf32(uint32_t bits) {
  if ((bits & 0x7f800000) == 0x7f800000)
    return bits & 0x7fffff ? 0x7fffe000 : bits;
  return (bits + 0xfff + (bits >> 13 & 1)) & ~0x1fffu;
}

template <typename T> T reduce(ElementOp op, T old, T value) {
  using U = std::make_unsigned_t<T>;
  switch (op) {
  case ElementOp::Add:
    return static_cast<T>(static_cast<U>(old) + static_cast<U>(value));
  case ElementOp::Min:
    return std::min(old, value);
  case ElementOp::Max:
    return std::max(old, value);
  case ElementOp::Inc:
    return old >= value ? T(0) : static_cast<T>(old + 1);
  case ElementOp::Dec:
    return old == 0 || old > value ? value : static_cast<T>(old - 1);
  case ElementOp::And:
    return old & value;
  case ElementOp::Or:
    return old | value;
  case ElementOp::Xor:
    return old ^ value;
  default:
    return value;
  }
}
template <typename F> F reduceFloat(ElementOp op, F old, F value) {
  if (op == ElementOp::Add)
    return old + value;
  if (old != old || value != value) // the number wins
    return old != old ? value : old;
  return op == ElementOp::Min ? std::min(old, value) : std::max(old, value);
}

/// Each element is replaced atomically; several are not. Pieces lie at multiples of 16 bytes.
template <typename T, typename F> void each(const CopyPlan &plan, const CopyPiece &piece, const uint8_t *from, F &&f) {
  for (uint32_t k = 0; k + sizeof(T) <= piece.bytes; k += sizeof(T)) {
    T value;
    memcpy(&value, from + k, sizeof(T));
    replaceCell(reinterpret_cast<T *>(piece.to + k), plan.contended, [&](T old) { return f(old, value); });
  }
}

void writePiece(const CopyPlan &plan, const CopyPiece &piece, const uint8_t *from) {
  switch (plan.op) {
  case ElementOp::Copy:
    memmove(piece.to, from, piece.bytes);
    return;
  case ElementOp::RoundTf32:
    return each<uint32_t>(plan, piece, from, [](uint32_t, uint32_t v) { return roundTf32(v); });
  default:
    break;
  }
  ElementOp op = plan.op;
  switch (plan.type) {
  case ElementType::U8:
    return each<uint8_t>(plan, piece, from, [op](uint8_t a, uint8_t b) { return reduce(op, a, b); });
  case ElementType::U16:
    return each<uint16_t>(plan, piece, from, [op](uint16_t a, uint16_t b) { return reduce(op, a, b); });
  case ElementType::U32:
    return each<uint32_t>(plan, piece, from, [op](uint32_t a, uint32_t b) { return reduce(op, a, b); });
  case ElementType::S32:
    return each<int32_t>(plan, piece, from, [op](int32_t a, int32_t b) { return reduce(op, a, b); });
  case ElementType::U64:
    return each<uint64_t>(plan, piece, from, [op](uint64_t a, uint64_t b) { return reduce(op, a, b); });
  case ElementType::S64:
    return each<int64_t>(plan, piece, from, [op](int64_t a, int64_t b) { return reduce(op, a, b); });
  case ElementType::F16:
    return each<uint16_t>(plan, piece, from, [op](uint16_t a, uint16_t b) {
      return HalfConvert::narrow(reduceFloat(op, HalfConvert::widen(a), HalfConvert::widen(b)));
    });
  case ElementType::BF16:
    return each<uint16_t>(plan, piece, from, [op](uint16_t a, uint16_t b) {
      return BFloatConvert::narrow(reduceFloat(op, BFloatConvert::widen(a), BFloatConvert::widen(b)));
    });
  case ElementType::F32:
    return each<float>(plan, piece, from, [](float a, float b) { return addSingle(a, b, true); }); // only added
  case ElementType::F64:
    return each<double>(plan, piece, from, [op](double a, double b) { return reduceFloat(op, a, b); });
  }
}

void fillPiece(const CopyPlan &plan, const CopyPiece &piece) {
  uint32_t size = elementSize(plan.type);
  for (uint32_t k = 0; k < piece.bytes; k += size)
    memcpy(piece.to + k, &plan.fill, std::min(size, piece.bytes - k));
}

void readSource(CopyPlan &plan) {
  if (plan.isRead)
    return;
  plan.isRead = true;
  for (const CopyPiece &piece : plan.pieces)
    if (piece.from)
      plan.buffer.insert(plan.buffer.end(), piece.from, piece.from + piece.bytes);
}

/// Returns what is wrong with the mbarrier, or null.
const char *carryOut(CopyPlan &plan) {
  size_t at = 0;
  for (const CopyPiece &piece : plan.pieces) {
    if (!piece.from) {
      fillPiece(plan, piece);
      continue;
    }
    writePiece(plan, piece, plan.isRead ? plan.buffer.data() + at : piece.from);
    at += piece.bytes;
  }
  plan.isDone = true;
  if (plan.checker)
    for (const CopyPiece &piece : plan.pieces)
      plan.checker->bytesWritten(piece.to, piece.bytes);
  if (!plan.mbarrier)
    return nullptr;
  bool phase = Mbarrier::unpack(*plan.mbarrier).parity;
  const char *wrong = completeBytes(plan.mbarrier, plan.mbarrierBytes);
  if (plan.checker && phase != Mbarrier::unpack(*plan.mbarrier).parity)
    plan.checker->completeMbarrier(plan.mbarrier);
  return wrong;
}

void dropDone(AsyncWork &work) {
  std::erase_if(work.copies, [](const AsyncWork::Bulk &copy) { return copy.plan.isDone; });
}

} // namespace

AsyncWork &asyncWork(Warp &warp) {
  if (!warp.async)
    warp.async = std::make_shared<AsyncWork>();
  return *warp.async;
}

bool submit(Warp &warp, const Decoded &i, uint32_t lane, CopyPlan plan) {
  ++warp.block->cluster->events;
  auto refuse = [&](const char *wrong) {
    raiseFault(warp, i, lane, CUDA_ERROR_ILLEGAL_INSTRUCTION, wrong);
    return false;
  };
  if (plan.mbarrier && !Mbarrier::isValid(*plan.mbarrier))
    return refuse("the mbarrier object of an asynchronous copy was not initialised");
  plan.checker = warp.executor->checker;
  plan.contended = warp.executor->shared != nullptr;
  if (plan.checker && !plan.checker->copyIssued(warp, i, lane, plan))
    return false;
  if (!warp.executor->launch->checks.async) {
    const char *wrong = carryOut(plan);
    return wrong ? refuse(wrong) : true;
  }
  if (plan.op < ElementOp::Add || plan.op > ElementOp::Xor) // a reduction needs what is there
    for (const CopyPiece &piece : plan.pieces)
      memset(piece.to, kPoison, piece.bytes);
  asyncWork(warp).copies.push_back({std::move(plan), lane, 0});
  return true;
}

void commitBulkGroup(Warp &warp, uint32_t mask) {
  if (ShadowChecker *checker = warp.executor->checker)
    checker->commitBulkGroup(warp, mask);
  if (!warp.async)
    return;
  for (AsyncWork::Bulk &copy : warp.async->copies)
    if ((mask >> copy.lane & 1) && !copy.plan.mbarrier && copy.group == 0)
      copy.group = warp.async->groups[copy.lane] + 1;
  for (uint32_t rest = mask; rest; rest &= rest - 1)
    ++warp.async->groups[__builtin_ctz(rest)];
}

void waitBulkGroup(Warp &warp, uint32_t mask, uint32_t keep, bool readOnly) {
  if (ShadowChecker *checker = warp.executor->checker)
    checker->waitBulkGroup(warp, mask, keep, readOnly);
  if (!warp.async)
    return;
  AsyncWork &work = *warp.async;
  for (AsyncWork::Bulk &copy : work.copies) {
    if (!(mask >> copy.lane & 1) || copy.group == 0 || work.groups[copy.lane] - copy.group < keep)
      continue;
    if (readOnly)
      readSource(copy.plan);
    else
      carryOut(copy.plan);
  }
  dropDone(work);
}

bool completeCopiesOf(Warp &warp, const uint64_t *mbarrier) {
  bool any = false;
  for (const auto &block : warp.block->cluster->blocks)
    for (Warp &other : block->warps) {
      if (!other.async)
        continue;
      for (AsyncWork::Bulk &copy : other.async->copies)
        if (copy.plan.mbarrier == mbarrier) {
          carryOut(copy.plan);
          ++warp.block->cluster->events;
          any = true;
        }
      dropDone(*other.async);
    }
  return any;
}

void finishAsync(Block &block) {
  for (Warp &warp : block.warps) {
    if (!warp.async)
      continue;
    for (AsyncWork::Bulk &copy : warp.async->copies)
      carryOut(copy.plan);
    warp.async.reset();
  }
}

} // namespace tenon::emulator
