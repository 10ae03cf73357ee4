// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "emulator/check/knowledge.h"

#include <algorithm>

namespace tenon::emulator {
namespace {

using Vector = std::vector<uint32_t>;

void raise(Vector &to, const Vector &from) {
  if (to.size() < from.size())
    to.resize(from.size());
  for (size_t k = 0; k < from.size(); ++k)
    to[k] = std::max(to[k], from[k]);
}
void raise(Vector &to, uint32_t index, uint32_t clock) {
  if (to.size() <= index)
    to.resize(index + 1);
  to[index] = std::max(to[index], clock);
}

} // namespace

std::vector<Knowledge::Remote>::iterator Knowledge::find(uint64_t block) {
  return std::lower_bound(others_.begin(), others_.end(), block,
                          [](const Remote &remote, uint64_t wanted) { return remote.block < wanted; });
}

uint32_t Knowledge::of(uint64_t block, uint32_t thread) const {
  if (block == block_)
    return atHome(thread);
  auto at = const_cast<Knowledge *>(this)->find(block);
  return at != others_.end() && at->block == block && thread < at->clocks->size() ? (*at->clocks)[thread] : 0;
}

void Knowledge::joinBlock(uint64_t block, const Clocks &clocks) {
  if (block == block_) {
    raise(home_, *clocks);
    return;
  }
  auto at = find(block);
  if (at == others_.end() || at->block != block) {
    others_.insert(at, Remote{block, clocks});
    return;
  }
  if (at->clocks == clocks)
    return;
  auto both = std::make_shared<std::vector<uint32_t>>(*at->clocks);
  raise(*both, *clocks);
  at->clocks = std::move(both);
}

void Knowledge::join(const Knowledge &other) {
  if (other.block_ == block_) {
    raise(home_, other.home_);
  } else {
    joinBlock(other.block_, std::make_shared<const std::vector<uint32_t>>(other.home_));
  }
  for (const Remote &remote : other.others_)
    joinBlock(remote.block, remote.clocks);
}

void Knowledge::note(uint64_t block, uint32_t thread, uint32_t clock) {
  if (block == block_) {
    raise(home_, thread, clock);
    return;
  }
  auto at = find(block);
  std::vector<uint32_t> clocks =
      at != others_.end() && at->block == block ? *at->clocks : std::vector<uint32_t>(home_.size());
  raise(clocks, thread, clock);
  Clocks made = std::make_shared<const std::vector<uint32_t>>(std::move(clocks));
  if (at != others_.end() && at->block == block)
    at->clocks = std::move(made);
  else
    others_.insert(at, Remote{block, std::move(made)});
}

void Gathering::add(const KnowledgePtr &base, uint64_t block, uint32_t thread, uint32_t clock) {
  if (!value_) {
    value_ = std::make_shared<Knowledge>(*base);
  } else {
    if (value_.use_count() > 1) // somebody has acquired it: it stays as it was for them
      value_ = std::make_shared<Knowledge>(*value_);
    if (last_ != base)
      value_->join(*base);
  }
  last_ = base;
  value_->note(block, thread, clock);
}

KnowledgePtr Gathering::take() {
  last_.reset();
  return std::move(value_);
}

KnowledgePtr joined(const KnowledgePtr &a, const KnowledgePtr &b) {
  if (!a || !b || a == b)
    return a ? a : b;
  auto both = std::make_shared<Knowledge>(*a);
  both->join(*b);
  return both;
}

void Knowledge::copyHome(const Knowledge &other, uint32_t first, uint32_t count) {
  for (uint32_t thread = first; thread < first + count && thread < home_.size(); ++thread)
    home_[thread] = other.atHome(thread);
}

} // namespace tenon::emulator
