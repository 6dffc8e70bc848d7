// rpc_precompiled.h for tests.
// IWYU pragma: begin_keep
#include <gmock/gmock.h>

#include "third_party/rpc_precompiled.h"
// IWYU pragma: end_keep
