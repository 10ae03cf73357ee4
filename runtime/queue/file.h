// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// A file that queues read and write (SubmissionQueue::readFile, writeFile): what is behind a POSIX descriptor, or host
// memory that is treated as one. A file has a fixed length, known when it is imported, and says what may be done with
// it; every operation names the bytes it wants and is checked against both before it begins.
//
// Reading and writing go by position (pread, pwrite): the descriptor's own position is not moved, several threads may
// use one file, and an interrupted or short call is taken up where it stopped. A failure names the file and the byte.
#pragma once

#include "runtime/memory/buffer.h"
#include "support/result.h"

#include <functional>
#include <memory>
#include <span>
#include <string>
#include <sys/types.h>

namespace tenon::runtime {

/// What a file calls, so that a test can answer as a failing disk does.
struct FileCalls {
  ssize_t (*read)(int, void *, size_t, off_t);
  ssize_t (*write)(int, const void *, size_t, off_t);
  /// pread and pwrite.
  static FileCalls posix();
};

class File {
public:
  /// A regular file. The descriptor is duplicated: the caller's stays the caller's. `access`: kAccessRead, kAccessWrite
  /// or both; `name` is for messages. InvalidArgument: no such access bits, or no descriptor; FailedPrecondition: not a
  /// regular file (its length is not known), not open for that access, or opened to append (where it is written is not
  /// where one asks).
  static Result<std::shared_ptr<File>> importDescriptor(int descriptor, uint32_t access, std::string name,
                                                        const FileCalls &calls = FileCalls::posix());
  /// Host memory, which stays the caller's until `released` (may be empty) is called.
  static Result<std::shared_ptr<File>> importMemory(void *memory, uint64_t bytes, uint32_t access, std::string name,
                                                    Buffer::Release released = nullptr);
  ~File();
  File(const File &) = delete;
  File &operator=(const File &) = delete;

  /// Bytes, as they were when it was imported.
  uint64_t size() const { return size_; }
  uint32_t access() const { return access_; }
  const std::string &name() const { return name_; }

  /// OutOfRange: bytes [offset, offset + length) are not all in the file; FailedPrecondition: it may not be read, or
  /// not be written (`access` is one of the two).
  Status check(uint64_t offset, uint64_t length, uint32_t access) const;
  /// All of `bytes`. DataLoss: the file ends sooner than it did when it was imported, or the device under it fails;
  /// other errors of pread and pwrite by name, ResourceExhausted where the disk is full.
  Status read(uint64_t offset, std::span<uint8_t> bytes) const;
  Status write(uint64_t offset, std::span<const uint8_t> bytes) const;

private:
  File(std::string name, uint64_t size, uint32_t access) : name_(std::move(name)), size_(size), access_(access) {}

  std::string name_;
  uint64_t size_;
  uint32_t access_;
  int descriptor_ = -1; // else memory_
  uint8_t *memory_ = nullptr;
  FileCalls calls_ = {};
  Buffer::Release released_;
};

} // namespace tenon::runtime
