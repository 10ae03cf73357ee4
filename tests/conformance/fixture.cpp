// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "fixture.h"

#include "linker/link.h"
#include "support/files/file.h"

#include <cstdio>
#include <cstdlib>

namespace tenon::conformance {

std::string implementationName(const testing::TestParamInfo<Implementation> &info) {
  switch (info.param) {
  case Implementation::Stream:
    return "Stream";
  case Implementation::Graph:
    return "Graph";
  }
  return "Unknown";
}

std::vector<abi::Export> kernelExports() {
  struct Row {
    const char *name;
    size_t readOnly, bindings, words;
  };
  constexpr Row kRows[] = {{"add", 2, 3, 1},
                           {"scale", 0, 1, 2},
                           {"iota", 0, 1, 1},
                           {"store_constants", 0, 1, 4},
                           {"store_typed", 0, 1, 0},
                           {"count_workgroups", 0, 1, 0},
                           {"mark_workgroups", 0, 1, 0},
                           {"write_grid", 0, 1, 3},
                           {"reverse_shared", 0, 1, 0},
                           {"write_to_null", 0, 1, 0},
                           {"store_structs", 0, 1, 0},
                           {"scale_and_offset", 1, 2, 3},
                           {"scale_and_offset_ordered", 2, 3, 3}};
  std::vector<abi::Export> exports;
  for (const Row &row : kRows) {
    abi::Export out;
    out.name = out.symbol = row.name;
    out.ordinal = static_cast<uint32_t>(exports.size());
    out.layout.bindings.resize(row.bindings);
    for (size_t i = 0; i < row.readOnly; ++i)
      out.layout.bindings[i].readOnly = true;
    out.layout.constants.resize(row.words);
    out.launch.workgroupSize = {kThreads, 1, 1};
    exports.push_back(std::move(out));
  }
  exports[kStoreTyped].layout.constants = {
      abi::Constant::scalar(abi::ElementType::I8), abi::Constant::scalar(abi::ElementType::I64),
      abi::Constant::scalar(abi::ElementType::F32), abi::Constant::scalar(abi::ElementType::I16)};
  // Behind an alignment above 16 each image has offsets of its own (K-3).
  auto structOf = [](uint32_t size, uint32_t alignment) {
    abi::Constant constant;
    constant.kind = abi::ConstantKind::Struct;
    constant.size = size;
    constant.alignment = alignment;
    return constant;
  };
  exports[kStoreStructs].layout.constants = {abi::Constant::scalar(abi::ElementType::I32), structOf(12, 4),
                                             structOf(64, 64), structOf(16, 16),
                                             abi::Constant::scalar(abi::ElementType::I8)};
  // Bindings in, more, out; constants n, factor, offset, as a dispatch of scale_and_offset passes them.
  exports[kScaleAndOffsetOrdered].layout.parameters = {
      abi::DeclaredParameter::constant(0), abi::DeclaredParameter::binding(0),
      abi::DeclaredParameter::structOf(24, 8,
                                       {{abi::ParameterKind::Binding, 2, 0},
                                        {abi::ParameterKind::Constant, 2, 8},
                                        {abi::ParameterKind::Binding, 1, 16}}),
      abi::DeclaredParameter::structOf(1, 1), abi::DeclaredParameter::constant(1)};
  exports[kReverseShared].launch.dynamicSharedBytes = kThreads * 4;
  return exports;
}

std::string readPtx(int arch) {
  const char *folder = std::getenv("TENON_CONFORMANCE_KERNELS");
  const std::string own = cuda::DriverSearch::fromEnvironment().ownFolder;
  auto text = readFile(concat(folder && *folder ? folder : own.c_str(), "/conformance_kernels_sm_", arch, ".ptx"));
  if (!text.ok())
    return std::string();
  // Without -rdc=true nvcc keeps variables to the image; a driver finds visible ones only.
  std::string ptx = text.take();
  constexpr std::string_view kHidden = "\n.global .align 4 .b8 conformance_table";
  if (const size_t at = ptx.find(kHidden); at != std::string::npos)
    ptx.insert(at + 1, ".visible ");
  return ptx;
}

Result<std::vector<uint8_t>> linkKernels(std::vector<abi::Export> exports, const std::vector<int> &archs) {
  linker::LinkJob job;
  job.name = "conformance";
  job.exports = std::move(exports);
  for (int arch : archs) {
    linker::ObjectInput object;
    object.path = concat("conformance_kernels_sm_", arch, ".ptx");
    object.bytes = readPtx(arch);
    object.target = {static_cast<uint16_t>(arch), abi::ArchSuffix::None};
    if (object.bytes.empty())
      return makeError(StatusCode::NotFound, "no '", object.path,
                       "' beside this binary or in $TENON_CONFORMANCE_KERNELS (nvcc was not found when it was built)");
    job.objects.push_back(std::move(object));
  }
  Diagnostics diagnostics;
  auto linked = linker::link(job, diagnostics);
  if (!linked.ok())
    return linked.takeStatus().withContext(diagnostics.toString());
  return std::move(linked->executable);
}

Environment Environment::open() {
  Environment out;
  const cuda::DriverSearch search = cuda::DriverSearch::fromEnvironment();
  auto device = Device::open({}, search);
  if (!device.ok()) {
    out.isBroken = search.driverVariable == "emulator";
    out.whyNot = device.status().toString();
    return out;
  }
  out.device = device.take();
  auto bytes = linkKernels(kernelExports(), {75, 80, 90});
  if (bytes.ok())
    out.executableBytes = bytes.take();
  else
    out.whyNot = bytes.status().toString();
  return out;
}

Environment &Environment::shared() {
  static Environment *environment = [] {
    auto *opened = new Environment(open());
    if (opened->device)
      std::printf("device: %s\n", opened->device->description().c_str());
    return opened;
  }();
  return *environment;
}

void DeviceTest::SetUp() {
  Environment &environment = Environment::shared();
  if (environment.isBroken)
    FAIL() << environment.whyNot;
  if (!environment.whyNot.empty())
    GTEST_SKIP() << environment.whyNot;
  device = environment.device;
  queue = SubmissionQueue::create(device).take();
  executable = Executable::create(device, environment.executableBytes, "conformance").take();
}

void DeviceTest::TearDown() {
  queue.reset();
  executable.reset();
}

std::shared_ptr<Buffer> DeviceTest::allocate(uint64_t bytes, const BufferOptions &options) {
  auto buffer = allocateBuffer(*device, bytes, options);
  EXPECT_TRUE(buffer.ok()) << buffer.status().message();
  return buffer.ok() ? buffer.take() : nullptr;
}

std::vector<uint32_t> DeviceTest::numbers(size_t n, uint32_t from) {
  std::vector<uint32_t> out(n);
  for (size_t i = 0; i < n; ++i)
    out[i] = from + static_cast<uint32_t>(i);
  return out;
}

std::vector<float> DeviceTest::floats(size_t n, float from, float step) {
  std::vector<float> out(n);
  for (size_t i = 0; i < n; ++i)
    out[i] = from + step * static_cast<float>(i);
  return out;
}

std::vector<uint8_t> DeviceTest::noise(size_t n) {
  std::vector<uint8_t> out(n);
  for (size_t i = 0; i < n; ++i)
    out[i] = static_cast<uint8_t>((i * 2654435761u) >> 13);
  return out;
}

void CommandTest::SetUp() {
  DeviceTest::SetUp();
  if (device && GetParam() == Implementation::Graph && !ReplayGraph::isSupported(device->driver()))
    GTEST_SKIP() << "the driver '" << device->driver().path() << "' has no CUDA graphs of 12.0";
}

std::shared_ptr<CommandBuffer> CommandTest::create(const CommandBufferOptions &options) {
  const bool isGraph = GetParam() == Implementation::Graph;
  auto made = createCommandBuffer(device, options, isGraph ? CommandBufferMode::Graph : CommandBufferMode::Stream);
  EXPECT_TRUE(made.ok()) << made.status().toString();
  return made.take();
}

std::shared_ptr<CommandBuffer> CommandTest::record(const std::function<Status(CommandBuffer &)> &commands,
                                                   const CommandBufferOptions &options) {
  std::shared_ptr<CommandBuffer> buffer = create(options);
  Status status = buffer->begin();
  if (status.ok())
    status = commands(*buffer);
  if (status.ok())
    status = buffer->end();
  EXPECT_TRUE(status.ok()) << status.toString();
  return buffer;
}

Status CommandTest::run(const std::shared_ptr<CommandBuffer> &commands, const std::vector<TableEntry> &table) {
  auto done = Semaphore::create();
  const SemaphorePoint signal = {done, 1};
  const BoundCommandBuffer bound = {commands, table};
  TENON_RETURN_IF_ERROR(queue->submit({}, {&bound, 1}, {&signal, 1}));
  return done->wait(1, kWaitForever);
}

} // namespace tenon::conformance
