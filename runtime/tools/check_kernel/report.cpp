// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "runtime/tools/check_kernel/report.h"

#include "support/text.h"

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

std::string findingJson(const Finding &finding) {
  constexpr const char *kResults[] = {"passed", "failed", "skipped"};
  std::string out = concat("{\"check\": ", jsonString(finding.check), ", \"case\": ", jsonString(finding.caseText),
                           ", \"result\": \"", kResults[size_t(finding.verdict)], "\"");
  if (!finding.message.empty())
    out += concat(", \"message\": ", jsonString(finding.message));
  if (finding.binding)
    out += concat(", \"binding\": ", *finding.binding);
  if (finding.byteOffset)
    out += concat(", \"byte_offset\": ", *finding.byteOffset);
  if (finding.element)
    out += concat(", \"element\": ", *finding.element);
  if (!finding.found.empty())
    out += concat(", \"found\": ", jsonString(finding.found), ", \"expected\": ", jsonString(finding.expected));
  return out + '}';
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
  std::string out = "{\"exports\": [";
  for (const ExportReport &report : reports) {
    out += concat(&report == &reports.front() ? "\n" : ",\n", " {\"export\": ", jsonString(report.name),
                  ", \"variant\": ", jsonString(report.variant), ", \"kernel\": ", jsonString(report.symbol),
                  ", \"device\": ", jsonString(report.device), ", \"failed\": ", report.hasFailed() ? "true" : "false",
                  ", \"findings\": [");
    for (const Finding &finding : report.findings)
      out += concat(&finding == &report.findings.front() ? "\n  " : ",\n  ", findingJson(finding));
    out += "\n ]}";
  }
  return out + "\n]}\n";
}

} // namespace tenon::runtime
