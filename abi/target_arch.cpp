// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Which code runs where. In: an image's architecture, its kind, and a device with its driver. Out: yes or no, and why.
// The words: a number like 86 is compute capability 8.6; `a` code uses features of one architecture, `f` code those of
// its family; PTX is compiled for the device by the driver, a cubin is run as it is. The architectures themselves are
// in abi/arch_table.cpp; rules and sources in abi/kernel_abi.md, "Which image runs where".
#include "abi/target_arch.h"

#include "abi/arch_table.h"
#include "support/number.h"
#include "support/status.h"

#include <algorithm>
#include <array>
#include <tuple>

namespace tenon::abi {

using enum ArchSuffix;

// Drivers by cuDriverGetVersion and the highest PTX ISA each takes; one that is not listed takes what the last before
// it does. From 13.0 on the ISA follows the driver (13.N takes 9.N).
static constexpr std::array<std::pair<int, uint16_t>, 26> kDriverIsas = {{
    {8000, 50},  {9000, 60},  {9010, 61},  {9020, 62},  {10000, 63}, {10010, 64}, {10020, 65}, {11000, 70}, {11010, 71},
    {11020, 72}, {11030, 73}, {11040, 74}, {11050, 75}, {11060, 76}, {11070, 77}, {11080, 78}, {12000, 80}, {12010, 81},
    {12020, 82}, {12030, 83}, {12040, 84}, {12050, 85}, {12060, 85}, {12070, 86}, {12080, 87}, {12090, 88},
}};

/// 0: no `f` code.
static uint16_t family(uint16_t number) {
  const Architecture *row = findArchitecture(canonicalNumber(number));
  return row ? row->family : 0;
}

static bool isTegra(uint16_t number) {
  const Architecture *row = findArchitecture(canonicalNumber(number));
  return row && row->isTegra;
}

/// 86 -> "8.6": compute capabilities and PTX ISA versions alike.
static std::string dotted(uint32_t value) {
  return concat(value / 10, '.', value % 10);
}

static std::string driverName(int version) {
  return concat(version / 1000, '.', version % 1000 / 10);
}

static std::string familyMembers(uint16_t id) {
  std::string out;
  for (const Architecture &row : architectures())
    if (row.family == id && row.number == row.canonical)
      out += concat(out.empty() ? "" : ", ", dotted(row.number));
  return out;
}

std::string TargetArch::toString() const {
  return concat("sm_", number, suffix == A ? "a" : suffix == F ? "f" : "");
}

std::span<const ArchInfo> knownArchs() {
  static const std::vector<ArchInfo> targets = [] {
    std::vector<ArchInfo> out;
    for (const Architecture &row : architectures())
      for (auto [suffix, isa] : {std::pair(None, row.isa.plain), std::pair(A, row.isa.a), std::pair(F, row.isa.f)})
        if (isa != 0)
          out.push_back({{row.number, suffix}, isa, row.name});
    return out;
  }();
  return targets;
}

const ArchInfo *findArch(TargetArch arch) {
  for (const ArchInfo &info : knownArchs())
    if (info.arch == arch)
      return &info;
  return nullptr;
}

std::optional<TargetArch> parseTargetArch(std::string_view text) {
  if (text.starts_with("sm_"))
    text.remove_prefix(3);
  else if (text.starts_with("compute_"))
    text.remove_prefix(8);
  else
    return std::nullopt;
  const bool hasLeadingZero = text.starts_with('0');
  const std::optional<uint16_t> number = takeNumber<uint16_t>(text);
  if (!number || hasLeadingZero || *number < 10)
    return std::nullopt;
  TargetArch arch{*number};
  if (text == "a")
    arch.suffix = A;
  else if (text == "f")
    arch.suffix = F;
  else if (!text.empty())
    return std::nullopt;
  return arch;
}

std::string knownArchList() {
  std::string out;
  for (const ArchInfo &info : knownArchs())
    out += concat(out.empty() ? "" : ", ", info.arch.toString());
  return out;
}

uint16_t maxIsaOfDriver(int driverVersion) {
  if (driverVersion >= 13000)
    return static_cast<uint16_t>(90 + std::min((driverVersion - 13000) / 10, 9));
  uint16_t isa = 0;
  for (auto [version, versionIsa] : kDriverIsas)
    if (version <= driverVersion)
      isa = versionIsa;
  return isa;
}

/// `a` code: one architecture. The rule is the same for PTX and cubin.
static Verdict runsOnOneArch(TargetArch arch, uint16_t device) {
  std::string wanted = dotted(canonicalNumber(arch.number));
  if (canonicalNumber(arch.number) == device)
    return {true, concat(arch.toString(), " is for compute capability ", wanted, " exactly, the device's")};
  return {false, concat(arch.toString(), " runs on compute capability ", wanted, " only, the device is ",
                        dotted(device), ": build for sm_", device)};
}

/// `f` code: members of the family from its own number on. The rule is the same for PTX and cubin.
static Verdict runsOnFamily(TargetArch arch, uint16_t device) {
  uint16_t id = family(arch.number);
  if (id == 0)
    return {false, concat(arch.toString(), " names a family, and ", dotted(arch.number), " has none: build for sm_",
                          arch.number)};
  std::string members = familyMembers(id);
  if (id == family(device) && device >= canonicalNumber(arch.number))
    return {true, concat("compute capability ", dotted(device), " is in the family of ", arch.toString(), " (", members,
                         ")")};
  return {false,
          concat(arch.toString(), " runs on its family (", members, ") from ", dotted(canonicalNumber(arch.number)),
                 " on, the device is ", dotted(device), ": build for sm_", device)};
}

Verdict runsPtx(TargetArch arch, uint16_t isa, const DeviceTraits &device) {
  uint16_t number = canonicalNumber(device.computeCapability);
  if (!device.canJit)
    return {false, "PTX needs the driver's compiler, which is missing or switched off: build a cubin for sm_" +
                       std::to_string(number)};
  uint16_t maxIsa = maxIsaOfDriver(device.driverVersion);
  if (isa > maxIsa)
    return {false, concat("PTX ISA ", dotted(isa), " is newer than ", dotted(maxIsa), ", the newest that driver ",
                          driverName(device.driverVersion),
                          " takes: update the driver, or build with an older toolkit or .version")};
  switch (arch.suffix) {
  case A:
    return runsOnOneArch(arch, number);
  case F:
    return runsOnFamily(arch, number);
  case None:
    break;
  }
  if (arch.number <= number)
    return {true, concat("PTX for ", dotted(arch.number), " runs on every later device, this one is ", dotted(number))};
  return {false, concat("PTX for ", arch.toString(), " needs compute capability ", dotted(arch.number),
                        " or later, the device is ", dotted(number), ": build for sm_", number, " or earlier")};
}

Verdict runsCubin(TargetArch arch, const DeviceTraits &device) {
  uint16_t number = canonicalNumber(device.computeCapability);
  if (!device.acceptsCubin)
    return {false, "this device runs PTX only and takes no cubin: build PTX beside it"};
  switch (arch.suffix) {
  case A:
    return runsOnOneArch(arch, number);
  case F:
    return runsOnFamily(arch, number);
  case None:
    break;
  }
  uint16_t image = canonicalNumber(arch.number);
  if (image == number)
    return {true, concat("a cubin of ", arch.toString(), " is exactly for compute capability ", dotted(number))};
  std::string hint = concat(": build a cubin for sm_", number, ", or PTX for sm_", std::min(image, number));
  if (isTegra(image) || isTegra(number))
    return {false, concat("a cubin of ", arch.toString(), " does not run on ", dotted(number),
                          ": Tegra parts and others do not share cubins", hint)};
  if (image / 10 == number / 10 && image % 10 <= number % 10)
    return {true,
            concat("a cubin of ", arch.toString(), " runs on ", dotted(number), ", a later minor of the same major")};
  return {false, concat("a cubin of ", arch.toString(), " runs on ", image / 10, ".x from ", dotted(image),
                        " on, the device is ", dotted(number), hint)};
}

/// What helps: who wrote the kernel can change it; a generated one is made again, for what the device has.
static std::string fixFor(const Candidate &candidate, const DeviceTraits &device, std::string_view ofHand) {
  return candidate.origin == Origin::HandWritten ? std::string(ofHand)
                                                 : concat("compile for sm_", device.computeCapability, " too");
}

Verdict fits(const Candidate &candidate, const DeviceTraits &device) {
  uint64_t maxThreads = std::min<uint64_t>(kMaxBlockThreads, device.maxThreadsPerBlock);
  if (candidate.threads > maxThreads)
    return {false, concat("a workgroup of ", candidate.threads, " threads, the device takes ", maxThreads,
                          ": make workgroup_size smaller")};
  if (candidate.staticSharedBytes > kMaxStaticSharedBytes)
    return {false, concat(candidate.staticSharedBytes, " bytes of static shared memory, at most ",
                          kMaxStaticSharedBytes, " are possible: make it dynamic shared memory")};
  uint64_t shared = uint64_t(candidate.staticSharedBytes) + candidate.dynamicSharedBytes;
  if (device.maxSharedOptinBytes != 0 && shared > device.maxSharedOptinBytes)
    return {false, concat(shared, " bytes of shared memory (", candidate.staticSharedBytes, " static, ",
                          candidate.dynamicSharedBytes, " dynamic), the device has ", device.maxSharedOptinBytes,
                          " for a workgroup: ", fixFor(candidate, device, "use smaller tiles"))};
  if (candidate.clusterBlocks > 1 && !hasClusters(device.computeCapability))
    return {false, concat("a cluster of ", candidate.clusterBlocks, " workgroups needs compute capability ",
                          dotted(kFirstWithClusters), " or later, the device is ", dotted(device.computeCapability),
                          ": ", fixFor(candidate, device, "provide a variant without clusters"))};
  return {true, "fits"};
}

static Verdict runsImage(const Candidate &candidate, const DeviceTraits &device) {
  switch (candidate.kind) {
  case ImageKind::Ptx:
    return runsPtx(candidate.arch, candidate.isa, device);
  case ImageKind::Cubin:
    return runsCubin(candidate.arch, device);
  }
  return {false, "an image of an unknown kind"};
}

/// Position in the order of preference among images that run: smaller is better, element by element.
static auto preference(const Candidate &candidate, const DeviceTraits &device, size_t index) {
  uint16_t number = canonicalNumber(candidate.arch.number);
  bool isPtx = candidate.kind == ImageKind::Ptx;
  int form = 2;
  switch (candidate.arch.suffix) {
  case A:
    form = 0;
    break;
  case F:
    form = 1;
    break;
  case None:
    if (isPtx)
      number = candidate.arch.number; // baseline PTX compares the number as written
    else if (number != canonicalNumber(device.computeCapability))
      form = 3;
    break;
  }
  return std::tuple(candidate.origin, isPtx, form, -int(number), -int64_t(candidate.priority), index);
}

std::vector<RankedCandidate> rankCandidates(std::span<const Candidate> candidates, const DeviceTraits &device) {
  std::vector<RankedCandidate> out;
  for (size_t i = 0; i < candidates.size(); ++i) {
    Verdict verdict = runsImage(candidates[i], device);
    if (verdict.runs)
      if (Verdict fit = fits(candidates[i], device); !fit.runs)
        verdict = fit;
    out.push_back({i, std::move(verdict)});
  }
  auto better = [&](const RankedCandidate &a, const RankedCandidate &b) {
    if (a.verdict.runs != b.verdict.runs)
      return a.verdict.runs;
    if (!a.verdict.runs)
      return a.index < b.index;
    return preference(candidates[a.index], device, a.index) < preference(candidates[b.index], device, b.index);
  };
  std::sort(out.begin(), out.end(), better);
  return out;
}

} // namespace tenon::abi
