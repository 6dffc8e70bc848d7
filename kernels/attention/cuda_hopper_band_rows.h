#ifndef ORDO_KERNELS_ATTENTION_CUDA_HOPPER_BAND_ROWS_H_
#define ORDO_KERNELS_ATTENTION_CUDA_HOPPER_BAND_ROWS_H_

#include <cstdint>

#include "kernels/attention/cuda_hopper_band.h"
#include "kernels/attention/cuda_tile_products.h"
#include "kernels/attention/cuda_tiled_body.h"

// What cuda_hopper.cu has before and after its passes for vectors of few
// distances: terms of all queries; and from the gradients of near pairs those
// of x and of X. Blocks are those of cuda_tiled.cu, 64 queries each: what they
// do is as much as a tile of keys or two.
//
// Legend: L distances, E columns of the band, of which a tile has room for D.

namespace ordo::kernels::attention {

// Whether the query sees a key at the farthest distance.
ORDO_DEVICE bool SeesFarKey(const Call& call, const HeadOf& of, int64_t query) {
  const Problem& p = call.problem;
  const int64_t first = FirstKey(call, of, query);
  int64_t key = p.keys - p.queries + query - p.reach;
  // Padding is at the ends of rows: most queries look once.
  while (p.padded && key >= first &&
         call.facts.real_BS[of.batch * p.keys + key] == 0) {
    --key;
  }
  return key >= first;
}

// The head of X for a head.
ORDO_DEVICE int64_t VectorHead(const Problem& p, int64_t head) {
  return p.table_heads == 1 ? 0 : head;
}

}  // namespace ordo::kernels::attention

namespace ordo::kernels::attention::ORDO_OF_TYPE {

// Elements of the tiles of rows and of vectors.
template <int kD>
inline constexpr int64_t kBandTile = TileElements(kCudaTile, kD);

// Begins to load the vectors of all distances.
template <int kD>
ORDO_DEVICE void LoadBandVectors(const Call& call, int64_t head,
                                 uint16_t* tile) {
  const Problem& p = call.problem;
  LoadTile<kCudaTile, kD>(OneTensor(call.inputs[kQueryVector],
                                    {0, VectorHead(p, head)}, p.query_band),
                          {0, BandDistances(p)}, tile);
}

template <int kD>
ORDO_DEVICE void LoadBandRows(const Call& call, const HeadOf& of, int64_t query,
                              uint16_t* tile) {
  const Problem& p = call.problem;
  LoadTile<kCudaTile, kD>(OneTensor(call.inputs[kQueryBand], of, p.query_band),
                          {query, p.queries}, tile);
}

ORDO_DEVICE void WaitForTiles() {
  device::CommitCopies();
  device::WaitForCopies<0>();
  // All threads' copies are there.
  device::SyncThreads();
}

// A block for 64 queries of a head.
template <int kD>
ORDO_KERNEL(kThreads)
HopperBandTerms(const HopperArguments arguments) {
  const Call& call = arguments.tiled.call;
  const Problem& p = call.problem;
  const HeadOf of = {device::BlockZ(), device::BlockY()};
  const int64_t first = device::BlockX() * kCudaTile;
  uint16_t* const rows = reinterpret_cast<uint16_t*>(device::SharedMemory());
  LoadBandRows<kD>(call, of, first, rows);
  LoadBandVectors<kD>(call, of.head, rows + kBandTile<kD>);
  WaitForTiles();
  const int row = device::ThreadId() / 32 * 16, lane = device::ThreadId() % 32;
  float sums[kCudaTile / 8][4] = {};
  MultiplyRows<kCudaTile, kD>(rows + row * (kD + kGap), rows + kBandTile<kD>,
                              sums);
  ORDO_UNROLL
  for (int half = 0; half < 2; ++half) {
    const int64_t query = first + row + lane / 4 + 8 * half;
    if (query >= p.queries) continue;
    float* const to = BandRow(arguments.band_terms_BHTL, p, of, query);
    ORDO_UNROLL
    for (int n = 0; n < kCudaTile / 8; ++n) {
      ORDO_UNROLL
      for (int e = 0; e < 2; ++e) {
        const int i = 8 * n + lane % 4 * 2 + e;
        if (i < BandDistances(p))
          to[i] = sums[n][2 * half + e] * p.scale * kLog2E;
      }
    }
  }
}

// The gradient of x, and of the terms of the farthest distance, a block for 64
// queries of a head.
template <int kD>
ORDO_KERNEL(kThreads)
HopperBandRows(const HopperArguments arguments) {
  const Call& call = arguments.tiled.call;
  const Problem& p = call.problem;
  const HeadOf of = {device::BlockZ(), device::BlockY()};
  uint16_t* const vectors = reinterpret_cast<uint16_t*>(device::SharedMemory());
  LoadBandVectors<kD>(call, of.head, vectors);
  WaitForTiles();
  const int lane = device::ThreadId() % 32;
  const int64_t first =
      device::BlockX() * kCudaTile + device::ThreadId() / 32 * 16;
  float changes[kCudaTile / 8][4];
  ORDO_UNROLL
  for (int half = 0; half < 2; ++half) {
    const int64_t query = first + lane / 4 + 8 * half;
    const bool real = query < p.queries;
    float* const row =
        BandRow(arguments.band_changes_BHTL, p, of, real ? query : 0);
    float sum = 0;
    ORDO_UNROLL
    for (int n = 0; n < kCudaTile / 8; ++n) {
      ORDO_UNROLL
      for (int e = 0; e < 2; ++e) {
        const int i = 8 * n + lane % 4 * 2 + e;
        const float change = real && i > 0 && i < BandDistances(p) ? row[i] : 0;
        changes[n][2 * half + e] = change;
        sum += change;
      }
    }
    sum = SumOfRow(sum);
    // What is left is of rounding where a query sees no far key.
    const float rest = real && SeesFarKey(call, of, query) ? -sum : 0;
    if (lane % 4 != 0) continue;
    changes[0][2 * half] = rest;
    if (real) row[0] = rest;
  }
  uint32_t packed[kCudaTile / 16][4];
  Pack<kCudaTile>(changes, packed);
  float dx[kD / 8][4] = {};
  MultiplyColumns<kCudaTile, kD>(packed, vectors, dx);
  const float factors[2] = {p.scale, p.scale};
  StoreRows<kD>(dx, factors,
                OneTensor(call.d_inputs[kQueryBand], of, p.query_band),
                {first, p.queries});
}

// The left side of dX for the lane's distances: gradients of the terms of 64
// queries from `query` on, turned.
ORDO_DEVICE void LoadTurnedChanges(const HopperArguments& arguments,
                                   const HeadOf& of, int64_t query,
                                   uint32_t (&packed)[kCudaTile / 16][4]) {
  const Problem& p = arguments.tiled.call.problem;
  const int lane = device::ThreadId() % 32;
  const int row = device::ThreadId() / 32 * 16 + lane / 4;
  ORDO_UNROLL
  for (int i = 0; i < kCudaTile / 4; ++i) {
    const int distance = row + i % 2 * 8;
    float pair[2];
    ORDO_UNROLL
    for (int e = 0; e < 2; ++e) {
      const int64_t token =
          query + i / 4 * 16 + i % 4 / 2 * 8 + lane % 4 * 2 + e;
      const bool real = token < p.queries && distance < BandDistances(p);
      pair[e] =
          real ? BandRow(arguments.band_changes_BHTL, p, of, token)[distance]
               : 0;
    }
    packed[i / 4][i % 4] = Element::Pack(pair[0], pair[1]);
  }
}

// A part of the gradient of X: over every so many-th tile of a head's queries.
template <int kD>
ORDO_KERNEL(kThreads)
HopperBandVectors(const HopperArguments arguments) {
  const Call& call = arguments.tiled.call;
  const Problem& p = call.problem;
  const HeadOf of = {device::BlockZ(), device::BlockY()};
  uint16_t* const rows = reinterpret_cast<uint16_t*>(device::SharedMemory());
  float dx[kD / 8][4] = {};
  for (int64_t query = device::BlockX() * kCudaTile; query < p.queries;
       query += arguments.band_parts * kCudaTile) {
    LoadBandRows<kD>(call, of, query, rows);
    WaitForTiles();
    uint32_t packed[kCudaTile / 16][4];
    LoadTurnedChanges(arguments, of, query, packed);
    MultiplyColumns<kCudaTile, kD>(packed, rows, dx);
    // The next tile takes the place of this one.
    device::SyncThreads();
  }
  const int lane = device::ThreadId() % 32;
  const int64_t part =
      (of.batch * p.heads + of.head) * arguments.band_parts + device::BlockX();
  ORDO_UNROLL
  for (int half = 0; half < 2; ++half) {
    const int64_t row = device::ThreadId() / 32 * 16 + lane / 4 + 8 * half;
    if (row >= BandDistances(p)) continue;
    float* const to =
        arguments.d_band_parts + (part * BandDistances(p) + row) * p.query_band;
    ORDO_UNROLL
    for (int n = 0; n < kD / 8; ++n) {
      const int column = 8 * n + lane % 4 * 2;
      if (column >= p.query_band) continue;
      to[column] = dx[n][2 * half];
      to[column + 1] = dx[n][2 * half + 1];
    }
  }
}

}  // namespace ordo::kernels::attention::ORDO_OF_TYPE

#endif  // ORDO_KERNELS_ATTENTION_CUDA_HOPPER_BAND_ROWS_H_
