// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "runtime/cuda/driver_status.h"

#include "runtime/cuda/first_fault.h"

#include "tests/unit/runtime/fixture.h"

namespace tenon::runtime::cuda {

using namespace tenon::test;

TEST(DriverStatus, NamesTheCallTheCodeAndTheSentence) {
  resetFakeDriver();
  auto driver = Driver::openFirst({fakeDriverPath()}, "the fake");
  ASSERT_OK(driver.status());
  EXPECT_TRUE(driverStatus(**driver, CUDA_SUCCESS, "cuInit").ok());
  Status status = driverStatus(**driver, CUDA_ERROR_OUT_OF_MEMORY, "cuMemAlloc_v2(12)");
  EXPECT_EQ(status.message(), "cuMemAlloc_v2(12): CUDA_ERROR_OUT_OF_MEMORY (2): the fake driver says so");
  EXPECT_EQ(resultName(**driver, static_cast<CUresult>(998)), "CUDA error 998");
}

// On a GPU a kernel's fault ends CUDA for the process: what fails later says what failed first, on whatever device.
TEST(DriverStatus, WhatFailsAfterAFaultNamesTheFirst) {
  resetFakeDriver();
  auto driver = Driver::openFirst({fakeDriverPath()}, "the fake");
  ASSERT_OK(driver.status());
  forgetFaults();
  EXPECT_EQ(firstFault((*driver)->path()), "");
  EXPECT_STATUS(driverStatus(**driver, CUDA_ERROR_ILLEGAL_ADDRESS, "cuStreamSynchronize"), Aborted, "says so");
  rememberFault((*driver)->path(), "device A", makeError(StatusCode::Aborted, "dispatch 'first'"));
  rememberFault((*driver)->path(), "device B", makeError(StatusCode::Aborted, "dispatch 'second'"));
  EXPECT_EQ(firstFault((*driver)->path()), "device A: dispatch 'first'");
  Status later = driverStatus(**driver, CUDA_ERROR_ILLEGAL_ADDRESS, "cuMemAlloc_v2(12)");
  EXPECT_STATUS(later, Aborted, "cuMemAlloc_v2(12): CUDA_ERROR_ILLEGAL_ADDRESS (700)");
  EXPECT_STATUS(later, Aborted, "start a new one: device A: dispatch 'first'");
  EXPECT_EQ(driverStatus(**driver, CUDA_ERROR_OUT_OF_MEMORY, "cuMemAlloc_v2(12)").message().find("dispatch"),
            std::string::npos)
      << "has nothing to do with it";
  forgetFaults();
}

TEST(DriverStatus, MapsCodes) {
  EXPECT_EQ(statusCodeOf(CUDA_SUCCESS), StatusCode::Ok);
  EXPECT_EQ(statusCodeOf(CUDA_ERROR_OUT_OF_MEMORY), StatusCode::ResourceExhausted);
  EXPECT_EQ(statusCodeOf(CUDA_ERROR_NO_DEVICE), StatusCode::Unavailable);
  EXPECT_EQ(statusCodeOf(CUDA_ERROR_NOT_FOUND), StatusCode::NotFound);
  EXPECT_EQ(statusCodeOf(CUDA_ERROR_ILLEGAL_ADDRESS), StatusCode::Aborted);
  EXPECT_EQ(statusCodeOf(CUDA_ERROR_INVALID_PTX), StatusCode::FailedPrecondition);
  EXPECT_EQ(statusCodeOf(static_cast<CUresult>(998)), StatusCode::FailedPrecondition);
}

} // namespace tenon::runtime::cuda
