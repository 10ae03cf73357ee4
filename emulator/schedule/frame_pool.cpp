// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "emulator/schedule/frame_pool.h"

#include "emulator/machine/decoded_kernel.h"
#include "support/align.h"

#include <algorithm>
#include <cstdlib>
#include <cstring>

namespace tenon::emulator {
namespace {

void destroy(Frame *frame) {
  std::free(frame->registers);
  delete frame;
}

} // namespace

FramePool::~FramePool() {
  for (auto &[code, frames] : free_)
    for (Frame *frame : frames)
      destroy(frame);
}

Frame *FramePool::enter(Warp &warp, const FunctionCode *code, Frame *parent, uint32_t callSite, uint32_t returnPc,
                        uint32_t lanes) {
  // Lanes that called from the same place a moment ago are joined, so that warp instructions inside meet.
  if (warp.groups.size() > 1)
    for (const Group &group : warp.groups)
      for (Frame *frame = group.frame; frame; frame = frame->parent)
        if (frame->parent == parent && frame->code == code && frame->callSite == callSite &&
            frame->returnPc == returnPc && !(frame->lanes & lanes)) {
          frame->lanes |= lanes;
          return frame;
        }
  std::vector<Frame *> &pool = free_[code];
  Frame *frame;
  if (pool.empty()) {
    void *registers = aligned_alloc(64, alignUp(code->registerBytes + 64u, 64));
    if (!registers)
      return nullptr;
    frame = new Frame;
    frame->registers = static_cast<uint8_t *>(registers);
  } else {
    frame = pool.back();
    pool.pop_back();
  }
  memset(frame->registers, 0, code->registerBytes);
  frame->code = code;
  frame->parent = parent;
  // Where to go back to takes its place, too: calls without end meet the end of the stack.
  frame->localBase = alignUp(parent->localBase + std::max(parent->code->localBytes, 1u), 16);
  frame->depth = parent->depth + 1;
  frame->returnPc = returnPc;
  frame->callSite = callSite;
  frame->lanes = lanes;
  return frame;
}

void FramePool::leave(Frame *frame, uint32_t lanes) {
  frame->lanes &= ~lanes;
  if (frame->lanes == 0 && frame->parent)
    free_[frame->code].push_back(frame);
}

void FramePool::destroyFrames(Warp &warp) {
  for (Group &group : warp.groups)
    for (Frame *frame = group.frame; frame && frame->parent;) {
      Frame *parent = frame->parent;
      frame->lanes &= ~group.mask;
      if (!frame->lanes)
        destroy(frame);
      frame = parent;
    }
}

} // namespace tenon::emulator
