// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The driver's linker (cuLink*) with one PTX input is its compiler, and hands out what cuModuleLoadData would only
// load.
#include "runtime/executable/jit_cache.h"

#include "abi/occupancy.h"
#include "runtime/cuda/driver_status.h"
#include "runtime/device/device.h"
#include "support/number.h"
#include "support/sha256.h"

#include <algorithm>
#include <cstdlib>
#include <vector>

namespace tenon::runtime {

JitCache::JitCache(std::string folder, uint64_t limit) : files_(std::move(folder), "tenon-jit 2 ", limit) {}

Result<std::shared_ptr<const JitCache>> JitCache::fromEnvironment() {
  const char *folder = std::getenv("TENON_CACHE_DIR");
  return open(folder ? folder : "");
}

Result<std::shared_ptr<const JitCache>> JitCache::open(std::string_view folder) {
  uint64_t limit = kDefaultLimit;
  if (const char *text = std::getenv("TENON_CACHE_BYTES"); text && *text) {
    const std::optional<uint64_t> bytes = parseNumber<uint64_t>(text);
    if (!bytes)
      return makeError(StatusCode::InvalidArgument, "TENON_CACHE_BYTES=", text, ": expected a number of bytes");
    limit = *bytes;
  }
  const std::string base = folder.empty() ? FolderCache::userFolder() : std::string(folder);
  if (base.empty() || base == "none" || limit == 0)
    return std::shared_ptr<const JitCache>();
  return std::make_shared<const JitCache>(base + "/jit", limit);
}

std::string JitCache::keyOf(std::string_view ptx, const abi::DeviceTraits &device) {
  // No options are given to the compiler: its own defaults are part of its version.
  return Sha256()
      .addField(ptx)
      .addField(concat("sm_", device.computeCapability))
      .addField(concat("driver ", device.driverVersion))
      .addField("options none")
      .hex();
}

bool canKeepCompiled(const Device &device) {
  const cuda::Driver &driver = device.driver();
  return !device.isEmulator() && driver.cuLinkCreate_v2 && driver.cuLinkAddData_v2 && driver.cuLinkComplete &&
         driver.cuLinkDestroy;
}

namespace {

// What PTX declares in shared memory.
struct SharedVariables {
  std::vector<size_t> known;             // places where static ones are declared
  std::vector<std::string_view> aligned; // dynamic ones that ask for more than the linker gives
};

SharedVariables sharedVariablesOf(std::string_view ptx) {
  constexpr std::string_view kSpaces = " \t\r\n", kShared = ".shared";
  constexpr uint64_t kAlignmentOfLinker = 16;
  auto isSpace = [&](char each) { return kSpaces.find(each) != std::string_view::npos; };
  auto nextWord = [&](size_t &at) {
    const size_t begin = std::min(ptx.find_first_not_of(kSpaces, at), ptx.size());
    at = std::min(ptx.find_first_of(" \t\r\n[;", begin), ptx.size());
    return ptx.substr(begin, at - begin);
  };
  auto isBehind = [&](size_t at, std::string_view word) {
    return ptx.substr(0, ptx.find_last_not_of(kSpaces, at - 1) + 1).ends_with(word);
  };
  SharedVariables found;
  for (size_t at = ptx.find(kShared); at != std::string_view::npos; at = ptx.find(kShared, at + 1)) {
    const size_t end = at + kShared.size();
    const bool isWord = (at == 0 || isSpace(ptx[at - 1])) && end < ptx.size() && isSpace(ptx[end]);
    if (!isWord || (at > 0 && isBehind(at, ".ptr")))
      continue; // of an instruction, or of a parameter
    if (at == 0 || !isBehind(at, ".extern")) {
      found.known.push_back(at);
      continue;
    }
    size_t behind = end;
    if (nextWord(behind) != ".align")
      continue;
    const std::optional<uint64_t> alignment = parseNumber<uint64_t>(nextWord(behind));
    nextWord(behind); // the type
    if (!alignment || *alignment > kAlignmentOfLinker)
      found.aligned.push_back(nextWord(behind));
  }
  return found;
}

// Whether an instruction is partly a function of the compiler's own: quotients, reciprocals and roots of floats that
// are rounded as IEEE says, for what is not in the usual range, and quotients and remainders of 64 bits.
bool takesFunction(std::string_view opcode) {
  auto has = [&](std::string_view part) { return opcode.find(part) != std::string_view::npos; };
  if (opcode.starts_with("div.") || opcode.starts_with("rem."))
    if (has(".u64") || has(".s64"))
      return true;
  if (opcode.starts_with("div.") || opcode.starts_with("rcp.") || opcode.starts_with("sqrt."))
    return has(".rn") || has(".rz") || has(".rm") || has(".rp");
  return false;
}

bool takesFunctions(std::string_view ptx) {
  for (std::string_view operation : {"div.", "rem.", "rcp.", "sqrt."})
    for (size_t at = ptx.find(operation); at != std::string_view::npos; at = ptx.find(operation, at + 1))
      if (takesFunction(ptx.substr(at, std::min(ptx.find_first_of(" \t\r\n", at), ptx.size()) - at)))
        return true;
  return false;
}

// Of all kernels and functions together, those of 64 bits counted twice.
uint64_t declaredRegisters(std::string_view ptx) {
  constexpr std::string_view kDeclaration = ".reg";
  uint64_t count = 0;
  for (size_t at = ptx.find(kDeclaration); at != std::string_view::npos; at = ptx.find(kDeclaration, at + 1)) {
    const std::string_view line = ptx.substr(at, ptx.find(';', at) - at);
    const size_t open = line.find('<'), close = line.find('>');
    if (open == std::string_view::npos || close == std::string_view::npos || close < open)
      continue; // one by its name
    const uint64_t words = line.find(".pred") != std::string_view::npos || line.find("16") < open ? 0
                           : line.find("64") < open                                               ? 2
                                                                                                  : 1;
    count += words * parseNumber<uint64_t>(line.substr(open + 1, close - open - 1)).value_or(0);
  }
  return count;
}

} // namespace

bool linkerMakesTheSame(std::string_view ptx) {
  constexpr std::string_view kEntry = ".entry";
  // Of kernels of our own, those with more had 32 registers and more when they were compiled.
  constexpr uint64_t kMostDeclared = 512;
  if (declaredRegisters(ptx) > kMostDeclared)
    return false;
  for (std::string_view word : {"setmaxnreg", ".func"})
    if (ptx.find(word) != std::string_view::npos)
      return false;
  if (takesFunctions(ptx))
    return false;
  const SharedVariables variables = sharedVariablesOf(ptx);
  if (variables.aligned.empty())
    return true;
  return std::none_of(variables.known.begin(), variables.known.end(), [&](size_t at) {
    const size_t begin = ptx.rfind(kEntry, at);
    const std::string_view kernel =
        begin == std::string_view::npos ? ptx : ptx.substr(begin, ptx.find(kEntry, at) - begin);
    return std::any_of(variables.aligned.begin(), variables.aligned.end(),
                       [&](std::string_view name) { return kernel.find(name) != std::string_view::npos; });
  });
}

bool registersLimit(const Device &device, const abi::ExecutableView &executable, uint32_t imageIndex, CUmodule module) {
  const cuda::Driver &driver = device.driver();
  auto isLimited = [&](uint32_t ordinal, const abi::Candidate &candidate) {
    const abi::fb::Kernel *kernel = executable.findKernel(candidate.variantIndex, ordinal);
    const std::string symbol(kernel ? executable.symbolOf(*kernel) : executable.exportAt(ordinal).symbol);
    CUfunction function = nullptr;
    int registers = 0;
    if (driver.cuModuleGetFunction(&function, module, symbol.c_str()) != CUDA_SUCCESS ||
        driver.cuFuncGetAttribute(&registers, CU_FUNC_ATTRIBUTE_NUM_REGS, function) != CUDA_SUCCESS)
      return true;
    const abi::Occupancy found = abi::computeOccupancy(
        abi::TargetArch{device.traits().computeCapability}, candidate.threads, uint32_t(std::max(registers, 0)),
        uint64_t(candidate.staticSharedBytes) + candidate.dynamicSharedBytes);
    return found.limit == abi::OccupancyLimit::Registers || found.limit == abi::OccupancyLimit::Unknown;
  };
  for (uint32_t ordinal = 0; ordinal < executable.exportCount(); ++ordinal)
    for (const abi::Candidate &candidate : executable.candidates(ordinal))
      if (candidate.imageIndex == imageIndex && isLimited(ordinal, candidate))
        return true;
  return false;
}

Result<std::string> compilePtx(const Device &device, std::string_view ptx) {
  const cuda::Driver &driver = device.driver();
  CUlinkState state = nullptr;
  TENON_RETURN_IF_ERROR(
      cuda::driverStatus(driver, driver.cuLinkCreate_v2(0, nullptr, nullptr, &state), "cuLinkCreate_v2"));
  void *cubin = nullptr; // the state's
  size_t bytes = 0;
  std::string compiled;
  Status status = cuda::driverStatus(driver,
                                     driver.cuLinkAddData_v2(state, CU_JIT_INPUT_PTX, const_cast<char *>(ptx.data()),
                                                             ptx.size(), "ptx", 0, nullptr, nullptr),
                                     "cuLinkAddData_v2");
  if (status.ok())
    status = cuda::driverStatus(driver, driver.cuLinkComplete(state, &cubin, &bytes), "cuLinkComplete");
  if (status.ok())
    compiled.assign(static_cast<const char *>(cubin), bytes);
  (void)driver.cuLinkDestroy(state);
  TENON_RETURN_IF_ERROR(std::move(status));
  return compiled;
}

} // namespace tenon::runtime
