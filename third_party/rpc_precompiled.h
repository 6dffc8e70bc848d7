// What the control plane parses before anything of its own, precompiled. A file
// still includes what it uses: clang-tidy reads each without this one.
// IWYU pragma: begin_keep
#include <grpcpp/generic/async_generic_service.h>
#include <grpcpp/grpcpp.h>
#include <grpcpp/impl/codegen/server_callback_handlers.h>

#include "third_party/messages_precompiled.h"
// IWYU pragma: end_keep
