#ifndef ORDO_KERNELS_ATTENTION_CUDA_TILED_BANDS_H_
#define ORDO_KERNELS_ATTENTION_CUDA_TILED_BANDS_H_

#include "kernels/attention/cuda_tile_products.h"
#include "kernels/attention/cuda_tiled_body.h"

// Vectors of distances, x_i . X[d] and y_j . Y[d], in the passes of
// cuda_tiled.cu. A tile of queries and a tile of keys are at 127 distances from
// each other: the products of a tile's rows with their vectors are one product
// of matrices more, 64 x 128, whose row i a logit reads at its distance.
// Backward, gradients of logits are written where their distance is, and are
// the left side of two products, with the vectors and, turned, with the rows.
//
// Legend: D columns of q and k, which have room for a band's E. Rows are those
// of a tile's queries (x) or of its keys (y).

namespace ordo::kernels::attention::ORDO_OF_TYPE {

// Distances of a step, and elements of a row of theirs.
inline constexpr int kDistances = 2 * kCudaTile;
inline constexpr int kSkewPitch = kDistances + 4;
inline constexpr int kPackedPitch = kDistances + kGap;

// What the bands of a step take of shared memory, behind all else: rows,
// vectors, and a number for each row and distance.
template <int kD>
constexpr int64_t BandBytes() {
  return 2 * (TileElements(kCudaTile, kD) + TileElements(kDistances, kD)) +
         4 * kCudaTile * kSkewPitch;
}

struct BandShared {
  uint16_t* rows;
  uint16_t* vectors;
  // As fp32, or as elements in rows of kPackedPitch.
  float* skewed;
};

template <int kD>
ORDO_DEVICE BandShared MakeBandShared(char* begin) {
  BandShared shared;
  shared.rows = reinterpret_cast<uint16_t*>(begin);
  shared.vectors = shared.rows + TileElements(kCudaTile, kD);
  shared.skewed =
      reinterpret_cast<float*>(shared.vectors + TileElements(kDistances, kD));
  return shared;
}

// One of the two.
struct Band {
  Input rows;
  Input vectors;
  bool of_queries;
};

ORDO_DEVICE Band BandOf(bool of_queries) {
  return of_queries ? Band{kQueryBand, kQueryVector, true}
                    : Band{kKeyBand, kKeyVector, false};
}

ORDO_DEVICE int64_t BandWidth(const Problem& p, const Band& band) {
  return band.of_queries ? p.query_band : p.key_band;
}

// A step of a head of queries.
struct BandStep {
  const TiledArguments& arguments;
  HeadOf of;
  Place place;
  BandShared shared;
};

// The vectors of a step's distances: those behind the farthest are its.
template <int kD>
ORDO_DEVICE void LoadVectors(const BandStep& step, const Band& band) {
  constexpr int kChunks = kD / 8;
  const Call& call = step.arguments.call;
  const Problem& p = call.problem;
  const Part part = MakePart(call.inputs[band.vectors],
                             {0, p.table_heads == 1 ? 0 : step.of.head}, 0,
                             static_cast<int>(BandWidth(p, band)));
  const int64_t base = SpreadBase(p, step.place) - (p.keys - 1);
  for (int i = device::ThreadId(); i < kDistances * kChunks; i += kThreads) {
    const int row = i / kChunks, column = i % kChunks * 8;
    const bool real = column < part.end;
    const uint16_t* const source =
        part.data + TableAt(p, base + row) * part.stride + column;
    uint16_t* const at = step.shared.vectors + row * (kD + kGap) + column;
    if (part.vectors || !real) {
      device::CopyAsync(at, source, real);
    } else {
      for (int d = 0; d < 8; ++d) at[d] = source[d];
    }
  }
}

// The head of a band's rows.
ORDO_DEVICE HeadOf RowHead(const Problem& p, const Band& band,
                           const HeadOf& of) {
  return {of.batch,
          band.of_queries ? of.head : of.head / (p.heads / p.key_heads)};
}

// Loads a step's rows and vectors of a band; other threads see them after the
// next barrier.
template <int kD>
ORDO_DEVICE void LoadBand(const BandStep& step, const Band& band) {
  const Call& call = step.arguments.call;
  const Problem& p = call.problem;
  const Tokens tokens = band.of_queries ? Tokens{step.place.query, p.queries}
                                        : Tokens{step.place.key, p.keys};
  LoadTile<kCudaTile, kD>(
      OneTensor(call.inputs[band.rows], RowHead(p, band, step.of),
                BandWidth(p, band)),
      tokens, step.shared.rows);
  LoadVectors<kD>(step, band);
  device::CommitCopies();
  device::WaitForCopies<0>();
}

// The first of the 80 distances that the warp's 16 rows are at, of queries or
// of keys.
inline constexpr int kReached = kCudaTile + 16;
ORDO_DEVICE int FirstDistance(const Band& band) {
  const int row = device::ThreadId() / 32 * 16;
  return band.of_queries ? kCudaTile - 16 - row : row;
}

// Products of the warp's rows with their vectors, in shared memory.
template <int kD>
ORDO_DEVICE void MultiplyBand(const BandStep& step, const Band& band) {
  const int lane = device::ThreadId() % 32;
  const int row = device::ThreadId() / 32 * 16;
  const int first = FirstDistance(band);
  for (int begin = first; begin < first + kReached; begin += 16) {
    float sums[2][4] = {};
    MultiplyRows<16, kD>(step.shared.rows + row * (kD + kGap),
                         step.shared.vectors + begin * (kD + kGap), sums);
    ORDO_UNROLL
    for (int n = 0; n < 2; ++n) {
      ORDO_UNROLL
      for (int e = 0; e < 4; ++e) {
        step.shared.skewed[(row + lane / 4 + e / 2 * 8) * kSkewPitch + begin +
                           8 * n + lane % 4 * 2 + e % 2] = sums[n][e];
      }
    }
  }
}

// Of a lane's element (n, e) of a fragment whose rows are a tile's queries, or
// its keys.
template <bool kRowsAreKeys>
ORDO_DEVICE PairAt PlaceOfPair(int n, int e) {
  const int thread = device::ThreadId();
  const int row = thread / 32 * 16 + thread % 32 / 4 + e / 2 * 8;
  const int column = 8 * n + thread % 4 * 2 + e % 2;
  return kRowsAreKeys ? PairAt{column, row} : PairAt{row, column};
}

// Adds a band's products to those of q and k.
template <int kD, bool kRowsAreKeys, int kColumns>
ORDO_DEVICE void AddBand(const BandStep& step, const Band& band,
                         float (&products)[kColumns / 8][4]) {
  if (BandWidth(step.arguments.call.problem, band) == 0) return;
  LoadBand<kD>(step, band);
  // All threads' copies are there.
  device::SyncThreads();
  MultiplyBand<kD>(step, band);
  // Rows of all warps are there.
  device::SyncThreads();
  ORDO_UNROLL
  for (int n = 0; n < kColumns / 8; ++n) {
    ORDO_UNROLL
    for (int e = 0; e < 4; ++e) {
      const PairAt at = PlaceOfPair<kRowsAreKeys>(n, e);
      const int row = band.of_queries ? at.query : at.key;
      products[n][e] +=
          step.shared.skewed[row * kSkewPitch + DistanceAt(at.query, at.key)];
    }
  }
  // All have read them before others take their place.
  device::SyncThreads();
}

template <int kD, bool kRowsAreKeys, int kColumns>
ORDO_DEVICE void AddBands(const BandStep& step,
                          float (&products)[kColumns / 8][4]) {
  AddBand<kD, kRowsAreKeys, kColumns>(step, BandOf(true), products);
  AddBand<kD, kRowsAreKeys, kColumns>(step, BandOf(false), products);
}

// Writes gradients of scaled products where a band's rows have their distance;
// zeros elsewhere.
template <bool kRowsAreKeys, int kColumns>
ORDO_DEVICE uint16_t* SkewChanges(const BandStep& step, const Band& band,
                                  const float (&changes)[kColumns / 8][4]) {
  auto* const skewed = reinterpret_cast<uint16_t*>(step.shared.skewed);
  for (int i = device::ThreadId(); i < kCudaTile * kPackedPitch / 2;
       i += kThreads) {
    reinterpret_cast<uint32_t*>(skewed)[i] = 0;
  }
  // Zeros come first.
  device::SyncThreads();
  ORDO_UNROLL
  for (int n = 0; n < kColumns / 8; ++n) {
    ORDO_UNROLL
    for (int e = 0; e < 4; ++e) {
      const PairAt at = PlaceOfPair<kRowsAreKeys>(n, e);
      const int row = band.of_queries ? at.query : at.key;
      skewed[row * kPackedPitch + DistanceAt(at.query, at.key)] =
          static_cast<uint16_t>(Element::Pack(changes[n][e], 0));
    }
  }
  // All changes, and all threads' copies, are there.
  device::SyncThreads();
  return skewed;
}

// d_rows += changes times the vectors, for the warp's rows.
template <int kD>
ORDO_DEVICE void AddToRows(const BandStep& step, const Band& band,
                           const uint16_t* skewed, float (&d_rows)[kD / 8][4]) {
  const int lane = device::ThreadId() % 32;
  const int row = device::ThreadId() / 32 * 16 + lane % 16;
  const int first = FirstDistance(band);
  for (int k = first; k < first + kReached; k += 16) {
    uint32_t left[1][4];
    device::LoadMatrices(skewed + row * kPackedPitch + k + lane / 16 * 8,
                         left[0]);
    MultiplyColumns<16, kD>(left, step.shared.vectors + k * (kD + kGap),
                            d_rows);
  }
}

// The block's part of the gradient of a band's vectors: d_vectors += changes,
// turned, times the rows; 32 distances for each warp.
template <int kD>
ORDO_DEVICE void AddToVectors(const BandStep& step, const Band& band,
                              const uint16_t* skewed) {
  const TiledArguments& a = step.arguments;
  float* const sums = a.d_vectors[band.of_queries ? 0 : 1];
  if (sums == nullptr) return;
  const Problem& p = a.call.problem;
  const int lane = device::ThreadId() % 32;
  const int64_t part =
      (step.of.batch * p.heads + step.of.head) * a.parts + device::BlockX();
  const int64_t base = SpreadBase(p, step.place);
  for (int i = 0; i < 2; ++i) {
    const int first = device::ThreadId() / 32 * 32 + 16 * i;
    float d_vectors[kD / 8][4] = {};
    ORDO_UNROLL
    for (int k = 0; k < kCudaTile; k += 16) {
      uint32_t left[1][4];
      device::LoadTransposed(skewed +
                                 (k + lane / 16 * 8 + lane % 8) * kPackedPitch +
                                 first + lane / 8 % 2 * 8,
                             left[0]);
      MultiplyColumns<16, kD>(left, step.shared.rows + k * (kD + kGap),
                              d_vectors);
    }
    ORDO_UNROLL
    for (int half = 0; half < 2; ++half) {
      const int64_t row = base + first + lane / 4 + 8 * half;
      if (row < 0 || row >= a.spread_length) continue;
      float* const to =
          sums + (part * a.spread_stride + row) * kD + lane % 4 * 2;
      ORDO_UNROLL
      for (int n = 0; n < kD / 8; ++n) {
        to[8 * n] += d_vectors[n][2 * half];
        to[8 * n + 1] += d_vectors[n][2 * half + 1];
      }
    }
  }
}

// Both, in the pass of the queries, with what flows to the band's rows if they
// are queries.
template <int kD>
ORDO_DEVICE void DifferentiateBands(const BandStep& step,
                                    const float (&changes)[kCudaTile / 8][4],
                                    float (&d_band)[kD / 8][4]) {
  for (int i = 0; i < 2; ++i) {
    const Band band = BandOf(i == 0);
    if (BandWidth(step.arguments.call.problem, band) == 0) continue;
    LoadBand<kD>(step, band);
    const uint16_t* const skewed =
        SkewChanges<false, kCudaTile>(step, band, changes);
    if (band.of_queries) AddToRows<kD>(step, band, skewed, d_band);
    AddToVectors<kD>(step, band, skewed);
    // All have read them before others take their place.
    device::SyncThreads();
  }
}

// In the pass of the keys: what flows to a band's rows that are keys.
template <int kD, int kColumns>
ORDO_DEVICE void DifferentiateKeyBand(const BandStep& step,
                                      const float (&changes)[kColumns / 8][4],
                                      float (&d_band)[kD / 8][4]) {
  const Band band = BandOf(false);
  if (BandWidth(step.arguments.call.problem, band) == 0) return;
  LoadBand<kD>(step, band);
  const uint16_t* const skewed =
      SkewChanges<true, kColumns>(step, band, changes);
  AddToRows<kD>(step, band, skewed, d_band);
  // All have read them before others take their place.
  device::SyncThreads();
}

// The bands' memory, of a step.
template <int kD>
ORDO_DEVICE BandStep MakeBandStep(const TiledArguments& arguments,
                                  const HeadOf& of, const Place& place) {
  return {arguments, of, place,
          MakeBandShared<kD>(device::SharedMemory() + arguments.band_offset)};
}

// Zeros in the block's parts of the vectors' gradients; a barrier is before the
// first step that adds to them.
template <int kD>
ORDO_DEVICE void BeginVectors(const TiledArguments& a) {
  const Problem& p = a.call.problem;
  const int64_t part =
      (device::BlockZ() * p.heads + device::BlockY()) * a.parts +
      device::BlockX();
  const int64_t count = a.spread_stride * kD;
  for (int i = 0; i < 2; ++i) {
    if (a.d_vectors[i] == nullptr) continue;
    for (int64_t k = device::ThreadId(); k < count; k += kThreads) {
      a.d_vectors[i][part * count + k] = 0;
    }
  }
}

// Adds rows [begin, end) of sums to row `to`, a thread for each column.
ORDO_DEVICE void FoldRows(float* sums, int64_t width, const Tiles& rows,
                          int64_t to) {
  for (int64_t column = device::ThreadId(); column < width;
       column += kThreads) {
    float sum = 0;
    for (int64_t row = rows.begin; row < rows.end; ++row) {
      sum += sums[row * width + column];
    }
    sums[to * width + column] += sum;
  }
}

// Adds what distances beyond the reach have to the farthest, in the block's
// part.
template <int kD>
ORDO_DEVICE void EndVectors(const TiledArguments& a) {
  const Problem& p = a.call.problem;
  const int64_t part =
      (device::BlockZ() * p.heads + device::BlockY()) * a.parts +
      device::BlockX();
  const int64_t lower = p.keys - 1 - p.reach;
  const int64_t upper = p.keys - 1 + (p.causal ? 0 : p.reach);
  for (int i = 0; i < 2; ++i) {
    if (a.d_vectors[i] == nullptr) continue;
    float* const sums = a.d_vectors[i] + part * a.spread_stride * kD;
    // All steps' sums are there, and what was folded.
    device::SyncThreads();
    if (lower > 0) FoldRows(sums, kD, {0, lower}, lower);
    if (upper + 1 < a.spread_length) {
      FoldRows(sums, kD, {upper + 1, a.spread_length}, upper);
    }
  }
}

}  // namespace ordo::kernels::attention::ORDO_OF_TYPE

#endif  // ORDO_KERNELS_ATTENTION_CUDA_TILED_BANDS_H_
