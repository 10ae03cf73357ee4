// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The fake driver's state and a device on it, fresh for every test.
#pragma once

#include "runtime/device/device.h"
#include "tests/unit/runtime/fake_driver.h"

#include <dlfcn.h>
#include <gtest/gtest.h>

namespace tenon::test {

/// A library that lies beside this test binary: so in the build, and in a bundle carried elsewhere.
inline std::string besideTest(const std::string &name) {
  return runtime::cuda::DriverSearch::fromEnvironment().ownFolder + "/" + name;
}
inline std::string fakeDriverPath() {
  return besideTest("libtenon_fake_driver.so");
}

/// The library's state, reset.
inline FakeDriver &resetFakeDriver() {
  void *library = dlopen(fakeDriverPath().c_str(), RTLD_NOW | RTLD_LOCAL);
  EXPECT_NE(library, nullptr) << dlerror();
  auto *state = reinterpret_cast<FakeDriver *(*)()>(dlsym(library, "tenonFakeDriver"));
  *state() = FakeDriver();
  return *state();
}

class FakeDeviceTest : public testing::Test {
protected:
  FakeDeviceTest() : fake(resetFakeDriver()) {}
  ~FakeDeviceTest() override {
    device.reset();
    EXPECT_EQ(fake.liveAllocations, 0);
    EXPECT_EQ(fake.liveModules, 0);
    EXPECT_EQ(fake.liveStreams, 0);
    EXPECT_EQ(fake.liveEvents, 0);
    EXPECT_EQ(fake.liveRegistrations, 0);
    EXPECT_EQ(fake.liveGraphs, 0);
    EXPECT_EQ(fake.liveLinks, 0);
    EXPECT_EQ(fake.retained, 0);
    EXPECT_EQ(fake.contextDepth, 0);
  }
  /// Opens the device as the fake's state describes it.
  std::shared_ptr<runtime::Device> open() {
    auto driver = runtime::cuda::Driver::openFirst({fakeDriverPath()}, "the fake");
    EXPECT_TRUE(driver.ok()) << driver.status().message();
    auto opened = runtime::Device::create(driver.take(), 0);
    EXPECT_TRUE(opened.ok()) << opened.status().message();
    device = opened.take();
    return device;
  }

  FakeDriver &fake;
  std::shared_ptr<runtime::Device> device;
};

/// EXPECT_STATUS(status, InvalidArgument, "part of the message").
#define EXPECT_STATUS(status, expectedCode, part)                                                                      \
  do {                                                                                                                 \
    const ::tenon::Status status_ = (status).clone(); /* of a temporary Result, perhaps */                             \
    EXPECT_EQ(status_.code(), ::tenon::StatusCode::expectedCode) << status_.message();                                 \
    EXPECT_NE(std::string(status_.message()).find(part), std::string::npos) << status_.message();                      \
  } while (false)
#define ASSERT_OK(expr) ASSERT_TRUE((expr).ok()) << (expr).message()

} // namespace tenon::test
