// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "python/native/arrays/staging.h"

namespace tenon::python {

Staging::~Staging() {
  for (const Piece &piece : pieces_)
    tenon_buffer_release(piece.buffer);
}

bool Staging::place(const View &view, bool isWritten, uint64_t *address) {
  if (isWritten && view.isReadOnly) {
    PyErr_SetString(PyExc_ValueError, "the array is read only, and it would be written");
    return false;
  }
  // Of two that overlap one is a copy. What is only read is then read as it was before the call; of two that are
  // written the copy would be brought back over what the other has.
  for (const Piece &known : pieces_) {
    const bool isSame = known.host == view.address && known.bytes == view.bytes;
    const bool overlaps = view.address < known.host + known.bytes && known.host < view.address + view.bytes;
    if (overlaps && !isSame && isWritten && known.isWritten) {
      PyErr_SetString(
          PyExc_ValueError,
          "the array shares a part of its memory with another argument, and both are written: pass arrays that are "
          "apart");
      return false;
    }
  }
  return check(place(view.address, view.bytes, isWritten, address));
}

tenon_status_t *Staging::place(uint64_t host, uint64_t bytes, bool isWritten, uint64_t *address) {
  void *memory = reinterpret_cast<void *>(host); // NOLINT: an address of the producer's
  Piece piece = {host, bytes, nullptr, false, isWritten};
  for (Piece &known : pieces_)
    if (known.host == host && known.bytes == bytes) {
      known.isWritten |= isWritten;
      *address = tenon_buffer_address(known.buffer);
      return nullptr;
    }
  if (device_.info.is_emulator && bytes != 0) {
    // Refused where it overlaps what is registered already (a view of the same array, another thread's call): then a
    // copy has to do.
    tenon_status_t *status =
        tenon_buffer_import_host(device_.handle, memory, bytes, nullptr, nullptr, nullptr, &piece.buffer);
    tenon_status_release(status);
  }
  if (!piece.buffer) {
    piece.isCopy = true;
    if (tenon_status_t *status =
            tenon_buffer_create(device_.handle, bytes ? memory : nullptr, bytes, nullptr, &piece.buffer))
      return status;
  }
  *address = tenon_buffer_address(piece.buffer);
  pieces_.push_back(piece);
  return nullptr;
}

tenon_status_t *Staging::finish() {
  for (const Piece &piece : pieces_)
    if (piece.isCopy && piece.isWritten)
      if (tenon_status_t *status =
              tenon_buffer_read(piece.buffer, 0, reinterpret_cast<void *>(piece.host), piece.bytes))
        return status;
  return nullptr;
}

} // namespace tenon::python
