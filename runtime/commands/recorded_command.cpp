// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// What is asked of a command of any kind.
#include "runtime/commands/recorded_command.h"

#include <algorithm>

namespace tenon::runtime {

std::string describeCommand(const RecordedCommand &command) {
  if (const auto *dispatch = std::get_if<DispatchCommand>(&command)) {
    const std::string name = concat("'", dispatch->executable->exportAt(dispatch->ordinal).name, "'");
    return concat(dispatch->isIndirect ? "indirect dispatch of " : "dispatch of ", name,
                  dispatch->loaded ? concat(", variant '", dispatch->loaded->variantName, "'") : std::string());
  }
  constexpr const char *kNames[] = {"fill", "update", "copy", "dispatch", "barrier", "event"};
  return kNames[command.index()];
}

std::string nameList(const std::vector<std::string> &names) {
  constexpr size_t kMost = 8;
  std::string out;
  size_t listed = 0, more = 0;
  for (size_t i = 0; i < names.size(); ++i) {
    if (i != 0 && names[i] == names[i - 1])
      continue;
    if (listed == kMost)
      ++more;
    else
      out += concat(listed++ ? ", '" : "'", names[i], "'");
  }
  if (more != 0)
    out += concat(" and ", more, " more");
  return out.empty() ? "no dispatches" : out;
}

ProfileEvent profileOf(const RecordedCommand &command) {
  ProfileEvent event;
  auto bytesOf = [](const BufferRef &ref) { // of a slot only the table knows
    return ref.length != kWholeBuffer ? ref.length : ref.buffer ? ref.buffer->size() - ref.offset : 0;
  };
  if (const auto *dispatch = std::get_if<DispatchCommand>(&command)) {
    event.kind = ProfileKind::Dispatch;
    event.name = dispatch->executable->exportAt(dispatch->ordinal).name;
    event.grid = dispatch->grid;
    return event;
  }
  if (const auto *fill = std::get_if<FillCommand>(&command))
    event.kind = ProfileKind::Fill, event.bytes = bytesOf(fill->target);
  else if (const auto *update = std::get_if<UpdateCommand>(&command))
    event.kind = ProfileKind::Update, event.bytes = update->bytes.size();
  else if (const auto *copy = std::get_if<CopyCommand>(&command))
    event.kind = ProfileKind::Copy, event.bytes = std::max(bytesOf(copy->source), bytesOf(copy->target));
  event.name = profileKindName(event.kind);
  return event;
}

namespace {

/// Whether `test` is true of a ref of the command; asked until it is.
template <typename Test> bool anyRef(const RecordedCommand &command, Test test) {
  if (const auto *fill = std::get_if<FillCommand>(&command))
    return test(fill->target);
  if (const auto *update = std::get_if<UpdateCommand>(&command))
    return test(update->target);
  if (const auto *copy = std::get_if<CopyCommand>(&command))
    return test(copy->source) || test(copy->target);
  if (const auto *dispatch = std::get_if<DispatchCommand>(&command))
    return (dispatch->isIndirect && test(dispatch->gridBuffer)) ||
           std::any_of(dispatch->bindings.begin(), dispatch->bindings.end(), test);
  return false;
}

} // namespace

void collectBuffers(const RecordedCommand &command, std::vector<const Buffer *> &out) {
  (void)anyRef(command, [&](const BufferRef &ref) {
    if (ref.buffer)
      out.push_back(ref.buffer.get());
    return false;
  });
}

bool hasSlots(const RecordedCommand &command) {
  return anyRef(command, [](const BufferRef &ref) { return !ref.buffer || ref.buffer->isLate(); });
}

} // namespace tenon::runtime
