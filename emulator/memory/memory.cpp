// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Arena, spans and quarantine: first fit over coalesced free spans; a span holds an allocation and the gap behind it.
#include "emulator/memory/memory.h"

#include "emulator/machine/machine.h"
#include "emulator/memory/sized_file.h"
#include "support/align.h"
#include "support/number.h"

#include <algorithm>
#include <cstdio>
#include <cstring>
#include <fcntl.h>
#include <sys/mman.h>
#include <unistd.h>

namespace tenon::emulator {
namespace {

constexpr uint64_t kPage = 4096;
constexpr uint64_t kQuarantineBytes = 64ull << 20;
constexpr uint64_t kPoisonLimit = 1ull << 20;
constexpr uint8_t kFreedByte = 0xdb; // freed memory reads as this until it is given out again

bool hostVisible(AllocationKind kind) {
  return kind == AllocationKind::Pinned || kind == AllocationKind::Managed;
}

} // namespace

Memory::Memory(uint64_t bytes, uint64_t preferred, uint64_t hostPreferred) {
  file_ = createSizedFile("tenon-emulator", MFD_CLOEXEC, bytes);
  if (file_ < 0)
    return;
  constexpr int kFlags = MAP_SHARED | MAP_NORESERVE;
  // The kernel takes the wanted place when it is free, and any other when not.
  void *device = mmap(reinterpret_cast<void *>(preferred), bytes, PROT_NONE, kFlags, file_, 0);
  void *host = mmap(reinterpret_cast<void *>(hostPreferred), bytes, PROT_READ | PROT_WRITE, kFlags, file_, 0);
  if (device == MAP_FAILED || host == MAP_FAILED) {
    if (device != MAP_FAILED)
      munmap(device, bytes);
    if (host != MAP_FAILED)
      munmap(host, bytes);
    return;
  }
  madvise(host, bytes, MADV_DONTFORK);
  device_ = reinterpret_cast<uint64_t>(device);
  host_ = static_cast<uint8_t *>(host);
  size_ = bytes;
  freeSpans_[device_ + kPage] = bytes - kPage;
}

Memory::~Memory() {
  if (host_) {
    munmap(reinterpret_cast<void *>(device_), size_);
    munmap(host_, size_);
  }
  if (file_ >= 0)
    close(file_);
}

uint64_t Memory::takeSpan(uint64_t bytes) {
  for (auto it = freeSpans_.begin(); it != freeSpans_.end(); ++it) {
    if (it->second < bytes)
      continue;
    uint64_t begin = it->first, rest = it->second - bytes;
    freeSpans_.erase(it);
    if (rest)
      freeSpans_[begin + bytes] = rest;
    return begin;
  }
  return 0;
}

void Memory::releaseSpan(uint64_t begin, uint64_t bytes) {
  auto next = freeSpans_.lower_bound(begin);
  if (next != freeSpans_.end() && next->first == begin + bytes) {
    bytes += next->second;
    next = freeSpans_.erase(next);
  }
  if (next != freeSpans_.begin()) {
    auto previous = std::prev(next);
    if (previous->first + previous->second == begin) {
      previous->second += bytes;
      return;
    }
  }
  freeSpans_[begin] = bytes;
}

void Memory::releaseOldest() {
  Allocation &oldest = quarantine_.front();
  quarantined_ -= oldest.spanBytes;
  releaseSpan(oldest.spanBegin, oldest.spanBytes);
  quarantine_.pop_front();
}

uint64_t Memory::allocate(uint64_t bytes, AllocationKind kind, std::string name) {
  if (bytes > size_)
    return 0;
  // Host-visible memory owns whole pages, because its protection differs.
  uint64_t unit = hostVisible(kind) ? kPage : kAlignment;
  uint64_t gap = hostVisible(kind) ? kPage : kAlignment;
  uint64_t spanBytes = alignUp(bytes, unit) + gap + (hostVisible(kind) ? kPage : 0);
  uint64_t span = takeSpan(spanBytes);
  while (!span && !quarantine_.empty()) {
    releaseOldest();
    span = takeSpan(spanBytes);
  }
  if (!span)
    return 0;
  uint64_t begin = alignUp(span, unit);
  if (hostVisible(kind))
    mprotect(reinterpret_cast<void *>(begin), alignUp(bytes, kPage), PROT_READ | PROT_WRITE);
  used_ += alignUp(bytes, kAlignment);
  live_[begin] = Allocation{begin, bytes, kind, std::move(name), span, spanBytes};
  if (initialised_)
    initialised_->set(begin - device_, bytes, kind != AllocationKind::Device && kind != AllocationKind::Heap);
  return begin;
}

bool Memory::free(uint64_t address) {
  auto it = live_.find(address);
  if (it == live_.end())
    return false;
  Allocation allocation = std::move(it->second);
  live_.erase(it);
  if (allocation.kind == AllocationKind::Registered) { // not ours
    return true;
  }
  used_ -= alignUp(allocation.bytes, kAlignment);
  bool visible = hostVisible(allocation.kind);
  if (visible)
    mprotect(reinterpret_cast<void *>(allocation.begin), alignUp(allocation.bytes, kPage), PROT_NONE);
  // What comes next here must not find old data: small blocks are poisoned, the pages of large ones given back.
  if (allocation.bytes <= kPoisonLimit) {
    memset(host(allocation.begin), kFreedByte, allocation.bytes);
  } else {
    uint64_t first = alignUp(allocation.begin, kPage), last = allocation.end() / kPage * kPage;
    fallocate(file_, FALLOC_FL_PUNCH_HOLE | FALLOC_FL_KEEP_SIZE, static_cast<off_t>(first - device_),
              static_cast<off_t>(last - first));
    memset(host(allocation.begin), kFreedByte, first - allocation.begin);
    memset(host(last), kFreedByte, allocation.end() - last);
  }
  quarantined_ += allocation.spanBytes;
  quarantine_.push_back(std::move(allocation));
  while (quarantined_ > kQuarantineBytes && quarantine_.size() > 1)
    releaseOldest();
  return true;
}

uint64_t Memory::registerHost(uint64_t host, uint64_t bytes) {
  uint64_t address = host - hostBias();
  auto overlaps = [&](uint64_t begin, uint64_t size) { return address < begin + size && begin < address + bytes; };
  bool taken = address + bytes < address || overlaps(device_, size_) || overlaps(0, kPage) ||
               overlaps(kSharedWindow, kFunctionBase + kWindowBytes - kSharedWindow);
  for (const Memory *peer : peers_)
    taken |= overlaps(peer->device_, peer->size_);
  if (taken)
    return 0;
  live_[address] = Allocation{address, bytes, AllocationKind::Registered, "", 0, 0};
  return address;
}

void Memory::unregisterHost(uint64_t host) {
  auto it = live_.find(host - hostBias());
  if (it != live_.end() && it->second.kind == AllocationKind::Registered)
    free(it->first);
}

uint64_t Memory::reserve(uint64_t bytes, AllocationKind kind, uint64_t alignment) {
  if (bytes > size_ || alignment > size_)
    return 0;
  // Spans begin at multiples of kAlignment.
  const uint64_t spanBytes = alignUp(bytes, kAlignment) + (alignment - kAlignment) + kAlignment;
  uint64_t span = takeSpan(spanBytes);
  while (!span && !quarantine_.empty()) {
    releaseOldest();
    span = takeSpan(spanBytes);
  }
  if (!span)
    return 0;
  const uint64_t begin = alignUp(span, alignment);
  reservations_[begin] = Allocation{begin, bytes, kind, "", span, spanBytes};
  return begin;
}

bool Memory::mapFile(uint64_t address, uint64_t bytes, int file, uint64_t offset) {
  void *mapped = mmap(host(address), bytes, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_NORESERVE | MAP_FIXED, file,
                      static_cast<off_t>(offset));
  if (mapped == MAP_FAILED)
    return false;
  madvise(mapped, bytes, MADV_DONTFORK);
  return true;
}

bool Memory::commit(uint64_t address, uint64_t bytes) {
  auto it = reservations_.find(address);
  if (it == reservations_.end() || it->second.bytes != bytes || live_.count(address))
    return false;
  used_ += alignUp(bytes, kAlignment);
  live_[address] = it->second;
  if (initialised_)
    initialised_->set(address - device_, bytes, it->second.kind == AllocationKind::Mapped); // by whoever else has it
  return true;
}

bool Memory::retire(uint64_t address) {
  auto it = live_.find(address);
  if (it == live_.end() || !reservations_.count(address))
    return false;
  used_ -= alignUp(it->second.bytes, kAlignment);
  if (it->second.kind != AllocationKind::Mapped)
    memset(host(address), kFreedByte, std::min(it->second.bytes, kPoisonLimit));
  live_.erase(it);
  return true;
}

void Memory::unreserve(uint64_t address) {
  auto it = reservations_.find(address);
  if (it == reservations_.end())
    return;
  if (!live_.count(address)) { // else it is an allocation as any other from now on
    quarantined_ += it->second.spanBytes;
    quarantine_.push_back(it->second);
  }
  reservations_.erase(it);
  while (quarantined_ > kQuarantineBytes && quarantine_.size() > 1)
    releaseOldest();
}

const Allocation *Memory::reservationAt(uint64_t address) const {
  auto it = reservations_.upper_bound(address);
  return it != reservations_.begin() && address < (--it)->second.end() ? &it->second : nullptr;
}

bool Memory::reserved(uint64_t address, uint64_t bytes) const {
  const Allocation *reservation = reservationAt(address);
  return reservation && reservation->kind == AllocationKind::Device && bytes <= reservation->end() - address;
}

void Memory::reset() {
  while (!reservations_.empty())
    unreserve(reservations_.begin()->first);
  while (!live_.empty())
    free(live_.begin()->first);
  while (!quarantine_.empty())
    releaseOldest();
}

void Memory::setOrigin(uint64_t begin, const char *function) {
  if (auto it = live_.find(begin); it != live_.end())
    it->second.by = function;
}

void Memory::trackInitialised() {
  initialised_ = std::make_unique<InitialisedMap>(size_);
  if (!initialised_->ok())
    initialised_.reset();
}

const Memory *Memory::holder(uint64_t address) const {
  if (address - device_ < size_)
    return this;
  for (const Memory *peer : peers_)
    if (address - peer->device_ < peer->size_)
      return peer;
  return nullptr;
}

void Memory::markWritten(uint64_t address, uint64_t bytes) {
  if (initialised_ && address - device_ < size_)
    initialised_->set(address - device_, std::min(bytes, size_ - (address - device_)), true);
}

void Memory::markCopied(uint64_t to, const Memory &source, uint64_t from, uint64_t bytes) {
  if (&source == this && initialised_)
    initialised_->copy(to - device_, from - device_, bytes);
  else
    markWritten(to, bytes);
}

const Allocation *Memory::find(uint64_t address) const {
  auto it = live_.upper_bound(address);
  if (it != live_.begin())
    if (--it; address - it->second.begin < it->second.bytes)
      return &it->second;
  for (const Memory *peer : peers_)
    if (address - peer->device_ < peer->size_)
      return peer->find(address);
  return nullptr;
}

bool Memory::accessible(uint64_t address, uint64_t bytes, bool write) const {
  const Allocation *allocation = find(address);
  return allocation && bytes <= allocation->end() - address && !(write && allocation->kind == AllocationKind::Constant);
}

namespace {
std::string nameOf(const Allocation &allocation) {
  std::string size = std::to_string(allocation.bytes) + "-byte ";
  if (!allocation.name.empty())
    return size + "variable '" + allocation.name + "' at " + hexText(allocation.begin);
  std::string by = *allocation.by ? " (by " + std::string(allocation.by) + ")" : std::string();
  return size +
         (allocation.kind == AllocationKind::Registered ? "range of registered host memory at "
          : allocation.kind == AllocationKind::Mapped   ? "range of reserved addresses at "
                                                        : "allocation at ") +
         hexText(allocation.begin) + by;
}
} // namespace

std::string Memory::describe(uint64_t address) const {
  if (address < 4096)
    return "a null pointer";
  if (const Allocation *inside = find(address))
    return std::to_string(address - inside->begin) + " bytes into the " + nameOf(*inside) +
           (inside->kind == AllocationKind::Constant ? ", which is constant" : "");
  for (auto it = quarantine_.rbegin(); it != quarantine_.rend(); ++it)
    if (address >= it->begin && address < it->end())
      return std::to_string(address - it->begin) + " bytes into the " + nameOf(*it) + ", which was freed";
  if (const Allocation *reservation = reservationAt(address))
    return std::to_string(address - reservation->begin) + " bytes into the " + nameOf(*reservation) +
           (reservation->kind == AllocationKind::Mapped ? ", where nothing is mapped for access"
                                                        : ", which its graph does not hold at this time");
  for (const Memory *peer : peers_)
    if (address - peer->device_ < peer->size_)
      return peer->describe(address);
  if (auto it = live_.upper_bound(address); it != live_.begin())
    if (const Allocation &below = std::prev(it)->second;
        below.kind == AllocationKind::Registered && address - below.end() < kPage)
      return std::to_string(address - below.end()) + " bytes past the end of the " + nameOf(below);
  if (address < device_ || address >= device_ + size_)
    return "outside of device memory (a host pointer? memory of another device, without peer access?)";
  const Allocation *below = nullptr, *above = nullptr;
  auto it = live_.upper_bound(address);
  if (it != live_.end())
    above = &it->second;
  if (it != live_.begin())
    below = &std::prev(it)->second;
  if (below && (!above || address - below->end() <= above->begin - address))
    return std::to_string(address - below->end()) + " bytes past the end of the " + nameOf(*below);
  if (above)
    return std::to_string(above->begin - address) + " bytes before the " + nameOf(*above);
  return "no allocation is near";
}

} // namespace tenon::emulator
