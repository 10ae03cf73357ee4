// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// A kernel of the corpus from its PTX to its result, the way a user takes: its declaration is drafted (tenon-link
// --import), the draft is linked unchanged and --strict, the executable runs, and what comes out is compared with a
// reference. All of that for each order that its parameters may stand in: as they are written, pointers first, scalars
// first. A test says its arguments once, in the order in which they are written:
//
//   Kernel saxpy("samples", "saxpy");
//   saxpy.i32(n).f32(a).in(x).inout(y).grid(4).run([&](const Results &r) { expectNear(r.get<float>(1), want, 1e-6); });
//
// What no object shows (threads of a block, where it says none; dynamic shared memory) the test says too: the draft is
// linked as it is, then again with these.
#pragma once

#include "runtime/device/device.h"
#include "runtime/queue/submission_queue.h"

#include <gtest/gtest.h>

#include <array>
#include <cmath>
#include <cstring>
#include <functional>
#include <string>
#include <vector>

namespace tenon::corpus {

/// What the kernel does with a buffer, which the proof has to find out by itself. Unproved: only reads it, through
/// something that no analysis of one kernel follows; the test says what.
enum class Access : uint8_t { Read, Write, Unproved };

/// The buffers behind a run, numbered in the order in which the test named them.
class Results {
public:
  explicit Results(std::vector<std::vector<uint8_t>> bytes) : bytes_(std::move(bytes)) {}
  template <typename T> std::vector<T> get(size_t buffer) const {
    std::vector<T> out(bytes_.at(buffer).size() / sizeof(T));
    std::memcpy(out.data(), bytes_[buffer].data(), out.size() * sizeof(T));
    return out;
  }

private:
  std::vector<std::vector<uint8_t>> bytes_;
};

/// A place in memory where the address of a buffer goes: in a table of pointers, or in a struct passed by value.
struct PointerAt {
  size_t offset; // bytes
  size_t buffer;
};
/// A place in a struct passed by value where a tensor map goes; fields as cuTensorMapEncodeTiled takes them.
struct MapAt {
  size_t offset; // bytes
  size_t buffer;
  CUtensorMapDataType type;
  std::vector<uint64_t> extents, strides;
  std::vector<uint32_t> box;
  CUtensorMapInterleave interleave;
  CUtensorMapSwizzle swizzle;
  CUtensorMapL2promotion promotion;
  CUtensorMapFloatOOBfill fill;
};

class Kernel {
public:
  /// `file`: FILE_sm_*.ptx, of which the one for the best architecture that the device runs is taken. `name`: its entry
  /// point; only entry point: empty.
  Kernel(std::string file, std::string name);

  // Parameters, in the order in which the kernel has them.
  template <typename T> Kernel &in(const std::vector<T> &values) { return pointer(memory(values, Access::Read)); }
  template <typename T> Kernel &inout(const std::vector<T> &values) { return pointer(memory(values, Access::Write)); }
  /// Filled with bytes that are no result of anything.
  template <typename T> Kernel &out(size_t count) {
    return pointer(addMemory(std::vector<uint8_t>(count * sizeof(T), 0xa5), Access::Write));
  }
  Kernel &pointer(size_t buffer);
  Kernel &i8(int8_t value) { return scalar(value); }
  Kernel &u16(uint16_t value) { return scalar(value); }
  Kernel &i32(int32_t value) { return scalar(value); }
  Kernel &i64(int64_t value) { return scalar(value); }
  Kernel &f32(float value) { return scalar(value); }
  Kernel &f64(double value) { return scalar(value); }
  /// A struct by value, with the pointers in it.
  template <typename T> Kernel &structure(const T &value, std::vector<PointerAt> pointers = {}) {
    return structure(std::vector<uint8_t>(reinterpret_cast<const uint8_t *>(&value),
                                          reinterpret_cast<const uint8_t *>(&value) + sizeof value),
                     std::move(pointers), {});
  }
  Kernel &structure(std::vector<uint8_t> bytes, std::vector<PointerAt> pointers, std::vector<MapAt> maps);

  // Memory that is no parameter of its own.
  template <typename T> size_t memory(const std::vector<T> &values, Access access) {
    const auto *bytes = reinterpret_cast<const uint8_t *>(values.data());
    return addMemory(std::vector<uint8_t>(bytes, bytes + values.size() * sizeof(T)), access);
  }
  size_t addMemory(std::vector<uint8_t> bytes, Access access);
  /// The addresses of buffers, one after another.
  size_t table(const std::vector<size_t> &buffers, Access access = Access::Read);

  Kernel &grid(uint32_t x, uint32_t y = 1, uint32_t z = 1);
  Kernel &workgroup(uint32_t x, uint32_t y = 1, uint32_t z = 1);
  Kernel &cluster(uint32_t x, uint32_t y = 1, uint32_t z = 1);
  Kernel &sharedBytes(uint32_t bytes);
  Kernel &cooperative();
  /// The draft may take pointers in structs for numbers, or for pointers that may be written, where the analysis does
  /// not follow how this kernel reads them: they are passed among the bytes. It may also find pointers that the test
  /// leaves null, or numbers that are added to addresses in memory: the draft is linked as it is, then without these.
  Kernel &mayMissPointers();
  /// A warning of the link that is right, in part. Any other is a failure.
  Kernel &warns(std::string part);

  /// Every order: drafted, linked, run, `check`ed. Buffers that the kernel only reads must be unchanged.
  void run(const std::function<void(const Results &)> &check);

private:
  struct Memory {
    std::vector<uint8_t> bytes;
    std::vector<PointerAt> pointers;
    Access access;
  };
  struct Parameter {
    bool isPointer = false;
    size_t buffer = 0;          // of a pointer
    std::vector<uint8_t> bytes; // of a scalar or struct
    std::vector<PointerAt> pointers;
    std::vector<MapAt> maps;
  };
  template <typename T> Kernel &scalar(T value) {
    Parameter parameter;
    parameter.bytes.resize(sizeof value);
    std::memcpy(parameter.bytes.data(), &value, sizeof value);
    parameters_.push_back(std::move(parameter));
    return *this;
  }
  void runOrder(const std::string &ptx, const std::vector<size_t> &order,
                const std::function<void(const Results &)> &check);
  struct Linked {
    std::vector<uint8_t> executable;
    std::vector<size_t> bindings; // buffers, by number
    std::vector<bool> isPassed;   // by parameter, in their order: bytes that a dispatch passes
  };
  Result<Linked> link(const std::string &ptx, const std::vector<size_t> &order);
  void dropUnknownPointers(abi::Layout &layout, const std::vector<size_t> &order) const;
  void compareLayout(const abi::Layout &layout, const std::vector<size_t> &order, Linked &linked) const;

  std::string file_, name_;
  std::vector<Memory> memory_;
  std::vector<Parameter> parameters_;
  std::array<uint32_t, 3> grid_ = {1, 1, 1};
  std::array<uint32_t, 3> workgroup_ = {0, 0, 0}, cluster_ = {0, 0, 0}; // 0: as drafted
  uint32_t sharedBytes_ = 0;                                            // 0: as drafted
  bool isCooperative_ = false, mayMissPointers_ = false;
  std::vector<std::string> warnings_;
};

/// The device that TENON_CUDA_DRIVER names. Without one, or without the kernels, a test is skipped and says why.
class CorpusTest : public testing::Test {
protected:
  void SetUp() override;
};

/// Deterministic values.
class Random {
public:
  explicit Random(uint64_t seed) : state_(seed * 0x9e3779b97f4a7c15ull + 1) {}
  uint32_t next() {
    state_ = state_ * 6364136223846793005ull + 1442695040888963407ull;
    return uint32_t(state_ >> 32);
  }
  double real(double low, double high) { return low + (high - low) * next() * 0x1p-32; }

private:
  uint64_t state_;
};
std::vector<int> integers(size_t count, uint64_t seed, int low, int high);
template <typename T = float> std::vector<T> reals(size_t count, uint64_t seed, double low = -1, double high = 1) {
  Random random(seed);
  std::vector<T> out(count);
  for (T &value : out)
    value = T(random.real(low, high));
  return out;
}

// Halves and brain floats as bits: a value of either is rounded to nearest even.
using Half = _Float16;
struct BFloat {
  uint16_t bits = 0;
  BFloat() = default;
  explicit BFloat(double value);
  operator float() const { // NOLINT: as the built-in types convert
    const uint32_t wide = uint32_t(bits) << 16;
    float out;
    std::memcpy(&out, &wide, sizeof out);
    return out;
  }
};

/// Each |got - want| is at most absolute + relative * |want|; the first few that are not are printed.
template <typename T, typename U>
void expectNear(const std::vector<T> &got, const std::vector<U> &want, double absolute, double relative = 0) {
  ASSERT_EQ(got.size(), want.size());
  size_t wrong = 0;
  for (size_t i = 0; i < got.size(); ++i) {
    const double difference = std::abs(double(got[i]) - double(want[i]));
    if (!(difference <= absolute + relative * std::abs(double(want[i])))) // NaN is wrong
      if (++wrong <= 5)
        ADD_FAILURE() << "element " << i << " is " << double(got[i]) << ", wanted " << double(want[i]);
  }
  EXPECT_EQ(wrong, 0u) << "of " << got.size();
}

/// a[m x k] * b[k x n] + c, row-major with distances between rows; sums in double precision.
struct MatrixView {
  std::function<double(size_t row, size_t column)> at;
};
std::vector<double> product(size_t m, size_t n, size_t k, const MatrixView &a, const MatrixView &b);

} // namespace tenon::corpus
