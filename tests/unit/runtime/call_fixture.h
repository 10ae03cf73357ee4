// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// A program on the fake driver whose functions add vectors of dynamic length and scale them.
#pragma once

#include "runtime/program/program.h"
#include "tests/unit/runtime/fixture.h"
#include "tests/unit/runtime/program_builder.h"

#include <bit>
#include <cstring>

namespace tenon::runtime {

using namespace tenon::test;
using abi::ElementType;
using abi::fb::BufferSource;
using abi::fb::RegisterOp;
using enum abi::fb::RegisterOpcode;

/// f(%a: tensor<?xf32>, %b: tensor<?xf32>, %factor: f32) -> (tensor<?xf32>, i64): (a + b) * factor, length.
inline FunctionSpec addAndScale() {
  FunctionSpec function;
  function.name = "f";
  function.inputs = {{ElementType::F32, {-1}}, {ElementType::F32, {-1}}, {ElementType::F32, {}, true}};
  function.registers = {
      RegisterOp(Dim, 0, 0, 0, 0),     // 0: length of a
      RegisterOp(Dim, 1, 0, 0, 0),     // 1: length of b
      RegisterOp(Eq, 0, 1, 0, 0),      // 2: equal?
      RegisterOp(Const, 0, 0, 0, 4),   // 3
      RegisterOp(Mul, 0, 3, 0, 0),     // 4: bytes
      RegisterOp(Const, 0, 0, 0, 64),  // 5
      RegisterOp(CeilDiv, 0, 5, 0, 0), // 6: grid
      RegisterOp(Const, 0, 0, 0, 1),   // 7
      RegisterOp(Arg, 2, 0, 0, 0),     // 8: factor
  };
  function.checks = {{2, "the lengths differ", "f.mlir:3:5"}};
  function.buffers = {{BufferSource::Input, 0}, {BufferSource::Input, 1}, {BufferSource::Transient, 0, 4}};
  function.commands = {
      {.ordinal = 0,
       .grid = {6, 7, 7},
       .ranges = {wholeBuffer(0), wholeBuffer(1), wholeBuffer(2)},
       .constants = {0},
       .location = "f.mlir:5:7"},
      {.ordinal = 1, .grid = {6, 7, 7}, .ranges = {wholeBuffer(2)}, .constants = {0, 8}, .location = "f.mlir:8:7"}};
  function.results = {{.type = {ElementType::F32, {-1}}, .buffer = 2, .shape = {0}},
                      {.type = {ElementType::I64, {}, true}, .scalar = 0}};
  return function;
}

class CallTest : public FakeDeviceTest {
protected:
  Program &load(const std::vector<FunctionSpec> &functions, const StateSpec &state = {},
                const std::vector<std::vector<uint8_t>> &constants = {}) {
    fake.parameters["add"] = {{0, 8}, {8, 8}, {16, 8}, {24, 4}};
    fake.parameters["scale"] = {{0, 8}, {8, 4}, {12, 4}};
    fake.kernels["add"] = [](const FakeLaunch &launch) {
      for (int i = 0; i < launch.parameter<int>(3); ++i)
        launch.parameter<float *>(2)[i] = launch.parameter<const float *>(0)[i] + launch.parameter<const float *>(1)[i];
    };
    fake.kernels["scale"] = [](const FakeLaunch &launch) {
      for (int i = 0; i < launch.parameter<int>(1); ++i)
        launch.parameter<float *>(0)[i] *= launch.parameter<float>(2);
    };
    const auto executable = buildExecutable("exe", {makeExport("add", 3, 1), makeExport("scale", 1, 2)},
                                            {{.name = "sm_80", .image = "ptx"}});
    bytes = std::make_unique<AlignedBytes>(buildProgram(functions, {executable}, constants, 0, state));
    auto loaded = Program::load(open(), bytes->span(), "test");
    EXPECT_TRUE(loaded.ok()) << loaded.status().message();
    program = loaded.take();
    return *program;
  }
  Value vector(const std::vector<float> &values) {
    HostTensor tensor{ElementType::F32, {int64_t(values.size())}, std::vector<uint8_t>(4 * values.size())};
    if (!values.empty())
      std::memcpy(tensor.bytes.data(), values.data(), tensor.bytes.size());
    return uploadTensor(*device, tensor).take();
  }
  static Value scalar(float value) { return Scalar{ElementType::F32, int64_t(std::bit_cast<uint32_t>(value))}; }
  std::vector<float> read(const Value &value) {
    const HostTensor host = downloadTensor(*device, std::get<Tensor>(value)).take();
    std::vector<float> out(host.bytes.size() / 4);
    if (!out.empty())
      std::memcpy(out.data(), host.bytes.data(), host.bytes.size());
    return out;
  }
  void TearDown() override {
    program.reset();
    EXPECT_EQ(fake.launches.size(), device ? device->statistics().launches : fake.launches.size());
  }

  std::unique_ptr<AlignedBytes> bytes;
  std::unique_ptr<Program> program;
};

} // namespace tenon::runtime
