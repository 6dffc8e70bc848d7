#ifndef ORDO_KERNELS_ATTENTION_CPU_PAIRS_TILES_H_
#define ORDO_KERNELS_ATTENTION_CPU_PAIRS_TILES_H_

#include <stdint.h>

#include "kernels/attention/cpu_pairs_code.h"

// Products by AMX's tiles, for a .cc that has the instructions or, in tests,
// functions of their names.

namespace ordo::kernels::attention {
namespace {

// A tile: rows of 16 fp32 or 16 pairs.
constexpr int64_t kSide = 16;
constexpr int64_t kTileBytes = 64;

// What LDTILECFG reads: all eight tiles are alike.
struct TileShapes {
  uint8_t palette = 1;
  uint8_t start_row = 0;
  uint8_t reserved[14] = {};
  uint16_t row_bytes[16] = {};
  uint8_t rows[16] = {};
};

void BeginTiles() {
  TileShapes shapes;
  for (int i = 0; i < 8; ++i) {
    shapes.row_bytes[i] = kTileBytes;
    shapes.rows[i] = kSide;
  }
  _tile_loadconfig(&shapes);
}

void EndTiles() { _tile_release(); }

// Bytes between rows, as instructions take them.
inline int64_t Stride(int64_t row) { return row * 4; }

// One or two tiles of C's rows by one or two of its columns: tiles 0 to 3. A's
// are 4 and 5, B's 6 and 7.
template <bool kTall, bool kWide>
inline void TileBlock(const PairProduct& p) {
  float* const below = p.c + kSide * p.c_row;
  const int64_t c_stride = Stride(p.c_row);
  if (p.add) {
    _tile_loadd(0, p.c, c_stride);
    if constexpr (kWide) _tile_loadd(1, p.c + kSide, c_stride);
    if constexpr (kTall) _tile_loadd(2, below, c_stride);
    if constexpr (kTall && kWide) _tile_loadd(3, below + kSide, c_stride);
  } else {
    _tile_zero(0);
    if constexpr (kWide) _tile_zero(1);
    if constexpr (kTall) _tile_zero(2);
    if constexpr (kTall && kWide) _tile_zero(3);
  }
  for (int64_t k = 0; k < p.depth; k += kSide) {
    const Pair* const b = p.b + k * p.b_row;
    _tile_loadd(4, p.a + k, Stride(p.a_row));
    _tile_loadd(6, b, Stride(p.b_row));
    _tile_dpbf16ps(0, 4, 6);
    if constexpr (kWide) {
      _tile_loadd(7, b + kSide, Stride(p.b_row));
      _tile_dpbf16ps(1, 4, 7);
    }
    if constexpr (kTall) {
      _tile_loadd(5, p.a + kSide * p.a_row + k, Stride(p.a_row));
      _tile_dpbf16ps(2, 5, 6);
    }
    if constexpr (kTall && kWide) _tile_dpbf16ps(3, 5, 7);
  }
  _tile_stored(0, p.c, c_stride);
  if constexpr (kWide) _tile_stored(1, p.c + kSide, c_stride);
  if constexpr (kTall) _tile_stored(2, below, c_stride);
  if constexpr (kTall && kWide) _tile_stored(3, below + kSide, c_stride);
}

// The first one or two tiles of C's columns.
template <bool kWide>
void TileColumns(PairProduct p) {
  for (; p.rows > kSide; p.rows -= 2 * kSide) {
    TileBlock<true, kWide>(p);
    p.a += 2 * kSide * p.a_row;
    p.c += 2 * kSide * p.c_row;
  }
  if (p.rows > 0) TileBlock<false, kWide>(p);
}

void MultiplyTiles(const PairProduct& product) {
  PairProduct p = product;
  for (; p.columns > kSide; p.columns -= 2 * kSide) {
    TileColumns<true>(p);
    p.b += 2 * kSide;
    p.c += 2 * kSide;
  }
  if (p.columns > 0) TileColumns<false>(p);
}

}  // namespace
}  // namespace ordo::kernels::attention

#endif  // ORDO_KERNELS_ATTENTION_CPU_PAIRS_TILES_H_
