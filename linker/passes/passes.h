// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The passes, in the order in which link() calls them. Each reads the context, fills the field named here, and reports
// all that it finds; none stops the link. Rules: abi/kernel_abi.md.
#pragma once

#include "linker/passes/link_context.h"

namespace tenon::linker {

/// The declarations themselves: names, dense ordinals, layouts that have a parameter block (K-3, K-5).
/// Fills parameterLayouts.
void checkJob(LinkContext &context);

/// Takes PTX and cubins out of fatbins, host objects, archives and executables (K-1, K-6). Fills inputs.
void expandObjects(LinkContext &context);

/// Tells each object's kind, refuses what is not PTX, parses the rest (K-1), compares `.version`, `.target` and
/// `.address_size` with the claim (K-1, K-6). Fills objects.
void loadInputs(LinkContext &context);

/// An error for each mapped input that is another file by now than the one that was read.
void checkUnchanged(LinkContext &context);

/// Groups objects by variant name, target and origin. Fills variants.
void formVariants(LinkContext &context);

/// Collects the symbols of each variant; duplicates are K-12. Fills Variant::symbols.
void resolveSymbols(LinkContext &context);

/// Makes one object of those that use each other's names (K-10 where that cannot be). Replaces Variant::objects and
/// symbols.
void mergeObjects(LinkContext &context);

/// Finds the entry point of every export in every variant that must have it (K-2), and what it reaches.
/// Fills Variant::kernels.
void resolveEntries(LinkContext &context);

/// Declarations against the records that TENON_KERNEL left in the objects (K-20, K-21).
void checkRecords(LinkContext &context);

/// Names that a kernel reaches and no object defines (K-10).
void checkUnresolved(LinkContext &context);

/// Parameters against the layout: count (K-11), order, kind, width, alignment (K-4), total size (K-5).
void checkParameters(LinkContext &context);

/// The slots of a layout's parameters: what a kernel is traced with.
ParameterSlots slotsOf(const abi::ParameterLayout &layout);

/// What is done with each binding: read-only ones are not written (K-13); unused, swapped and misaligned slots (K-14).
/// Fills Kernel::access and Kernel::writes.
void checkAccess(LinkContext &context);

/// Variables of the module that a kernel writes: they outlive its launch (K-14).
void checkModuleState(LinkContext &context);

/// Textures, surfaces and samplers, which a dispatch does not pass (K-19).
void checkHandles(LinkContext &context);

/// Workgroup size and cluster against .reqntid, .maxntid and the cluster directives (K-8).
void checkLaunch(LinkContext &context);

/// Static and dynamic shared memory (K-9).
void checkSharedMemory(LinkContext &context);

/// The variants of an export against each other (K-15).
void checkVariants(LinkContext &context);

/// Runs ptxas on every object that provides a kernel, where the job's policy asks for it (K-16), and holds the cubin's
/// own account against the layout (K-17). Fills assembled.
void assembleImages(LinkContext &context);

} // namespace tenon::linker
