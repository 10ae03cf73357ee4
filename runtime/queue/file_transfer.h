// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Bytes between a file and a buffer. Memory that the host sees is read and written in place. Device memory goes through
// a ring of pinned chunks on a stream of its own: while the disk fills one chunk, the device takes another, and never
// more memory is pinned than the ring, however long the transfer.
//
//   read    wait until the chunk's last copy is over -> pread into it -> copy to the device, event
//   write   copies from the device ahead into free chunks, event -> wait for the oldest -> pwrite from it
//
// Calls block, so one thread is kept for them (file_worker.h). A transfer that fails leaves nothing on
// its way: the stream is waited for. What was transferred until then stays.
#pragma once

#include "runtime/commands/command_buffer.h"
#include "runtime/device/gpu_event.h"
#include "runtime/queue/file.h"

#include <memory>
#include <vector>

namespace tenon::runtime {

/// A checked transfer: `buffer` names a buffer, with its length.
struct FileCommand {
  enum class Kind : uint8_t { Read, Write } kind = Kind::Read; // into the buffer, out of the buffer
  std::shared_ptr<File> file;
  uint64_t fileOffset = 0;
  BufferRef buffer;

  /// "reading bytes 0 to 64 of file 'x'".
  std::string describe() const;
};

/// The ring.
struct FileTransferOptions {
  uint64_t chunkBytes = uint64_t(4) << 20;
  uint32_t chunkCount = 4;
};

class FileTransfer {
public:
  FileTransfer(std::shared_ptr<Device> device, const FileTransferOptions &options);
  ~FileTransfer();
  FileTransfer(const FileTransfer &) = delete;
  FileTransfer &operator=(const FileTransfer &) = delete;

  /// Returns when all bytes are where they belong, or with the first failure of file or driver.
  Status run(const FileCommand &command);

private:
  struct Chunk {
    std::shared_ptr<Buffer> memory; // pinned
    std::span<uint8_t> bytes;
    std::shared_ptr<GpuEvent> copied; // behind the last copy from or to it
    bool isBusy = false;              // that copy is not known to be over
  };
  /// The ring has `count` chunks, or as many as it may have; and a stream.
  Status prepare(uint64_t count);
  Status wait(Chunk &chunk);
  Status copy(Chunk &chunk, FileCommand::Kind kind, uint64_t address, uint64_t bytes);
  Status read(const FileCommand &command, uint64_t address, uint64_t bytes);
  Status write(const FileCommand &command, uint64_t address, uint64_t bytes);

  std::shared_ptr<Device> device_;
  FileTransferOptions options_;
  GpuEventPool events_;
  cuda::StreamHandle stream_;
  std::vector<Chunk> chunks_;
};

} // namespace tenon::runtime
