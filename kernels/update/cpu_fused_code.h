#ifndef ORDO_KERNELS_UPDATE_CPU_FUSED_CODE_H_
#define ORDO_KERNELS_UPDATE_CPU_FUSED_CODE_H_

#include <cstdint>

#include "kernels/update/problem.h"

// Between cpu_fused.cc and what is compiled once for each instruction set.

namespace ordo::kernels::update {

// Tokens whose maps are made by one product.
inline constexpr int64_t kBlock = 32;

// A unit of work: tokens of [B,T], in order.
struct Unit {
  int64_t first = 0;
  int64_t count = 0;
  // Of room_bytes and what `prepare` wrote, aligned to 64 bytes.
  void* room = nullptr;
  const void* shared = nullptr;
  // The unit's part of the sums over tokens: part_floats.
  float* part = nullptr;
};

// The code for one instruction set.
struct FusedCode {
  int64_t (*shared_bytes)(const Problem& problem);
  int64_t (*room_bytes)(const Problem& problem);
  int64_t (*part_floats)(const Problem& problem);
  // What all units read.
  void (*prepare)(const Call& call, void* shared);
  void (*forward)(const Call& call, const Unit& unit);
  void (*backward)(const Call& call, const Unit& unit);
  // The gradients of parameters from the sum of the parts.
  void (*finish)(const Call& call, const float* sum);
};
extern const FusedCode kFusedAvx512;
extern const FusedCode kFusedAvx2;
// For any processor.
extern const FusedCode kFusedBaseline;

}  // namespace ordo::kernels::update

#endif  // ORDO_KERNELS_UPDATE_CPU_FUSED_CODE_H_
