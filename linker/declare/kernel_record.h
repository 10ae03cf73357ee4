// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The record of a kernel: what TENON_KERNEL of tenon/kernel.cuh put into the object, a module variable of bytes.
// Format and rules: abi/kernel_abi.md, "Records" (K-20, K-21).
//
//   .visible .global .align 1 .b8 __tenon_record_saxpy[359] = {116, 101, 110, ...};   // "tenon-kernel 1\n{...}"
#pragma once

#include "linker/declare/declaration.h"
#include "linker/declare/manifest.h"
#include "linker/object/object.h"

#include <string>
#include <vector>

namespace tenon::linker {

struct KernelRecord {
  Declaration declaration; // exported.symbol is the entry point's name; exported.declaredAt is in the kernel's source
  SourceLocation where;    // of the record in the object
};

/// The records of an object, in its order. K-20: a record that does not read, is of another format, or is for a name
/// that several C++ kernels have.
std::vector<KernelRecord> readRecords(const Object &object, Diagnostics &diagnostics);

/// A field in which a declaration and a record differ.
struct Difference {
  std::string field;  // "workgroup_size", "binding 1"
  std::string record; // as printed: "64x1x1", "ReadOnly"
  std::string declared;
};
/// Every field in which they differ. A 32-bit word stands for any scalar of 4 bytes, `index` for i64; a declaration may
/// promise more alignment than the kernel asks for, and what only one of them says of subgroups and names counts.
std::vector<Difference> differences(const abi::Export &record, const abi::Export &declared);

/// Adds the exports of the objects' records that the job does not have, in the order of the objects, with their
/// signatures. Without any export in the end: an error that says how to declare one.
void addExportsFromRecords(LinkJob &job, ManifestExtras &extras, Diagnostics &diagnostics);

} // namespace tenon::linker
