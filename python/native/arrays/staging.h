// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Host arrays as memory of a device, for the length of a call. The emulator takes them where they are (they are
// registered with it, which tells it their bounds); a GPU gets copies, and gives back what it wrote.
#pragma once

#include "python/native/arrays/view.h"
#include "python/native/object/device.h"

#include <deque>

namespace tenon::python {

class Staging {
public:
  explicit Staging(const Device &device) : device_(device) {}
  ~Staging();
  Staging(const Staging &) = delete;
  Staging &operator=(const Staging &) = delete;

  /// Where the device sees a host array. `isWritten`: finish() brings it back. False: an exception is set.
  bool place(const View &view, bool isWritten, uint64_t *address);
  /// The same for `bytes` at an address of the host's. Needs no interpreter.
  tenon_status_t *place(uint64_t host, uint64_t bytes, bool isWritten, uint64_t *address);
  bool isEmpty() const { return pieces_.empty(); }
  /// Once the work is complete: copies back what was written to copies. The interpreter's lock is not needed.
  tenon_status_t *finish();

private:
  struct Piece {
    uint64_t host, bytes;
    tenon_buffer_t *buffer;
    bool isCopy, isWritten;
  };
  const Device &device_;
  std::deque<Piece> pieces_;
};

} // namespace tenon::python
