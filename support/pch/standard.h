// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The precompiled header of every library but the compiler's: parts of the standard library that cost most to parse,
// and nothing of ours. Every file still includes what it uses; the sanitizer build has no precompiled header and shows
// it.
#pragma once

#include <algorithm>
#include <array>
#include <atomic>
#include <bit>
#include <charconv>
#include <cstdint>
#include <cstring>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>
#include <variant>
#include <vector>
