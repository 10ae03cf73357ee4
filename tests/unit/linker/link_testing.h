// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// A link job in a few lines, for the tests of the passes.
#pragma once

#include "abi/format/views/executable_view.h"
#include "linker/link.h"

#include <gtest/gtest.h>

#include <string>
#include <string_view>

namespace tenon::linker::testing {

/// A module for sm_80 around `body`.
inline std::string ptxModule(std::string_view body, std::string_view target = "sm_80",
                             std::string_view version = "8.0") {
  return concat(".version ", version, "\n.target ", target, "\n.address_size 64\n", body);
}

/// `.visible .entry NAME(PARAMETERS) DIRECTIVES { ret; }` of pointers and words: "ppw" is two pointers and a .u32.
inline std::string entry(std::string_view name, std::string_view parameters, std::string_view directives = "",
                         std::string_view body = "") {
  std::string text = concat(".visible .entry ", name, "(");
  for (size_t i = 0; i < parameters.size(); ++i)
    text += concat(i ? ", " : "", ".param ", parameters[i] == 'p' ? ".u64" : ".u32", " ", name, "_param_", i);
  return concat(text, ") ", directives, "\n{\n", body, "  ret;\n}\n");
}

inline abi::Export makeExport(std::string name, size_t bindings, std::vector<abi::Constant> constants = {}) {
  abi::Export result;
  result.name = std::move(name);
  result.symbol = result.name;
  result.layout.bindings.resize(bindings);
  result.layout.constants = std::move(constants);
  result.launch.workgroupSize = {64, 1, 1};
  result.declaredAt = {"job.json", 7, 3};
  return result;
}

struct Job {
  LinkJob job{.name = "test"};

  Job &add(abi::Export value) {
    value.ordinal = uint32_t(job.exports.size());
    job.exports.push_back(std::move(value));
    return *this;
  }
  Job &object(std::string path, std::string bytes, std::string_view target = "sm_80") {
    job.objects.push_back(
        {.path = std::move(path), .bytes = std::move(bytes), .target = *abi::parseTargetArch(target)});
    return *this;
  }
};

struct Linked {
  Diagnostics diagnostics;
  std::vector<uint8_t> bytes; // empty: refused
  std::string text() const { return diagnostics.toString(); }
  bool has(std::string_view part) const { return text().find(part) != std::string::npos; }
};

inline Linked linkJob(const LinkJob &job) {
  Linked linked;
  Result<LinkOutput> output = link(job, linked.diagnostics);
  EXPECT_EQ(output.ok(), !linked.diagnostics.hasErrors()) << linked.text();
  if (output.ok())
    linked.bytes = std::move(output->executable);
  return linked;
}
inline Linked linkJob(const Job &job) {
  return linkJob(job.job);
}

/// Links one object for sm_80 with one export.
inline Linked linkOne(std::string body, abi::Export value) {
  return linkJob(Job().add(std::move(value)).object("a.ptx", ptxModule(body)));
}

inline abi::ExecutableView view(const Linked &linked) {
  Result<abi::ExecutableView> result = abi::ExecutableView::create(linked.bytes, "test");
  EXPECT_TRUE(result.ok()) << result.status().toString();
  return result.take();
}

#define EXPECT_LINKS(linked) EXPECT_EQ((linked).text(), "")
#define EXPECT_FINDS(linked, part)                                                                                     \
  EXPECT_TRUE((linked).has(part)) << "wanted: " << (part) << "\nfound:\n" << (linked).text()

} // namespace tenon::linker::testing
