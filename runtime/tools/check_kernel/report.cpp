// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "runtime/tools/check_kernel/report.h"

#include "support/text/json.h"

#include <algorithm>

namespace tenon::runtime {
namespace {

/// All cases of one check.
struct Row {
  std::string check;
  size_t passed = 0, skipped = 0, failed = 0;
  const Finding *firstFailure = nullptr, *firstSkip = nullptr;
};

std::vector<Row> rowsOf(const std::vector<Finding> &findings) {
  std::vector<Row> rows;
  for (const Finding &finding : findings) {
    auto row = std::ranges::find(rows, finding.check, &Row::check);
    if (row == rows.end())
      row = rows.insert(rows.end(), Row{.check = finding.check});
    switch (finding.verdict) {
    case Verdict::Passed:
      ++row->passed;
      break;
    case Verdict::Skipped:
      ++row->skipped;
      row->firstSkip = row->firstSkip ? row->firstSkip : &finding;
      break;
    case Verdict::Failed:
      ++row->failed;
      row->firstFailure = row->firstFailure ? row->firstFailure : &finding;
      break;
    }
  }
  return rows;
}

std::string padded(std::string text, size_t width) {
  text.resize(std::max(text.size(), width), ' ');
  return text;
}

std::string placeText(const Finding &finding) {
  std::string text;
  if (finding.binding)
    text += concat("binding ", *finding.binding);
  if (finding.byteOffset)
    text += concat(", byte ", *finding.byteOffset);
  if (finding.element)
    text += concat(", element ", *finding.element);
  if (!finding.found.empty())
    text += concat(": found ", finding.found, ", expected ", finding.expected);
  return text;
}

void writeFinding(JsonWriter &json, const Finding &finding) {
  constexpr const char *kResults[] = {"passed", "failed", "skipped"};
  json.beginObject();
  json.member("check", finding.check);
  json.member("case", finding.caseText);
  json.member("result", kResults[size_t(finding.verdict)]);
  if (!finding.message.empty())
    json.member("message", finding.message);
  if (finding.binding)
    json.member("binding", *finding.binding);
  if (finding.byteOffset)
    json.member("byte_offset", *finding.byteOffset);
  if (finding.element)
    json.member("element", *finding.element);
  if (!finding.found.empty()) {
    json.member("found", finding.found);
    json.member("expected", finding.expected);
  }
  json.endObject();
}

} // namespace

bool ExportReport::hasFailed() const {
  return std::ranges::any_of(findings, [](const Finding &finding) { return finding.verdict == Verdict::Failed; });
}

std::string tableOf(const ExportReport &report) {
  std::string out = concat("export '", report.name, "', variant '", report.variant, "', kernel '", report.symbol,
                           "' on ", report.device, ": ", report.cases, report.cases == 1 ? " case\n" : " cases\n");
  for (const Row &row : rowsOf(report.findings)) {
    const size_t total = row.passed + row.skipped + row.failed;
    out += concat("  ", padded(row.check, 11));
    if (!row.failed && !row.passed) {
      out += concat("skipped  ", row.firstSkip->message, "\n");
      continue;
    }
    if (!row.failed) {
      out += row.skipped ? concat("passed   ", row.passed, " of ", total, " cases, ", row.skipped,
                                  " skipped: ", row.firstSkip->message, "\n")
                         : "passed\n";
      continue;
    }
    out += concat("FAILED   ", row.failed, " of ", total, total == 1 ? " case, " : " cases, first ",
                  row.firstFailure->caseText, "\n");
    if (const std::string place = placeText(*row.firstFailure); !place.empty())
      out += concat(std::string(13, ' '), place, "\n");
    std::string message = row.firstFailure->message; // a driver's has several lines
    for (size_t at = 0; (at = message.find('\n', at)) != std::string::npos;)
      message.insert(++at, std::string(15, ' '));
    out += concat(std::string(13, ' '), message, "\n");
  }
  return out;
}

std::string jsonOf(const std::vector<ExportReport> &reports) {
  JsonWriter json(JsonWriter::Style::Inline);
  json.beginObject();
  json.key("exports");
  json.beginArray();
  for (const ExportReport &report : reports) {
    json.breakLine(1);
    json.beginObject();
    json.member("export", report.name);
    json.member("variant", report.variant);
    json.member("kernel", report.symbol);
    json.member("device", report.device);
    json.member("failed", report.hasFailed());
    json.key("findings");
    json.beginArray();
    for (const Finding &finding : report.findings) {
      json.breakLine(2);
      writeFinding(json, finding);
    }
    json.breakLine(1);
    json.endArray();
    json.endObject();
  }
  json.breakLine(0);
  json.endArray();
  json.endObject();
  return json.take() + '\n';
}

} // namespace tenon::runtime
