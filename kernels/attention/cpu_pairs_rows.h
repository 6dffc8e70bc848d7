#ifndef ORDO_KERNELS_ATTENTION_CPU_PAIRS_ROWS_H_
#define ORDO_KERNELS_ATTENTION_CPU_PAIRS_ROWS_H_

#include <immintrin.h>
#include <stdint.h>
#include <string.h>

#include "kernels/attention/cpu_pairs_code.h"
#include "kernels/attention/cpu_tiled_rows.h"
#include "kernels/common/cpu_rows.h"
#include "kernels/common/cpu_vectors.h"

// Tiles of bf16 as factors of a PairProduct. Of a tile of kTile tokens, each of
// a `deep` width of numbers, there are
//
//   rows    [kTile, deep / 2]: pairs of channels, A of products over channels
//   across  [deep / 2, kTile]: the same, B of products over channels
//   turned  [deep, kTile / 2]: pairs of tokens, A of products over tokens
//   paired  [kTile / 2, deep]: the same, B of products over tokens

namespace ordo::kernels::attention {
namespace {

constexpr int64_t kTilePairs = kTile / 2;

// A width in whole 16 pairs.
inline int64_t Deep(int64_t width) { return (width + 31) / 32 * 32; }

// Numbers of a tile's width.
struct Width {
  int64_t real;
  int64_t deep;
  int64_t pairs() const { return deep / 2; }
};

inline Width WidthOf(int64_t width) { return {width, Deep(width)}; }

inline Pair* Pairs(int64_t count, Arena* arena) {
  return reinterpret_cast<Pair*>(arena->Floats(count));
}

inline Bits LoadPairs(const Pair* x) {
  return reinterpret_cast<Bits>(Load(reinterpret_cast<const float*>(x)));
}

inline void StorePairs(Pair* x, Bits value) {
  Store(reinterpret_cast<float*>(x), reinterpret_cast<Vector>(value));
}

inline void StoreHalves(Pair* x, Halves value) {
  *reinterpret_cast<HalvesMemory*>(x) = value;
}

inline Bits WidenedBits(const Pair* x) {
  return __builtin_convertvector(*reinterpret_cast<const HalvesMemory*>(x),
                                 Bits);
}

// To the nearest bf16.
inline Halves ToHalves(Vector x) {
  return reinterpret_cast<Halves>(
      _mm512_cvtneps_pbh(reinterpret_cast<__m512>(x)));
}

// Of a tile: the first, and how many there are.
struct TokenRange {
  int64_t first;
  int64_t count;
};

// `rows` from tokens of a head; zeros behind them.
inline void ReadTile(const Head& head, const TokenRange& tokens,
                     const Width& width, Pair* rows) {
  for (int64_t t = 0; t < tokens.count; ++t) {
    Pair* const row = rows + t * width.pairs();
    memcpy(row, RowAt(head, tokens.first + t), width.real * 2);
    memset(reinterpret_cast<char*>(row) + width.real * 2, 0,
           (width.deep - width.real) * 2);
  }
  memset(rows + tokens.count * width.pairs(), 0,
         (kTile - tokens.count) * width.pairs() * 4);
}

// `across` from `rows`.
inline void PutAcross(const Pair* rows, const Width& width, Pair* across) {
  const Rows from = {const_cast<float*>(reinterpret_cast<const float*>(rows)),
                     width.pairs()};
  Transpose(from, kTile, width.pairs(), reinterpret_cast<float*>(across));
}

// `turned` from `across`.
inline void Turn(const Pair* across, const Width& width, Pair* turned) {
  for (int64_t d = 0; d < width.pairs(); ++d) {
    const Pair* const from = across + d * kTile;
    Pair* const even = turned + 2 * d * kTilePairs;
    Pair* const odd = even + kTilePairs;
    for (int64_t t = 0; t < kTile; t += kLanes) {
      const Bits pairs = LoadPairs(from + t);
      StoreHalves(even + t / 2, __builtin_convertvector(pairs, Halves));
      StoreHalves(odd + t / 2, __builtin_convertvector(pairs >> 16, Halves));
    }
  }
}

// `paired` from `rows`.
inline void PairTokens(const Pair* rows, const Width& width, Pair* paired) {
  for (int64_t t = 0; t < kTile; t += 2) {
    const Pair* const even = rows + t * width.pairs();
    const Pair* const odd = even + width.pairs();
    Pair* const to = paired + t / 2 * width.deep;
    for (int64_t d = 0; d < width.deep; d += kLanes) {
      StorePairs(to + d, WidenedBits(even + d / 2) | WidenedBits(odd + d / 2)
                                                         << 16);
    }
  }
}

// A row of a tile of queries and keys in bf16.
struct RoundedRow {
  Halves vectors[kTile / kLanes];

  explicit RoundedRow(const Vector* row) {
#pragma GCC unroll 16
    for (int v = 0; v < kTile / kLanes; ++v) vectors[v] = ToHalves(row[v]);
  }
  explicit RoundedRow(const float* row) {
#pragma GCC unroll 16
    for (int v = 0; v < kTile / kLanes; ++v) {
      vectors[v] = ToHalves(Load(row + v * kLanes));
    }
  }

  // `rows`.
  void Put(Pair* to) const {
#pragma GCC unroll 16
    for (int v = 0; v < kTile / kLanes; ++v) {
      StoreHalves(to + v * kLanes / 2, vectors[v]);
    }
  }
};

// `paired` of two rows.
inline void PairRows(const RoundedRow& even, const RoundedRow& odd, Pair* to) {
#pragma GCC unroll 16
  for (int v = 0; v < kTile / kLanes; ++v) {
    StorePairs(to + v * kLanes,
               __builtin_convertvector(even.vectors[v], Bits) |
                   __builtin_convertvector(odd.vectors[v], Bits) << 16);
  }
}

// Sums over tokens, [deep, kTile]: turned, as the products have them.
struct TurnedSums {
  const float* sums;
  int64_t width;
  // For [kTile, Padded(width)].
  float* room;

  // Writes them as tokens of a head.
  void Write(const Head& head, const TokenRange& tokens) const {
    const int64_t padded = Padded(width);
    for (int64_t d = 0; d < padded; d += kLanes) {
      for (int64_t t = 0; t < kTile; t += kLanes) {
        Vector block[kLanes];
#pragma GCC unroll 16
        for (int64_t i = 0; i < kLanes; ++i) {
          block[i] = Load(sums + (d + i) * kTile + t);
        }
        TransposeBlock(block);
#pragma GCC unroll 16
        for (int64_t i = 0; i < kLanes; ++i) {
          Store(room + (t + i) * padded + d, block[i]);
        }
      }
    }
    Head part = head;
    part.offset += tokens.first * head.view->token_stride;
    WriteRows({room, padded}, tokens.count, width, part);
  }
};

}  // namespace
}  // namespace ordo::kernels::attention

#endif  // ORDO_KERNELS_ATTENTION_CPU_PAIRS_ROWS_H_
