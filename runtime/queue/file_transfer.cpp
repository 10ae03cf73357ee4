// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Two loops around a ring, and what they leave behind when they stop half-way: nothing.
#include "runtime/queue/file_transfer.h"

#include "runtime/cuda/driver_status.h"
#include "runtime/device/device.h"
#include "runtime/memory/allocator.h"

#include <algorithm>

namespace tenon::runtime {

std::string FileCommand::describe() const {
  return concat(kind == Kind::Read ? "reading bytes " : "writing bytes ", fileOffset, " to ",
                fileOffset + buffer.length, " of file '", file->name(), "'");
}

FileTransfer::FileTransfer(std::shared_ptr<Device> device, const FileTransferOptions &options)
    : device_(std::move(device)), options_(options), events_(device_) {}

FileTransfer::~FileTransfer() {
  cuda::ContextScope scope = device_->enter();
  cuda::StreamHandle destroyed = std::move(stream_);
}

Status FileTransfer::prepare(uint64_t count) {
  const cuda::Driver &driver = device_->driver();
  if (!stream_) {
    TENON_ASSIGN_OR_RETURN(stream_, cuda::createStream(driver));
  }
  while (chunks_.size() < std::min<uint64_t>(count, options_.chunkCount)) {
    Chunk chunk;
    TENON_ASSIGN_OR_RETURN(chunk.memory,
                           allocateBuffer(*device_, options_.chunkBytes, {.memory = MemoryType::HostVisible}));
    TENON_ASSIGN_OR_RETURN(chunk.bytes, chunk.memory->map(0, options_.chunkBytes, kAccessAll));
    TENON_ASSIGN_OR_RETURN(chunk.copied, events_.acquire());
    chunks_.push_back(std::move(chunk));
  }
  return okStatus();
}

Status FileTransfer::wait(Chunk &chunk) {
  if (!chunk.isBusy)
    return okStatus();
  chunk.isBusy = false;
  return chunk.copied->synchronize();
}

Status FileTransfer::copy(Chunk &chunk, FileCommand::Kind kind, uint64_t address, uint64_t bytes) {
  const cuda::Driver &driver = device_->driver();
  const bool isRead = kind == FileCommand::Kind::Read;
  TENON_RETURN_IF_ERROR(
      cuda::driverStatus(driver,
                         isRead ? driver.cuMemcpyHtoDAsync_v2(address, chunk.bytes.data(), bytes, stream_.get())
                                : driver.cuMemcpyDtoHAsync_v2(chunk.bytes.data(), address, bytes, stream_.get()),
                         concat(isRead ? "cuMemcpyHtoDAsync_v2" : "cuMemcpyDtoHAsync_v2", " of ", bytes, " bytes")));
  TENON_RETURN_IF_ERROR(
      cuda::driverStatus(driver, driver.cuEventRecord(chunk.copied->handle(), stream_.get()), "cuEventRecord"));
  chunk.isBusy = true;
  return okStatus();
}

Status FileTransfer::read(const FileCommand &command, uint64_t address, uint64_t bytes) {
  size_t next = 0;
  for (uint64_t done = 0; done < bytes; next = (next + 1) % chunks_.size()) {
    Chunk &chunk = chunks_[next];
    const uint64_t part = std::min(bytes - done, options_.chunkBytes);
    TENON_RETURN_IF_ERROR(wait(chunk));
    TENON_RETURN_IF_ERROR(command.file->read(command.fileOffset + done, chunk.bytes.first(part)));
    TENON_RETURN_IF_ERROR(copy(chunk, command.kind, address + done, part));
    done += part;
  }
  return okStatus();
}

Status FileTransfer::write(const FileCommand &command, uint64_t address, uint64_t bytes) {
  const uint64_t total = (bytes + options_.chunkBytes - 1) / options_.chunkBytes;
  auto partOf = [&](uint64_t index) { return std::min(bytes - index * options_.chunkBytes, options_.chunkBytes); };
  uint64_t copied = 0;
  for (uint64_t written = 0; written < total; ++written) {
    for (; copied < total && copied - written < chunks_.size(); ++copied)
      TENON_RETURN_IF_ERROR(
          copy(chunks_[copied % chunks_.size()], command.kind, address + copied * options_.chunkBytes, partOf(copied)));
    Chunk &chunk = chunks_[written % chunks_.size()];
    TENON_RETURN_IF_ERROR(wait(chunk));
    TENON_RETURN_IF_ERROR(
        command.file->write(command.fileOffset + written * options_.chunkBytes, chunk.bytes.first(partOf(written))));
  }
  return okStatus();
}

Status FileTransfer::run(const FileCommand &command) {
  const uint64_t bytes = command.buffer.length;
  const Buffer &buffer = *command.buffer.buffer;
  const bool isRead = command.kind == FileCommand::Kind::Read;
  if (buffer.isRetired())
    return makeError(StatusCode::FailedPrecondition, command.describe(), ": its buffer was deallocated");
  if (buffer.isLate() && buffer.address() == 0)
    return makeError(StatusCode::FailedPrecondition, command.describe(),
                     ": its buffer's memory is not there yet: wait for the signals of its allocation");
  if (bytes == 0)
    return okStatus();
  if (uint8_t *host = buffer.host()) {
    const std::span<uint8_t> place(host + command.buffer.offset, bytes);
    return isRead ? command.file->read(command.fileOffset, place) : command.file->write(command.fileOffset, place);
  }
  cuda::ContextScope scope = device_->enter();
  TENON_RETURN_IF_ERROR(scope.status());
  const uint64_t address = buffer.address() + command.buffer.offset;
  Status status = prepare((bytes + options_.chunkBytes - 1) / options_.chunkBytes);
  if (status.ok())
    status = isRead ? read(command, address, bytes) : write(command, address, bytes);
  // Also after a failure: copies are under way, and their chunks are wanted by the next transfer.
  if (stream_) {
    Status finished = cuda::driverStatus(device_->driver(), device_->driver().cuStreamSynchronize(stream_.get()),
                                         "cuStreamSynchronize");
    for (Chunk &chunk : chunks_)
      chunk.isBusy = false;
    if (!finished.ok())
      chunks_.clear(); // nobody knows when they are free
    if (status.ok())
      status = std::move(finished);
  }
  return status.ok() ? okStatus() : std::move(status).withContext(command.describe());
}

} // namespace tenon::runtime
