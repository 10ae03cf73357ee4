// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// What nearly every unit test includes, compiled once for each test program: GoogleTest and the standard library. Each
// test still includes what it uses; this only makes that cheap.
#pragma once

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cstdint>
#include <cstring>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>
