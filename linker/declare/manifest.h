// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// A manifest: exports and objects as JSON, for users without MLIR. Its fields are those of
// abi/format/schemas/manifest.fbs, and support/text/json.h says what JSON is; linker/README.md shows one. What may be
// left out:
//
//   an export's `symbol` (its name) and `ordinal` (its position); extents behind the first of `workgroup_size` (1);
//   a constant's `kind` (Scalar where an element is given, else Word), its `size` and `alignment` (those of its type);
//   an object's `variant` (its target's name) and `priority` (0), and its `target` where the object says it itself.
#pragma once

#include "linker/job/link_job.h"

#include <string>
#include <vector>

namespace tenon::linker {

struct ManifestOptions {
  std::vector<std::string> searchPaths; // folders, tried in order after the manifest's own
  std::string root;                     // folder in front of every path that is read; empty: none
};

/// What a manifest says beside the job.
struct ManifestExtras {
  bool exportsFromRecords = false;                  // exports are (also) taken from the objects' records
  std::vector<std::vector<std::string>> signatures; // by export: C++ types of its parameters; empty: not said
};

/// Parses `text` and reads the objects that it names. Every finding goes to `diagnostics`, with file and line:
/// malformed JSON and unknown fields (the first one only: parsing stops there), exports without a workgroup size,
/// unknown targets, objects that cannot be read (every path that was tried). With an error the job is incomplete.
LinkJob readManifest(const std::string &path, FileBytes text, const ManifestOptions &options, Diagnostics &diagnostics,
                     ManifestExtras *extras = nullptr);

/// Reads an object named on the command line, "PATH" or "TARGET=PATH", and adds it to the job. Without a target, the
/// `.target` of the PTX is taken at its word; a source waits for compileSources() and the job's targets.
void addObject(LinkJob &job, const std::string &argument, const ManifestOptions &options, Diagnostics &diagnostics);

} // namespace tenon::linker
