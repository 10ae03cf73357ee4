// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "support/large_stack.h"

#include <pthread.h>
#include <system_error>

namespace tenon {

Status runWithLargeStack(size_t stackBytes, const std::function<void()> &work) {
  pthread_attr_t attributes;
  (void)::pthread_attr_init(&attributes); // cannot fail on Linux
  int error = ::pthread_attr_setstacksize(&attributes, stackBytes);
  pthread_t thread = {};
  if (error == 0) {
    const auto run = [](void *given) -> void * {
      (*static_cast<const std::function<void()> *>(given))();
      return nullptr;
    };
    error = ::pthread_create(&thread, &attributes, run, const_cast<std::function<void()> *>(&work));
  }
  (void)::pthread_attr_destroy(&attributes);
  if (error != 0)
    return makeError(StatusCode::ResourceExhausted, "no thread with ", stackBytes,
                     " bytes of stack can be had: ", std::generic_category().message(error));
  (void)::pthread_join(thread, nullptr);
  return okStatus();
}

} // namespace tenon
