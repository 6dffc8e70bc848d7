// torch_precompiled.h for tests.
#include <ATen/ATen.h>    // IWYU pragma: keep
#include <gmock/gmock.h>  // IWYU pragma: keep
