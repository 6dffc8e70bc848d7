#ifndef ORDO_KERNELS_COMMON_CPU_FEATURES_H_
#define ORDO_KERNELS_COMMON_CPU_FEATURES_H_

#include <cpuid.h>
#include <sys/syscall.h>
#include <unistd.h>

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

inline absl::Status HasAvx512Bf16() {
  if (__builtin_cpu_supports("avx512bf16")) return HasAvx512();
  return absl::UnimplementedError("this processor has no AVX512_BF16");
}

// Tiles, products of bf16, and the room in a thread's state that the system
// must keep for them; it is asked for that on the first call, for all threads.
inline absl::Status HasAmx() {
  static const bool has = [] {
    constexpr unsigned kFeatures = 7, kBf16 = 1U << 22, kTiles = 1U << 24;
    unsigned a = 0, b = 0, c = 0, d = 0;
    if (__get_cpuid_count(kFeatures, 0, &a, &b, &c, &d) == 0) return false;
    if ((d & kBf16) == 0 || (d & kTiles) == 0) return false;
    // linux/arch/x86/include/uapi/asm/prctl.h: ARCH_REQ_XCOMP_PERM, and the
    // number of the tiles' data among the parts of a state.
    constexpr int kRequest = 0x1023, kTileData = 18;
    return syscall(SYS_arch_prctl, kRequest, kTileData) == 0;
  }();
  if (has) return HasAvx512Bf16();
  return absl::UnimplementedError(
      "this processor or system has no AMX with bf16");
}

}  // namespace ordo::kernels

#endif  // ORDO_KERNELS_COMMON_CPU_FEATURES_H_
