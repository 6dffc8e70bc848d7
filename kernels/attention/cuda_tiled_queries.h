#ifndef ORDO_KERNELS_ATTENTION_CUDA_TILED_QUERIES_H_
#define ORDO_KERNELS_ATTENTION_CUDA_TILED_QUERIES_H_

#include "kernels/attention/cuda_tiled_body.h"

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

namespace ordo::kernels::attention {

// Elements of a row of the logits' gradients, so that the eight rows of a
// fragment lie in different banks.
inline constexpr int kChangesPitch = kCudaTile + 8;

template <int kD, int kW>
struct QueriesShared {
  static constexpr int64_t kStep =
      TileElements(kCudaTile, kD) + TileElements(kCudaTile, kW);
  // Queries and d_mixed are as large as a step's keys and values.
  static constexpr int kStages = Stages(kStep, kStep);
  static constexpr int64_t kChanges = kCudaTile * kChangesPitch;
  static constexpr int64_t kBytes =
      2 * (1 + kStages) * kStep + kStages * sizeof(Extras) + 4 * kChanges;

  uint16_t* q;
  uint16_t* steps;
  float* changes;
  Extras* extras;
};

template <int kD, int kW>
ORDO_DEVICE QueriesShared<kD, kW> MakeQueriesShared() {
  using Shared = QueriesShared<kD, kW>;
  Shared shared;
  shared.q = reinterpret_cast<uint16_t*>(device::SharedMemory());
  shared.steps = shared.q + Shared::kStep;
  shared.changes =
      reinterpret_cast<float*>(shared.steps + Shared::kStages * Shared::kStep);
  shared.extras = reinterpret_cast<Extras*>(shared.changes + Shared::kChanges);
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
  return {shared.q, shared.steps + stage * Shared::kStep, shared.changes,
          shared.extras + stage};
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
ORDO_DEVICE void DifferentiateRows(const Hook& hook, const RowSums& rows,
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

// Adds a step's gradients of logits to the block's part of d_bias, each
// distance in the order of the queries.
ORDO_DEVICE void AddToBias(const TiledArguments& arguments, const Place& place,
                           const float (&changes)[kCudaTile / 8][4],
                           float* shared) {
  const int thread = device::ThreadId(), lane = thread % 32;
  ORDO_UNROLL
  for (int n = 0; n < kCudaTile / 8; ++n) {
    ORDO_UNROLL
    for (int e = 0; e < 4; ++e) {
      const int row = thread / 32 * 16 + lane / 4 + e / 2 * 8;
      shared[row * kChangesPitch + 8 * n + lane % 4 * 2 + e % 2] =
          changes[n][e];
    }
  }
  // A distance has terms of all warps.
  device::SyncThreads();
  const Problem& p = arguments.call.problem;
  const int64_t at = SpreadBase(p, place) + thread;
  // Thread i has the distance i - (kCudaTile - 1) of a key from a query.
  const int distance = thread - (kCudaTile - 1);
  if (distance < kCudaTile && at >= 0 && at < arguments.spread_length) {
    const int begin = distance < 0 ? -distance : 0;
    const int end = distance < 0 ? kCudaTile : kCudaTile - distance;
    float sum = 0;
    for (int row = begin; row < end; ++row) {
      sum += shared[row * kChangesPitch + row + distance];
    }
    const int64_t part =
        (device::BlockZ() * p.heads + device::BlockY()) * arguments.parts +
        device::BlockX();
    // In another step another thread has this element: the barrier at the
    // step's end lies between.
    arguments.d_bias_parts[part * arguments.spread_stride + at] += sum;
  }
}

// One step: what it adds to dq.
template <int kD, int kW>
ORDO_DEVICE void QueriesStep(const TiledArguments& arguments,
                             const Place& place,
                             const QueriesShared<kD, kW>& step,
                             float (&dq)[kD / 8][4]) {
  const int rows = device::ThreadId() / 32 * 16;
  const HeadOf of = {device::BlockZ(), device::BlockY()};
  float scores[kCudaTile / 8][4] = {};
  MultiplyRows<kCudaTile, kD>(step.q + rows * (kD + kGap), step.steps, scores);
  float changes[kCudaTile / 8][4] = {};
  MultiplyRows<kCudaTile, kW>(
      step.q + TileElements(kCudaTile, kD) + rows * (kW + kGap),
      step.steps + TileElements(kCudaTile, kD), changes);
  DifferentiateRows(MakeHook(arguments.call.problem, place, step.extras),
                    LoadRowSums(arguments, of, place.query), scores, changes);
  if (arguments.d_bias_parts != nullptr) {
    AddToBias(arguments, place, changes, step.changes);
  }
  uint32_t packed[kCudaTile / 16][4];
  Pack<kCudaTile>(changes, packed);
  MultiplyColumns<kCudaTile, kD>(packed, step.steps, dq);
}

// The gradients of 64 queries from `query` on.
template <int kD, int kW>
ORDO_DEVICE void DifferentiateQueries(const TiledArguments& arguments,
                                      const Head& head, int64_t query) {
  using Shared = QueriesShared<kD, kW>;
  const Call& call = arguments.call;
  const Problem& p = call.problem;
  const Shared shared = MakeQueriesShared<kD, kW>();
  const int64_t steps = (VisibleKeys(p, query) + kCudaTile - 1) / kCudaTile;
  LoadTile<kCudaTile, kD>(head.q, {query, p.queries}, shared.q);
  LoadTile<kCudaTile, kW>(
      Together(p, call.d_outputs + kMixed, head.of_query, false),
      {query, p.queries}, shared.q + TileElements(kCudaTile, kD));
  LoadKeys(arguments, head, {query, 0}, StepOf(shared, 0));
  float dq[kD / 8][4] = {};
  for (int64_t i = 0; i < steps; ++i) {
    if (Shared::kStages == 2 && i + 1 < steps) {
      LoadKeys(arguments, head, {query, (i + 1) * kCudaTile},
               StepOf(shared, i + 1));
      device::WaitForCopies<1>();
    } else {
      device::WaitForCopies<0>();
    }
    // All threads' copies of this step are there.
    device::SyncThreads();
    QueriesStep(arguments, {query, i * kCudaTile}, StepOf(shared, i), dq);
    // All have read this step before another takes its place.
    device::SyncThreads();
    if (Shared::kStages == 1 && i + 1 < steps) {
      LoadKeys(arguments, head, {query, (i + 1) * kCudaTile}, shared);
    }
  }
  const float factors[2] = {p.scale, p.scale};
  StoreRows<kD>(dq, factors,
                OneTensor(call.d_inputs[kQ], head.of_query, p.width),
                {query + device::ThreadId() / 32 * 16, p.queries});
}

template <int kD, int kW>
ORDO_KERNEL(kThreads)
TiledQueries(const TiledArguments arguments) {
  const Problem& p = arguments.call.problem;
  const HeadOf of = {device::BlockZ(), device::BlockY()};
  if (arguments.d_bias_parts != nullptr) {
    const int64_t part =
        (of.batch * p.heads + of.head) * arguments.parts + device::BlockX();
    float* const d_bias =
        arguments.d_bias_parts + part * arguments.spread_stride;
    // A barrier is before the first step that adds to it.
    for (int64_t i = device::ThreadId(); i < arguments.spread_stride;
         i += kThreads) {
      d_bias[i] = 0;
    }
  }
  const Head head = MakeHead(arguments.call, of);
  // One tile of queries, or where there are fewer blocks every so many-th.
  for (int64_t query = device::BlockX() * kCudaTile; query < p.queries;
       query += device::GridX() * kCudaTile) {
    DifferentiateQueries<kD, kW>(arguments, head, query);
  }
}

}  // namespace ordo::kernels::attention

#endif  // ORDO_KERNELS_ATTENTION_CUDA_TILED_QUERIES_H_
