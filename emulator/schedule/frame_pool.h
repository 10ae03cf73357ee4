// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// A frame for each activation of a function, kept for the next call when its lanes have left it. Lanes of a warp that
// called from one place share a frame.
#pragma once

#include "emulator/machine/machine.h"

#include <map>
#include <vector>

namespace tenon::emulator {

class FramePool {
public:
  FramePool() = default;
  ~FramePool();
  FramePool(const FramePool &) = delete;
  FramePool &operator=(const FramePool &) = delete;

  /// The frame in which `lanes` of `warp`, called by call site `callSite` of `parent`, execute `code`. Its registers
  /// are zero unless other lanes of the same call are inside. Null: there is no memory for it.
  Frame *enter(Warp &warp, const FunctionCode *code, Frame *parent, uint32_t callSite, uint32_t returnPc,
               uint32_t lanes);
  /// The lanes will not come back to `frame`. Entry frames stay with their warp.
  void leave(Frame *frame, uint32_t lanes);
  /// What a stopped kernel left: the frames of all groups of `warp`.
  static void destroyFrames(Warp &warp);

private:
  std::map<const FunctionCode *, std::vector<Frame *>> free_;
};

} // namespace tenon::emulator
