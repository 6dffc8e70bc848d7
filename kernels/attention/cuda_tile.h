#ifndef ORDO_KERNELS_ATTENTION_CUDA_TILE_H_
#define ORDO_KERNELS_ATTENTION_CUDA_TILE_H_

#include <cmath>
#include <cstdint>

#include "kernels/attention/cuda_tiled_code.h"
#include "kernels/attention/problem.h"
#include "kernels/common/cuda_device.h"

// Tiles of numbers of 16 bits in shared memory, and how they come there.
//
// Legend: a tile of W columns has rows of W + 8 elements (kGap), so that the
// eight rows that a load of matrices touches at once lie in different banks.
// g = lane / 4, t = lane % 4. A fragment x[n][e] of a warp's 16 rows is
// element (g + 8 (e / 2), 8 n + 2 t + e % 2).

namespace ordo::kernels::attention {

inline constexpr int kGap = 8;

// Columns [begin, end) of a tile are those of one head of a tensor.
struct Part {
  uint16_t* data;
  int64_t stride;
  int begin;
  int end;
  // Whether all rows begin at multiples of 16 bytes.
  bool vectors;
};

// The tensors that lie side by side in a tile. Columns that are nobody's are
// zeros, and so are those of a tensor without data.
struct Columns {
  Part parts[kMaxValues];
};

// Rows of a head that exist.
struct Tokens {
  int64_t first;
  int64_t end;
};

struct HeadOf {
  int64_t batch;
  int64_t head;
};

ORDO_DEVICE Part MakePart(const View& view, const HeadOf& of, int begin,
                          int end) {
  Part part = {static_cast<uint16_t*>(view.data), view.token_stride, begin, end,
               false};
  if (part.data == nullptr) return part;
  part.data += of.batch * view.batch_stride + of.head * view.head_stride;
  part.vectors = reinterpret_cast<uintptr_t>(part.data) % 16 == 0 &&
                 view.token_stride % 8 == 0;
  return part;
}

ORDO_DEVICE Columns OneTensor(const View& view, const HeadOf& of,
                              int64_t width) {
  Columns columns = {};
  columns.parts[0] = MakePart(view, of, 0, static_cast<int>(width));
  return columns;
}

// Widths are multiples of 8, so eight columns belong together.
ORDO_DEVICE Part PartAt(const Columns& columns, int column) {
  Part found = {nullptr, 0, 0, 0, true};
  ORDO_UNROLL
  for (int v = 0; v < kMaxValues; ++v) {
    const Part& part = columns.parts[v];
    if (column >= part.begin && column < part.end) found = part;
  }
  return found;
}

// Begins to load kRows rows; see CopyAsync for when they are there.
template <int kRows, int kWidth>
ORDO_DEVICE void LoadTile(const Columns& from, const Tokens& tokens,
                          uint16_t* tile) {
  constexpr int kChunks = kWidth / 8;
  for (int i = device::ThreadId(); i < kRows * kChunks; i += kThreads) {
    const int row = i / kChunks, column = i % kChunks * 8;
    const Part part = PartAt(from, column);
    const bool real = part.data != nullptr && tokens.first + row < tokens.end;
    const uint16_t* const source =
        real ? part.data + (tokens.first + row) * part.stride + column -
                   part.begin
             : part.data;
    uint16_t* const to = tile + row * (kWidth + kGap) + column;
    if (part.vectors || !real) {
      device::CopyAsync(to, source, real);
    } else {
      for (int d = 0; d < 8; ++d) to[d] = source[d];
    }
  }
}

}  // namespace ordo::kernels::attention

#endif  // ORDO_KERNELS_ATTENTION_CUDA_TILE_H_
