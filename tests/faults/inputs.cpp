// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Executables of the conformance kernels, and a program over one of them.
#include "inputs.h"

namespace tenon::faults {

using namespace tenon::conformance;
using abi::fb::BufferSource;
using abi::fb::RegisterOp;
using abi::fb::RegisterOpcode;

/// f(a, b) = (a + 9) + b, where 9 is a constant of the program; with copies and a fill: every kind of command.
static test::FunctionSpec function() {
  test::FunctionSpec out{.name = "f"};
  out.inputs = {{abi::ElementType::F32, {kThreads}}, {abi::ElementType::F32, {kThreads}}};
  out.registers = {RegisterOp(RegisterOpcode::Const, 0, 0, 0, kThreads * 4), // 0: bytes
                   RegisterOp(RegisterOpcode::Const, 0, 0, 0, 1),            // 1: workgroups
                   RegisterOp(RegisterOpcode::Const, 0, 0, 0, kThreads), RegisterOp(RegisterOpcode::Const, 0, 0, 0, 0)};
  out.buffers = {{BufferSource::Input, 0},        {BufferSource::Input, 1},        {BufferSource::Constant, 0},
                 {BufferSource::Transient, 0, 0}, {BufferSource::Transient, 0, 0}, {BufferSource::Transient, 0, 0}};
  auto add = [](uint32_t a, uint32_t b, uint32_t c) {
    return test::CommandSpec{.ordinal = kAdd,
                             .grid = {1, 1, 1},
                             .ranges = {test::wholeBuffer(a), test::wholeBuffer(b), test::wholeBuffer(c)},
                             .constants = {2}};
  };
  out.commands = {
      {.kind = test::CommandSpec::Fill, .ranges = {test::wholeBuffer(5)}, .constants = {3}},
      {.kind = test::CommandSpec::Copy, .ranges = {test::wholeBuffer(2), test::wholeBuffer(3)}},
      add(0, 3, 4),
      {.kind = test::CommandSpec::Copy, .ranges = {test::wholeBuffer(1), test::wholeBuffer(3)}},
      add(4, 3, 5),
  };
  out.results = {{.type = {abi::ElementType::F32, {kThreads}}, .buffer = 5, .shape = {2}}};
  return out;
}

Result<Inputs> makeInputs() {
  Inputs out;
  std::vector<abi::Export> exports = kernelExports();
  TENON_ASSIGN_OR_RETURN(out.executable, linkKernels(exports, {90}));
  exports[kReverseShared].launch.dynamicSharedBytes = 64 << 10;
  exports[kIota].launch.cluster = {1, 1, 1};
  exports[kScale].launch.cooperative = true;
  TENON_ASSIGN_OR_RETURN(out.launches, linkKernels(exports, {90}));
  const std::vector<float> constant(kThreads, 9);
  const auto *bytes = reinterpret_cast<const uint8_t *>(constant.data());
  const test::AlignedBytes program =
      test::buildProgram({function()}, {out.executable}, {{bytes, bytes + constant.size() * sizeof(float)}});
  out.program.assign(program.span().begin(), program.span().end());
  return out;
}

} // namespace tenon::faults
