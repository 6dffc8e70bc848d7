#ifndef ORDO_KERNELS_ATTENTION_CUDA_TILED_SUMMED_H_
#define ORDO_KERNELS_ATTENTION_CUDA_TILED_SUMMED_H_

#include "kernels/attention/cuda_tiled_bands.h"
#include "kernels/attention/cuda_tiled_body.h"

// Sums of weights by distance, of cuda_tiled.cu. Weights are known when lse is,
// so the forward pass goes through the keys once more, without values: a block
// has 64 queries of a head. One key is at each distance from a query but for
// the farthest, whose keys a lane sums up. Backward, what flows to a sum flows
// to each weight in it.

namespace ordo::kernels::attention::ORDO_OF_TYPE {

// The queries, the keys of a step, and its extras.
template <int kD>
constexpr int64_t SummedBytes() {
  return 2 * 2 * TileElements(kCudaTile, kD) + sizeof(Extras);
}

// The element of tables for a pair of a step.
ORDO_DEVICE int64_t ElementOf(const Problem& p, const Place& place,
                              const PairAt& at) {
  return TableAt(
      p, SpreadBase(p, place) - (p.keys - 1) + DistanceAt(at.query, at.key));
}

// Adds the gradients of sums to those of a step's weights.
template <bool kRowsAreKeys, int kColumns>
ORDO_DEVICE void AddSummed(const BandStep& step,
                           float (&changes)[kColumns / 8][4]) {
  const Call& call = step.arguments.call;
  const View& view = call.d_outputs[kSummed];
  const uint16_t* const d_sums = SumsOf(view, step.of);
  if (d_sums == nullptr) return;
  ORDO_UNROLL
  for (int n = 0; n < kColumns / 8; ++n) {
    ORDO_UNROLL
    for (int e = 0; e < 4; ++e) {
      const PairAt at = PlaceOfPair<kRowsAreKeys>(n, e);
      const int64_t query = step.place.query + at.query;
      if (query >= call.problem.queries) continue;
      changes[n][e] +=
          Element::From(d_sums[query * view.token_stride +
                               ElementOf(call.problem, step.place, at)]);
    }
  }
}

// Of a lane's two rows.
struct SummedRows {
  float lse[2];
  // Of all keys at the farthest distance before the query, and behind it.
  float before[2];
  float behind[2];
};

// Writes a step's weights where they are alone at their distance.
ORDO_DEVICE void StoreWeights(const BandStep& step, const Hook<true>& hook,
                              const float (&scores)[kCudaTile / 8][4],
                              SummedRows* rows) {
  const Call& call = step.arguments.call;
  const Problem& p = call.problem;
  const View& view = call.outputs[kSummed];
  uint16_t* const sums = SumsOf(view, step.of);
  ORDO_UNROLL
  for (int n = 0; n < kCudaTile / 8; ++n) {
    ORDO_UNROLL
    for (int e = 0; e < 4; ++e) {
      const PairAt at = PlaceOfPair<false>(n, e);
      const int64_t query = step.place.query + at.query;
      const float weight =
          exp2f(Logit(hook, scores[n][e], at.query, at.key) - rows->lse[e / 2]);
      const int64_t element = ElementOf(p, step.place, at);
      if (element == 0) {
        rows->before[e / 2] += weight;
      } else if (!p.causal && element == 2 * p.reach) {
        rows->behind[e / 2] += weight;
      } else if (weight != 0 && query < p.queries) {
        sums[query * view.token_stride + element] =
            static_cast<uint16_t>(Element::Pack(weight, 0));
      }
    }
  }
}

// Zeros for distances that a query has no key at, a warp for a row.
ORDO_DEVICE void ClearSums(const Call& call, const HeadOf& of, int64_t query) {
  const View& view = call.outputs[kSummed];
  uint16_t* const sums = SumsOf(view, of);
  const int64_t last =
      call.problem.causal ? call.problem.reach : 2 * call.problem.reach;
  const int thread = device::ThreadId();
  for (int64_t row = query + thread / 32;
       row < query + kCudaTile && row < call.problem.queries;
       row += kThreads / 32) {
    for (int64_t i = thread % 32; i <= last; i += 32) {
      sums[row * view.token_stride + i] = 0;
    }
  }
}

// Writes what the lanes of a row have of the farthest distances.
ORDO_DEVICE void StoreEnds(const Call& call, const HeadOf& of, int64_t query,
                           const SummedRows& rows) {
  const Problem& p = call.problem;
  const View& view = call.outputs[kSummed];
  uint16_t* const sums = SumsOf(view, of);
  const int thread = device::ThreadId();
  for (int half = 0; half < 2; ++half) {
    const float before = SumOfRow(rows.before[half]);
    const float behind = SumOfRow(rows.behind[half]);
    const int64_t token = query + thread / 32 * 16 + thread % 32 / 4 + 8 * half;
    if (thread % 4 != 0 || token >= p.queries) continue;
    uint16_t* const row = sums + token * view.token_stride;
    row[0] = static_cast<uint16_t>(Element::Pack(before, 0));
    if (p.causal || p.reach == 0) continue;
    row[2 * p.reach] = static_cast<uint16_t>(Element::Pack(behind, 0));
  }
}

template <int kD>
ORDO_KERNEL(kThreads)
TiledSummed(const TiledArguments arguments) {
  const Call& call = arguments.call;
  const Problem& p = call.problem;
  const HeadOf of = {device::BlockZ(), device::BlockY()};
  const int64_t query = device::BlockX() * kCudaTile;
  auto* const q = reinterpret_cast<uint16_t*>(device::SharedMemory());
  uint16_t* const keys = q + TileElements(kCudaTile, kD);
  auto* const extras =
      reinterpret_cast<Extras*>(keys + TileElements(kCudaTile, kD));
  const Head head = MakeHead(call, of, /*far=*/false);
  ClearSums(call, of, query);
  SummedRows rows = {};
  const int thread = device::ThreadId();
  for (int half = 0; half < 2; ++half) {
    const int64_t token = query + thread / 32 * 16 + thread % 32 / 4 + 8 * half;
    rows.lse[half] =
        token < p.queries
            ? call.lse_BHT[(of.batch * p.heads + of.head) * p.queries + token] *
                  kLog2E
            : INFINITY;
  }
  LoadTile<kCudaTile, kD>(head.q, {query, p.queries}, q);
  const Tiles tiles = TilesOfKeys(arguments, of, query, /*far=*/false);
  for (int64_t i = tiles.begin; i < tiles.end; ++i) {
    const Place place = {query, i * kCudaTile};
    LoadTile<kCudaTile, kD>(head.k, {place.key, p.keys}, keys);
    LoadExtras(arguments, of, place, extras);
    device::CommitCopies();
    device::WaitForCopies<0>();
    // All threads' copies are there, and zeros.
    device::SyncThreads();
    const BandStep step = MakeBandStep<kD>(arguments, of, place);
    float scores[kCudaTile / 8][4] = {};
    MultiplyRows<kCudaTile, kD>(q + thread / 32 * 16 * (kD + kGap), keys,
                                scores);
    AddBands<kD, false, kCudaTile>(step, scores);
    StoreWeights(step, MakeHook<true>(call, of.head, place, extras), scores,
                 &rows);
    // All have read this step before another takes its place.
    device::SyncThreads();
  }
  StoreEnds(call, of, query, rows);
}

}  // namespace ordo::kernels::attention::ORDO_OF_TYPE

#endif  // ORDO_KERNELS_ATTENTION_CUDA_TILED_SUMMED_H_
