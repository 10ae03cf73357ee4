// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "tests/proof/judge.h"

#include "emulator/async/tensor_map.h"
#include "emulator/decode/decode.h"
#include "emulator/machine/run_control.h"
#include "emulator/memory/memory.h"
#include "emulator/schedule/run_launch.h"
#include "linker/link.h"
#include "linker/passes/link_context.h"
#include "ptx/parse/parser.h"
#include "tests/proof/guesses.h"

#include <algorithm>
#include <atomic>
#include <cstring>
#include <sys/mman.h>

namespace tenon::proof {
namespace {

using emulator::AllocationKind;

constexpr uint32_t kThreads = 32; // one warp: lanes go in step, so a kernel needs no more barriers than it has
constexpr uint64_t kPage = 4096, kRegion = 48 << 10; // around the pointer, kBefore of it in front
constexpr double kSeconds = 0.02;                    // of a run: where lines are left out, loops may lose their end
constexpr uint64_t kArena = 16 << 20;                // for variables of modules

/// Where the emulator's memory of one judge lies; its bias is small, so that a device address and the host's are
/// neighbours and any place of the process can be a buffer.
uint64_t nextArena() {
  static std::atomic<uint64_t> count = 0;
  return 0x2000'0000'0000 + (count++ << 28);
}

constexpr uint64_t kTensorElements = 1024; // of 4 bytes, behind the pointer
constexpr uint32_t kBox = 4;

/// Constants for the maps, and the order of the parameters where it is not the usual one.
void declareMaps(abi::Layout &layout, const MapShape &maps) {
  const auto first = uint32_t(layout.constants.size());
  std::vector<abi::DeclaredParameter> ofMaps;
  std::vector<abi::ParameterMember> members;
  for (uint32_t i = 0; i < maps.count; ++i) {
    abi::Constant map;
    map.kind = abi::ConstantKind::TensorMap;
    map.element = abi::ElementType::I32;
    map.size = MapShape::kBytes;
    map.alignment = MapShape::kAlignment;
    map.map = abi::TensorMap{.binding = i, .box = {kBox}};
    layout.constants.push_back(map);
    layout.bindings[i].alignment = 16;
    ofMaps.push_back(abi::DeclaredParameter::constant(first + i));
    members.push_back({.kind = abi::ParameterKind::Constant, .index = first + i, .offset = MapShape::offset(i)});
  }
  if (maps.isStruct)
    ofMaps = {abi::DeclaredParameter::structOf(maps.structBytes(), MapShape::kAlignment, std::move(members))};
  if (maps.count == 0 || !(maps.isStruct || maps.isFirst))
    return;
  for (uint32_t i = 0; i < layout.bindings.size(); ++i)
    layout.parameters.push_back(abi::DeclaredParameter::binding(i));
  for (uint32_t i = 0; i < first; ++i)
    layout.parameters.push_back(abi::DeclaredParameter::constant(i));
  layout.parameters.insert(maps.isFirst ? layout.parameters.begin() : layout.parameters.end(), ofMaps.begin(),
                           ofMaps.end());
}

emulator::TensorMap tensorMapOf(uint64_t pointer) {
  constexpr uint64_t sizes[] = {kTensorElements};
  constexpr uint32_t box[] = {kBox}, steps[] = {1};
  return emulator::encodeTensorMap({.type = uint32_t(emulator::TensorElement::U32),
                                    .rank = 1,
                                    .address = pointer,
                                    .sizes = sizes,
                                    .strides = nullptr,
                                    .box = box,
                                    .steps = steps,
                                    .interleave = 0,
                                    .swizzle = 0,
                                    .promotion = 0,
                                    .fill = 0});
}

std::vector<Verdict> prove(const std::string &ptx, uint32_t bindings, uint32_t constants, const MapShape &maps,
                           std::string &problem) {
  linker::LinkJob job{.name = "proof"};
  abi::Export declared;
  declared.name = declared.symbol = "k";
  declared.layout.bindings.resize(bindings);
  declared.layout.constants.assign(constants, abi::Constant::word());
  declareMaps(declared.layout, maps);
  declared.launch.workgroupSize = {kThreads, 1, 1};
  job.exports.push_back(std::move(declared));
  job.objects.push_back({.path = "k.ptx", .bytes = ptx, .target = *abi::parseTargetArch("sm_90")});
  job.proveOnly = true;
  job.jobs = 1;
  Diagnostics diagnostics;
  Result<linker::LinkOutput> output = linker::link(job, diagnostics);
  if (!output.ok()) {
    problem = diagnostics.toString();
    return {};
  }
  const auto *context = static_cast<const linker::LinkContext *>(output->kept.get());
  std::vector<Verdict> verdicts;
  for (linker::AccessVerdict verdict : context->variants.at(0).kernels.at(0).access)
    verdicts.push_back(static_cast<Verdict>(verdict));
  if (verdicts.size() != bindings)
    problem = "the link has no verdict for each binding";
  return verdicts;
}

/// The words of every buffer count up from the pointer, so that one is a table for the others.
void fill(uint8_t *region, uint64_t pointer) {
  for (uint64_t at = pointer % 4; at + 4 <= kRegion; at += 4) {
    const auto word = static_cast<uint32_t>((static_cast<int64_t>(at) - static_cast<int64_t>(pointer)) / 4);
    memcpy(region + at, &word, 4);
  }
}

} // namespace

std::string_view verdictText(Verdict verdict) {
  static constexpr std::string_view kTexts[] = {"unknown", "proved_read_only", "written", "unused"};
  return kTexts[static_cast<size_t>(verdict)];
}

struct Judge::Machine {
  const uint64_t arena = nextArena();
  emulator::Memory memory{kArena, arena, arena + (uint64_t(1) << 27)};
  ptx::Module module;
  std::unique_ptr<emulator::DecodedKernel> kernel;
  emulator::RunControl control{.timeoutSeconds = kSeconds};
  std::vector<uint64_t> variables; // allocated for the module at hand

  struct Buffer {
    uint8_t *region = nullptr; // the host's
    uint64_t pointer = 0;      // the device's
  };

  bool load(const std::string &ptx, std::string &problem) {
    Diagnostics diagnostics;
    kernel = nullptr;
    for (uint64_t address : variables)
      memory.free(address);
    variables.clear();
    module = ptx::parse(std::make_shared<SourceFile>("k.ptx", ptx), diagnostics);
    std::map<std::string, uint64_t, std::less<>> globals;
    if (!diagnostics.hasErrors())
      createVariables(globals);
    auto addressOf = [&](std::string_view name) -> std::optional<uint64_t> {
      auto found = globals.find(name);
      return found == globals.end() ? std::nullopt : std::optional(found->second);
    };
    const ptx::Function *entry = diagnostics.hasErrors() ? nullptr : module.findFunction("k");
    if (entry)
      kernel = emulator::decodeKernel(module, *entry, addressOf, 1 << 16, diagnostics);
    problem = diagnostics.toString();
    if (kernel && !kernel->refusal.empty())
      problem += kernel->refusal;
    return kernel && problem.empty();
  }

  /// Numbers and addresses of functions are all that generated initialisers hold.
  void createVariables(std::map<std::string, uint64_t, std::less<>> &globals) {
    for (const ptx::Variable &variable : module.variables) {
      const bool isConstant = variable.space == ptx::StateSpace::Const;
      if (!isConstant && variable.space != ptx::StateSpace::Global)
        continue;
      const uint64_t address =
          memory.allocate(std::max<uint64_t>(1, variable.bytes()),
                          isConstant ? AllocationKind::Constant : AllocationKind::Variable, std::string(variable.name));
      variables.push_back(address);
      globals.emplace(variable.name, address);
      memset(memory.host(address), 0, variable.bytes());
      const uint32_t size = ptx::byteSize(variable.type);
      for (size_t i = 0; i < variable.initializers.size() && (i + 1) * size <= variable.bytes(); ++i) {
        const ptx::Operand &value = variable.initializers[i].value;
        const uint64_t bits =
            value.kind == ptx::Operand::Kind::Name ? emulator::functionAddress(module, value.name) : value.bits;
        memcpy(memory.host(address) + i * size, &bits, size);
      }
    }
  }

  /// A buffer at a random place; near ones lie where a kernel may know (guesses.h).
  Buffer place(Random &random, bool isNear) {
    for (int attempt = 0; attempt < 100; ++attempt) {
      const uint64_t far = random.next() % 0x7000'0000'0000;
      const uint64_t wanted =
          (isNear ? kNear + random.next() % kNearBytes / kNearSteps * kNearSteps : far) & ~(kPage - 1);
      if (wanted < 0x0800'0000'0000)
        continue; // the windows of the emulator's spaces
      void *got = mmap(reinterpret_cast<void *>(wanted), kRegion, PROT_READ | PROT_WRITE,
                       MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED_NOREPLACE | MAP_NORESERVE, -1, 0);
      if (got == MAP_FAILED)
        continue;
      Buffer buffer{static_cast<uint8_t *>(got), 0};
      const uint64_t begin = memory.registerHost(wanted, kRegion);
      if (got != reinterpret_cast<void *>(wanted) || !begin) {
        munmap(got, kRegion);
        continue;
      }
      // As an allocator gives them out, or a place within a buffer.
      const uint64_t low = random.chance(30) ? 256 * random.below(16) : 16 * random.below(256);
      buffer.pointer = begin + kBefore + low;
      fill(buffer.region, kBefore + low);
      return buffer;
    }
    return {};
  }

  struct Run {
    int hit = -1; // the binding of `readOnly` that was written
    uint32_t written = 0;
    std::string message; // of the fault
  };

  /// @param proved bindings that must not be written, a mask
  Run run(uint32_t bindings, uint32_t constants, const MapShape &maps, uint32_t proved, uint64_t seed, bool isNear) {
    Random random(seed);
    std::vector<Buffer> buffers;
    for (uint32_t i = 0; i < bindings; ++i)
      buffers.push_back(place(random, isNear));
    emulator::Launch launch;
    launch.kernel = kernel.get();
    launch.block.x = kThreads;
    std::vector<uint8_t> parameters(kernel->parameterBytes);
    const uint32_t ofMaps = maps.isStruct ? 1 : maps.count, first = maps.isFirst ? ofMaps : 0;
    auto put = [&](uint32_t parameter, uint32_t offset, const void *from, uint32_t bytes) {
      if (parameter < kernel->parameters.size() &&
          kernel->parameters[parameter].offset + offset + bytes <= parameters.size())
        memcpy(parameters.data() + kernel->parameters[parameter].offset + offset, from, bytes);
    };
    for (uint32_t i = 0; i < maps.count; ++i) {
      const emulator::TensorMap map = tensorMapOf(buffers[i].pointer);
      const uint32_t begin = maps.isFirst ? 0 : bindings + constants;
      maps.isStruct ? put(begin, MapShape::offset(i), &map, sizeof map) : put(begin + i, 0, &map, sizeof map);
    }
    for (uint32_t i = 0; i < bindings; ++i) {
      put(first + i, 0, &buffers[i].pointer, 8);
      if (proved >> i & 1)
        launch.readOnly.push_back(
            {reinterpret_cast<uint64_t>(buffers[i].region) - memory.hostBias(), kRegion, concat("binding ", i)});
    }
    for (uint32_t i = 0; i < constants; ++i) {
      const uint32_t word = 32 + random.below(100);
      put(first + bindings + i, 0, &word, 4);
    }
    launch.parameters = parameters.data();
    launch.parameterBytes = static_cast<uint32_t>(parameters.size());
    launch.control = &control;
    emulator::DeviceServices services;
    emulator::LaunchResult result = emulator::runLaunch(launch, memory, services, 1);
    Run run{.message = result.fault.message};
    for (uint32_t i = 0; i < bindings; ++i) {
      if (result.fault.code && (proved >> i & 1) && run.message.find(concat("[readonly]")) != std::string::npos &&
          run.message.find(concat("binding ", i)) != std::string::npos)
        run.hit = int(i);
      if (!buffers[i].region)
        continue;
      const uint64_t begin = reinterpret_cast<uint64_t>(buffers[i].region) - memory.hostBias();
      std::vector<uint8_t> before(kRegion);
      fill(before.data(), buffers[i].pointer - begin);
      run.written |= uint32_t(memcmp(before.data(), buffers[i].region, kRegion) != 0) << i;
      memory.unregisterHost(reinterpret_cast<uint64_t>(buffers[i].region));
      munmap(buffers[i].region, kRegion);
    }
    return run;
  }
};

Judge::Judge() : machine_(std::make_unique<Machine>()) {}
Judge::~Judge() = default;

Outcome Judge::judge(const std::string &ptx, uint32_t bindings, uint32_t constants, uint64_t seed, MapShape maps) {
  Outcome outcome;
  outcome.verdicts = prove(ptx, bindings, constants, maps, outcome.problem);
  if (!outcome.problem.empty()) {
    outcome.state = Outcome::State::NotLinked;
    return outcome;
  }
  return refute(ptx, std::move(outcome.verdicts), constants, seed, maps);
}

Outcome Judge::refute(const std::string &ptx, std::vector<Verdict> claimed, uint32_t constants, uint64_t seed,
                      MapShape maps) {
  Outcome outcome;
  outcome.verdicts = std::move(claimed);
  const auto bindings = static_cast<uint32_t>(outcome.verdicts.size());
  if (!machine_->load(ptx, outcome.problem)) {
    outcome.state = Outcome::State::NotRun;
    return outcome;
  }
  outcome.problem.clear();
  uint32_t proved = 0;
  for (uint32_t i = 0; i < bindings; ++i)
    proved |= uint32_t(outcome.verdicts[i] == Verdict::ProvedReadOnly || outcome.verdicts[i] == Verdict::Unused) << i;
  auto run = [&](uint64_t placement, bool isNear) {
    return machine_->run(bindings, constants, maps, proved, seed * 64 + placement, isNear);
  };
  const uint32_t first = proved ? 2 : 1; // where nothing is proved, one run tells whether it was refused in vain
  for (uint32_t i = 0; i < first && outcome.refuted < 0; ++i) {
    Machine::Run once = run(i, i == 1);
    outcome.written |= once.written;
    if (i == 0) {
      outcome.fault = once.message;
      outcome.ended = once.message.empty();
    }
    if (once.hit < 0)
      continue;
    outcome.refuted = once.hit;
    outcome.by = once.message;
    for (uint32_t more = 2; more < 18; ++more)
      outcome.again += run(more, i == 1).hit == once.hit;
  }
  return outcome;
}

} // namespace tenon::proof
