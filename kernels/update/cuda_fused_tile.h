#ifndef ORDO_KERNELS_UPDATE_CUDA_FUSED_TILE_H_
#define ORDO_KERNELS_UPDATE_CUDA_FUSED_TILE_H_

#include <cstdint>

#include "kernels/common/cuda_device.h"
#include "kernels/common/cuda_vectors.h"
#include "kernels/update/problem.h"

// What the passes of cuda_fused.cu have in common: tiles of tokens in shared
// memory as numbers of 16 bits, and fragments of them.
//
// A number of fp32 is the sum of three of bf16, which have its 24 bits; a
// product of two is that of their parts, less the parts too small to be seen.
//
// Legend: H heads, W width and E inner width, P, padded, to multiples of 16;
// S numbers of 16 bits for one (kParts). Fragments as in cuda_device.h.

namespace ordo::kernels::update {

inline constexpr int kThreads = 256;
inline constexpr int kWarps = kThreads / 32;
// Tokens of a tile, at most.
inline constexpr int kTokens = 16;
// Rows of matrices in shared memory are longer by it, so that the eight that a
// load of matrices touches at once lie in different banks.
inline constexpr int kGap = 8;

// What the kernels read beside the call, by value.
struct FusedArguments {
  Call call;
  // Tokens of a tile, and tiles.
  int tokens;
  int64_t tiles;
  // HP, WP and EP.
  int heads;
  int width;
  int inner;
  // K as right sides of products, [S, EP/16, H HP/8, 32 lanes, 2 words], and
  // turned, [S, H HP/16, EP/8, 32, 2]; in the workspace.
  uint32_t* maps;
  uint32_t* turned_maps;
  // What each block of the backward pass sums up, in the order of fragments:
  // part_floats each; the sum of the parts comes behind them.
  float* parts;
  int64_t part_floats;
  int64_t num_parts;
  // Whether a block's part is in shared memory until the block ends.
  bool sums_in_shared;
};

// H HP: elements of a map.
ORDO_DEVICE int MapSize(const FusedArguments& a) {
  return static_cast<int>(a.call.problem.heads) * a.heads;
}

// A matrix in shared memory, kParts times.
struct Matrix {
  uint16_t* data;
  // Elements from a row to the next, and from a part to the next.
  int pitch;
  int part;

  ORDO_DEVICE uint16_t* At(int row, int column) const {
    return data + row * pitch + column;
  }
};

// Gives out shared memory from its begin on.
class SharedParts {
 public:
  explicit ORDO_DEVICE SharedParts(char* begin) : at_(begin) {}

  ORDO_DEVICE Matrix Take(int parts, int rows, int columns) {
    const Matrix matrix = {reinterpret_cast<uint16_t*>(at_), columns + kGap,
                           rows * (columns + kGap)};
    at_ += int64_t{2} * parts * matrix.part;
    return matrix;
  }
  ORDO_DEVICE float* Floats() const { return reinterpret_cast<float*>(at_); }

 private:
  char* at_;
};

// The bytes of what SharedParts gives out.
inline int64_t MatrixBytes(int64_t parts, int64_t rows, int64_t columns) {
  return 2 * parts * rows * (columns + kGap);
}

// Two numbers side by side, in parts, at an even column.
template <int kParts>
ORDO_DEVICE void StorePair(const Matrix& matrix, uint16_t* at, float low,
                           float high) {
  ORDO_UNROLL
  for (int part = 0; part < kParts; ++part) {
    const uint32_t pair = device::PackBfloat16(low, high);
    *reinterpret_cast<uint32_t*>(at + part * matrix.part) = pair;
    low -= device::FromBfloat16(static_cast<uint16_t>(pair));
    high -= device::FromBfloat16(static_cast<uint16_t>(pair >> 16));
  }
}

// The left or right sides of a product, all parts of them.
template <int kParts>
struct Side {
  uint32_t words[kParts][4];
};

// `at` is the lane's row of the first part's matrices, as in cuda_device.h.
template <int kParts>
ORDO_DEVICE Side<kParts> LoadSide(const Matrix& matrix, const uint16_t* at,
                                  bool turned) {
  Side<kParts> side;
  ORDO_UNROLL
  for (int part = 0; part < kParts; ++part) {
    if (turned) {
      device::LoadTransposed(at + part * matrix.part, side.words[part]);
    } else {
      device::LoadMatrices(at + part * matrix.part, side.words[part]);
    }
  }
  return side;
}

// sums += left right, for the right side's words from `first` on. Products of
// small parts are summed up by themselves, as each sum with a large one loses
// bits.
template <int kParts>
ORDO_DEVICE void MultiplyParts(const Side<kParts>& left,
                               const Side<kParts>& right, int first,
                               float (&sums)[4]) {
  device::MultiplyAdd(left.words[0], right.words[0] + first, sums);
  if (kParts == 1) return;
  float small[4] = {};
  ORDO_UNROLL
  for (int order = kParts - 1; order > 0; --order) {
    ORDO_UNROLL
    for (int part = 0; part <= order; ++part) {
      device::MultiplyAdd(left.words[part], right.words[order - part] + first,
                          small);
    }
  }
  ORDO_UNROLL
  for (int i = 0; i < 4; ++i) sums[i] += small[i];
}

// The lane's row, and column, of the 16 x 16 of four matrices: first the upper
// and lower rows of the first eight columns, or first the columns of the upper
// rows.
struct LaneAt {
  int row;
  int column;
};
ORDO_DEVICE LaneAt DownFirst() {
  const int lane = device::ThreadId() % 32;
  return {lane % 16, lane / 16 * 8};
}
ORDO_DEVICE LaneAt AcrossFirst() {
  const int lane = device::ThreadId() % 32;
  return {lane / 16 * 8 + lane % 8, lane / 8 % 2 * 8};
}

// Where a view's token is, of all tokens [B,T] in order, which are few enough
// for the cheaper division.
ORDO_DEVICE int64_t OffsetOf(const View& view, const Problem& p,
                             int64_t token) {
  const auto all = static_cast<uint32_t>(token);
  const auto tokens = static_cast<uint32_t>(p.tokens);
  return all / tokens * view.batch_stride + all % tokens * view.token_stride;
}

// Whether each head's row of each token is one of fours, or of eights of 16
// bits.
ORDO_DEVICE bool RowsInVectors(const View& view, int64_t unit) {
  return reinterpret_cast<uintptr_t>(view.data) % (unit * BytesOf(view.type)) ==
             0 &&
         view.batch_stride % unit == 0 && view.head_stride % unit == 0 &&
         view.token_stride % unit == 0;
}

// A state's tile [tokens][H][WP] in shared memory, and a row of zeros behind.
template <int kParts>
ORDO_DEVICE Matrix TakeState(const FusedArguments& a, SharedParts* shared) {
  const int rows = a.tokens * static_cast<int>(a.call.problem.heads) + 1;
  return shared->Take(kParts, rows, a.width);
}

// Eight numbers of a row, in parts.
template <int kParts>
ORDO_DEVICE void LoadEight(const View& view, const Quad& quad, const Matrix& to,
                           uint16_t* at) {
  ORDO_UNROLL
  for (int i = 0; i < 8; i += 4) {
    const Four four = LoadFour(view.type, view.data,
                               {quad.at + i, quad.count - i, quad.vectors});
    StorePair<kParts>(to, at + i, four.x[0], four.x[1]);
    StorePair<kParts>(to, at + i + 2, four.x[2], four.x[3]);
  }
}

// Begins to load a tile; zeros behind the width and behind the last token.
template <int kParts>
ORDO_DEVICE void LoadState(const FusedArguments& a, const View& view,
                           int64_t first, const Matrix& to) {
  const Problem& p = a.call.problem;
  const int heads = static_cast<int>(p.heads);
  const int chunks = a.width / 8;
  const bool copied = kParts == 1 && view.type == Type::kBfloat16 &&
                      p.width % 8 == 0 && RowsInVectors(view, 8);
  const bool vectors = RowsInVectors(view, 4);
  for (int i = device::ThreadId(); i < a.tokens * heads * chunks;
       i += kThreads) {
    const int column = i % chunks * 8, row = i / chunks;
    const int64_t token = first + row / heads;
    const bool real = token < p.batch * p.tokens && column < p.width;
    const int64_t at = real ? OffsetOf(view, p, token) +
                                  row % heads * view.head_stride + column
                            : 0;
    uint16_t* const shared = to.At(row, column);
    if (copied) {
      device::CopyAsync(shared, static_cast<const uint16_t*>(view.data) + at,
                        real);
    } else {
      LoadEight<kParts>(view, {at, real ? p.width - column : 0, vectors}, to,
                        shared);
    }
  }
}

// Zeros in all parts of a matrix.
template <int kParts>
ORDO_DEVICE void Clear(const Matrix& matrix, int rows) {
  for (int i = device::ThreadId(); i < rows * matrix.pitch / 2; i += kThreads) {
    ORDO_UNROLL
    for (int part = 0; part < kParts; ++part) {
      reinterpret_cast<uint32_t*>(matrix.data + part * matrix.part)[i] = 0;
    }
  }
}

// The row of a tile's token and head, that of zeros for a head that is none.
ORDO_DEVICE int RowOf(const FusedArguments& a, int token, int head) {
  const int heads = static_cast<int>(a.call.problem.heads);
  return head < heads ? token * heads + head : a.tokens * heads;
}

// psi of a tile, [16][EP]; zeros for what is none.
template <int kParts>
ORDO_DEVICE void LoadPsi(const FusedArguments& a, int64_t first,
                         const Matrix& to) {
  const Problem& p = a.call.problem;
  const Inputs& in = a.call.inputs;
  const int fours = a.inner / 4;
  const bool vectors = InVectors(in.psi_type, in.psi_BTE, p.inner);
  for (int i = device::ThreadId(); i < kTokens * fours; i += kThreads) {
    const int row = i / fours, column = i % fours * 4;
    const bool real = row < a.tokens && first + row < p.batch * p.tokens;
    const Four four = LoadFour(in.psi_type, in.psi_BTE,
                               {real ? (first + row) * p.inner + column : 0,
                                real ? p.inner - column : 0, vectors});
    StorePair<kParts>(to, to.At(row, column), four.x[0], four.x[1]);
    StorePair<kParts>(to, to.At(row, column + 2), four.x[2], four.x[3]);
  }
}

// Two words of a right side, of all parts, as FusedArguments has them.
template <int kParts>
ORDO_DEVICE Side<kParts> LoadRight(const uint32_t* words, int64_t fragment,
                                   int64_t fragments) {
  Side<kParts> side = {};
  const int lane = device::ThreadId() % 32;
  ORDO_UNROLL
  for (int part = 0; part < kParts; ++part) {
    const device::Words<2> pair = device::LoadWords<2>(
        words + (part * fragments + fragment) * 64 + lane * 2);
    side.words[part][0] = pair.word[0];
    side.words[part][1] = pair.word[1];
  }
  return side;
}

// The maps [tokens][HP][HP] of a tile, from psi.
template <int kParts>
ORDO_DEVICE void MakeMaps(const FusedArguments& a, const Matrix& psi,
                          const Matrix& maps) {
  const int columns = MapSize(a) / 8, steps = a.inner / 16;
  const int lane = device::ThreadId() % 32;
  const LaneAt at = DownFirst();
  for (int n = device::ThreadId() / 32; n < columns; n += kWarps) {
    float sums[4] = {};
    for (int k = 0; k < steps; ++k) {
      const Side<kParts> left = LoadSide<kParts>(
          psi, psi.At(at.row, 16 * k + at.column), /*turned=*/false);
      const Side<kParts> right = LoadRight<kParts>(
          a.maps, int64_t{k} * columns + n, int64_t{columns} * steps);
      MultiplyParts<kParts>(left, right, 0, sums);
    }
    const int column = 8 * n + lane % 4 * 2;
    ORDO_UNROLL
    for (int half = 0; half < 2; ++half) {
      const int token = lane / 4 + 8 * half;
      if (token >= a.tokens) continue;
      StorePair<kParts>(
          maps, maps.At(token * a.heads + column / a.heads, column % a.heads),
          sums[2 * half], sums[2 * half + 1]);
    }
  }
}

// The map of all tokens.
template <int kParts>
ORDO_DEVICE void LoadMap(const FusedArguments& a, const Matrix& map) {
  const int heads = static_cast<int>(a.call.problem.heads);
  const float* const mix = a.call.inputs.mix_HH;
  for (int i = device::ThreadId(); i < heads * a.heads / 2; i += kThreads) {
    const int row = i / (a.heads / 2), column = i % (a.heads / 2) * 2;
    const float* const from = mix + row * heads + column;
    StorePair<kParts>(map, map.At(row, column), column < heads ? from[0] : 0,
                      column + 1 < heads ? from[1] : 0);
  }
}

// base + M rows, M from the left or turned; no base: null data.
struct Product {
  Matrix maps;
  bool turned;
  Matrix rows;
  View base;
  View to;
};

// Where 16 heads and 16 columns begin, of a token of all.
struct StateAt {
  int64_t token;
  int head;
  int column;
};

// Adds a fragment to the base, each lane four columns of two heads: neighbours
// have exchanged theirs.
ORDO_DEVICE void AddToBase(const FusedArguments& a, const Product& product,
                           const StateAt& begin, const float (&sums)[2][4]) {
  const Problem& p = a.call.problem;
  const int lane = device::ThreadId() % 32;
  const bool odd = lane % 2 == 1;
  const int column = begin.column + (odd ? 8 : 0) + lane % 4 / 2 * 4;
  ORDO_UNROLL
  for (int half = 0; half < 2; ++half) {
    const float first = sums[0][2 * half], second = sums[0][2 * half + 1];
    const float third = sums[1][2 * half], fourth = sums[1][2 * half + 1];
    const float low = device::ShuffleXor(odd ? first : third, 1);
    const float high = device::ShuffleXor(odd ? second : fourth, 1);
    const int head = begin.head + lane / 4 + 8 * half;
    if (head >= p.heads || column >= p.width ||
        begin.token >= p.batch * p.tokens) {
      continue;
    }
    Four four = odd ? Four{{low, high, third, fourth}}
                    : Four{{first, second, low, high}};
    const auto quad = [&](const View& view) {
      return Quad{
          OffsetOf(view, p, begin.token) + head * view.head_stride + column,
          p.width - column, RowsInVectors(view, 4)};
    };
    const View &view = product.base, &to = product.to;
    if (view.data != nullptr) {
      const Four base = LoadFour(view.type, view.data, quad(view));
      ORDO_UNROLL
      for (int i = 0; i < 4; ++i) four.x[i] += base.x[i];
    }
    StoreFour(to.type, four, quad(to), to.data);
  }
}

// The product for a token of the tile that begins with token `first` of all; by
// a warp.
template <int kParts>
ORDO_DEVICE void AddProduct(const FusedArguments& a, const Product& product,
                            int64_t first, int token) {
  const Matrix &maps = product.maps, &rows = product.rows;
  const int map = a.call.problem.by_token() ? token * a.heads : 0;
  const LaneAt down = DownFirst(), across = AcrossFirst();
  for (int row = 0; row < a.heads; row += 16) {
    for (int column = 0; column < a.width; column += 16) {
      float sums[2][4] = {};
      for (int k = 0; k < a.heads; k += 16) {
        const Side<kParts> left = LoadSide<kParts>(
            maps,
            product.turned ? maps.At(map + k + across.row, row + across.column)
                           : maps.At(map + row + down.row, k + down.column),
            product.turned);
        const Side<kParts> right = LoadSide<kParts>(
            rows, rows.At(RowOf(a, token, k + down.row), column + down.column),
            /*turned=*/true);
        MultiplyParts<kParts>(left, right, 0, sums[0]);
        MultiplyParts<kParts>(left, right, 2, sums[1]);
      }
      AddToBase(a, product, {first + token, row, column}, sums);
    }
  }
}

}  // namespace ordo::kernels::update

#endif  // ORDO_KERNELS_UPDATE_CUDA_FUSED_TILE_H_
