// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "compiler/codegen/tuning/tuning_file.h"

#include "abi/arch_spelling.h"
#include "support/text/json.h"
#include "support/text/nearest_names.h"

#include "llvm/ADT/STLExtras.h"

namespace tenon::compiler::codegen {
namespace {

constexpr char kVersionField[] = "tenon_tuning";
constexpr int64_t kVersion = 1;

/// Takes a value of any kind.
void skip(JsonReader &json) {
  switch (json.next()) {
  case JsonReader::Next::Object:
    json.object([&](std::string_view, size_t) { skip(json); });
    return;
  case JsonReader::Next::Array:
    json.array([&] { skip(json); });
    return;
  case JsonReader::Next::Number:
    (void)json.integer<int64_t>();
    return;
  case JsonReader::Next::String:
  case JsonReader::Next::Word:
  case JsonReader::Next::Other:
    (void)json.stringOrWord();
  }
}

class Reading {
public:
  Reading(const SourceFile &file, const TuningMistake &report) : file_(file), json_(file.text()), report_(report) {}

  std::optional<std::vector<TuningEntry>> run() {
    bool hasVersion = false;
    const size_t begin = json_.offset();
    json_.object([&](std::string_view name, size_t at) {
      if (name == kVersionField) {
        hasVersion = true;
        readVersion();
      } else if (name == "choices") {
        json_.array([&] { readEntry(); });
      } else {
        unknownField(name, at, {kVersionField, "choices"});
      }
    });
    json_.finish();
    if (const std::optional<JsonMistake> &mistake = json_.mistake())
      report(mistake->offset, mistake->message);
    else if (!hasVersion)
      report(begin, concat("this is no tuning file: '", kVersionField, "' is missing; wanted: \"", kVersionField,
                           "\": ", kVersion));
    if (!isGood_)
      return std::nullopt;
    return std::move(entries_);
  }

private:
  void report(size_t offset, const std::string &message) {
    isGood_ = false;
    report_(file_.locate(offset), message);
  }

  void unknownField(std::string_view name, size_t at, const std::vector<std::string> &known) {
    const std::vector<std::string> near = nearestNames(name, known, 1);
    report(at, concat("field '", name, "' is not known", near.empty() ? "; there are " : ": did you mean '",
                      near.empty() ? quotedList(known) : near.front(), near.empty() ? "" : "'?"));
    skip(json_);
  }

  void readVersion() {
    const size_t at = json_.offset();
    const int64_t version = json_.integer<int64_t>();
    if (!json_.mistake() && version != kVersion)
      report(at, concat("'", kVersionField, "' is ", version, ", and this compiler reads ", kVersion));
  }

  void readEntry() {
    TuningEntry entry;
    const size_t begin = json_.offset();
    bool hasTarget = false, hasChoice = false;
    json_.object([&](std::string_view name, size_t at) {
      if (name == "target") {
        hasTarget = true;
        readTarget(entry);
      } else if (name == "contraction") {
        entry.contraction = json_.string();
      } else if (name == "choice") {
        hasChoice = true;
        readChoice(entry.choice);
      } else if (name == "measured") {
        const size_t from = json_.offset();
        skip(json_);
        if (!json_.mistake())
          entry.measured = trimmed(file_.text().substr(from, json_.offset() - from));
      } else {
        unknownField(name, at, {"target", "contraction", "choice", "measured"});
      }
    });
    if (json_.mistake())
      return;
    for (auto [isThere, field] : {std::pair(hasTarget, "target"), std::pair(!entry.contraction.empty(), "contraction"),
                                  std::pair(hasChoice, "choice")})
      if (!isThere)
        report(begin, concat("an entry needs '", field, "'"));
    entry.place = file_.locate(begin);
    for (const TuningEntry &other : entries_)
      if (other.target == entry.target && other.contraction == entry.contraction)
        report(begin, concat("the same contraction has a choice for '", entry.target.toString(), "' in line ",
                             other.place.line, " already"));
    entries_.push_back(std::move(entry));
  }

  void readTarget(TuningEntry &entry) {
    const size_t at = json_.offset();
    const std::string name(json_.string());
    if (json_.mistake())
      return;
    const std::optional<abi::TargetArch> target = abi::parseTargetArch(name);
    if (!target || !abi::findArch(*target))
      report(at, concat("unknown target '", name, "'; ", abi::archAdvice(name)));
    else
      entry.target = *target;
  }

  void readChoice(TileChoice &choice) {
    const size_t begin = json_.offset();
    json_.object([&](std::string_view name, size_t) {
      if (name == "by") {
        choice.by = json_.string();
        return;
      }
      const std::string number(name);
      choice.numbers.emplace_back(number, json_.integer<int64_t>());
    });
    if (!json_.mistake() && choice.by.empty())
      report(begin, "'choice' does not say who multiplies; wanted: \"by\", a string");
  }

  /// Without the blanks and the comma behind a value.
  static std::string trimmed(std::string_view text) {
    const size_t end = text.find_last_not_of(" \t\r\n,");
    return std::string(text.substr(0, end + 1));
  }

  const SourceFile &file_;
  JsonReader json_;
  const TuningMistake &report_;
  std::vector<TuningEntry> entries_;
  bool isGood_ = true;
};

std::string choiceJson(const TileChoice &choice) {
  JsonWriter json(JsonWriter::Style::Inline);
  json.beginObject();
  json.member("by", choice.by);
  for (const auto &[name, value] : choice.numbers)
    json.member(name, value);
  json.endObject();
  return json.take();
}

} // namespace

std::optional<std::vector<TuningEntry>> readTuningFile(const SourceFile &file, const TuningMistake &report) {
  return Reading(file, report).run();
}

std::string writeTuningFile(std::vector<TuningEntry> entries) {
  llvm::sort(entries, [](const TuningEntry &left, const TuningEntry &right) {
    return std::pair(left.target.toString(), left.contraction) < std::pair(right.target.toString(), right.contraction);
  });
  JsonWriter json;
  json.beginObject();
  json.member(kVersionField, kVersion);
  json.key("choices");
  json.beginArray();
  for (const TuningEntry &entry : entries) {
    json.beginObject();
    json.member("target", entry.target.toString());
    json.member("contraction", entry.contraction);
    json.key("choice");
    json.raw(choiceJson(entry.choice));
    if (!entry.measured.empty()) {
      json.key("measured");
      json.raw(entry.measured);
    }
    json.endObject();
  }
  json.endArray();
  json.endObject();
  return json.take() + "\n";
}

} // namespace tenon::compiler::codegen
