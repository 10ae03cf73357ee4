// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// How a finding is printed: the form that compilers use, so that editors and CI recognise places. One line for the
// finding, one per note, one for the fix; a place that is not known leaves no trace in the line.
#include "support/diagnostics.h"

#include "support/status.h"

#include <algorithm>
#include <iterator>
#include <utility>

namespace tenon {

static void appendPlace(std::string &out, const SourceLocation &where) {
  if (where.known())
    out += where.toString() + ": ";
}

static std::string_view severityText(Severity severity) {
  switch (severity) {
  case Severity::Warning:
    return "warning: ";
  case Severity::Error:
    return "error: ";
  case Severity::Remark:
    return "remark: ";
  }
}

std::string SourceLocation::toString() const {
  if (!known() || line == 0)
    return file;
  if (column == 0)
    return concat(file, ':', line);
  return concat(file, ':', line, ':', column);
}

Diagnostic &Diagnostic::note(SourceLocation where, std::string message) {
  notes.push_back({std::move(where), std::move(message)});
  return *this;
}

Diagnostic &Diagnostic::withFix(std::string fix) {
  this->fix = std::move(fix);
  return *this;
}

std::string Diagnostic::toString() const {
  std::string out;
  appendPlace(out, where);
  out += severityText(severity);
  if (!rule.empty())
    out += concat('[', rule, "] ");
  out += concat(message, '\n');
  for (const DiagnosticNote &note : notes) {
    appendPlace(out, note.where);
    out += concat("note: ", note.message, '\n');
  }
  if (!fix.empty())
    out += concat("fix: ", fix, '\n');
  return out;
}

Diagnostic &Diagnostics::error(SourceLocation where, std::string rule, std::string message) {
  items_.push_back({Severity::Error, std::move(where), std::move(rule), std::move(message), {}, {}});
  return items_.back();
}

Diagnostic &Diagnostics::warning(SourceLocation where, std::string rule, std::string message) {
  items_.push_back({Severity::Warning, std::move(where), std::move(rule), std::move(message), {}, {}});
  return items_.back();
}

Diagnostic &Diagnostics::remark(SourceLocation where, std::string rule, std::string message) {
  items_.push_back({Severity::Remark, std::move(where), std::move(rule), std::move(message), {}, {}});
  return items_.back();
}

void Diagnostics::append(Diagnostics other) {
  items_.insert(items_.end(), std::make_move_iterator(other.items_.begin()),
                std::make_move_iterator(other.items_.end()));
}

size_t Diagnostics::errorCount() const {
  return static_cast<size_t>(std::count_if(items_.begin(), items_.end(),
                                           [](const Diagnostic &item) { return item.severity == Severity::Error; }));
}

std::string Diagnostics::toString() const {
  std::string out;
  for (const Diagnostic &item : items_)
    out += item.toString();
  return out;
}

} // namespace tenon
