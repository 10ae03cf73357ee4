// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// K-15: an export is one kernel, whichever image the loader takes. Its variants come from different compilations, often
// of different source behind `__CUDA_ARCH__`, so they are held against each other as well as against the layout:
//
//   parameters   the same widths, and none a float in one variant and an integer in another (an error: one of them
//   reads
//                another slot's bits; a layout of untyped words cannot tell)
//   access       a variant that writes nothing where another writes (an error: its body is compiled away, as happens to
//                code for sm_90a that is built for sm_90); a binding that only some variants write (a warning: a
//                workspace may be needed on one architecture only)
//
// Access is compared among hand-written variants; a generated fallback is another program for the same result.
#include "linker/passes/passes.h"

#include <algorithm>

namespace tenon::linker {
namespace {

enum class Kind : uint8_t { Untyped, Integer, Float };

Kind kindOf(const ptx::Variable &parameter) {
  using Type = ptx::ScalarType;
  const Type type = parameter.type;
  if (parameter.isArray)
    return Kind::Untyped;
  if (type == Type::F16 || type == Type::BF16 || type == Type::F32 || type == Type::F64)
    return Kind::Float;
  return type >= Type::U8 && type <= Type::S64 ? Kind::Integer : Kind::Untyped; // LLVM prints .b32 for both
}

bool agree(const ptx::Variable &a, const ptx::Variable &b) {
  const Kind x = kindOf(a), y = kindOf(b);
  return a.bytes() == b.bytes() && (x == y || x == Kind::Untyped || y == Kind::Untyped);
}

std::string signatureText(const ptx::Function &entry) {
  std::string text;
  for (const ptx::Variable &parameter : entry.parameters) {
    text += concat(text.empty() ? "." : ", .", ptx::spelling(parameter.type));
    if (parameter.isArray)
      text += concat('[', parameter.bytes(), ']');
  }
  return text.empty() ? "no parameters" : text;
}

std::string_view verdictText(AccessVerdict verdict) {
  switch (verdict) {
  case AccessVerdict::Unknown:
    return "may write it";
  case AccessVerdict::ProvedReadOnly:
    return "only reads it";
  case AccessVerdict::Written:
    return "writes it";
  case AccessVerdict::Unused:
    return "does not use it";
  }
}

struct Member {
  const Variant *variant = nullptr;
  const Kernel *kernel = nullptr;
};

class Check {
public:
  Check(LinkContext &context, const abi::Export &declared, std::vector<Member> &members)
      : context_(context), declared_(declared), members_(members) {}

  void run() {
    checkSignatures();
    std::erase_if(members_, [](const Member &member) {
      return member.variant->origin != abi::Origin::HandWritten || member.kernel->access.empty();
    });
    if (members_.size() > 1 && !checkEffects())
      for (uint32_t i = 0; i < declared_.layout.bindings.size(); ++i)
        checkBinding(i);
  }

private:
  SourceLocation placeOf(const Member &member) const { return member.kernel->object->placeOf(*member.kernel->entry); }
  static std::string variantText(const Member &member) { return concat("variant '", member.variant->name, "'"); }

  void checkSignatures() {
    const Member &first = members_.front();
    const std::vector<ptx::Variable> &wanted = first.kernel->entry->parameters;
    for (size_t i = 1; i < members_.size(); ++i) {
      const std::vector<ptx::Variable> &found = members_[i].kernel->entry->parameters;
      const auto differs = std::mismatch(wanted.begin(), wanted.end(), found.begin(), found.end(), agree);
      if (differs.first == wanted.end() && differs.second == found.end())
        continue;
      const size_t at = static_cast<size_t>(differs.first - wanted.begin());
      Diagnostic &error = context_.diagnostics.error(
          placeOf(members_[i]), "K-15",
          concat("variants of export '", declared_.name, "' differ at parameter ", at, ": ", variantText(members_[i]),
                 " takes (", signatureText(*members_[i].kernel->entry), "), ", variantText(first), " takes (",
                 signatureText(*first.kernel->entry), ")"));
      error.note(placeOf(first), concat(variantText(first), " is here"));
      noteDeclared(error, declared_).withFix("compile every target from the same source");
    }
  }

  /// Each variant's place and what it does, side by side.
  template <typename Text> Diagnostic &listMembers(Diagnostic &diagnostic, Text text) {
    for (const Member &member : members_)
      diagnostic.note(placeOf(member), concat(variantText(member), " ", text(*member.kernel)));
    return noteDeclared(diagnostic, declared_);
  }

  /// Whether a variant does nothing where another does something; reported.
  bool checkEffects() {
    const auto idle = std::ranges::find_if(members_, [](const Member &member) { return !member.kernel->writes; });
    const bool anyWrites = std::ranges::any_of(members_, [](const Member &member) { return member.kernel->writes; });
    if (idle == members_.end() || !anyWrites)
      return false;
    listMembers(context_.diagnostics.error(placeOf(*idle), "K-15",
                                           concat(variantText(*idle), " of export '", declared_.name,
                                                  "' writes no memory, other variants do")),
                [](const Kernel &kernel) { return kernel.writes ? "writes memory" : "writes nothing"; })
        .withFix("the body may be compiled away for this target (__CUDA_ARCH__, features of sm_90a): build it for the "
                 "right target, or drop the object");
    return true;
  }

  void checkBinding(uint32_t i) {
    const abi::Binding &binding = declared_.layout.bindings[i];
    auto has = [&](AccessVerdict verdict) {
      return std::ranges::any_of(members_, [&](const Member &member) { return member.kernel->access[i] == verdict; });
    };
    if (binding.readOnly) // whoever writes it is K-13 already
      return;
    if (!has(AccessVerdict::Written) || !(has(AccessVerdict::ProvedReadOnly) || has(AccessVerdict::Unused)))
      return;
    const auto other = std::ranges::find_if(members_, [&](const Member &member) {
      const AccessVerdict verdict = member.kernel->access[i];
      return verdict == AccessVerdict::ProvedReadOnly || verdict == AccessVerdict::Unused;
    });
    std::string message = concat("binding ", i, binding.name.empty() ? "" : concat(" '", binding.name, "'"),
                                 " of export '", declared_.name, "' is written by some variants, but ",
                                 variantText(*other), " ", verdictText(other->kernel->access[i]));
    listMembers(context_.job.strict ? context_.diagnostics.error(placeOf(*other), "K-15", std::move(message))
                                    : context_.diagnostics.warning(placeOf(*other), "K-15", std::move(message)),
                [i](const Kernel &kernel) { return verdictText(kernel.access[i]); })
        .withFix("compile every target from the same source; a workspace of one architecture alone may stay so");
  }

  LinkContext &context_;
  const abi::Export &declared_;
  std::vector<Member> &members_; // run() leaves those whose accesses are compared
};

} // namespace

void checkVariants(LinkContext &context) {
  if (context.variants.size() < 2)
    return;
  std::vector<size_t> next(context.variants.size()); // by variant: its kernels are in the order of the exports
  std::vector<Member> members;
  for (uint32_t i = 0; i < context.job.exports.size(); ++i) {
    members.clear();
    for (size_t v = 0; v < next.size(); ++v) {
      const std::vector<Kernel> &kernels = context.variants[v].kernels;
      if (next[v] < kernels.size() && kernels[next[v]].exportOrdinal == i)
        members.push_back({&context.variants[v], &kernels[next[v]++]});
    }
    if (members.size() > 1)
      Check(context, context.job.exports[i], members).run();
  }
}

} // namespace tenon::linker
