#ifndef ORDO_KERNELS_ATTENTION_CUDA_TILED_FORWARD_H_
#define ORDO_KERNELS_ATTENTION_CUDA_TILED_FORWARD_H_

#include "kernels/attention/cuda_tiled_bands.h"
#include "kernels/attention/cuda_tiled_body.h"

// Forward pass of cuda_tiled.cu: a block has 64 queries of a head, each warp 16
// of them, and goes through the keys that they see, 64 a step.
//
// Legend: D columns of q and k, W of all value tensors side by side.

namespace ordo::kernels::attention::ORDO_OF_TYPE {

template <int kD, int kW>
struct ForwardShared {
  static constexpr int64_t kStep =
      TileElements(kCudaTile, kD) + TileElements(kCudaTile, kW);
  static constexpr int64_t kFixed = TileElements(kCudaTile, kD);
  static constexpr int kStages = Stages(kFixed, kStep);
  static constexpr int64_t kBytes =
      2 * (kFixed + kStages * kStep) + kStages * sizeof(Extras);

  uint16_t* q;
  uint16_t* steps;
  Extras* extras;
};

template <int kD, int kW>
ORDO_DEVICE ForwardShared<kD, kW> MakeForwardShared() {
  using Shared = ForwardShared<kD, kW>;
  Shared shared;
  shared.q = reinterpret_cast<uint16_t*>(device::SharedMemory());
  shared.steps = shared.q + Shared::kFixed;
  shared.extras =
      reinterpret_cast<Extras*>(shared.steps + Shared::kStages * Shared::kStep);
  return shared;
}

// Begins to load step i.
template <int kD, int kW>
ORDO_DEVICE void LoadKeys(const TiledArguments& arguments, const Head& head,
                          const Place& place, const ForwardShared<kD, kW>& to) {
  const int64_t keys = arguments.call.problem.keys;
  LoadTile<kCudaTile, kD>(head.k, {place.key, keys}, to.steps);
  LoadTile<kCudaTile, kW>(head.values, {place.key, keys},
                          to.steps + TileElements(kCudaTile, kD));
  LoadExtras(arguments, head.of_query, place, to.extras);
  device::CommitCopies();
}

// Where step i of the stages is.
template <int kD, int kW>
ORDO_DEVICE ForwardShared<kD, kW> StepOf(const ForwardShared<kD, kW>& shared,
                                         int64_t i) {
  using Shared = ForwardShared<kD, kW>;
  const int64_t stage = i % Shared::kStages;
  return {shared.q, shared.steps + stage * Shared::kStep,
          shared.extras + stage};
}

// What a lane knows of its two rows.
struct OnlineSoftmax {
  float largest[2];
  // Of the lane's own columns.
  float sums[2];
};

// A step of the online softmax (Milakov and Gimelshein 2018, arXiv:1805.02867):
// scores become weights, and what is mixed so far is scaled to the new maximum.
// Logits are logit_of(score, query, key), which count in their tiles.
template <int kW, typename LogitOf>
ORDO_DEVICE void Soften(const LogitOf& logit_of,
                        float (&scores)[kCudaTile / 8][4],
                        OnlineSoftmax* softmax, float (&mixed)[kW / 8][4]) {
  const int lane = device::ThreadId() % 32;
  const int first = device::ThreadId() / 32 * 16 + lane / 4;
  ORDO_UNROLL
  for (int half = 0; half < 2; ++half) {
    float largest = softmax->largest[half];
    ORDO_UNROLL
    for (int n = 0; n < kCudaTile / 8; ++n) {
      ORDO_UNROLL
      for (int e = 0; e < 2; ++e) {
        float& score = scores[n][2 * half + e];
        score = logit_of(score, first + 8 * half, 8 * n + lane % 4 * 2 + e);
        largest = fmaxf(largest, score);
      }
    }
    largest = LargestOfRow(largest);
    // Of a row that has seen no key so far, exp2 of -infinity less this is 0.
    const float base = largest == -INFINITY ? 0 : largest;
    const float factor = exp2f(softmax->largest[half] - base);
    softmax->largest[half] = largest;
    float sum = softmax->sums[half] * factor;
    ORDO_UNROLL
    for (int n = 0; n < kCudaTile / 8; ++n) {
      ORDO_UNROLL
      for (int e = 0; e < 2; ++e) {
        float& score = scores[n][2 * half + e];
        score = exp2f(score - base);
        sum += score;
      }
    }
    softmax->sums[half] = sum;
    ORDO_UNROLL
    for (int n = 0; n < kW / 8; ++n) {
      mixed[n][2 * half] *= factor;
      mixed[n][2 * half + 1] *= factor;
    }
  }
}

template <int kW>
ORDO_DEVICE void FinishForward(const Call& call, int64_t query,
                               const OnlineSoftmax& softmax,
                               const float (&mixed)[kW / 8][4]) {
  const Problem& p = call.problem;
  const HeadOf of = {device::BlockZ(), device::BlockY()};
  const int lane = device::ThreadId() % 32;
  const int64_t first = query + device::ThreadId() / 32 * 16;
  float factors[2];
  ORDO_UNROLL
  for (int half = 0; half < 2; ++half) {
    const float sum = SumOfRow(softmax.sums[half]);
    // 0: the query sees no key. What is not a number stays so.
    factors[half] = sum == 0 ? 0 : 1 / sum;
    const int64_t token = first + lane / 4 + 8 * half;
    if (lane % 4 != 0 || token >= p.queries) continue;
    call.lse_BHT[(of.batch * p.heads + of.head) * p.queries + token] =
        sum == 0 ? INFINITY : kLn2 * softmax.largest[half] + logf(sum);
  }
  StoreRows<kW>(mixed, factors, Together(p, call.outputs + kMixed, of, false),
                {first, p.queries});
}

// Goes through the keys that the tile of queries from `query` on sees, near
// ones or far ones.
template <int kD, int kW, Terms kTerms>
ORDO_DEVICE void MixKeys(const TiledArguments& arguments, const Place& begin,
                         OnlineSoftmax* softmax, float (&mixed)[kW / 8][4]) {
  using Shared = ForwardShared<kD, kW>;
  constexpr bool kHooked = kTerms != kNoTerms;
  const Call& call = arguments.call;
  const HeadOf of = {device::BlockZ(), device::BlockY()};
  const Head head = MakeHead(call, of, begin.far);
  const Shared shared = MakeForwardShared<kD, kW>();
  const uint16_t* const q =
      shared.q + device::ThreadId() / 32 * 16 * (kD + kGap);
  const Tiles tiles = TilesOfKeys(arguments, of, begin.query, begin.far);
  // Nothing may be on its way when the near keys' tiles are loaded.
  if (tiles.begin >= tiles.end) return;
  const auto place = [&](int64_t i) {
    return Place{begin.query, i * kCudaTile, begin.far};
  };
  LoadTile<kCudaTile, kD>(head.q, {begin.query, call.problem.queries},
                          shared.q);
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
    const Shared step = StepOf(shared, i);
    float scores[kCudaTile / 8][4] = {};
    MultiplyRows<kCudaTile, kD>(q, step.steps, scores);
    if constexpr (kTerms == kVectors) {
      AddBands<kD, false, kCudaTile>(MakeBandStep<kD>(arguments, of, place(i)),
                                     scores);
    }
    const Hook<kHooked> hook =
        MakeHook<kHooked>(call, of.head, place(i), step.extras);
    const auto logit_of = [&](float product, int query, int key) {
      return Logit(hook, product, query, key);
    };
    Soften<kW>(logit_of, scores, softmax, mixed);
    uint32_t weights[kCudaTile / 16][4];
    Pack<kCudaTile>(scores, weights);
    MultiplyColumns<kCudaTile, kW>(
        weights, step.steps + TileElements(kCudaTile, kD), mixed);
    // All have read this step before another takes its place.
    device::SyncThreads();
    if (Shared::kStages == 1 && i + 1 < tiles.end) {
      LoadKeys(arguments, head, place(i + 1), shared);
    }
  }
}

template <int kD, int kW, Terms kTerms>
ORDO_KERNEL(kThreads)
TiledForward(const TiledArguments arguments) {
  // The last queries see most keys: their blocks begin first.
  const int64_t query = (device::GridX() - 1 - device::BlockX()) * kCudaTile;
  float mixed[kW / 8][4] = {};
  OnlineSoftmax softmax = {{-INFINITY, -INFINITY}, {0, 0}};
  for (int far = arguments.call.problem.far_from > 0 ? 1 : 0; far >= 0; --far) {
    MixKeys<kD, kW, kTerms>(arguments, {query, 0, far == 1}, &softmax, mixed);
  }
  FinishForward<kW>(arguments.call, query, softmax, mixed);
}

}  // namespace ordo::kernels::attention::ORDO_OF_TYPE

#endif  // ORDO_KERNELS_ATTENTION_CUDA_TILED_FORWARD_H_
