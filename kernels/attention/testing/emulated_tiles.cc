#include "kernels/attention/testing/emulated_tiles.h"

#include <cstring>

// Where those of the compiler are.
namespace {

// A tile's rows, as Intel's manual has them (Intel 64 and IA-32 Architectures
// Software Developer's Manual, volume 2, TDPBF16PS and TILELOADD), with sums in
// fp32.
struct EmulatedTile {
  uint32_t cells[16][16];
};

thread_local EmulatedTile tiles[8];
thread_local bool configured = false;

float AsFloat(uint32_t bits) {
  float value = 0;
  std::memcpy(&value, &bits, sizeof value);
  return value;
}

// NOLINTBEGIN(bugprone-reserved-identifier): the names of the instructions.

void _tile_loadconfig(const void* shapes) {
  const auto* const bytes = static_cast<const uint8_t*>(shapes);
  configured = bytes[0] == 1;
  for (int i = 0; i < 8; ++i) {
    uint16_t row_bytes = 0;
    std::memcpy(&row_bytes, bytes + 16 + 2 * i, sizeof row_bytes);
    configured = configured && row_bytes == 64 && bytes[48 + i] == 16;
  }
}

void _tile_release() { configured = false; }

void _tile_zero(int tile) { tiles[tile] = {}; }

void _tile_loadd(int tile, const void* from, int64_t stride) {
  for (int row = 0; row < 16; ++row) {
    std::memcpy(tiles[tile].cells[row],
                static_cast<const char*>(from) + row * stride, 64);
  }
}

// Without a configuration the processor would stop; here nothing is stored.
void _tile_stored(int tile, void* to, int64_t stride) {
  for (int row = 0; row < 16 && configured; ++row) {
    std::memcpy(static_cast<char*>(to) + row * stride, tiles[tile].cells[row],
                64);
  }
}

void _tile_dpbf16ps(int to, int left, int right) {
  for (int row = 0; row < 16; ++row) {
    for (int column = 0; column < 16; ++column) {
      uint32_t& cell = tiles[to].cells[row][column];
      float sum = AsFloat(cell);
      for (int k = 0; k < 16; ++k) {
        const uint32_t a = tiles[left].cells[row][k];
        const uint32_t b = tiles[right].cells[k][column];
        sum += AsFloat(a << 16) * AsFloat(b << 16);
        sum += AsFloat(a & 0xFFFF0000) * AsFloat(b & 0xFFFF0000);
      }
      std::memcpy(&cell, &sum, sizeof cell);
    }
  }
}

// NOLINTEND(bugprone-reserved-identifier)

}  // namespace

// What calls them.
#include "kernels/attention/cpu_pairs_tiles.h"

namespace ordo::kernels::attention::testing {

const PairProducts kEmulatedTiles = {BeginTiles, EndTiles, MultiplyTiles};

}  // namespace ordo::kernels::attention::testing
