#ifndef ORDO_KERNELS_ATTENTION_CUDA_HOPPER_BODY_H_
#define ORDO_KERNELS_ATTENTION_CUDA_HOPPER_BODY_H_

#include <cmath>
#include <cstdint>

#include "kernels/attention/cuda_hopper_code.h"
#include "kernels/attention/cuda_tile_products.h"
#include "kernels/attention/cuda_tiled_body.h"
#include "kernels/common/cuda_hopper_products.h"

// What the passes of cuda_hopper.cu have in common: where tiles lie, how they
// come there, and who waits for what.
//
// Legend: tiles as in cuda_box.h. A ring has stages that are filled and emptied
// in turn; pass n through it uses stage n % kStages.

namespace ordo::kernels::attention {

// Of shared memory, what a block of such a GPU may have.
inline constexpr int64_t kMaxBlockBytes = 227 * 1024;

// Bytes of kRows rows of kColumns columns.
constexpr int64_t BoxBytes(int64_t rows, int64_t columns) {
  return rows * columns * 2;
}

// From the next place for a tile on.
ORDO_DEVICE char* AlignedShared() {
  char* const shared = device::SharedMemory();
  // No choice of two pointers: the compiler would not know that it is shared
  // memory, and address all of it as if it might not be.
  return shared + (-device::SharedAddress(shared) % uint32_t{kTileAlignment});
}

// Barriers of a ring: that a stage is full, that it is empty.
struct Ring {
  uint64_t* full;
  uint64_t* empty;
};

// Warps of the groups that compute: each says itself that it has read a stage.
inline constexpr int kReaders = 2 * kGroupThreads / 32;

// The number of the warp among those.
ORDO_DEVICE int ComputingWarp() {
  return (device::ThreadId() - kGroupThreads) / 32;
}

template <int kStages>
ORDO_DEVICE void BeginRing(const Ring& ring, int writers, int readers) {
  for (int i = 0; i < kStages; ++i) {
    device::BeginBarrier(ring.full + i, writers);
    device::BeginBarrier(ring.empty + i, readers);
  }
}

template <int kStages>
ORDO_DEVICE void WaitUntilFull(const Ring& ring, uint32_t pass) {
  device::WaitForPhase(ring.full + pass % kStages,
                       static_cast<int>(pass / kStages % 2));
}

template <int kStages>
ORDO_DEVICE void WaitUntilEmpty(const Ring& ring, uint32_t pass) {
  device::WaitForPhase(ring.empty + pass % kStages,
                       static_cast<int>(pass / kStages % 2 ^ 1));
}

// The warp has read the stage.
template <int kStages>
ORDO_DEVICE void Release(const Ring& ring, uint32_t pass) {
  device::SyncWarp();
  if (device::ThreadId() % 32 == 0) {
    device::Arrive(ring.empty + pass % kStages);
  }
}

// The head of a key tensor, or of a value tensor, for a head of the queries.
ORDO_DEVICE device::BoxPlace PlaceIn(const HeadOf& of, int64_t row,
                                     int column) {
  return {column, static_cast<int>(row), static_cast<int>(of.head),
          static_cast<int>(of.batch)};
}

// Where copies go to, and the barrier that gets their bytes.
struct Landing {
  char* tile;
  uint64_t* full;
};

// Begins to copy kColumns columns of q, or of k.
template <int kRows, int kColumns>
ORDO_DEVICE void CopyRows(const device::TensorMap& map,
                          const device::BoxPlace& place, const Landing& to) {
  ORDO_UNROLL
  for (int c = 0; c < kColumns; c += kTileColumns) {
    device::CopyBox(map, {c, place.row, place.head, place.batch},
                    to.tile + BoxBytes(kRows, c), to.full);
  }
}

// The same of what lies side by side: the values (kBoxedValue), or the
// gradients of what is mixed of them (kBoxedMixed).
template <int kRows, int kColumns>
ORDO_DEVICE void CopySlots(const HopperArguments& arguments, Boxed boxed,
                           const device::BoxPlace& place, const Landing& to) {
  const Problem& p = arguments.tiled.call.problem;
  ORDO_UNROLL
  for (int s = 0; s < kColumns / kTileColumns; ++s) {
    const Slot slot = arguments.slots[s];
    const int v = slot.value < 0 ? 0 : slot.value;
    const bool real = slot.value >= 0 && arguments.has[boxed + v];
    HeadOf of = {place.batch, place.head};
    if (boxed == kBoxedValue) of = ValueHead(p, v, of);
    // Beyond all rows there are zeros.
    constexpr int kNowhere = 1 << 30;
    device::CopyBox(arguments.maps[boxed + v],
                    PlaceIn(of, real ? place.row : kNowhere, slot.column),
                    to.tile + BoxBytes(kRows, s * kTileColumns), to.full);
  }
}

// Steps [first, end) through the tiles that a block has to see.
struct Steps {
  int first;
  int end;
};

// A head's number among those of near keys, and then of far ones.
ORDO_DEVICE int64_t HeadNumber(const Problem& p, const HeadOf& of, bool far) {
  return ((far ? p.batch : 0) + of.batch) * p.heads + of.head;
}

// Where the columns of the tiles go: those of `views`.
template <int kColumns>
ORDO_DEVICE Columns ToSlots(const HopperArguments& arguments, const View* views,
                            const HeadOf& of, bool of_keys) {
  const Problem& p = arguments.tiled.call.problem;
  Columns columns = {};
  ORDO_UNROLL
  for (int s = kColumns / kTileColumns - 1; s >= 0; --s) {
    const Slot slot = arguments.slots[s];
    ORDO_UNROLL
    for (int v = 0; v < kMaxValues; ++v) {
      if (slot.value != v || slot.column != 0) continue;
      const int begin = s * kTileColumns;
      columns.parts[v] =
          MakePart(views[v], of_keys ? ValueHead(p, v, of) : of, begin,
                   begin + static_cast<int>(p.values[v].width));
    }
  }
  return columns;
}

}  // namespace ordo::kernels::attention

namespace ordo::kernels::attention::ORDO_OF_TYPE {

// sums = A B^T, for 64 rows of A and kRows of B in tiles of kLeft and kRows
// rows, both of kColumns columns.
template <int kLeft, int kRows, int kColumns>
ORDO_DEVICE void BeginRowsProduct(const char* left, const char* right,
                                  float (&sums)[kRows / 8][4]) {
  ORDO_UNROLL
  for (int k = 0; k < kColumns; k += 16) {
    const int tile = k / kTileColumns * kTileColumns;
    device::MultiplyTiles<Element, kRows, false, false>(
        AlongRows(left + BoxBytes(kLeft, tile), k % kTileColumns),
        AlongRows(right + BoxBytes(kRows, tile), k % kTileColumns), k != 0,
        sums);
  }
}

// sums += A B, for A of kRows columns as packed fragments and tiles of kRows
// rows.
template <int kRows, int kColumns>
ORDO_DEVICE void BeginColumnsProduct(const uint32_t (&left)[kRows / 16][4],
                                     const char* right, bool adds,
                                     float (&sums)[kColumns / 8][4]) {
  ORDO_UNROLL
  for (int k = 0; k < kRows; k += 16) {
    device::MultiplyRegisters<Element, kColumns, true>(
        left[k / 16],
        AlongColumns(right + k * kTileRowBytes, BoxBytes(kRows, kTileColumns)),
        adds || k != 0, sums);
  }
}

}  // namespace ordo::kernels::attention::ORDO_OF_TYPE

#endif  // ORDO_KERNELS_ATTENTION_CUDA_HOPPER_BODY_H_
