// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The functions of origins.h under the names that `evaluate` (transfer.h) calls.
#pragma once

#include "linker/access/origins.h"

namespace tenon::linker {

struct OriginAlgebra {
  Secrets secrets;

  static Origins number() { return Origins::number(); }
  static Origins join(const Origins &a, const Origins &b) { return Origins(a).join(b); }
  static Origins sum(const Origins &a, const Origins &b) { return linker::sum(a, b); }
  static Origins mix(const Origins &a, const Origins &b) { return linker::mix(a, b); }
  static Origins blend(const Origins &a, const Origins &b) { return linker::blend(a, b); }
  static Origins pack(const Origins &a, const Origins &b) { return linker::pack(a, b); }
  static Origins select(const Origins &a, const Origins &b) { return linker::select(a, b); }
  static Origins within(const Origins &a, const Origins &b) { return linker::within(a, b); }
  static Origins negated(const Origins &a) { return a.negated(); }
  static Origins scaled(const Origins &a) { return a.scaled(); }
  static Origins adjusted(const Origins &a) { return a.adjusted(); }
  Origins narrowed(const Origins &a) const { return secrets.narrowed(a); }
  Origins indexed(const Origins &a) const { return secrets.indexed(a); }
  Origins truncated(const Origins &a) const { return secrets.truncated(a); }
  Origins lowByte(const Origins &a) const { return secrets.lowByte(a); }
  Origins lowIndex(const Origins &a) const { return secrets.lowIndex(a); }
  Origins gathered(const Origins &a) const { return secrets.gathered(a); }
};

} // namespace tenon::linker
