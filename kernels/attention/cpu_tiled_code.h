#ifndef ORDO_KERNELS_ATTENTION_CPU_TILED_CODE_H_
#define ORDO_KERNELS_ATTENTION_CPU_TILED_CODE_H_

#include <cstdint>

#include "kernels/attention/problem.h"

// Between cpu_tiled.cc and what is compiled once for each instruction set.

namespace ordo::kernels::attention {

// Queries and keys of a tile.
inline constexpr int64_t kTile = 64;

// A unit of work.
struct Unit {
  // Row of the batch times G, plus the head of keys; below B G.
  int64_t index;
  // Of RoomBytes, aligned to 64 bytes.
  void* room;
  // The parts of the bias' gradient, [B, H, BiasStride].
  float* d_bias;
};

// Elements between the parts of two heads: tiles reach behind the mask.
inline int64_t BiasStride(const Problem& problem) {
  return problem.bias_length() + kTile;
}

// The code for one instruction set.
struct TiledCode {
  int64_t (*room_bytes)(const Problem& problem);
  void (*forward)(const Call& call, const Unit& unit);
  void (*backward)(const Call& call, const Unit& unit);
};
extern const TiledCode kTiledAvx512;
extern const TiledCode kTiledAvx2;
// For any processor.
extern const TiledCode kTiledBaseline;

}  // namespace ordo::kernels::attention

#endif  // ORDO_KERNELS_ATTENTION_CPU_TILED_CODE_H_
