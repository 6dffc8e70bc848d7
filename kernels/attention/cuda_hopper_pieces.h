#ifndef ORDO_KERNELS_ATTENTION_CUDA_HOPPER_PIECES_H_
#define ORDO_KERNELS_ATTENTION_CUDA_HOPPER_PIECES_H_

#include <cmath>
#include <cstdint>

#include "kernels/attention/cuda_score_mod.h"
#include "kernels/common/cuda_device.h"

// In which pieces of a score mod the pairs of a step lie, in the passes of
// cuda_hopper.cu. A search for each pair would take more instructions than all
// else: pairs that are near each other have numbers t r that are, and so mostly
// one piece. The 16 rows of a warp fall into blocks of eight columns, of which
// a lane has four pairs. The least and the largest t of a block's 23 distances,
// which lie in three groups of eight, and those of its r bound its numbers t r,
// and two lanes look for the pieces of the bounds, while products run. Nothing
// is assumed of t and r.

namespace ordo::kernels::attention {

struct Bounds {
  float least;
  float largest;
};

// Those of each eight numbers from a multiple of eight on.
template <int kCount>
struct GroupBounds {
  Bounds group[(kCount + 7) / 8];
};

// For a warp: a lane has number `at`, and its neighbours the next ones.
template <int kCount>
ORDO_DEVICE void StoreBounds(float x, int at, GroupBounds<kCount>* bounds) {
  Bounds found = {x, x};
  ORDO_UNROLL
  for (int mask = 1; mask < 8; mask *= 2) {
    found.least = fminf(found.least, device::ShuffleXor(found.least, mask));
    found.largest =
        fmaxf(found.largest, device::ShuffleXor(found.largest, mask));
  }
  if (at % 8 == 0) bounds->group[at / 8] = found;
}

// Of the 24 numbers from a group on.
template <int kCount>
ORDO_DEVICE Bounds BoundsOfThree(const GroupBounds<kCount>& bounds, int first) {
  Bounds found = bounds.group[first];
  ORDO_UNROLL
  for (int i = 1; i < 3; ++i) {
    const Bounds next = bounds.group[first + i];
    found = {fminf(found.least, next.least),
             fmaxf(found.largest, next.largest)};
  }
  return found;
}

// Of products of two numbers within bounds, as they are rounded: that keeps
// their order.
ORDO_DEVICE Bounds ProductBounds(const Bounds& t, const Bounds& r) {
  const float corners[4] = {t.least * r.least, t.least * r.largest,
                            t.largest * r.least, t.largest * r.largest};
  return {fminf(fminf(corners[0], corners[1]), fminf(corners[2], corners[3])),
          fmaxf(fmaxf(corners[0], corners[1]), fmaxf(corners[2], corners[3]))};
}

// Bytes of shared memory that a warp has for the pieces of its blocks, two for
// each: the first piece and the last.
inline constexpr int kPiecesBytes = 32;

// For lanes 2 n and 2 n + 1 of a warp, of block n. The warp's bytes must have
// been read by all lanes before.
ORDO_DEVICE void StorePiece(const HeadMod& of, const Bounds& t, const Bounds& r,
                            uint8_t* pieces) {
  const int lane = device::ThreadId() % 32;
  const Bounds found = ProductBounds(t, r);
  pieces[lane] = static_cast<uint8_t>(
      PieceOf(of, lane % 2 == 0 ? found.least : found.largest));
}

// The pieces of a warp's blocks, as all of its lanes read them.
template <int kBlocks>
struct StepPieces {
  uint32_t words[kBlocks / 2];
  // Whether they are the same one.
  bool one;

  ORDO_DEVICE int First(int block) const {
    return static_cast<int>(words[block / 2] >> (block % 2 * 16) & 0xFF);
  }
  ORDO_DEVICE int Last(int block) const {
    return static_cast<int>(words[block / 2] >> (block % 2 * 16 + 8) & 0xFF);
  }
};

template <int kBlocks>
ORDO_DEVICE StepPieces<kBlocks> LoadPieces(const uint8_t* pieces) {
  static_assert(2 * kBlocks <= kPiecesBytes);
  StepPieces<kBlocks> loaded;
  ORDO_UNROLL
  for (int i = 0; i < kBlocks / 2; i += 4) {
    const device::Words<4> four = device::LoadWords<4>(pieces + 4 * i);
    ORDO_UNROLL
    for (int j = 0; j < 4; ++j) loaded.words[i + j] = four.word[j];
  }
  const uint32_t same = (loaded.words[0] & 0xFF) * 0x01010101U;
  loaded.one = true;
  ORDO_UNROLL
  for (int i = 0; i < kBlocks / 2; ++i) loaded.one &= loaded.words[i] == same;
  return loaded;
}

}  // namespace ordo::kernels::attention

#endif  // ORDO_KERNELS_ATTENTION_CUDA_HOPPER_PIECES_H_
