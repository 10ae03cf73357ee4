// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Selection in words: the table behind `--explain` and behind the error when no image runs. In: the candidates and the
// order that rankCandidates gave them. Out: text, aligned in columns, one line per candidate; `*` marks the one chosen.
#include "abi/arch_table.h"
#include "abi/target_arch.h"
#include "support/status.h"

#include <algorithm>
#include <array>

namespace tenon::abi {

static constexpr size_t kColumns = 6;
using Row = std::array<std::string, kColumns>;

static std::string dotted(uint32_t value) {
  return concat(value / 10, '.', value % 10);
}

static Row describe(const Candidate &candidate, const Verdict &verdict) {
  bool isPtx = candidate.kind == ImageKind::Ptx;
  return {candidate.variantName,
          candidate.arch.toString(),
          isPtx ? "PTX" : "cubin",
          isPtx ? dotted(candidate.isa) : "-",
          candidate.origin == Origin::HandWritten ? "hand-written" : "generated",
          concat(verdict.runs ? "runs: " : "no: ", verdict.reason)};
}

static std::string describeDevice(const DeviceTraits &device) {
  std::string out = concat("device '", device.name, "', compute capability ", dotted(device.computeCapability),
                           ", driver ", device.driverVersion / 1000, '.', device.driverVersion % 1000 / 10);
  if (device.canJit)
    out += concat(" (PTX ISA up to ", dotted(maxIsaOfDriver(device.driverVersion)), ")");
  else
    out += " (no PTX compiler)";
  return out + '\n';
}

/// The latest known baseline architecture whose PTX the device and its driver take; null where there is none.
static const ArchInfo *latestPtxArch(const DeviceTraits &device) {
  const ArchInfo *best = nullptr;
  for (const ArchInfo &info : knownArchs())
    if (info.arch.suffix == ArchSuffix::None && runsPtx(info.arch, info.minimumIsa, device).runs)
      best = &info;
  return best;
}

std::string whatToBuild(const DeviceTraits &device) {
  std::string out;
  if (const ArchInfo *ptx = latestPtxArch(device))
    out = concat("build PTX for ", ptx->arch.toString(), " or an earlier target with .version ",
                 dotted(maxIsaOfDriver(device.driverVersion)), " or lower");
  if (device.acceptsCubin)
    out += concat(out.empty() ? "build" : ", or", " a cubin for sm_", canonicalNumber(device.computeCapability));
  return out.empty() ? "this device and driver take no PTX that Tenon knows, and no cubin: update the driver" : out;
}

static std::string joinColumns(const Row &row, const std::array<size_t, kColumns> &widths, bool chosen) {
  std::string line = chosen ? "*" : " ";
  for (size_t column = 0; column < kColumns; ++column) {
    line += ' ';
    line += row[column];
    if (column + 1 < kColumns)
      line.append(widths[column] - row[column].size() + 1, ' ');
  }
  return line + '\n';
}

/// The last line of a table in which nothing runs.
static std::string whyNothingRuns(std::span<const Candidate> candidates, const DeviceTraits *device) {
  std::string_view what = candidates.empty() ? "no image holds this export" : "no image runs";
  if (!device)
    return concat(what, '\n');
  bool isForDevice = false, fitsDevice = false; // of any
  for (const Candidate &candidate : candidates)
    if (candidate.kind == ImageKind::Ptx ? runsPtx(candidate.arch, candidate.isa, *device).runs
                                         : runsCubin(candidate.arch, *device).runs) {
      isForDevice = true;
      fitsDevice |= fits(candidate, *device).runs;
    }
  if (fitsDevice) // and the user took it out of the ranking
    return concat(what, ": one would, but it was ruled out\n");
  if (isForDevice)
    return concat(what, ": an image is for this device, but the kernel does not fit it\n");
  return concat(what, ": ", whatToBuild(*device), '\n');
}

std::string explainRanking(std::span<const Candidate> candidates, std::span<const RankedCandidate> ranking,
                           const DeviceTraits *device) {
  std::vector<Row> rows = {{"variant", "target", "image", "ISA", "origin", "verdict"}};
  for (const RankedCandidate &ranked : ranking)
    rows.push_back(describe(candidates[ranked.index], ranked.verdict));
  std::array<size_t, kColumns> widths = {};
  for (const Row &row : rows)
    for (size_t column = 0; column < kColumns; ++column)
      widths[column] = std::max(widths[column], row[column].size());
  bool anyRuns = !ranking.empty() && ranking.front().verdict.runs;
  std::string out = device ? describeDevice(*device) : std::string();
  for (size_t i = 0; i < rows.size(); ++i)
    out += joinColumns(rows[i], widths, i == 1 && anyRuns);
  if (!anyRuns)
    out += whyNothingRuns(candidates, device);
  return out;
}

} // namespace tenon::abi
