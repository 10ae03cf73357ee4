// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "runtime/tools/check_kernel/kernel_checks.h"

#include "runtime/tools/interrupt.h"
#include "runtime/values/element_text.h"

#include <algorithm>

namespace tenon::runtime {
namespace {

constexpr RunOptions kPlain;
constexpr uint64_t kDisplacement = 4352; // bytes: changes bits of addresses above those that are aligned
constexpr uint8_t kOtherGuard = 0x5a, kOtherFill = 0x34;

Finding &fail(Finding &finding, std::string message) {
  finding.verdict = Verdict::Failed;
  finding.message = std::move(message);
  return finding;
}

Finding &skip(Finding &finding, std::string why) {
  finding.verdict = Verdict::Skipped;
  finding.message = std::move(why);
  return finding;
}

std::string byteText(uint8_t byte) {
  constexpr char kDigits[] = "0123456789abcdef";
  return concat("0x", kDigits[byte >> 4], kDigits[byte & 15]);
}

constexpr const char *kNoPlainRun = "the kernel does not run";

} // namespace

std::string KernelChecks::nameOf(uint32_t binding) const {
  const std::string &name = declared_.layout.bindings[binding].name;
  return concat("binding ", binding, name.empty() ? std::string() : concat(" '", name, "'"));
}

Finding KernelChecks::begin(std::string check) const {
  Finding finding;
  finding.check = std::move(check);
  finding.caseText = case_->text();
  return finding;
}

/// Empty when the kernel or the device failed, which is then the finding.
std::optional<RunResult> KernelChecks::launch(const RunOptions &options, Finding &finding) {
  if (isInterrupted()) { // Ctrl-C ended the run before this one; the next would not end by itself either
    fail(finding, "interrupted");
    return std::nullopt;
  }
  Result<const LoadedExport *> kernel = session_.load(declared_.ordinal);
  if (!kernel.ok()) {
    fail(finding, std::string(kernel.status().message()));
    return std::nullopt;
  }
  Result<RunResult> run = runCase(session_.device(), **kernel, *case_, options);
  if (run.ok())
    return run.take();
  fail(finding, std::string(run.status().message()));
  leftItsBuffers_ = finding.message.find("CUDA_ERROR_ILLEGAL_ADDRESS") != std::string::npos;
  if (const std::string report = session_.faultReport(); run.status().code() == StatusCode::Aborted && !report.empty())
    finding.message += concat("\n", report);
  // The context is lost for all.
  for (Reference *reference : {reference_, fallback_})
    if (reference)
      reference->close();
  session_.close();
  return std::nullopt;
}

void KernelChecks::placeDifference(Finding &finding, uint32_t binding, uint64_t byte, const std::vector<uint8_t> &found,
                                   const std::vector<uint8_t> &expected) const {
  const abi::ElementType element = case_->bindings[binding].value.element;
  const uint32_t size = abi::byteSize(element);
  const uint64_t index = byte / size;
  finding.binding = binding;
  finding.byteOffset = int64_t(index * size);
  finding.element = int64_t(index);
  finding.found = formatElement(&found[index * size], element);
  finding.expected = formatElement(&expected[index * size], element);
}

/// The first difference between two runs, over all bindings.
bool KernelChecks::findDifference(Finding &finding, const RunResult &found, const RunResult &expected) const {
  for (uint32_t i = 0; i < found.contents.size(); ++i) {
    const auto [a, b] = std::mismatch(found.contents[i].begin(), found.contents[i].end(), expected.contents[i].begin());
    if (a == found.contents[i].end())
      continue;
    placeDifference(finding, i, uint64_t(a - found.contents[i].begin()), found.contents[i], expected.contents[i]);
    return true;
  }
  return false;
}

Finding KernelChecks::checkLaunch() {
  Finding finding = begin("launch");
  launch({.guarded = false}, finding);
  return finding;
}

Finding KernelChecks::checkBounds(const std::optional<RunResult> &plain) {
  Finding finding = begin("bounds");
  if (!plain)
    return skip(finding, kNoPlainRun);
  if (!plain->damage.empty()) {
    const GuardDamage &damage = plain->damage.front();
    const int64_t size = abi::byteSize(case_->bindings[damage.binding].value.element);
    const int64_t bytes = int64_t(case_->bindings[damage.binding].value.bytes.size());
    finding.binding = damage.binding;
    finding.byteOffset = damage.first;
    finding.element = damage.first < 0 ? -((-damage.first + size - 1) / size) : damage.first / size;
    finding.found = byteText(damage.found);
    finding.expected = byteText(damage.expected);
    const std::string where = damage.first < 0
                                  ? concat("before ", nameOf(damage.binding))
                                  : concat("behind ", nameOf(damage.binding), ", which ends at byte ", bytes);
    return fail(finding, concat("the kernel writes ", damage.count, damage.count == 1 ? " byte " : " bytes ", where,
                                ": hold the index against the size"));
  }
  Finding other = begin("bounds");
  const std::optional<RunResult> run = launch({.guard = kOtherGuard}, other);
  if (!run)
    return other;
  if (!deterministic_)
    return skip(finding, "reads outside the bindings do not show: runs differ anyway");
  if (findDifference(finding, *run, *plain))
    fail(finding, concat("what ", nameOf(*finding.binding),
                         " holds depends on bytes around the bindings: the kernel reads outside of one"));
  return finding;
}

Finding KernelChecks::checkReadOnly(const std::optional<RunResult> &plain) {
  Finding finding = begin("read-only");
  const std::vector<CaseBinding> &bindings = case_->bindings;
  if (std::none_of(bindings.begin(), bindings.end(), [](const CaseBinding &b) { return b.role == BindingRole::Input; }))
    return skip(finding, "no binding is read-only");
  if (!plain)
    return skip(finding, kNoPlainRun);
  for (uint32_t i = 0; i < bindings.size(); ++i) {
    if (bindings[i].role != BindingRole::Input)
      continue;
    const std::vector<uint8_t> &before = bindings[i].value.bytes, &after = plain->contents[i];
    const auto [a, b] = std::mismatch(after.begin(), after.end(), before.begin());
    if (a == after.end())
      continue;
    placeDifference(finding, i, uint64_t(a - after.begin()), after, before);
    return fail(finding, concat("the kernel writes ", nameOf(i),
                                ", which is declared read-only: declare it writable, or do not write it"));
  }
  return finding;
}

Finding KernelChecks::checkOffsets(const std::optional<RunResult> &plain) {
  Finding finding = begin("offsets");
  if (!plain)
    return skip(finding, kNoPlainRun);
  const std::optional<RunResult> run = launch({.shifted = true}, finding);
  if (!run) {
    finding.message = concat("with bindings aligned to no more than the layout promises: ", finding.message,
                             "; declare the alignment that the kernel needs");
    return finding;
  }
  if (!deterministic_)
    return skip(finding, "runs differ anyway");
  if (findDifference(finding, *run, *plain))
    fail(finding, concat(nameOf(*finding.binding), " comes out differently when bindings are aligned to no more than "
                                                   "the layout promises: declare the alignment that the kernel needs"));
  else if (!run->damage.empty() && plain->damage.empty()) {
    const GuardDamage &damage = run->damage.front();
    finding.binding = damage.binding;
    finding.byteOffset = damage.first;
    finding.found = byteText(damage.found);
    finding.expected = byteText(damage.expected);
    fail(finding, concat("the kernel writes outside ", nameOf(damage.binding),
                         " when bindings are aligned to no more than the layout promises"));
  }
  return finding;
}

Finding KernelChecks::checkRepeats(const std::optional<RunResult> &plain) {
  Finding finding = begin("repeats");
  if (!plain)
    return skip(finding, kNoPlainRun);
  for (uint32_t i = 1; i < options_.repeats; ++i) {
    const std::optional<RunResult> run = launch({.displaced = i * kDisplacement}, finding);
    if (!run)
      return finding;
    if (!findDifference(finding, *run, *plain))
      continue;
    deterministic_ = false;
    return fail(finding,
                concat("run ", i + 1, " leaves other bits in ", nameOf(*finding.binding),
                       " than the first: the order of threads shows, an address, or memory that nobody wrote"));
  }
  return finding;
}

Finding KernelChecks::checkOutputs(const std::optional<RunResult> &plain) {
  Finding finding = begin("outputs");
  if (!plain)
    return skip(finding, kNoPlainRun);
  const std::optional<RunResult> run = launch({.fill = kOtherFill}, finding);
  if (!run)
    return finding;
  if (!deterministic_)
    return skip(finding, "runs differ anyway");
  for (uint32_t i = 0; i < case_->bindings.size(); ++i) {
    const CaseBinding &binding = case_->bindings[i];
    const uint32_t size = abi::byteSize(binding.value.element);
    const std::vector<uint8_t> &first = plain->contents[i], &second = run->contents[i];
    for (size_t at = 0; at < first.size(); at += size) {
      if (std::equal(first.begin() + ptrdiff_t(at), first.begin() + ptrdiff_t(at + size),
                     second.begin() + ptrdiff_t(at)))
        continue;
      const bool kept = std::all_of(first.begin() + ptrdiff_t(at), first.begin() + ptrdiff_t(at + size),
                                    [](uint8_t byte) { return byte == kPlain.fill; }) &&
                        std::all_of(second.begin() + ptrdiff_t(at), second.begin() + ptrdiff_t(at + size),
                                    [](uint8_t byte) { return byte == kOtherFill; });
      if (kept && binding.role == BindingRole::PartialOutput)
        continue;
      placeDifference(finding, i, at, second, first);
      if (kept) {
        finding.found = "what was there before";
        finding.expected = "a value";
      }
      return fail(finding, kept
                               ? concat("the kernel does not write this element of ", nameOf(i),
                                        " (where that is meant: --binding='partial ...')")
                               : concat(nameOf(i), " depends on what was there before: the kernel reads an output that "
                                                   "nobody wrote (where that is meant: --binding='inout ...')"));
    }
  }
  return finding;
}

Finding KernelChecks::compareWith(std::string check, Reference *reference, const std::optional<RunResult> &plain) {
  Finding finding = begin(std::move(check));
  if (!plain)
    return skip(finding, kNoPlainRun);
  Result<std::vector<HostTensor>> expected = reference->outputs(*case_);
  if (!expected.ok())
    return fail(finding, concat("the reference fails: ", expected.status().message()));
  size_t next = 0;
  for (uint32_t i = 0; i < case_->bindings.size(); ++i) {
    const CaseBinding &binding = case_->bindings[i];
    if (binding.role == BindingRole::Input)
      continue;
    const std::vector<uint8_t> &wanted = (*expected)[next++].bytes, &found = plain->contents[i];
    const uint32_t size = abi::byteSize(binding.value.element);
    size_t first = found.size(), count = 0;
    for (size_t at = 0; at < found.size(); at += size)
      if (!elementsMatch(&wanted[at], &found[at], binding.value.element, options_.thresholds) && count++ == 0)
        first = at;
    if (count == 0)
      continue;
    placeDifference(finding, i, first, found, wanted);
    return fail(finding, concat(count, " of ", found.size() / size, " elements of ", nameOf(i), " differ"));
  }
  return finding;
}

std::vector<Finding> KernelChecks::run(const Case &inputs) {
  case_ = &inputs;
  deterministic_ = true;
  leftItsBuffers_ = false;
  std::vector<Finding> out;
  out.push_back(checkLaunch());
  const bool ran = out.front().verdict == Verdict::Passed;
  Finding plainRun;
  // What leaves its buffers may run between guards, and then shows where it goes. What never ends, traps or cannot be
  // launched does the same again.
  const std::optional<RunResult> plain = ran || leftItsBuffers_ ? launch(kPlain, plainRun) : std::nullopt;
  if (!plain && ran)
    fail(out.front(), plainRun.message);
  Finding repeats = checkRepeats(plain); // first: the others compare runs
  out.push_back(checkBounds(plain));
  out.push_back(checkReadOnly(plain));
  out.push_back(checkOffsets(plain));
  out.push_back(std::move(repeats));
  out.push_back(checkOutputs(plain));
  if (reference_)
    out.push_back(compareWith("reference", reference_, plain));
  if (fallback_)
    out.push_back(compareWith("fallback", fallback_, plain));
  return out;
}

} // namespace tenon::runtime
