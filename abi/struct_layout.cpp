// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "abi/struct_layout.h"

#include "support/align.h"
#include "support/placement.h"

namespace tenon::abi {

StructLayout structMembers(std::span<const ElementType> members) {
  StructLayout out;
  out.offsets.reserve(members.size());
  Placement places;
  for (ElementType member : members)
    out.offsets.push_back(static_cast<uint32_t>(places.place(byteSize(member), byteSize(member))));
  out.alignment = static_cast<uint32_t>(places.alignment());
  out.size = static_cast<uint32_t>(alignUp(places.end(), places.alignment()));
  return out;
}

} // namespace tenon::abi
