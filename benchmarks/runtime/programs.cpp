// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "programs.h"

#include <cstdlib>
#include <fcntl.h>
#include <unistd.h>

namespace tenon::benchmarks {

using abi::fb::BufferSource;
using abi::fb::RegisterOp;
using abi::fb::RegisterOpcode;

test::FunctionSpec addFunction(const std::string &name, int count) {
  test::FunctionSpec function{.name = name};
  function.inputs = {{abi::ElementType::F32, {-1}}, {abi::ElementType::F32, {-1}}};
  function.registers = {RegisterOp(RegisterOpcode::Dim, 0, 0, 0, 0), RegisterOp(RegisterOpcode::Const, 0, 0, 0, 4),
                        RegisterOp(RegisterOpcode::Mul, 0, 1, 0, 0), RegisterOp(RegisterOpcode::Const, 0, 0, 0, 1)};
  function.buffers = {{BufferSource::Input, 0}, {BufferSource::Input, 1}, {BufferSource::Transient, 0, 2}};
  for (int i = 0; i < count; ++i)
    function.commands.push_back({.ordinal = 0,
                                 .grid = {3, 3, 3},
                                 .ranges = {test::wholeBuffer(0), test::wholeBuffer(1), test::wholeBuffer(2)},
                                 .constants = {0}});
  function.results = {{.type = {abi::ElementType::F32, {-1}}, .buffer = 2, .shape = {0}}};
  return function;
}

Result<std::string> makeProgramFile(const std::vector<uint8_t> &executable, uint64_t constantBytes) {
  const test::AlignedBytes program = test::buildProgram({addFunction("one", 1)}, {executable}, {}, constantBytes);
  const std::span<const uint8_t> bytes = program.span();
  char path[] = "/tmp/tenon_benchmark_XXXXXX";
  const int file = mkstemp(path);
  const uint64_t offset = (bytes.size() + 63) / 64 * 64;
  const bool isWritten = file >= 0 && write(file, bytes.data(), bytes.size()) == static_cast<ssize_t>(bytes.size()) &&
                         ftruncate(file, static_cast<off_t>(offset + constantBytes)) == 0;
  if (file >= 0)
    close(file);
  if (!isWritten)
    return makeError(StatusCode::FailedPrecondition, "cannot write '", path, "'");
  return std::string(path);
}

} // namespace tenon::benchmarks
