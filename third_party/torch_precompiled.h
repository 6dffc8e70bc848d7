// What code on LibTorch parses before anything of its own, precompiled. A file
// still includes what it uses: clang-tidy reads each without this one.
#include <ATen/ATen.h>  // IWYU pragma: keep
