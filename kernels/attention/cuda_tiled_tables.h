#ifndef ORDO_KERNELS_ATTENTION_CUDA_TILED_TABLES_H_
#define ORDO_KERNELS_ATTENTION_CUDA_TILED_TABLES_H_

#include <cstdint>

#include "kernels/attention/cuda_tiled_hook.h"
#include "kernels/attention/cuda_tiled_ids.h"

// The gradients of tables, from those of the logits, in the kernel of the
// queries. Nothing is added by two threads, and all sums have one order.
//
// Legend: a fragment x[n][e] as in cuda_tile.h.

namespace ordo::kernels::attention {

// Of a lane: its queries' row of the tile, and its keys of it.
struct LanePlace {
  int row;
  int column;
};

ORDO_DEVICE LanePlace PlaceOfLane() {
  const int thread = device::ThreadId();
  return {thread / 32 * 16 + thread % 32 / 4, thread % 4 * 2};
}

// Of a query and a key: their product and the gradient of their logit.
struct Pair {
  float product;
  float change;
  int query;
  int key;
};

// Their term of the gradient of a table at their distance.
template <bool kTerms>
ORDO_DEVICE float TableTerm(const Hook<kTerms>& hook, TableSums table,
                            const Pair& pair) {
  if constexpr (kTerms) {
    if (table == kMultiplierSums) {
      const float logit = pair.product * hook.scale;
      return pair.change * kLn2 * (hook.rectified ? Rectified(logit) : logit);
    }
    if (table == kModSums) {
      return pair.change *
             DistanceGradient(hook.mod, AtMod(hook, {pair.query, pair.key}));
    }
  }
  return pair.change;
}

// Products of a step and the gradients of its logits.
struct Step {
  const float (&products)[kCudaTile / 8][4];
  const float (&changes)[kCudaTile / 8][4];
  Place place;
  // kTermsElements of the block.
  float* terms;
};

// Adds a step's terms to the block's part of a table's gradient, each distance
// in the order of the queries.
template <bool kTerms>
ORDO_DEVICE void AddToTable(const TiledArguments& arguments,
                            const Hook<kTerms>& hook, TableSums table,
                            const Step& step) {
  const LanePlace lane = PlaceOfLane();
  ORDO_UNROLL
  for (int n = 0; n < kCudaTile / 8; ++n) {
    ORDO_UNROLL
    for (int e = 0; e < 4; ++e) {
      const int query = lane.row + e / 2 * 8;
      const int key = 8 * n + lane.column + e % 2;
      step.terms[query * kTermsPitch + key] = TableTerm(
          hook, table, {step.products[n][e], step.changes[n][e], query, key});
    }
  }
  const Problem& p = arguments.call.problem;
  if constexpr (kTerms) {
    if (p.positioned) {
      AddById(arguments, *hook.extras, table, step.terms);
      return;
    }
  }
  // A distance has terms of all warps.
  device::SyncThreads();
  const int thread = device::ThreadId();
  const int64_t at = SpreadBase(p, step.place) + thread;
  // Thread i has the distance i - (kCudaTile - 1) of a key from a query.
  const int distance = thread - (kCudaTile - 1);
  if (distance < kCudaTile && at >= 0 && at < arguments.spread_length) {
    const int begin = distance < 0 ? -distance : 0;
    const int end = distance < 0 ? kCudaTile : kCudaTile - distance;
    float sum = 0;
    for (int row = begin; row < end; ++row) {
      sum += step.terms[row * kTermsPitch + row + distance];
    }
    const int64_t part =
        (device::BlockZ() * p.heads + device::BlockY()) * arguments.parts +
        device::BlockX();
    // In another step another thread has this element: the barrier below, and
    // that at the step's end, lie between.
    arguments.d_parts[table][part * arguments.spread_stride + at] += sum;
  }
  // The next table's terms take the place of these.
  device::SyncThreads();
}

// A thread's own sum for a parameter of the score mod, in shared memory.
ORDO_DEVICE float* ThetaSum(float* theta, int i) {
  return theta + i * kThreads + device::ThreadId();
}

// The other gradients of a score mod: of r, to the lane's two rows, and of
// theta.
template <typename Mod>
ORDO_DEVICE void AddToModOf(const Hook<true>& hook, const Step& step,
                            float* theta, float (&rows)[2]) {
  const LanePlace lane = PlaceOfLane();
  for (int n = 0; n < kCudaTile / 8; ++n) {
    ORDO_UNROLL
    for (int e = 0; e < 4; ++e) {
      const float change = step.changes[n][e];
      const int query = lane.row + e / 2 * 8;
      const int key = 8 * n + lane.column + e % 2;
      const ModAt at = AtMod(hook, {query, key});
      const ModGradient<float, Mod::kParameters> gradient =
          GradientOf<Mod>(hook.mod, at);
      rows[e / 2] += change * gradient.r;
      ORDO_UNROLL
      for (int i = 0; i < Mod::kParameters; ++i) {
        *ThetaSum(theta, i * hook.mod.pieces + at.piece) +=
            change * gradient.theta[i];
      }
    }
  }
}

ORDO_DEVICE void AddToMod(const Hook<true>& hook, const Step& step,
                          float* theta, float (&rows)[2]) {
  WithMod(hook.mod.mod,
          [&](auto of) { AddToModOf<decltype(of)>(hook, step, theta, rows); });
}

// Begins the block's sums.
ORDO_DEVICE void BeginTables(const TiledArguments& arguments, float* theta) {
  const Problem& p = arguments.call.problem;
  const int thread = device::ThreadId();
  const int64_t part =
      (device::BlockZ() * p.heads + device::BlockY()) * arguments.parts +
      device::BlockX();
  for (int table = 0; table < kNumTableSums; ++table) {
    float* const sums = arguments.d_parts[table];
    // A barrier is before the first step that adds to them.
    for (int64_t i = thread; sums != nullptr && i < arguments.spread_stride;
         i += kThreads) {
      sums[part * arguments.spread_stride + i] = 0;
    }
  }
  if (arguments.d_theta == nullptr) return;
  for (int i = 0; i < static_cast<int>(ParametersOf(p)); ++i) {
    *ThetaSum(theta, i) = 0;
  }
}

// Writes the block's sums for theta.
ORDO_DEVICE void EndTheta(const TiledArguments& arguments, const float* theta) {
  if (arguments.d_theta == nullptr) return;
  // All threads' sums are there.
  device::SyncThreads();
  const Problem& p = arguments.call.problem;
  const int64_t part =
      (device::BlockZ() * p.heads + device::BlockY()) * arguments.parts +
      device::BlockX();
  const int64_t parameters = ParametersOf(p);
  for (int64_t i = device::ThreadId(); i < parameters; i += kThreads) {
    float sum = 0;
    for (int thread = 0; thread < kThreads; ++thread) {
      sum += theta[i * kThreads + thread];
    }
    arguments.d_theta[part * parameters + i] = sum;
  }
}

}  // namespace ordo::kernels::attention

#endif  // ORDO_KERNELS_ATTENTION_CUDA_TILED_TABLES_H_
