// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// An executable on a device: for every export the best image that the device takes, loaded once, with the function
// ready to launch.
//
//   rank   every image that holds the export against the device (abi::rankCandidates: pure, explained), without what
//          the options rule out
//   load   the best one; where the driver refuses the image, keep what its compiler said and take the next
//   check  the function against the layout: parameter offsets and sizes where the driver tells them, threads, shared
//          memory (opt-in included)
//
// Specification: abi/kernel_abi.md, "Which image runs where". Several exports share a module; modules live as long as
// the executable. Thread-safe.
#pragma once

#include "abi/format/views/executable_view.h"
#include "abi/parameter_layout.h"
#include "runtime/executable/executable_options.h"
#include "runtime/executable/image_loader.h"
#include "runtime/executable/tensor_map.h"

#include <algorithm>
#include <array>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <span>
#include <string>
#include <vector>

namespace tenon::runtime {

class Device;

/// An export ready to launch.
struct LoadedExport {
  const abi::Export *declaration = nullptr;
  abi::Launch launch; // as declared; a generated kernel has its own workgroup, and leaves out what it has no use for
  uint32_t mostBlocks = 0;    // that run at once, of a kernel that computes the same with any number of them; 0: all
  uint32_t clusterBlocks = 1; // a launch of such a kernel has a multiple of them
  abi::ParameterLayout parameters;
  CUfunction function = nullptr;
  CUmodule module = nullptr;                  // it is in
  TensorMapEncoder encodeTensorMap = nullptr; // the driver's; null on an older one, where no kernel with maps loads
  std::string variantName;
  std::string symbol;
  std::string imageOrigin; // LoadedImage::origin

  /// The workgroups that are launched for those that are asked for.
  std::array<uint32_t, 3> gridFor(std::array<uint32_t, 3> grid) const {
    if (mostBlocks != 0 && grid[1] == 1 && grid[2] == 1)
      grid[0] = std::min((grid[0] + clusterBlocks - 1) / clusterBlocks * clusterBlocks, mostBlocks);
    return grid;
  }
};

class Buffer;

class Executable {
public:
  /// `view` and what it views are borrowed and outlive the executable. Nothing is loaded yet.
  Executable(std::shared_ptr<Device> device, const abi::ExecutableView &view, ExecutableOptions options = {});
  ~Executable();
  Executable(const Executable &) = delete;
  Executable &operator=(const Executable &) = delete;

  /// An executable of its own: verifies a copy of `bytes` and owns it. DataLoss: they do not verify; `name` is the file
  /// for messages.
  static Result<std::shared_ptr<Executable>> create(std::shared_ptr<Device> device, std::span<const uint8_t> bytes,
                                                    std::string_view name, const ExecutableOptions &options = {});

  Device &device() const { return *device_; }
  const abi::ExecutableView &view() const { return view_; }
  const abi::Export &exportAt(uint32_t ordinal) const { return view_.exportAt(ordinal); }

  /// Selects, loads and checks; later calls return the same. FailedPrecondition with the whole table: no image runs
  /// here; other failures of the driver are final and keep their code.
  Result<const LoadedExport *> load(uint32_t ordinal);

  /// Whether one of the export's images is for the device, as far as is known without the driver.
  bool hasImage(uint32_t ordinal) const;

  /// For each export: every image, chosen or refused and why; loads the exports to say what really runs.
  std::string explain();

private:
  // What is known of one export once load() was asked for it.
  struct Slot {
    bool tried = false;
    LoadedExport loaded;
    Status failure;
    std::vector<abi::Candidate> candidates;
    std::vector<abi::RankedCandidate> ranking; // the driver's refusals moved to its end
  };
  void select(uint32_t ordinal, Slot &slot);
  Status loadCandidate(uint32_t ordinal, const abi::Candidate &candidate, LoadedExport &out, bool &refused);
  Status checkFunction(const LoadedExport &loaded, const abi::Candidate &candidate) const;
  std::string describeCode(const LoadedExport &loaded) const;
  Status checkParameters(const LoadedExport &loaded) const;
  Status limitGrid(LoadedExport &loaded, const abi::Candidate &candidate) const;
  void declareReadOnly(const LoadedExport &loaded) const;
  Result<int> functionAttribute(CUfunction function, CUfunction_attribute attribute, const char *name) const;

  std::shared_ptr<Device> device_;
  const abi::ExecutableView &view_;
  ExecutableOptions options_;
  std::mutex mutex_;        // guards what follows
  std::vector<Slot> slots_; // [exports]
  std::map<uint32_t, LoadedImage> images_;
};

/// A global variable (`__device__`, `__constant__`) of the image that export `ordinal` runs from, under the name that
/// the image gives it, as memory that lives as long as the executable. NotFound: the image has none of that name;
/// errors of Executable::load.
Result<std::shared_ptr<Buffer>> findGlobal(const std::shared_ptr<Executable> &executable, uint32_t ordinal,
                                           const std::string &name);

} // namespace tenon::runtime
