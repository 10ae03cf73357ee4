// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Spans as JSON.
#include "runtime/device/trace.h"

#include "support/files/file.h"
#include "support/text/json.h"

#include <algorithm>
#include <cstdio>

namespace tenon::runtime {

namespace {

constexpr int kHostProcess = 1, kFirstDeviceProcess = 2;

std::string microseconds(double value) {
  char text[64];
  std::snprintf(text, sizeof(text), "%.3f", value);
  return text;
}

void nameProcess(JsonWriter &json, int process, std::string_view name) {
  json.breakLine(0);
  json.beginObject();
  json.member("ph", "M");
  json.member("name", "process_name");
  json.member("pid", process);
  json.member("tid", 0);
  json.key("args");
  json.beginObject();
  json.member("name", name);
  json.endObject();
  json.endObject();
}

void writeSpan(JsonWriter &json, int process, int thread, const Trace::Span &span) {
  json.breakLine(0);
  json.beginObject();
  json.member("ph", "X");
  json.member("name", span.name);
  json.member("cat", span.category);
  json.member("pid", process);
  json.member("tid", thread);
  json.key("ts");
  json.raw(microseconds(span.beginUs));
  json.key("dur");
  json.raw(microseconds(std::max(0.0, span.endUs - span.beginUs)));
  json.key("args");
  json.beginObject();
  for (const auto &[name, value] : span.details)
    json.member(name, value);
  json.endObject();
  json.endObject();
}

} // namespace

Trace::Trace() : start_(std::chrono::steady_clock::now()) {}

double Trace::now() const {
  return std::chrono::duration<double, std::micro>(std::chrono::steady_clock::now() - start_).count();
}

void Trace::add(Span span) {
  std::lock_guard lock(mutex_);
  const int thread =
      span.track.empty()
          ? threads_.try_emplace(std::this_thread::get_id(), static_cast<int>(threads_.size()) + 1).first->second
          : 1;
  events_.push_back({std::move(span), thread});
}

std::string Trace::toJson() const {
  std::lock_guard lock(mutex_);
  std::vector<const Event *> ordered;
  for (const Event &event : events_)
    ordered.push_back(&event);
  std::sort(ordered.begin(), ordered.end(),
            [](const Event *a, const Event *b) { return a->span.beginUs < b->span.beginUs; });
  std::map<std::string, int> processes; // of devices
  JsonWriter json(JsonWriter::Style::Inline);
  json.beginArray();
  nameProcess(json, kHostProcess, "host");
  for (const Event *event : ordered) {
    const Span &span = event->span;
    int process = kHostProcess;
    if (!span.track.empty()) {
      const auto [known, isNew] =
          processes.try_emplace(span.track, kFirstDeviceProcess + static_cast<int>(processes.size()));
      process = known->second;
      if (isNew)
        nameProcess(json, process, span.track);
    }
    writeSpan(json, process, event->thread, span);
  }
  json.breakLine(0);
  json.endArray();
  return json.take() + '\n';
}

Status Trace::write(const std::string &path) const {
  return writeFile(path, toJson());
}

HostSpan::HostSpan(Trace *trace, std::string_view category, std::string_view what, std::string_view name)
    : range_(what, name), trace_(trace) {
  if (!trace_)
    return;
  span_.category = category;
  span_.name = concat(what, " ", name);
  span_.beginUs = trace_->now();
}

HostSpan::~HostSpan() {
  if (!trace_)
    return;
  span_.endUs = trace_->now();
  trace_->add(std::move(span_));
}

void HostSpan::detail(std::string_view key, std::string_view value) {
  if (trace_)
    span_.details.emplace_back(key, value);
}

} // namespace tenon::runtime
