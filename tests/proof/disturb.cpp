// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "tests/proof/disturb.h"

#include <algorithm>
#include <utility>

namespace tenon::proof {
namespace {

using Lines = Body::Lines;

/// Whether a path may go around it: it computes, and no other thread waits for it.
bool maySkip(std::string_view line) {
  const bool isPlain = !line.empty() && line[0] >= 'a' && line[0] <= 'z' && line.back() == ';';
  for (std::string_view word : {"bra", "ret", "exit", "bar", "sync", "wait", "brx", "call", "fence"})
    if (line.find(word) != std::string_view::npos)
      return false;
  return isPlain;
}

/// Up to three lines of [begin, end) get a way around, where `isSkipped` is set.
void skipSome(Body &b, Lines &lines, size_t begin, size_t end, const std::string &isSkipped) {
  for (uint32_t left = 1 + b.random.below(3); left != 0 && begin < end; --left) {
    const size_t at = begin + b.random.below(uint32_t(end - begin));
    if (!maySkip(lines[at]))
      continue;
    const std::string over = b.label();
    lines.insert(lines.begin() + ptrdiff_t(at) + 1, concat(over, ":"));
    lines.insert(lines.begin() + ptrdiff_t(at), concat("@", isSkipped, " bra ", over, ";"));
    end += 2;
  }
}

} // namespace

const char *disturb(Body &b, size_t head) {
  Lines &lines = b.lines();
  const size_t size = lines.size();
  if (head + 2 >= size)
    return "undisturbed";
  const std::string p = b.pred(), r = b.r32();
  if (b.random.chance(50)) {
    skipSome(b, lines, head, size, p);
    // One block: true, but not in the text.
    lines.insert(lines.begin() + ptrdiff_t(head),
                 {concat("mov.u32 ", r, ", %nctaid.y;"), concat("setp.lt.u32 ", p, ", ", r, ", 77;")});
    return "skipped-lines";
  }
  const size_t first = head + b.random.below(uint32_t(size - head - 1));
  const size_t last = first + 1 + b.random.below(uint32_t(size - first));
  const size_t before = lines.size();
  const std::string loop = b.label(), again = b.pred();
  skipSome(b, lines, first, last, p);
  const size_t end = last + lines.size() - before;
  lines.insert(lines.begin() + ptrdiff_t(end),
               {concat("add.u32 ", r, ", ", r, ", 1;"), concat("setp.lt.u32 ", again, ", ", r, ", 3;"),
                concat("@", again, " bra ", loop, ";")});
  lines.insert(lines.begin() + ptrdiff_t(first),
               {concat("mov.u32 ", r, ", 0;"), concat(loop, ":"),
                concat("setp.", b.random.one({"eq", "ne"}), ".u32 ", p, ", ", r, ", ", b.random.below(3), ";")});
  return "several-rounds";
}

} // namespace tenon::proof
