// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// A cubin without PTX as an object: its metadata is put into PTX's words, one empty entry per kernel, so that every
// pass reads it as it reads any object. What the metadata does not say is not there: bodies, the kinds of parameters,
// dynamic shared memory (K-18).
#pragma once

#include "linker/object/cubin.h"
#include "linker/object/object.h"
#include "support/diagnostics.h"

#include <memory>

namespace tenon::linker {

/// The text for `target`. Kernels that the driver cannot find by name, and names that PTX cannot spell, are left out.
std::string describeInPtx(const Cubin &cubin, abi::TargetArch target);

/// An object of `input`, whose bytes are a cubin; null after an error: a damaged cubin (K-1), another architecture
/// (K-6).
std::unique_ptr<Object> makeCubinObject(const ObjectInput &input, Diagnostics &diagnostics);

} // namespace tenon::linker
