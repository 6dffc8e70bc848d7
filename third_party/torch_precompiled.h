// What code on LibTorch parses before anything of its own, precompiled; see
// rpc_precompiled.h.
// IWYU pragma: begin_keep
#include <ATen/ATen.h>

#include "third_party/messages_precompiled.h"
// IWYU pragma: end_keep
