// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The C API, called by a stream of bytes: it decides on the sequence of calls, the handles, the fields and sizes of
// every struct. Handles are live or NULL, as the header promises an error for; arrays have the elements that their
// count says, or a count that is none. The driver is the unit tests' fake one, so that what is found is the library's.
//
// A call that fails leaves its outputs NULL, and every status, handle and byte of device memory is given back at the
// end.
#include "fuzz.h"

#include "runtime/cuda/driver.h"
#include "tests/fuzz/c_api_caller.h"
#include "tests/unit/runtime/fake_driver.h"

#include <cstdio>
#include <cstdlib>
#include <dlfcn.h>

using namespace tenon;
using namespace tenon::test;

void tenon::fuzz::broken(const char *what) {
  std::fprintf(stderr, "c_api fuzz: %s\n", what);
  std::abort();
}

namespace {

using fuzz::broken;

/// The fake driver's state; TENON_CUDA_DRIVER names it from now on.
FakeDriver &fakeDriver() {
  static FakeDriver *const state = [] {
    const std::string own = runtime::cuda::DriverSearch::fromEnvironment().ownFolder;
    const std::string path = own + "/../unit/runtime/libtenon_fake_driver.so";
    setenv("TENON_CUDA_DRIVER", path.c_str(), 1);
    setenv("TENON_CACHE_DIR", "none", 1);
    void *library = dlopen(path.c_str(), RTLD_NOW | RTLD_LOCAL);
    if (!library)
      broken(dlerror());
    return reinterpret_cast<FakeDriver *(*)()>(dlsym(library, "tenonFakeDriver"))();
  }();
  return *state;
}

} // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  FakeDriver &fake = fakeDriver();
  fake = FakeDriver();
  fake.memoryBytes = 16 << 20;
  fake.parameters["add"] = {{0, 8}, {8, 8}, {16, 4}};
  fake.parameters["sub"] = {{0, 8}};
  fuzz::Stream in(data, size);
  {
    fuzz::Caller caller(in);
    caller.run();
  }
  const std::pair<const char *, int> left[] = {{"allocations", fake.liveAllocations},
                                               {"modules", fake.liveModules},
                                               {"streams", fake.liveStreams},
                                               {"events", fake.liveEvents},
                                               {"registrations", fake.liveRegistrations},
                                               {"graphs", fake.liveGraphs},
                                               {"pools", fake.livePools},
                                               {"mappings", fake.liveMappings},
                                               {"contexts", fake.retained},
                                               {"contexts entered", fake.contextDepth}};
  for (const auto &[what, count] : left)
    if (count != 0) {
      std::fprintf(stderr, "%d %s: ", count, what);
      broken("not given back to the device");
    }
  return 0;
}
