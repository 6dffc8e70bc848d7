#ifndef ORDO_KERNELS_COMMON_CPU_FEATURES_H_
#define ORDO_KERNELS_COMMON_CPU_FEATURES_H_

#include "absl/status/status.h"

// Whether this processor can run code that is compiled as cpu.bzl says: OK, or
// UNIMPLEMENTED.

namespace ordo::kernels {

inline absl::Status HasAvx512() {
  if (__builtin_cpu_supports("avx512f")) return absl::OkStatus();
  return absl::UnimplementedError("this processor has no AVX-512");
}

inline absl::Status HasAvx2() {
  if (__builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma")) {
    return absl::OkStatus();
  }
  return absl::UnimplementedError("this processor has no AVX2 with FMA");
}

}  // namespace ordo::kernels

#endif  // ORDO_KERNELS_COMMON_CPU_FEATURES_H_
