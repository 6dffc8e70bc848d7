#ifndef ORDO_KERNELS_ATTENTION_CUDA_COUNTED_FORWARD_H_
#define ORDO_KERNELS_ATTENTION_CUDA_COUNTED_FORWARD_H_

#include "kernels/attention/cuda_counted_body.h"
#include "kernels/attention/cuda_tiled_forward.h"

// Forward pass of cuda_counted.cu: a block has 64 queries of a head, each warp
// 16 of them, and goes through the keys that they see from the last tile to the
// first.
//
// Legend: D columns of q and k, and of all value tensors side by side.

namespace ordo::kernels::attention::ORDO_OF_TYPE {

template <int kD>
struct CountedShared {
  static constexpr int64_t kTile = TileElements(kCudaTile, kD);
  // With gates of their own.
  static constexpr int kStages = Stages(2 * kTile, 3 * kTile);

  // Gates of their own take a tile more.
  static constexpr int64_t Fixed(bool own) { return own ? 2 * kTile : kTile; }
  static constexpr int64_t Step(bool own) { return Fixed(own) + kTile; }
  static constexpr int64_t Bytes(bool own) {
    return 2 * (Fixed(own) + kStages * Step(own)) + kStages * sizeof(Extras) +
           4 * sizeof(float);
  }

  uint16_t* q;
  uint16_t* gate_q;
  uint16_t* k;
  uint16_t* values;
  uint16_t* gate_k;
  Extras* extras;
  float* flags;
};

// Where step i is.
template <int kD>
ORDO_DEVICE CountedShared<kD> MakeCountedShared(bool own, int64_t i) {
  using Shared = CountedShared<kD>;
  const int64_t stage = i % Shared::kStages;
  Shared shared;
  shared.q = reinterpret_cast<uint16_t*>(device::SharedMemory());
  shared.gate_q = shared.q + Shared::kTile;
  uint16_t* const steps = shared.q + Shared::Fixed(own);
  shared.k = steps + stage * Shared::Step(own);
  shared.values = shared.k + Shared::kTile;
  shared.gate_k = shared.values + Shared::kTile;
  auto* const extras =
      reinterpret_cast<Extras*>(steps + Shared::kStages * Shared::Step(own));
  shared.extras = extras + stage;
  shared.flags = reinterpret_cast<float*>(extras + Shared::kStages);
  return shared;
}

// Begins to load a step; without what gates are of if they are not needed.
template <int kD>
ORDO_DEVICE void LoadCounted(const CountedArguments& arguments,
                             const Head& head, const Place& place,
                             bool with_gates) {
  const Call& call = arguments.tiled.call;
  const bool own = call.problem.gates == Gates::kOwn;
  const Tokens tokens = {place.key, call.problem.keys};
  const auto to = MakeCountedShared<kD>(own, place.key / kCudaTile);
  LoadTile<kCudaTile, kD>(head.k, tokens, to.k);
  LoadTile<kCudaTile, kD>(head.values, tokens, to.values);
  if (own && with_gates) {
    LoadTile<kCudaTile, kD>(ColumnsOf(call, kGateK, head.of_key), tokens,
                            to.gate_k);
  }
  LoadExtras(arguments.tiled, head.of_query, place, to.extras);
  device::CommitCopies();
}

// Products become logits without z.
ORDO_DEVICE void FindLogits(const Hook<false>& hook,
                            float (&scores)[kCudaTile / 8][4]) {
  const LanePlace lane = PlaceOfLane();
  ORDO_UNROLL
  for (int n = 0; n < kCudaTile / 8; ++n) {
    ORDO_UNROLL
    for (int e = 0; e < 4; ++e) {
      scores[n][e] = Logit(hook, scores[n][e], lane.row + e / 2 * 8,
                           8 * n + lane.column + e % 2);
    }
  }
}

// What a lane knows of its two rows.
struct CountedRows {
  Term terms[2];
  Counter counters[2];
};

// Adds z to logits, in base 2. `products`: what gates are of.
ORDO_DEVICE void AddTerms(const Hook<false>& hook,
                          const float (&products)[kCudaTile / 8][4],
                          CountedRows* rows,
                          float (&logits)[kCudaTile / 8][4]) {
  ORDO_UNROLL
  for (int half = 0; half < 2; ++half) {
    HalfRow gates;
    OpenGates(hook, half, {products, logits}, gates);
    HalfCounts counts;
    const int whole = Count(gates, &rows->counters[half], counts);
    ORDO_UNROLL
    for (int n = 0; n < kCudaTile / 8; ++n) {
      ORDO_UNROLL
      for (int e = 0; e < 2; ++e) {
        logits[n][2 * half + e] +=
            Find(rows->terms[half], whole, counts[n][e]).value * kLog2E;
      }
    }
  }
}

// The same where z no longer changes.
ORDO_DEVICE void AddLastTerms(const CountedRows& rows,
                              float (&logits)[kCudaTile / 8][4]) {
  ORDO_UNROLL
  for (int half = 0; half < 2; ++half) {
    const float last = LastOf(rows.terms[half]) * kLog2E;
    ORDO_UNROLL
    for (int n = 0; n < kCudaTile / 8; ++n) {
      logits[n][2 * half] += last;
      logits[n][2 * half + 1] += last;
    }
  }
}

// What a block sums up.
template <int kD>
struct CountedMix {
  CountedRows rows;
  OnlineSoftmax softmax;
  float mixed[kD / 8][4];
};

// A step: from products of queries and keys to what is mixed.
template <int kD>
ORDO_DEVICE void CountedStep(const Hook<false>& hook, const CountedKind& kind,
                             const CountedShared<kD>& step,
                             CountedMix<kD>* mix) {
  const int at = device::ThreadId() / 32 * 16 * (kD + kGap);
  float scores[kCudaTile / 8][4] = {};
  MultiplyRows<kCudaTile, kD>(step.q + at, step.k, scores);
  if (kind.ended) {
    FindLogits(hook, scores);
    AddLastTerms(mix->rows, scores);
  } else {
    float products[kCudaTile / 8][4] = {};
    if (kind.own) {
      MultiplyRows<kCudaTile, kD>(step.gate_q + at, step.gate_k, products);
    } else {
      Copy(scores, products);
    }
    FindLogits(hook, scores);
    AddTerms(hook, products, &mix->rows, scores);
  }
  const auto logit_of = [](float score, int /*query*/, int /*key*/) {
    return score;
  };
  Soften<kD>(logit_of, scores, &mix->softmax, mix->mixed);
  uint32_t weights[kCudaTile / 16][4];
  Pack<kCudaTile>(scores, weights);
  MultiplyColumns<kCudaTile, kD>(weights, step.values, mix->mixed);
}

// Goes through the keys that the tile of queries from `query` on sees.
template <int kD>
ORDO_DEVICE void MixCounted(const CountedArguments& arguments, int64_t query,
                            CountedMix<kD>* mix) {
  using Shared = CountedShared<kD>;
  const Call& call = arguments.tiled.call;
  const Problem& p = call.problem;
  const bool own = p.gates == Gates::kOwn;
  const HeadOf of = {device::BlockZ(), device::BlockY()};
  const Head head = MakeHead(call, of, false);
  const Tiles tiles = TilesOfKeys(arguments.tiled, of, query, false);
  if (tiles.begin >= tiles.end) return;
  const Shared fixed = MakeCountedShared<kD>(own, 0);
  const Tokens tokens = {query, p.queries};
  LoadTile<kCudaTile, kD>(head.q, tokens, fixed.q);
  if (own) {
    LoadTile<kCudaTile, kD>(ColumnsOf(call, kGateQ, of), tokens, fixed.gate_q);
  }
  CountedRows& rows = mix->rows;
  MakeTerms(call, of, query, rows.terms);
  bool ended = false;
  LoadCounted<kD>(arguments, head, {query, (tiles.end - 1) * kCudaTile}, true);
  for (int64_t i = tiles.end - 1; i >= tiles.begin; --i) {
    const Place place = {query, i * kCudaTile};
    const Place next = {query, (i - 1) * kCudaTile};
    if (Shared::kStages == 2 && i > tiles.begin) {
      LoadCounted<kD>(arguments, head, next, !ended);
      device::WaitForCopies<1>();
    } else {
      device::WaitForCopies<0>();
    }
    // All threads' copies of this step are there.
    device::SyncThreads();
    const Shared step = MakeCountedShared<kD>(own, i);
    CountedStep<kD>(MakeHook<false>(call, of.head, place, step.extras),
                    {own, ended}, step, mix);
    if (!ended) {
      SayEnded(rows.terms, rows.counters, p.queries - query, step.flags);
    }
    // All have read this step before another takes its place.
    device::SyncThreads();
    ended = ended || HaveEnded(step.flags);
    if (Shared::kStages == 1 && i > tiles.begin) {
      LoadCounted<kD>(arguments, head, next, !ended);
    }
  }
}

template <int kD>
ORDO_KERNEL(kThreads)
CountedForward(const CountedArguments arguments) {
  // The last queries see most keys: their blocks begin first.
  const int64_t query = (device::GridX() - 1 - device::BlockX()) * kCudaTile;
  CountedMix<kD> mix = {{}, {{-INFINITY, -INFINITY}, {0, 0}}, {}};
  MixCounted(arguments, query, &mix);
  FinishForward<kD>(arguments.tiled.call, query, mix.softmax, mix.mixed);
}

}  // namespace ordo::kernels::attention::ORDO_OF_TYPE

#endif  // ORDO_KERNELS_ATTENTION_CUDA_COUNTED_FORWARD_H_
