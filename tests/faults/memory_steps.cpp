// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Memory of a device, of the host and of other processes; copies and fills.
#include "scenario_run.h"

#include "runtime/memory/allocator.h"
#include "runtime/memory/shared_memory.h"
#include "runtime/memory/transfer.h"

#include <unistd.h>

namespace tenon::faults {

void Scenario::memory() {
  step("allocate", [&]() -> Status {
    for (const BufferOptions &options : {BufferOptions{}, BufferOptions{.memory = MemoryType::HostVisible}}) {
      TENON_ASSIGN_OR_RETURN(auto made, allocateBuffer(*device_, kBytes, options));
      TENON_RETURN_IF_ERROR(check(made->size() == kBytes, "a buffer's size"));
    }
    TENON_ASSIGN_OR_RETURN(auto pooled, allocateOnStream(*device_, kBytes));
    TENON_ASSIGN_OR_RETURN(auto info, queryMemory(*device_));
    return check(info.totalBytes != 0 && pooled->size() == kBytes, "device memory");
  });
  step("import", [&]() -> Status {
    // Kept: the driver may have refused to let go of the page of an earlier run.
    static std::vector<void *> pages;
    pages.push_back(std::aligned_alloc(4096, 4096));
    void *host = pages.back();
    TENON_ASSIGN_OR_RETURN(auto imported, importHostMemory(*device_, host, 4096, {}, nullptr));
    // The driver's refusal, in its own words where it gives them.
    Status again = importHostMemory(*device_, host, 4096, {}, nullptr).status().clone();
    const std::string text = again.toString();
    if (text.find("ALREADY_REGISTERED") != std::string::npos || text.find("CUDA error 712") != std::string::npos)
      return okStatus();
    return again.ok() ? check(false, "host memory was registered twice") : std::move(again);
  });
}

/// Memory that goes out behind a descriptor and comes in again, as another process would have it.
void Scenario::sharing() {
  step("memory behind a descriptor", [&]() -> Status {
    TENON_ASSIGN_OR_RETURN(auto owner, allocateShareable(*device_, kBytes, {}));
    TENON_ASSIGN_OR_RETURN(const int descriptor, exportDescriptor(*owner));
    auto imported = importDescriptor(*device_, descriptor, kBytes, {});
    ::close(descriptor);
    TENON_RETURN_IF_ERROR(imported.takeStatus());
    TENON_RETURN_IF_ERROR(uploadBytes(*owner, 0, bytesOf(std::vector<uint32_t>(kThreads, 4))));
    owner.reset();
    return expect(**imported, std::vector<uint32_t>(kThreads, 4));
  });
}

void Scenario::transfers() {
  step("transfers", [&]() -> Status {
    TENON_ASSIGN_OR_RETURN(auto a, buffer(std::vector<uint32_t>(kThreads, 1)));
    TENON_ASSIGN_OR_RETURN(auto b, buffer(std::vector<uint32_t>(kThreads, 2)));
    TENON_RETURN_IF_ERROR(device_->stream().copy({a->address(), kBytes}, {b->address(), kBytes}));
    TENON_RETURN_IF_ERROR(expect(*b, std::vector<uint32_t>(kThreads, 1)));
    for (uint32_t patternBytes : {1u, 2u, 4u})
      TENON_RETURN_IF_ERROR(device_->stream().fill({a->address(), kBytes}, 0, patternBytes));
    return expect(*a, std::vector<uint32_t>(kThreads, 0));
  });
}

} // namespace tenon::faults
