// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Work of a node from the API's structures.
#pragma once

#include "emulator/driver/work/work.h"

namespace tenon::emulator {

CUresult kernelWorkFrom(const CUDA_KERNEL_NODE_PARAMS *parameters, KernelWork &out);
CUresult copyWorkFrom(Driver &driver, const CUDA_MEMCPY3D *parameters, CopyWork &out);
CUresult fillWorkFrom(Driver &driver, const CUDA_MEMSET_NODE_PARAMS *parameters, FillWork &out);
CUresult hostWorkFrom(const CUDA_HOST_NODE_PARAMS *parameters, HostWork &out);
/// Any kind of node, except allocations, which get their address when they are added.
CUresult workFrom(Driver &driver, Context *current, const CUgraphNodeParams &parameters, Work &out, Context **context);
/// What the attributes of a kernel node say about its launch.
CUresult applyAttribute(KernelWork &work, CUkernelNodeAttrID attribute, const CUlaunchAttributeValue &value);

} // namespace tenon::emulator
