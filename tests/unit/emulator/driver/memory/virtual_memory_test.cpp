// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Memory and addresses apart: joined by mapping, reached where access was set, shared through a descriptor.
#include "tests/unit/emulator/harness.h"

#include <sys/mman.h>
#include <unistd.h>

namespace tenon::emulator::test {
namespace {

constexpr size_t kBytes = 2 << 20; // the granularity

CUmemAllocationProp properties() {
  CUmemAllocationProp out = {};
  out.type = CU_MEM_ALLOCATION_TYPE_PINNED;
  out.location = {CU_MEM_LOCATION_TYPE_DEVICE, 0};
  out.requestedHandleTypes = CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR;
  return out;
}

CUmemAccessDesc access(CUmemAccess_flags flags = CU_MEM_ACCESS_FLAGS_PROT_READWRITE) {
  return {{CU_MEM_LOCATION_TYPE_DEVICE, 0}, flags};
}

CUmemGenericAllocationHandle create(size_t bytes = kBytes) {
  const CUmemAllocationProp wanted = properties();
  CUmemGenericAllocationHandle handle = 0;
  EXPECT_EQ(cuMemCreate(&handle, bytes, &wanted, 0), CUDA_SUCCESS);
  return handle;
}

/// A reserved range with a handle's memory mapped, readable and writable; all undone at the end.
class Mapping {
public:
  explicit Mapping(CUmemGenericAllocationHandle handle, size_t offset = 0, size_t bytes = kBytes) : bytes_(bytes) {
    EXPECT_EQ(cuMemAddressReserve(&address, bytes, 0, 0, 0), CUDA_SUCCESS);
    EXPECT_EQ(cuMemMap(address, bytes, offset, handle, 0), CUDA_SUCCESS);
    const CUmemAccessDesc wanted = access();
    EXPECT_EQ(cuMemSetAccess(address, bytes, &wanted, 1), CUDA_SUCCESS);
  }
  ~Mapping() {
    EXPECT_EQ(cuMemUnmap(address, bytes_), CUDA_SUCCESS);
    EXPECT_EQ(cuMemAddressFree(address, bytes_), CUDA_SUCCESS);
  }
  Mapping(const Mapping &) = delete;
  Mapping &operator=(const Mapping &) = delete;
  CUdeviceptr address = 0;

private:
  size_t bytes_;
};

uint32_t wordAt(CUdeviceptr address) {
  uint32_t word = 0;
  EXPECT_EQ(cuMemcpyDtoH(&word, address, 4), CUDA_SUCCESS);
  return word;
}

const char *kStore = R"(
.visible .entry k(.param .u64 p)
{
  .reg .b64 %rd<2>;
  ld.param.u64 %rd1, [p]; st.global.u32 [%rd1], 77;
  ret;
}
)";

TEST(EmulatorVirtualMemory, MappingsOfOneMemoryAreTheSameBytes) {
  Session session;
  const CUmemGenericAllocationHandle handle = create();
  {
    Mapping first(handle), second(handle);
    EXPECT_NE(first.address, second.address);
    EXPECT_EQ(first.address % kBytes, 0u);
    EXPECT_EQ(run(header() + kStore, {first.address + 4096}), CUDA_SUCCESS);
    EXPECT_EQ(wordAt(second.address + 4096), 77u);
    ASSERT_EQ(cuMemsetD32(second.address, 5, kBytes / 4), CUDA_SUCCESS);
    EXPECT_EQ(wordAt(first.address + kBytes - 4), 5u);
  }
  // The memory was not the addresses'.
  Mapping third(handle);
  EXPECT_EQ(wordAt(third.address), 5u);
  EXPECT_EQ(cuMemRelease(handle), CUDA_SUCCESS);
  EXPECT_EQ(wordAt(third.address), 5u) << "a mapping keeps it";
}

TEST(EmulatorVirtualMemory, OffsetsSayWhichPartIsMapped) {
  Session session;
  const CUmemGenericAllocationHandle handle = create(2 * kBytes);
  {
    Mapping all(handle, 0, 2 * kBytes), second(handle, kBytes);
    ASSERT_EQ(cuMemsetD32(second.address, 9, 1), CUDA_SUCCESS);
    EXPECT_EQ(wordAt(all.address + kBytes), 9u);
    EXPECT_EQ(wordAt(all.address), 0u) << "new memory is zero";
  }
  EXPECT_EQ(cuMemRelease(handle), CUDA_SUCCESS);
}

TEST(EmulatorVirtualMemory, AKernelReachesWhatAccessWasSetFor) {
  Session session;
  const CUmemGenericAllocationHandle handle = create();
  CUdeviceptr address = 0;
  ASSERT_EQ(cuMemAddressReserve(&address, kBytes, 0, 0, 0), CUDA_SUCCESS);
  uint32_t word = 0;
  EXPECT_EQ(cuMemcpyDtoH(&word, address, 4), CUDA_ERROR_INVALID_VALUE);
  ASSERT_EQ(cuMemMap(address, kBytes, 0, handle, 0), CUDA_SUCCESS);
  EXPECT_EQ(cuMemcpyDtoH(&word, address, 4), CUDA_ERROR_INVALID_VALUE);
  CUmemAccessDesc wanted = access();
  ASSERT_EQ(cuMemSetAccess(address, kBytes, &wanted, 1), CUDA_SUCCESS);
  ASSERT_EQ(cuMemSetAccess(address, kBytes, &wanted, 1), CUDA_SUCCESS) << "again";
  EXPECT_EQ(cuMemcpyDtoH(&word, address, 4), CUDA_SUCCESS);
  EXPECT_NE(cuMemcpyDtoH(&word, address + kBytes, 4), CUDA_SUCCESS) << "past the end";
  wanted = access(CU_MEM_ACCESS_FLAGS_PROT_NONE);
  ASSERT_EQ(cuMemSetAccess(address, kBytes, &wanted, 1), CUDA_SUCCESS);
  EXPECT_EQ(run(header() + kStore, {address + 8}), CUDA_ERROR_ILLEGAL_ADDRESS);
  EXPECT_NE(lastReport().find("8 bytes into the 2097152-byte range of reserved addresses at "), std::string::npos)
      << lastReport();
  EXPECT_NE(lastReport().find("where nothing is mapped for access"), std::string::npos) << lastReport();
  cuDevicePrimaryCtxReset(0); // that was the end of the context, and of its mappings
  EXPECT_EQ(cuMemRelease(handle), CUDA_SUCCESS);
}

TEST(EmulatorVirtualMemory, GoesThroughADescriptor) {
  Session session;
  const CUmemGenericAllocationHandle handle = create();
  int descriptor = -1;
  ASSERT_EQ(cuMemExportToShareableHandle(&descriptor, handle, CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR, 0),
            CUDA_SUCCESS);
  CUmemGenericAllocationHandle imported = 0;
  ASSERT_EQ(cuMemImportFromShareableHandle(&imported, reinterpret_cast<void *>(intptr_t(descriptor)),
                                           CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR),
            CUDA_SUCCESS);
  // As another process has it, which maps the file into its own emulator.
  auto *theirs = static_cast<uint32_t *>(mmap(nullptr, kBytes, PROT_READ | PROT_WRITE, MAP_SHARED, descriptor, 0));
  ASSERT_NE(theirs, MAP_FAILED);
  EXPECT_NE(ftruncate(descriptor, 4096), 0) << "nobody makes it shorter";
  close(descriptor);
  {
    Mapping ours(handle), other(imported);
    ASSERT_EQ(cuMemsetD32(ours.address, 3, 1), CUDA_SUCCESS);
    EXPECT_EQ(wordAt(other.address), 3u);
    EXPECT_EQ(theirs[0], 3u);
    theirs[1] = 4;
    EXPECT_EQ(wordAt(ours.address + 4), 4u);
  }
  munmap(theirs, kBytes);
  EXPECT_EQ(cuMemRelease(handle), CUDA_SUCCESS);
  EXPECT_EQ(cuMemRelease(imported), CUDA_SUCCESS);
}

TEST(EmulatorVirtualMemory, HandlesAreCounted) {
  Session session;
  const CUmemGenericAllocationHandle handle = create();
  {
    Mapping mapping(handle);
    CUmemGenericAllocationHandle again = 0;
    ASSERT_EQ(cuMemRetainAllocationHandle(&again, reinterpret_cast<void *>(mapping.address + 100)), CUDA_SUCCESS);
    EXPECT_EQ(again, handle);
    EXPECT_EQ(cuMemRelease(handle), CUDA_SUCCESS);
    EXPECT_EQ(cuMemRelease(handle), CUDA_SUCCESS);
    EXPECT_EQ(cuMemRelease(handle), CUDA_ERROR_INVALID_VALUE) << "created and retained, released thrice";
    ASSERT_EQ(cuMemRetainAllocationHandle(&again, reinterpret_cast<void *>(mapping.address)), CUDA_SUCCESS);
    EXPECT_EQ(cuMemRelease(again), CUDA_SUCCESS);
  }
  DeviceArray<uint32_t> array(4);
  CUmemGenericAllocationHandle none = 0;
  EXPECT_EQ(cuMemRetainAllocationHandle(&none, reinterpret_cast<void *>(array.address)), CUDA_ERROR_INVALID_VALUE);
}

TEST(EmulatorVirtualMemory, RefusesWhatCannotBe) {
  Session session;
  CUmemAllocationProp wanted = properties();
  CUmemGenericAllocationHandle handle = 0;
  EXPECT_EQ(cuMemCreate(&handle, 4096, &wanted, 0), CUDA_ERROR_INVALID_VALUE) << "less than the granularity";
  EXPECT_EQ(cuMemCreate(&handle, size_t(1) << 50, &wanted, 0), CUDA_ERROR_OUT_OF_MEMORY);
  wanted.location.id = 7;
  EXPECT_EQ(cuMemCreate(&handle, kBytes, &wanted, 0), CUDA_ERROR_INVALID_DEVICE);
  wanted = properties();
  wanted.requestedHandleTypes = CU_MEM_HANDLE_TYPE_FABRIC;
  EXPECT_EQ(cuMemCreate(&handle, kBytes, &wanted, 0), CUDA_ERROR_NOT_SUPPORTED);
  wanted.requestedHandleTypes = CU_MEM_HANDLE_TYPE_NONE;
  ASSERT_EQ(cuMemCreate(&handle, kBytes, &wanted, 0), CUDA_SUCCESS);
  int descriptor = -1;
  EXPECT_EQ(cuMemExportToShareableHandle(&descriptor, handle, CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR, 0),
            CUDA_ERROR_INVALID_VALUE)
      << "not made for it";

  CUdeviceptr address = 0;
  EXPECT_EQ(cuMemAddressReserve(&address, 4096, 0, 0, 0), CUDA_ERROR_INVALID_VALUE);
  EXPECT_EQ(cuMemAddressReserve(&address, kBytes, 3, 0, 0), CUDA_ERROR_INVALID_VALUE);
  EXPECT_EQ(cuMemAddressReserve(&address, size_t(1) << 50, 0, 0, 0), CUDA_ERROR_OUT_OF_MEMORY);
  ASSERT_EQ(cuMemAddressReserve(&address, 2 * kBytes, 4 * kBytes, 0, 0), CUDA_SUCCESS);
  EXPECT_EQ(address % (4 * kBytes), 0u);
  EXPECT_EQ(cuMemMap(address, 2 * kBytes, 0, handle, 0), CUDA_ERROR_INVALID_VALUE) << "more than the memory has";
  EXPECT_EQ(cuMemMap(address, kBytes, 0, handle, 0), CUDA_ERROR_NOT_SUPPORTED) << "part of the range";
  EXPECT_EQ(cuMemMap(address + 4 * kBytes, kBytes, 0, handle, 0), CUDA_ERROR_INVALID_VALUE) << "not reserved";
  EXPECT_EQ(cuMemMap(address, kBytes, 0, handle + 8, 0), CUDA_ERROR_INVALID_VALUE) << "no handle";
  EXPECT_EQ(cuMemUnmap(address, 2 * kBytes), CUDA_ERROR_INVALID_VALUE) << "nothing is mapped";
  const CUmemAccessDesc all = access(), reading = access(CU_MEM_ACCESS_FLAGS_PROT_READ);
  EXPECT_EQ(cuMemSetAccess(address, 2 * kBytes, &all, 1), CUDA_ERROR_INVALID_VALUE) << "nothing is mapped";
  EXPECT_EQ(cuMemAddressFree(address, kBytes), CUDA_ERROR_INVALID_VALUE);
  EXPECT_EQ(cuMemAddressFree(address, 2 * kBytes), CUDA_SUCCESS);
  EXPECT_EQ(cuMemAddressFree(address, 2 * kBytes), CUDA_ERROR_INVALID_VALUE) << "twice";
  {
    Mapping mapping(handle);
    EXPECT_EQ(cuMemMap(mapping.address, kBytes, 0, handle, 0), CUDA_ERROR_INVALID_VALUE) << "twice";
    EXPECT_EQ(cuMemSetAccess(mapping.address, kBytes, &reading, 1), CUDA_ERROR_NOT_SUPPORTED);
    EXPECT_EQ(cuMemAddressFree(mapping.address, kBytes), CUDA_ERROR_INVALID_VALUE) << "still mapped";
    EXPECT_EQ(cuMemFree(mapping.address), CUDA_ERROR_INVALID_VALUE) << "not of cuMemAlloc";
    EXPECT_EQ(cuMemFreeAsync(mapping.address, nullptr), CUDA_ERROR_INVALID_VALUE);
    EXPECT_EQ(wordAt(mapping.address), 0u) << "and still there";
  }
  EXPECT_EQ(cuMemRelease(handle), CUDA_SUCCESS);

  auto import = [&](int of) {
    return cuMemImportFromShareableHandle(&handle, reinterpret_cast<void *>(intptr_t(of)),
                                          CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR);
  };
  EXPECT_EQ(import(-1), CUDA_ERROR_INVALID_VALUE);
  const int file = memfd_create("a file of the program's", MFD_CLOEXEC);
  ASSERT_EQ(ftruncate(file, kBytes), 0);
  EXPECT_EQ(import(file), CUDA_ERROR_INVALID_VALUE) << "it might be made shorter";
  close(file);
}

} // namespace
} // namespace tenon::emulator::test
