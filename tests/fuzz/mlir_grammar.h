// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// MLIR text from a stream of bytes: modules near the grammar of the dialects that tenon-compile reads, most of them
// well formed, some with a number, a type or a word that does not fit, so that what is behind the parser is reached,
// too.
#pragma once

#include "c_api_stream.h"

#include <string>

namespace tenon::fuzz {

std::string mlirModule(Stream &in);

} // namespace tenon::fuzz
