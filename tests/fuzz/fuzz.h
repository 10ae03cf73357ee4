// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// What every fuzz target defines: one input of any bytes. A target asserts nothing about what comes out, only that
// reading ends, without a crash, a leak or more memory than the input deserves. libFuzzer calls it with inputs of its
// own (-Dfuzz=true); the replay calls it with the seeds and with what was found before.
#pragma once

#include <cstddef>
#include <cstdint>

extern "C" int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);
