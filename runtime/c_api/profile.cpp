// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The C API: profiling.
#include "runtime/c_api/support.h"

using namespace tenon;
using namespace tenon::runtime;
using namespace tenon::runtime::c_api;

tenon_status_t *tenon_device_profile_begin(tenon_device_t *device, const tenon_profile_options_t *options,
                                           tenon_profile_fn sink, void *user) {
  TENON_C_REQUIRE(device);
  TENON_C_REQUIRE(sink);
  ProfileFilter filter;
  if (options) {
    TENON_C_ASSIGN_OR_RETURN(tenon_profile_options_t given, readStruct(options, "options"));
    filter.host = !isSet(given.no_host), filter.device = !isSet(given.no_device);
    if (given.kinds != 0)
      filter.kinds = given.kinds;
    TENON_C_RETURN_IF_ERROR(checkArray(given.exports, given.export_count, "exports"));
    for (size_t i = 0; i < given.export_count; ++i) {
      TENON_C_REQUIRE(given.exports[i]);
      filter.exports.push_back(given.exports[i]);
    }
  }
  return toC(device->value->beginProfiling(std::move(filter), [sink, user](const ProfileEvent &event) {
    tenon_profile_event_t out = {};
    out.struct_size = sizeof(out);
    out.is_device = event.isDevice;
    out.has_failed = event.hasFailed;
    out.kind = static_cast<tenon_profile_kind_t>(event.kind);
    out.name = event.name.c_str();
    out.queue = event.queue, out.submission = event.submission, out.command = event.command;
    std::copy(event.grid.begin(), event.grid.end(), out.grid);
    out.bytes = event.bytes;
    out.begin_us = event.beginUs, out.issued_us = event.issuedUs, out.end_us = event.endUs;
    sink(user, &out);
  }));
}
tenon_status_t *tenon_device_profile_end(tenon_device_t *device) {
  TENON_C_REQUIRE(device);
  device->value->endProfiling();
  return nullptr;
}
