// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "emulator/handlers/builtins.h"

#include "emulator/machine/fault.h"
#include "emulator/machine/grid.h"
#include "emulator/memory/memory.h"

#include <cstring>
#include <cuda.h>

namespace tenon::emulator {
namespace {

/// Reads and writes by generic address, for one lane.
class LaneMemory {
public:
  LaneMemory(Warp &warp, uint32_t lane) : warp_(warp), lane_(lane) {}

  uint8_t *local(uint32_t offset) const {
    return warp_.local + static_cast<uint64_t>(lane_) * warp_.localStride + offset;
  }
  template <typename T> T argument(const FrameSlot &slot) const {
    T value{};
    memcpy(&value, local(warp_.frame->localBase + slot.offset), sizeof(T));
    return value;
  }
  /// Null: not accessible.
  const uint8_t *resolve(uint64_t address, uint64_t bytes) const {
    if (address - kLocalWindow < kWindowBytes) {
      uint64_t offset = address - kLocalWindow;
      return offset + bytes <= warp_.localStride ? local(static_cast<uint32_t>(offset)) : nullptr;
    }
    if (address - kSharedWindow < kWindowBytes) {
      uint64_t offset = address - kSharedWindow;
      return offset >= warp_.sharedBegin && offset + bytes <= warp_.sharedEnd ? warp_.shared + offset : nullptr;
    }
    const Memory &memory = *warp_.executor->memory;
    return memory.accessible(address, bytes, false) ? memory.host(address) : nullptr;
  }
  /// A NUL-terminated string; false: it leaves accessible memory.
  bool text(uint64_t address, std::string &out) const {
    for (uint64_t k = 0; k < 1u << 16; ++k) {
      const uint8_t *byte = resolve(address + k, 1);
      if (!byte)
        return false;
      if (!*byte)
        return true;
      out += static_cast<char>(*byte);
    }
    return false;
  }

private:
  Warp &warp_;
  uint32_t lane_;
};

/// One conversion of a device printf, formatted by the host's.
bool formatOne(const LaneMemory &memory, std::string spec, uint64_t &arguments, std::string &out) {
  char conversion = spec.back();
  auto take = [&](auto &value) {
    arguments = (arguments + sizeof value - 1) / sizeof value * sizeof value;
    const uint8_t *from = memory.resolve(arguments, sizeof value);
    if (!from)
      return false;
    memcpy(&value, from, sizeof value);
    arguments += sizeof value;
    return true;
  };
  char buffer[512];
  bool isLong = spec.find('l') != std::string::npos || spec.find('j') != std::string::npos ||
                spec.find('z') != std::string::npos || spec.find('t') != std::string::npos;
  if (strchr("eEfFgGaA", conversion)) {
    double value;
    if (!take(value))
      return false;
    snprintf(buffer, sizeof buffer, spec.c_str(), value);
  } else if (conversion == 's') {
    uint64_t pointer;
    std::string text;
    if (!take(pointer))
      return false;
    if (pointer == 0)
      text = "(null)";
    else if (!memory.text(pointer, text))
      return false;
    snprintf(buffer, sizeof buffer, spec.c_str(), text.c_str());
    if (spec == "%s") {
      out += text;
      return true;
    }
  } else if (isLong || conversion == 'p') {
    uint64_t value;
    if (!take(value))
      return false;
    snprintf(buffer, sizeof buffer, spec.c_str(), value);
  } else {
    uint32_t value;
    if (!take(value))
      return false;
    snprintf(buffer, sizeof buffer, spec.c_str(), value);
  }
  out += buffer;
  return true;
}

bool formatText(const LaneMemory &memory, const std::string &format, uint64_t arguments, std::string &out, int &count) {
  for (size_t k = 0; k < format.size(); ++k) {
    if (format[k] != '%') {
      out += format[k];
      continue;
    }
    if (k + 1 < format.size() && format[k + 1] == '%') {
      out += '%';
      ++k;
      continue;
    }
    size_t end = format.find_first_of("diouxXeEfFgGaAcspn", k + 1);
    if (end == std::string::npos || format[end] == 'n' || format.find('*', k) < end) {
      out += format.substr(k); // what a device does with a malformed format is to print it
      return true;
    }
    if (!formatOne(memory, format.substr(k, end - k + 1), arguments, out))
      return false;
    ++count;
    k = end;
  }
  return true;
}

void result(Warp &warp, const CallSite &site, uint32_t lane, uint64_t value) {
  if (site.results.empty())
    return;
  memcpy(LaneMemory(warp, lane).local(warp.frame->localBase + site.results[0].offset), &value, site.results[0].bytes);
}

void printfLane(Warp &warp, const Decoded &i, const CallSite &site, uint32_t lane, DeviceServices &services) {
  LaneMemory memory(warp, lane);
  uint64_t format = memory.argument<uint64_t>(site.arguments[0]),
           arguments = memory.argument<uint64_t>(site.arguments[1]);
  std::string text, out;
  int count = 0;
  if (!memory.text(format, text) || !formatText(memory, text, arguments, out, count)) {
    raiseFault(warp, i, lane, CUDA_ERROR_ILLEGAL_ADDRESS, "printf reads its format or an argument out of bounds");
    return;
  }
  FILE *stream = services.printfStream ? services.printfStream : stdout;
  fwrite(out.data(), 1, out.size(), stream);
  result(warp, site, lane, static_cast<uint64_t>(count));
}

void assertLane(Warp &warp, const Decoded &i, const CallSite &site, uint32_t lane) {
  LaneMemory memory(warp, lane);
  std::string expression, file, function;
  bool ok = memory.text(memory.argument<uint64_t>(site.arguments[0]), expression) &&
            memory.text(memory.argument<uint64_t>(site.arguments[1]), file) &&
            memory.text(memory.argument<uint64_t>(site.arguments[3]), function);
  if (!ok)
    expression = "?";
  uint32_t line = memory.argument<uint32_t>(site.arguments[2]);
  raiseFault(warp, i, lane, CUDA_ERROR_ASSERT,
             "assertion '" + expression + "' failed in " + function + " (" + file + ":" + std::to_string(line) + ")");
}

void mallocLane(Warp &warp, const CallSite &site, uint32_t lane, DeviceServices &services) {
  uint64_t bytes = LaneMemory(warp, lane).argument<uint64_t>(site.arguments[0]), address = 0;
  if (bytes && bytes <= services.heapLimit - services.heapUsed)
    address = warp.executor->memory->allocate(bytes, AllocationKind::Heap);
  if (address) {
    warp.executor->memory->setOrigin(address, "malloc in a kernel");
    services.heapUsed += bytes;
  }
  result(warp, site, lane, address);
}

void freeLane(Warp &warp, const Decoded &i, const CallSite &site, uint32_t lane, DeviceServices &services) {
  uint64_t address = LaneMemory(warp, lane).argument<uint64_t>(site.arguments[0]);
  if (!address)
    return;
  Memory &memory = *warp.executor->memory;
  const Allocation *allocation = memory.find(address);
  if (!allocation || allocation->begin != address || allocation->kind != AllocationKind::Heap) {
    raiseFault(warp, i, lane, CUDA_ERROR_ILLEGAL_ADDRESS,
               "free of what malloc did not give: " + memory.describe(address));
    return;
  }
  services.heapUsed -= allocation->bytes;
  memory.free(address);
  for (CheckedRange &range : warp.executor->ranges)
    range = {};
  if (warp.executor->shared)
    warp.executor->shared->forgetRanges();
}

} // namespace

Builtin findBuiltin(std::string_view name) {
  if (name == "vprintf")
    return Builtin::Printf;
  if (name == "__assertfail")
    return Builtin::AssertFail;
  if (name == "malloc")
    return Builtin::Malloc;
  return name == "free" ? Builtin::Free : Builtin::None;
}

void callBuiltin(Warp &warp, const Decoded &i, const CallSite &site, uint32_t mask, DeviceServices &services) {
  auto lock = exclusively(*warp.executor);
  for (uint32_t rest = mask; rest && !warp.executor->failed(); rest &= rest - 1) {
    uint32_t lane = static_cast<uint32_t>(__builtin_ctz(rest));
    switch (static_cast<Builtin>(site.builtin)) {
    case Builtin::None:
      break;
    case Builtin::Printf:
      printfLane(warp, i, site, lane, services);
      break;
    case Builtin::AssertFail:
      assertLane(warp, i, site, lane);
      break;
    case Builtin::Malloc:
      mallocLane(warp, site, lane, services);
      break;
    case Builtin::Free:
      freeLane(warp, i, site, lane, services);
      break;
    }
  }
}

} // namespace tenon::emulator
