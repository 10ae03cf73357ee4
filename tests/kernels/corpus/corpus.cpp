// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "tests/kernels/corpus/corpus.h"

#include "abi/parameter_layout.h"
#include "linker/declare/import.h"
#include "linker/link.h"
#include "runtime/executable/executable.h"
#include "runtime/memory/allocator.h"
#include "runtime/memory/transfer.h"
#include "support/files/file.h"
#include "tests/kernels/corpus/kernel_text.h"

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <numeric>
#include <set>
#include <unistd.h>

namespace tenon::corpus {

using namespace tenon::runtime;

namespace {

struct Environment {
  std::shared_ptr<Device> device;
  std::shared_ptr<SubmissionQueue> queue;
  std::string folder; // of the kernels
  std::string whyNot;
  bool isEmulator = false; // it is always there, and may refuse a variable
};

Environment &environment() {
  static Environment *opened = [] {
    auto *out = new Environment;
    const cuda::DriverSearch search = cuda::DriverSearch::fromEnvironment();
    const char *folder = std::getenv("TENON_CORPUS_KERNELS");
    out->isEmulator = search.driverVariable == "emulator";
    out->folder = folder && *folder ? folder : search.ownFolder;
    auto device = Device::open({}, search);
    if (!device.ok()) {
      out->whyNot = device.status().toString();
      return out;
    }
    out->device = device.take();
    out->queue = SubmissionQueue::create(out->device).take();
    std::printf("device: %s\n", out->device->description().c_str());
    return out;
  }();
  return *opened;
}

/// A folder of this process, gone with it.
const std::string &scratch() {
  struct Folder {
    std::string path = "/tmp/tenon-corpus-XXXXXX";
    Folder() {
      if (!mkdtemp(path.data()))
        std::abort();
    }
    ~Folder() {
      for (const char *name : {"/kernel.ptx", "/kernel.json"})
        unlink((path + name).c_str());
      rmdir(path.c_str());
    }
  };
  static Folder folder;
  return folder.path;
}

/// The text of FILE_sm_N.ptx for the best architecture of the device. Empty: there is none.
std::string readKernels(const std::string &file) {
  const uint16_t capability = environment().device->traits().computeCapability;
  struct Arch {
    uint16_t capability;
    const char *name;
    bool isExact;
  };
  for (const Arch &arch : {Arch{90, "90a", true}, Arch{90, "90", false}, Arch{80, "80", false}})
    if (arch.isExact ? arch.capability == capability : arch.capability <= capability)
      if (auto text = readFile(environment().folder + "/" + file + "_sm_" + arch.name + ".ptx"); text.ok())
        return text.take();
  return {};
}

} // namespace

void CorpusTest::SetUp() {
  if (!environment().whyNot.empty() && environment().isEmulator)
    FAIL() << environment().whyNot;
  if (!environment().whyNot.empty())
    GTEST_SKIP() << environment().whyNot;
}

Kernel::Kernel(std::string file, std::string name) : file_(std::move(file)), name_(std::move(name)) {}

Kernel &Kernel::pointer(size_t buffer) {
  Parameter parameter;
  parameter.isPointer = true;
  parameter.buffer = buffer;
  parameters_.push_back(std::move(parameter));
  return *this;
}

Kernel &Kernel::structure(std::vector<uint8_t> bytes, std::vector<PointerAt> pointers, std::vector<MapAt> maps) {
  Parameter parameter;
  parameter.bytes = std::move(bytes);
  parameter.pointers = std::move(pointers);
  parameter.maps = std::move(maps);
  parameters_.push_back(std::move(parameter));
  return *this;
}

size_t Kernel::addMemory(std::vector<uint8_t> bytes, Access access) {
  memory_.push_back({std::move(bytes), {}, access});
  return memory_.size() - 1;
}

size_t Kernel::table(const std::vector<size_t> &buffers, Access access) {
  const size_t out = addMemory(std::vector<uint8_t>(8 * buffers.size()), access);
  for (size_t i = 0; i < buffers.size(); ++i)
    memory_[out].pointers.push_back({8 * i, buffers[i]});
  return out;
}

Kernel &Kernel::grid(uint32_t x, uint32_t y, uint32_t z) {
  grid_ = {x, y, z};
  return *this;
}
Kernel &Kernel::workgroup(uint32_t x, uint32_t y, uint32_t z) {
  workgroup_ = {x, y, z};
  return *this;
}
Kernel &Kernel::cluster(uint32_t x, uint32_t y, uint32_t z) {
  cluster_ = {x, y, z};
  return *this;
}
Kernel &Kernel::sharedBytes(uint32_t bytes) {
  sharedBytes_ = bytes;
  return *this;
}
Kernel &Kernel::cooperative() {
  isCooperative_ = true;
  return *this;
}
Kernel &Kernel::mayMissPointers() {
  mayMissPointers_ = true;
  return *this;
}
Kernel &Kernel::warns(std::string part) {
  warnings_.push_back(std::move(part));
  return *this;
}

void Kernel::run(const std::function<void(const Results &)> &check) {
  std::string text = readKernels(file_);
  if (text.empty())
    GTEST_SKIP() << "no PTX of '" << file_ << "' in " << environment().folder << " for "
                 << environment().device->description();
  text = keepKernel(text, name_);
  ASSERT_NE(text, "") << "no kernel '" << name_ << "' in " << file_;
  const size_t count = parameters_.size();
  std::vector<size_t> asWritten(count), pointersFirst, scalarsFirst;
  std::iota(asWritten.begin(), asWritten.end(), size_t(0));
  for (bool pointers : {true, false})
    for (size_t i = 0; i < count; ++i)
      if (parameters_[i].isPointer == pointers)
        pointersFirst.push_back(i);
  for (bool pointers : {false, true})
    for (size_t i = 0; i < count; ++i)
      if (parameters_[i].isPointer == pointers)
        scalarsFirst.push_back(i);
  std::set<std::vector<size_t>> seen;
  for (const auto &[order, what] :
       {std::pair{asWritten, "parameters as they are written"}, std::pair{pointersFirst, "pointers first"},
        std::pair{scalarsFirst, "scalars first"}})
    if (seen.insert(order).second) {
      SCOPED_TRACE(what);
      runOrder(reorderParameters(text, order), order, check);
    }
}

/// Each pointer a binding, read-only where the kernel only reads; each other parameter a constant, unless it is a
/// struct of pointers alone.
void Kernel::compareLayout(const abi::Layout &layout, const std::vector<size_t> &order, Linked &linked) const {
  size_t constants = 0;
  for (size_t i = 0; i < order.size(); ++i) {
    const Parameter &parameter = parameters_[order[i]];
    std::vector<PointerAt> pointers = parameter.pointers;
    const std::vector<abi::ParameterMember> members =
        i < layout.parameters.size() ? layout.parameters[i].members : std::vector<abi::ParameterMember>();
    if (mayMissPointers_)
      std::erase_if(pointers, [&](const PointerAt &at) {
        return std::none_of(members.begin(), members.end(), [&](const auto &m) { return m.offset == at.offset; });
      });
    ASSERT_EQ(members.size(), pointers.size()) << layout.toString();
    for (size_t j = 0; j < members.size(); ++j) {
      EXPECT_EQ(members[j].index, linked.bindings.size()) << layout.toString();
      EXPECT_EQ(members[j].offset, pointers[j].offset) << layout.toString();
      linked.bindings.push_back(pointers[j].buffer);
    }
    if (parameter.isPointer)
      linked.bindings.push_back(parameter.buffer);
    linked.isPassed.push_back(!parameter.isPointer && pointers.size() * 8 < parameter.bytes.size());
    constants += linked.isPassed.back();
  }
  ASSERT_EQ(layout.bindings.size(), linked.bindings.size()) << layout.toString();
  ASSERT_EQ(layout.constants.size(), constants) << layout.toString();
  for (size_t i = 0; i < linked.bindings.size(); ++i) {
    const bool isRead = memory_[linked.bindings[i]].access == Access::Read;
    if (!mayMissPointers_ || !isRead)
      EXPECT_EQ(layout.bindings[i].readOnly, isRead) << "binding " << i << " is buffer " << linked.bindings[i];
  }
}

/// Takes the pointers out of `layout` that no parameter of the test has.
void Kernel::dropUnknownPointers(abi::Layout &layout, const std::vector<size_t> &order) const {
  std::vector<abi::Binding> kept;
  auto renumber = [&](auto &part) {
    if (part.kind == abi::ParameterKind::Binding) {
      kept.push_back(layout.bindings.at(part.index));
      part.index = uint32_t(kept.size() - 1);
    }
  };
  for (size_t i = 0; i < layout.parameters.size() && i < order.size(); ++i) {
    const std::vector<PointerAt> &pointers = parameters_[order[i]].pointers;
    std::erase_if(layout.parameters[i].members, [&](const abi::ParameterMember &member) {
      return std::none_of(pointers.begin(), pointers.end(),
                          [&](const PointerAt &at) { return at.offset == member.offset; });
    });
    renumber(layout.parameters[i]);
    for (abi::ParameterMember &member : layout.parameters[i].members)
      renumber(member);
  }
  if (!layout.parameters.empty())
    layout.bindings = std::move(kept);
  layout.simplifyOrder();
}

Result<Kernel::Linked> Kernel::link(const std::string &ptx, const std::vector<size_t> &order) {
  const std::string object = scratch() + "/kernel.ptx", path = scratch() + "/kernel.json";
  if (Status written = writeFile(object, ptx); !written.ok())
    return written;
  Diagnostics diagnostics;
  linker::LinkJob drafted{.name = "corpus"};
  linker::addObject(drafted, object, {}, diagnostics);
  const std::string manifest = linker::draftManifest(drafted, {.folder = scratch()}, diagnostics);
  if (diagnostics.hasErrors())
    return makeError(StatusCode::InvalidArgument, "no draft: ", diagnostics.toString());

  diagnostics = Diagnostics();
  if (Status written = writeFile(path, manifest); !written.ok())
    return written;
  linker::LinkJob job = linker::readManifest(path, manifest, {}, diagnostics);
  job.strict = true;
  auto linked = linker::link(job, diagnostics);
  if (!linked.ok())
    return makeError(StatusCode::InvalidArgument, "the draft does not link: ", diagnostics.toString(), manifest);
  for (const Diagnostic &finding : diagnostics.items())
    if (finding.severity == Severity::Warning)
      EXPECT_TRUE(std::any_of(warnings_.begin(), warnings_.end(), [&](const std::string &part) {
        return concat('[', finding.rule, "] ", finding.message).find(part) != std::string::npos;
      })) << diagnostics.toString();
  Linked out;
  const abi::Layout draftedLayout = job.exports.at(0).layout;
  if (mayMissPointers_)
    dropUnknownPointers(job.exports[0].layout, order);
  compareLayout(job.exports[0].layout, order, out);

  abi::Launch &launch = job.exports[0].launch;
  const abi::Launch asDrafted = launch;
  if (workgroup_[0])
    launch.workgroupSize = workgroup_;
  if (cluster_[0])
    launch.cluster = cluster_;
  if (sharedBytes_)
    launch.dynamicSharedBytes = sharedBytes_;
  launch.cooperative |= isCooperative_;
  if (!(launch == asDrafted) || !(job.exports[0].layout == draftedLayout))
    linked = linker::link(job, diagnostics);
  if (!linked.ok())
    return makeError(StatusCode::InvalidArgument, "with its launch: ", diagnostics.toString(), manifest);
  out.executable = std::move(linked->executable);
  return out;
}

void Kernel::runOrder(const std::string &ptx, const std::vector<size_t> &order,
                      const std::function<void(const Results &)> &check) {
  auto linked = link(ptx, order);
  ASSERT_TRUE(linked.ok()) << linked.status().message();
  if (testing::Test::HasFatalFailure())
    return;
  const std::shared_ptr<Device> &device = environment().device;
  auto executable = Executable::create(device, std::move(linked->executable), name_.empty() ? file_ : name_);
  ASSERT_TRUE(executable.ok()) << executable.status().toString();

  std::vector<std::shared_ptr<Buffer>> buffers;
  for (const Memory &memory : memory_) {
    auto buffer = allocateBuffer(*device, memory.bytes.size(), {});
    ASSERT_TRUE(buffer.ok()) << buffer.status().toString();
    buffers.push_back(buffer.take());
  }
  auto putPointers = [&](std::vector<uint8_t> &into, const std::vector<PointerAt> &pointers) {
    for (const PointerAt &at : pointers) {
      const uint64_t address = buffers[at.buffer]->address();
      std::memcpy(into.data() + at.offset, &address, sizeof address);
    }
  };
  std::vector<std::vector<uint8_t>> before;
  for (size_t i = 0; i < memory_.size(); ++i) {
    before.push_back(memory_[i].bytes);
    putPointers(before.back(), memory_[i].pointers);
    Status status = uploadBytes(*buffers[i], 0, before.back());
    ASSERT_TRUE(status.ok()) << status.toString();
  }

  DispatchArguments arguments;
  for (size_t buffer : linked->bindings)
    arguments.bindings.push_back(BufferRef::of(buffers[buffer]));
  for (size_t i = 0; i < order.size(); ++i) {
    if (!linked->isPassed[i])
      continue;
    // A pointer in a struct is a binding, and the linker says where it stands: what is passed in its place is not read.
    const Parameter &parameter = parameters_[order[i]];
    std::vector<uint8_t> value = parameter.bytes;
    putPointers(value, parameter.pointers);
    for (const MapAt &map : parameter.maps) {
      ASSERT_NE(device->driver().cuTensorMapEncodeTiled, nullptr) << "this driver encodes no tensor maps";
      const cuda::ContextScope scope = device->enter();
      CUtensorMap encoded;
      const std::vector<uint32_t> steps(map.box.size(), 1);
      ASSERT_EQ(device->driver().cuTensorMapEncodeTiled(
                    &encoded, map.type, uint32_t(map.box.size()),
                    reinterpret_cast<void *>(buffers[map.buffer]->address()), map.extents.data(), map.strides.data(),
                    map.box.data(), steps.data(), map.interleave, map.swizzle, map.promotion, map.fill),
                CUDA_SUCCESS);
      std::memcpy(value.data() + map.offset, &encoded, sizeof encoded);
    }
    value.resize((value.size() + 7) / 8 * 8);
    const size_t first = arguments.constants.size();
    arguments.constants.resize(first + value.size() / 8);
    std::memcpy(arguments.constants.data() + first, value.data(), value.size());
  }

  auto done = Semaphore::create();
  const SemaphorePoint signal = {done, 1};
  Status status = environment().queue->dispatch({}, executable.take(), 0, grid_, std::move(arguments), {&signal, 1});
  if (status.ok())
    status = done->wait(1, kWaitForever);
  ASSERT_TRUE(status.ok()) << status.toString();

  std::vector<std::vector<uint8_t>> after;
  for (size_t i = 0; i < memory_.size(); ++i) {
    after.emplace_back(memory_[i].bytes.size());
    status = downloadBytes(*buffers[i], 0, after.back());
    ASSERT_TRUE(status.ok()) << status.toString();
    if (memory_[i].access != Access::Write)
      EXPECT_TRUE(after.back() == before[i]) << "buffer " << i << " is only read, and changed";
  }
  check(Results(std::move(after)));
}

std::vector<int> integers(size_t count, uint64_t seed, int low, int high) {
  Random random(seed);
  std::vector<int> out(count);
  for (int &value : out)
    value = low + int(random.next() % uint32_t(high - low + 1));
  return out;
}

BFloat::BFloat(double value) {
  const float narrow = float(value);
  uint32_t wide;
  std::memcpy(&wide, &narrow, sizeof wide);
  bits = uint16_t((wide + 0x7fff + (wide >> 16 & 1)) >> 16);
}

std::vector<double> product(size_t m, size_t n, size_t k, const MatrixView &a, const MatrixView &b) {
  std::vector<double> out(m * n);
  for (size_t i = 0; i < m; ++i)
    for (size_t j = 0; j < n; ++j)
      for (size_t x = 0; x < k; ++x)
        out[i * n + j] += a.at(i, x) * b.at(x, j);
  return out;
}

} // namespace tenon::corpus
