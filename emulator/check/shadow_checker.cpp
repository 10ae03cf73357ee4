// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "emulator/check/shadow_checker.h"

#include "emulator/machine/decoded_kernel.h"
#include "support/text/demangle.h"

#include <algorithm>

namespace tenon::emulator {

static constexpr uint64_t kInstructionsAfterRace = 1u << 20; // a race may keep a kernel from ending

ShadowChecker::ShadowChecker(const Launch &launch, Executor &executor) : launch_(launch), executor_(executor) {
  for (const auto &code : launch.kernel->functions) {
    codes_.push_back({code.get(), static_cast<uint32_t>(orders_.size())});
    for (const ptx::Instruction &instruction : code->function->instructions)
      orders_.push_back(memoryOrderOf(instruction));
    orders_.emplace_back(); // falling off the end
  }
}

void ShadowChecker::startBlock(Block &block) {
  std::unique_ptr<BlockShadow> &shadow = shadows_[&block];
  if (!shadow)
    shadow = std::make_unique<BlockShadow>();
  block.shadow = shadow.get();
  noteEarlyReads(*shadow);
  shadow->phase = 0;
  const DecodedKernel &kernel = *launch_.kernel;
  uint32_t end = kernel.dynamicSharedStart + launch_.dynamicShared;
  RaceDetector::start(shadow->clocks, block.linear, block.threads, end);
  shadow->shared.assign(end, BlockShadow::ByteState::Outside);
  auto open = [&](uint32_t from, uint32_t to) {
    std::fill(shadow->shared.begin() + from, shadow->shared.begin() + to, BlockShadow::ByteState::Unset);
  };
  for (const SharedVariable &variable : kernel.sharedVariables)
    open(variable.offset, variable.offset + variable.bytes);
  open(kernel.dynamicSharedStart, end);
  if (kernel.usesReservedShared) // zeros
    std::fill_n(shadow->shared.begin(), kReservedSharedBytes, BlockShadow::ByteState::Set);
}

uint32_t ShadowChecker::number(const Warp &warp, const Decoded &instruction) {
  if (!last_ || last_->code != warp.frame->code)
    for (const Code &code : codes_)
      if (code.code == warp.frame->code)
        last_ = &code;
  return last_->first + instruction.instruction;
}

bool ShadowChecker::access(Warp &warp, const Decoded &instruction, uint32_t lane, Block *owner, uint64_t address,
                           uint32_t bytes, bool isWrite, const uint8_t *value) {
  RaceDetector::Access access;
  access.instruction = number(warp, instruction);
  access.order = orders_[access.instruction];
  access.address = address;
  access.bytes = bytes;
  access.isWrite = isWrite;
  if (value && !access.order.strong) {
    const uint8_t *there =
        owner ? owner->sharedMemory + address : reinterpret_cast<const uint8_t *>(address + executor_.hostBias);
    access.sameValue = std::equal(value, value + bytes, there);
  }
  if (!checkBytes(warp, instruction, lane, owner, address, bytes, isWrite, access.order))
    return false;
  return remember(warp, lane, owner ? &owner->shadow->clocks : nullptr, access);
}

/// False: enough races were found, the launch ends.
bool ShadowChecker::remember(Warp &warp, uint32_t lane, BlockClocks *owner, const RaceDetector::Access &access) {
  if (!launch_.checks.races)
    return true;
  bool metSameValue = false;
  auto conflict = races_.access(warp.block->shadow->clocks, warp.index * kLanes + lane, owner, access, &metSameValue);
  if (metSameValue && sameValues_.insert(access.instruction).second)
    notes_.push_back("kernel '" + readableName(launch_.kernel->name) +
                     "': [races] threads write the same value to one place, which is no mistake\n  at " +
                     place(access.instruction));
  if (conflict)
    reportRace(warp, lane, owner != nullptr, access, *conflict);
  if (hasEnough() && !executor_.failed()) {
    std::erase_if(found_, [](const Race &race) { return race.plainRead; }); // not yet known to be one
    conclude(executor_.fault);
    if (executor_.failed())
      return false;
  }
  return true;
}

/// Of races that are certain; a plain read that meets an atomic may still turn out to be none.
bool ShadowChecker::hasEnough() const {
  if (!foundCertain_)
    return false;
  const auto certain = std::count_if(found_.begin(), found_.end(), [](const Race &race) { return !race.plainRead; });
  return certain >= static_cast<ptrdiff_t>(kMostFound) ||
         executor_.instructions - firstFoundAt_ > kInstructionsAfterRace;
}

} // namespace tenon::emulator
