// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The emulated device's memory. One memfd is mapped twice: the *device* range, whose addresses kernels and CUdeviceptr
// hold, is PROT_NONE, so that host code which dereferences a device pointer faults as it would with a GPU; the second
// mapping is the emulator's own. Pinned and managed memory lies in the same arena with its device range opened.
//
// Every allocation is followed by a guard gap and is kept in quarantine after it was freed, so that an address always
// says what it belongs to: inside a live allocation, past the end of one, or in one that was freed.
#pragma once

#include "emulator/memory/initialised_map.h"

#include <cstdint>
#include <deque>
#include <map>
#include <memory>
#include <string>
#include <vector>

namespace tenon::emulator {

/// Registered: the program's own memory, which only seems to lie on the device. Mapped: bytes of another file at
/// addresses of the arena (driver/memory/virtual_memory.h).
enum class AllocationKind : uint8_t { Device, Pinned, Managed, Variable, Constant, Heap, Registered, Mapped };

struct Allocation {
  uint64_t begin = 0;
  uint64_t bytes = 0;
  AllocationKind kind = AllocationKind::Device;
  std::string name;                      // of a module variable
  uint64_t spanBegin = 0, spanBytes = 0; // what it holds of the arena, guard gap included
  const char *by = "";                   // who allocated it, a string that stays
  uint64_t end() const { return begin + bytes; }
};

class Memory {
public:
  static constexpr uint64_t kAlignment = 512;

  /// Reserves `bytes` of address space; memory is committed as it is touched. `preferred` is where the device range is
  /// wanted (so that addresses repeat from run to run).
  /// `hostPreferred`: where the emulator's mapping is wanted; devices with equal biases reach each other's memory.
  Memory(uint64_t bytes, uint64_t preferred, uint64_t hostPreferred = 0);
  ~Memory();
  Memory(const Memory &) = delete;
  Memory &operator=(const Memory &) = delete;

  bool ok() const { return host_ != nullptr; }
  uint64_t deviceBase() const { return device_; }
  uint64_t size() const { return size_; }
  uint64_t used() const { return used_; }
  /// Added to a device address (mod 2^64) gives the emulator's own.
  uint64_t hostBias() const { return reinterpret_cast<uint64_t>(host_) - device_; }
  uint8_t *host(uint64_t address) const { return reinterpret_cast<uint8_t *>(address + hostBias()); }

  /// A device address, aligned to kAlignment, or 0 when the arena is full. bytes > 0.
  uint64_t allocate(uint64_t bytes, AllocationKind kind, std::string name = {});
  /// Reports will say that `function` made the live allocation at `begin`.
  void setOrigin(uint64_t begin, const char *function);
  /// What is allocated, by address.
  const std::map<uint64_t, Allocation> &live() const { return live_; }
  /// False: `address` is not the begin of a live allocation.
  bool free(uint64_t address);
  /// Memory of a graph (Device), or addresses to map at (Mapped): they are known from the start, and accessible from
  /// commit to retire. `alignment`: a power of two, at least kAlignment.
  uint64_t reserve(uint64_t bytes, AllocationKind kind = AllocationKind::Device, uint64_t alignment = kAlignment);
  bool commit(uint64_t address, uint64_t bytes);
  bool retire(uint64_t address);
  void unreserve(uint64_t address);
  /// True: the range lies in a reservation of a graph, accessible or not.
  bool reserved(uint64_t address, uint64_t bytes) const;
  /// Puts bytes of a file in the place of the arena's, and the arena's back. For whole pages of a reservation.
  bool mapFile(uint64_t address, uint64_t bytes, int file, uint64_t offset);
  void unmapFile(uint64_t address, uint64_t bytes) { mapFile(address, bytes, file_, address - device_); }
  /// Host memory of the program as device memory: its device address is the host's less the bias, so that no access
  /// has to ask which kind it is. 0: that address means something else already.
  uint64_t registerHost(uint64_t host, uint64_t bytes);
  void unregisterHost(uint64_t host);
  /// Memories that kernels reach besides this one. Borrowed.
  void setPeers(std::vector<const Memory *> peers) { peers_ = std::move(peers); }
  /// Frees everything, at once and without quarantine.
  void reset();

  /// The live allocation that holds `address`, or null.
  const Allocation *find(uint64_t address) const;
  /// True: [address, address+bytes) lies in one live allocation, which may be written if `write`.
  bool accessible(uint64_t address, uint64_t bytes, bool write) const;
  /// For a report: what `address` is near to: "4 bytes past the end of the 4096-byte allocation at 0x...".
  std::string describe(uint64_t address) const;
  /// From now on it is kept which bytes something has written: device and heap memory begins without. What the host
  /// writes by itself (pinned, managed memory) is not seen: such memory counts as written.
  void trackInitialised();
  InitialisedMap *initialised() const { return initialised_.get(); }
  /// The memory, this one or a peer's, in whose arena the address is, or null.
  const Memory *holder(uint64_t address) const;
  /// The driver wrote the range, or copied it. No effect where nothing is tracked.
  void markWritten(uint64_t address, uint64_t bytes);
  /// What was never written is not written by being copied, so that padding may be.
  void markCopied(uint64_t to, const Memory &source, uint64_t from, uint64_t bytes);

private:
  const Allocation *reservationAt(uint64_t address) const;
  uint64_t takeSpan(uint64_t bytes);
  void releaseSpan(uint64_t begin, uint64_t bytes);
  void releaseOldest();

  uint64_t device_ = 0, size_ = 0, used_ = 0, quarantined_ = 0;
  uint8_t *host_ = nullptr;
  int file_ = -1;
  std::vector<const Memory *> peers_;
  std::map<uint64_t, Allocation> live_;         // by begin
  std::map<uint64_t, Allocation> reservations_; // by begin
  std::map<uint64_t, uint64_t> freeSpans_;      // begin -> bytes, coalesced
  std::deque<Allocation> quarantine_;
  std::unique_ptr<InitialisedMap> initialised_;
};

} // namespace tenon::emulator
