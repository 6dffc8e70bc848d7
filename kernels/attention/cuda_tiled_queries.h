#ifndef ORDO_KERNELS_ATTENTION_CUDA_TILED_QUERIES_H_
#define ORDO_KERNELS_ATTENTION_CUDA_TILED_QUERIES_H_

#include "kernels/attention/cuda_tiled_bands.h"
#include "kernels/attention/cuda_tiled_body.h"
#include "kernels/attention/cuda_tiled_summed.h"
#include "kernels/attention/cuda_tiled_tables.h"

// The gradients of the queries and of the bias: a block has 64 queries of a
// head, each warp 16 of them, and goes through the keys that they see. Weights
// are computed anew from lse, and the gradient of a logit is
//
//   ds_ij = p_ij (sum_v d_mixed_v,i . values_v,j - delta_i),
//   delta_i = sum_v d_mixed_v,i . mixed_v,i,
//
// one for all value tensors (Dao et al. 2022, arXiv:2205.14135, appendix B.2,
// with the values side by side).
//
// Legend: D columns of q and k, W of all value tensors side by side.

namespace ordo::kernels::attention::ORDO_OF_TYPE {

template <int kD, int kW>
struct QueriesShared {
  static constexpr int64_t kStep =
      TileElements(kCudaTile, kD) + TileElements(kCudaTile, kW);
  // Queries and d_mixed are as large as a step's keys and values.
  static constexpr int kStages = Stages(kStep, kStep);
  static constexpr int64_t kBytes = 2 * (1 + kStages) * kStep +
                                    kStages * sizeof(Extras) +
                                    4 * kTermsElements + sizeof(IdOrder);

  uint16_t* q;
  uint16_t* steps;
  // For gradients of tables, with an IdOrder behind; those of theta come behind
  // all that is fixed.
  float* terms;
  Extras* extras;
  float* theta;
};

template <int kD, int kW>
ORDO_DEVICE QueriesShared<kD, kW> MakeQueriesShared() {
  using Shared = QueriesShared<kD, kW>;
  Shared shared;
  shared.q = reinterpret_cast<uint16_t*>(device::SharedMemory());
  shared.steps = shared.q + Shared::kStep;
  shared.terms =
      reinterpret_cast<float*>(shared.steps + Shared::kStages * Shared::kStep);
  shared.extras = reinterpret_cast<Extras*>(IdOrderOf(shared.terms) + 1);
  shared.theta = reinterpret_cast<float*>(shared.extras + Shared::kStages);
  return shared;
}

template <int kD, int kW>
ORDO_DEVICE void LoadKeys(const TiledArguments& arguments, const Head& head,
                          const Place& place, const QueriesShared<kD, kW>& to) {
  const int64_t keys = arguments.call.problem.keys;
  LoadTile<kCudaTile, kD>(head.k, {place.key, keys}, to.steps);
  LoadTile<kCudaTile, kW>(head.values, {place.key, keys},
                          to.steps + TileElements(kCudaTile, kD));
  LoadExtras(arguments, head.of_query, place, to.extras);
  device::CommitCopies();
}

template <int kD, int kW>
ORDO_DEVICE QueriesShared<kD, kW> StepOf(const QueriesShared<kD, kW>& shared,
                                         int64_t i) {
  using Shared = QueriesShared<kD, kW>;
  const int64_t stage = i % Shared::kStages;
  return {shared.q, shared.steps + stage * Shared::kStep, shared.terms,
          shared.extras + stage, shared.theta};
}

// Of a lane's two rows: lse in base 2, and delta.
struct RowSums {
  float lse[2];
  float delta[2];
};

ORDO_DEVICE RowSums LoadRowSums(const TiledArguments& arguments,
                                const HeadOf& of, int64_t query) {
  const Problem& p = arguments.call.problem;
  const int thread = device::ThreadId();
  RowSums sums;
  for (int half = 0; half < 2; ++half) {
    const int64_t token = query + thread / 32 * 16 + thread % 32 / 4 + 8 * half;
    const int64_t at = (of.batch * p.heads + of.head) * p.queries + token;
    const bool real = token < p.queries;
    sums.lse[half] = real ? arguments.call.lse_BHT[at] * kLog2E : INFINITY;
    sums.delta[half] = real ? arguments.delta_BHT[at] : 0;
  }
  return sums;
}

// Products q.k in `scores` and gradients of the weights in `changes` become
// the gradients of the logits, in `changes`.
template <bool kTerms>
ORDO_DEVICE void DifferentiateRows(const Hook<kTerms>& hook,
                                   const RowSums& rows,
                                   const float (&scores)[kCudaTile / 8][4],
                                   float (&changes)[kCudaTile / 8][4]) {
  const int lane = device::ThreadId() % 32;
  const int first = device::ThreadId() / 32 * 16 + lane / 4;
  ORDO_UNROLL
  for (int n = 0; n < kCudaTile / 8; ++n) {
    ORDO_UNROLL
    for (int e = 0; e < 4; ++e) {
      const int half = e / 2;
      const float logit = Logit(hook, scores[n][e], first + 8 * half,
                                8 * n + lane % 4 * 2 + e % 2);
      const float weight = exp2f(logit - rows.lse[half]);
      changes[n][e] = weight * (changes[n][e] - rows.delta[half]);
    }
  }
}

// The gradients of the logits become those of the scaled products.
template <bool kTerms>
ORDO_DEVICE void FlowToProducts(const Hook<kTerms>& hook,
                                const float (&products)[kCudaTile / 8][4],
                                float (&changes)[kCudaTile / 8][4]) {
  if (!kTerms || (!hook.rectified && !hook.multiplied)) return;
  const LanePlace lane = PlaceOfLane();
  ORDO_UNROLL
  for (int n = 0; n < kCudaTile / 8; ++n) {
    ORDO_UNROLL
    for (int e = 0; e < 4; ++e) {
      changes[n][e] *= ProductFactor(hook, products[n][e], lane.row + e / 2 * 8,
                                     8 * n + lane.column + e % 2);
    }
  }
}

// What a block sums up over its steps.
template <int kD, Terms kTerms>
struct QueriesSums {
  float dq[kD / 8][4];
  // Of x.
  float d_band[kTerms == kVectors ? kD / 8 : 1][4];
  // Of r, the lane's own columns of its two rows.
  float d_rows[2];
};

// One step: what it adds to the sums.
template <int kD, int kW, Terms kTerms>
ORDO_DEVICE void QueriesStep(const TiledArguments& arguments,
                             const Place& place,
                             const QueriesShared<kD, kW>& step,
                             QueriesSums<kD, kTerms>* sums) {
  const int rows = device::ThreadId() / 32 * 16;
  const HeadOf of = {device::BlockZ(), device::BlockY()};
  float scores[kCudaTile / 8][4] = {};
  MultiplyRows<kCudaTile, kD>(step.q + rows * (kD + kGap), step.steps, scores);
  if constexpr (kTerms == kVectors) {
    AddBands<kD, false, kCudaTile>(MakeBandStep<kD>(arguments, of, place),
                                   scores);
  }
  float changes[kCudaTile / 8][4] = {};
  MultiplyRows<kCudaTile, kW>(
      step.q + TileElements(kCudaTile, kD) + rows * (kW + kGap),
      step.steps + TileElements(kCudaTile, kD), changes);
  constexpr bool kHooked = kTerms != kNoTerms;
  if constexpr (kTerms == kVectors) {
    AddSummed<false, kCudaTile>(MakeBandStep<kD>(arguments, of, place),
                                changes);
  }
  const Hook<kHooked> hook =
      MakeHook<kHooked>(arguments.call, of.head, place, step.extras);
  DifferentiateRows(hook, LoadRowSums(arguments, of, place.query), scores,
                    changes);
  const Step terms = {scores, changes, place, step.terms};
  for (int table = 0; table < kNumTableSums; ++table) {
    if (arguments.d_parts[table] == nullptr) continue;
    AddToTable(arguments, hook, static_cast<TableSums>(table), terms);
  }
  if constexpr (kHooked) {
    if (arguments.d_theta != nullptr) {
      AddToMod(hook, terms, step.theta, sums->d_rows);
    }
  }
  FlowToProducts(hook, scores, changes);
  if constexpr (kTerms == kVectors) {
    DifferentiateBands<kD>(MakeBandStep<kD>(arguments, of, place), changes,
                           sums->d_band);
  }
  uint32_t packed[kCudaTile / 16][4];
  Pack<kCudaTile>(changes, packed);
  MultiplyColumns<kCudaTile, kD>(packed, step.steps, sums->dq);
}

// Writes what the head gives to r of 64 queries from `query` on.
ORDO_DEVICE void StoreModQueries(const TiledArguments& arguments,
                                 const HeadOf& of, int64_t query,
                                 const float (&rows)[2]) {
  if (arguments.d_rows == nullptr) return;
  const Problem& p = arguments.call.problem;
  for (int half = 0; half < 2; ++half) {
    const float sum = SumOfRow(rows[half]);
    const int64_t token = query + PlaceOfLane().row + 8 * half;
    if (PlaceOfLane().column != 0 || token >= p.queries) continue;
    arguments.d_rows[(of.batch * p.heads + of.head) * p.queries + token] = sum;
  }
}

// The gradients of 64 queries from `begin` on, from near keys or from far ones.
template <int kD, int kW, Terms kTerms>
ORDO_DEVICE void DifferentiateQueries(const TiledArguments& arguments,
                                      const Place& begin,
                                      QueriesSums<kD, kTerms>* sums) {
  using Shared = QueriesShared<kD, kW>;
  const Call& call = arguments.call;
  const Problem& p = call.problem;
  const HeadOf of = {device::BlockZ(), device::BlockY()};
  const Head head = MakeHead(call, of, begin.far);
  const Shared shared = MakeQueriesShared<kD, kW>();
  const Tiles tiles = TilesOfKeys(arguments, of, begin.query, begin.far);
  // Nothing may be on its way when other tiles are loaded.
  if (tiles.begin >= tiles.end) return;
  const auto place = [&](int64_t i) {
    return Place{begin.query, i * kCudaTile, begin.far};
  };
  LoadTile<kCudaTile, kD>(head.q, {begin.query, p.queries}, shared.q);
  LoadTile<kCudaTile, kW>(
      Together(p, call.d_outputs + kMixed, head.of_query, false),
      {begin.query, p.queries}, shared.q + TileElements(kCudaTile, kD));
  LoadKeys(arguments, head, place(tiles.begin), StepOf(shared, tiles.begin));
  for (int64_t i = tiles.begin; i < tiles.end; ++i) {
    if (Shared::kStages == 2 && i + 1 < tiles.end) {
      LoadKeys(arguments, head, place(i + 1), StepOf(shared, i + 1));
      device::WaitForCopies<1>();
    } else {
      device::WaitForCopies<0>();
    }
    // All threads' copies of this step are there.
    device::SyncThreads();
    QueriesStep<kD, kW, kTerms>(arguments, place(i), StepOf(shared, i), sums);
    // All have read this step before another takes its place.
    device::SyncThreads();
    if (Shared::kStages == 1 && i + 1 < tiles.end) {
      LoadKeys(arguments, head, place(i + 1), shared);
    }
  }
}

template <int kD, int kW, Terms kTerms>
ORDO_KERNEL(kThreads)
TiledQueries(const TiledArguments arguments) {
  const Call& call = arguments.call;
  const Problem& p = call.problem;
  const HeadOf of = {device::BlockZ(), device::BlockY()};
  float* const theta = MakeQueriesShared<kD, kW>().theta;
  BeginTables(arguments, theta);
  if constexpr (kTerms == kVectors) BeginVectors<kD>(arguments);
  const float factors[2] = {p.scale, p.scale};
  // One tile of queries, or where there are fewer blocks every so many-th.
  for (int64_t query = device::BlockX() * kCudaTile; query < p.queries;
       query += device::GridX() * kCudaTile) {
    const Tokens tokens = {query + device::ThreadId() / 32 * 16, p.queries};
    QueriesSums<kD, kTerms> sums = {};
    for (int far = p.far_from > 0 ? 1 : 0; far >= 0; --far) {
      DifferentiateQueries<kD, kW, kTerms>(arguments, {query, 0, far == 1},
                                           &sums);
      StoreRows<kD>(
          sums.dq, factors,
          OneTensor(call.d_inputs[far == 1 ? kFarQ : kQ], of, p.width), tokens);
      Clear(sums.dq);
    }
    StoreModQueries(arguments, of, query, sums.d_rows);
    if constexpr (kTerms == kVectors) {
      StoreRows<kD>(sums.d_band, factors,
                    OneTensor(call.d_inputs[kQueryBand], of, p.query_band),
                    tokens);
    }
  }
  if constexpr (kTerms == kVectors) EndVectors<kD>(arguments);
  EndTheta(arguments, theta);
}

}  // namespace ordo::kernels::attention::ORDO_OF_TYPE

#endif  // ORDO_KERNELS_ATTENTION_CUDA_TILED_QUERIES_H_
