// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "emulator/driver/work/stream.h"

#include <thread>

namespace tenon::emulator {

Stream *findStream(Context *context, CUstream handle) {
  if (!handle || handle == CU_STREAM_LEGACY)
    return context->defaultStream.get();
  if (handle == CU_STREAM_PER_THREAD) {
    std::shared_ptr<Stream> &stream = context->perThreadStreams[std::this_thread::get_id()];
    if (!stream) {
      stream = std::make_shared<Stream>();
      stream->context = context;
      stream->id = ++driver().nextId;
    }
    return stream.get();
  }
  Stream *stream = reinterpret_cast<Stream *>(handle);
  return driver().streams.count(stream) ? stream : nullptr;
}

static void addTail(std::vector<OperationPtr> &after, const OperationPtr &tail) {
  if (!isDone(tail))
    after.push_back(tail);
}

std::vector<OperationPtr> orderInStream(Stream &stream) {
  std::vector<OperationPtr> after;
  addTail(after, stream.tail);
  Context &context = *stream.context;
  if (stream.isBlocking()) {
    addTail(after, context.defaultStream->tail);
  } else if (stream.isLegacy) {
    if (!driver().queue.idle())
      for (const Stream *other : driver().streams)
        if (other->context == &context && other->isBlocking())
          addTail(after, other->tail);
    for (auto &[thread, other] : context.perThreadStreams)
      addTail(after, other->tail);
    std::erase_if(context.orphans, isDone);
    for (const OperationPtr &orphan : context.orphans)
      addTail(after, orphan);
  }
  return after;
}

} // namespace tenon::emulator
