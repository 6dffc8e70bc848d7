#ifndef ORDO_KERNELS_ATTENTION_CUDA_TILED_KEYS_H_
#define ORDO_KERNELS_ATTENTION_CUDA_TILED_KEYS_H_

#include "kernels/attention/cuda_tiled_bands.h"
#include "kernels/attention/cuda_tiled_body.h"
#include "kernels/attention/cuda_tiled_summed.h"

// The gradients of keys and values: a block has 64 keys of a head of keys, each
// warp 16 of them, and goes through the queries that see them, of all heads
// that share the keys. Products are turned: a fragment has keys as its rows, so
// that weights and gradients of logits are left sides of products at once.
//
// Legend: D columns of q and k, W of all value tensors side by side, R queries
// of a step.

namespace ordo::kernels::attention::ORDO_OF_TYPE {

template <int kD, int kW>
struct KeysShared {
  // Gradients take (D + W) / 2 registers of a thread, a step R; there are 255.
  static constexpr int kRows = kD + kW > 256 ? 32 : 64;
  static constexpr int64_t kFixed =
      TileElements(kCudaTile, kD) + TileElements(kCudaTile, kW);
  static constexpr int64_t kStep =
      TileElements(kRows, kD) + TileElements(kRows, kW);
  static constexpr int kStages = Stages(kFixed, kStep);
  static constexpr int64_t kBytes =
      2 * (kFixed + kStages * kStep) + kStages * sizeof(Extras);

  uint16_t* keys;
  uint16_t* steps;
  Extras* extras;

  static constexpr int64_t kValuesAt = TileElements(kCudaTile, kD);
  static constexpr int64_t kMixedAt = TileElements(kRows, kD);
};

template <int kD, int kW>
ORDO_DEVICE KeysShared<kD, kW> MakeKeysShared() {
  using Shared = KeysShared<kD, kW>;
  Shared shared;
  shared.keys = reinterpret_cast<uint16_t*>(device::SharedMemory());
  shared.steps = shared.keys + Shared::kFixed;
  shared.extras =
      reinterpret_cast<Extras*>(shared.steps + Shared::kStages * Shared::kStep);
  return shared;
}

template <int kD, int kW>
ORDO_DEVICE KeysShared<kD, kW> StepOf(const KeysShared<kD, kW>& shared,
                                      int64_t i) {
  using Shared = KeysShared<kD, kW>;
  const int64_t stage = i % Shared::kStages;
  return {shared.keys, shared.steps + stage * Shared::kStep,
          shared.extras + stage};
}

template <int kD, int kW>
ORDO_DEVICE void LoadQueries(const TiledArguments& arguments, const Head& head,
                             const Place& place, const KeysShared<kD, kW>& to) {
  using Shared = KeysShared<kD, kW>;
  const Call& call = arguments.call;
  const Problem& p = call.problem;
  const HeadOf& of = head.of_query;
  LoadTile<Shared::kRows, kD>(head.q, {place.query, p.queries}, to.steps);
  LoadTile<Shared::kRows, kW>(Together(p, call.d_outputs + kMixed, of, false),
                              {place.query, p.queries},
                              to.steps + Shared::kMixedAt);
  LoadExtras(arguments, of, place, to.extras);
  const int i = device::ThreadId();
  if (i < Shared::kRows) {
    const int64_t token = place.query + i;
    const int64_t at = (of.batch * p.heads + of.head) * p.queries + token;
    const bool real = token < p.queries;
    to.extras->lse[i] = real ? call.lse_BHT[at] * kLog2E : INFINITY;
    to.extras->delta[i] = real ? arguments.delta_BHT[at] : 0;
  }
  device::CommitCopies();
}

// Products k.q become weights, gradients of the weights those of the scaled
// products.
template <int kRows, bool kTerms>
ORDO_DEVICE void DifferentiateColumns(const Hook<kTerms>& hook,
                                      float (&scores)[kRows / 8][4],
                                      float (&changes)[kRows / 8][4]) {
  const int lane = device::ThreadId() % 32;
  const int first = device::ThreadId() / 32 * 16 + lane / 4;
  ORDO_UNROLL
  for (int n = 0; n < kRows / 8; ++n) {
    ORDO_UNROLL
    for (int e = 0; e < 4; ++e) {
      const int query = 8 * n + lane % 4 * 2 + e % 2;
      const int key = first + e / 2 * 8;
      const float product = scores[n][e];
      scores[n][e] =
          exp2f(Logit(hook, product, query, key) - hook.extras->lse[query]);
      changes[n][e] = scores[n][e] *
                      (changes[n][e] - hook.extras->delta[query]) *
                      ProductFactor(hook, product, query, key);
    }
  }
}

// What a block sums up over its steps.
template <int kD, int kW, Terms kTerms>
struct KeysSums {
  float dk[kD / 8][4];
  // Of y.
  float d_band[kTerms == kVectors ? kD / 8 : 1][4];
  float d_values[kW / 8][4];
};

// One step: what it adds to the gradients of keys and values.
template <int kD, int kW, Terms kTerms>
ORDO_DEVICE void KeysStep(const Hook<kTerms != kNoTerms>& hook,
                          const KeysShared<kD, kW>& step, const BandStep& band,
                          KeysSums<kD, kW, kTerms>* sums) {
  using Shared = KeysShared<kD, kW>;
  constexpr int kRows = Shared::kRows;
  const int rows = device::ThreadId() / 32 * 16;
  float scores[kRows / 8][4] = {};
  MultiplyRows<kRows, kD>(step.keys + rows * (kD + kGap), step.steps, scores);
  if constexpr (kTerms == kVectors) AddBands<kD, true, kRows>(band, scores);
  float changes[kRows / 8][4] = {};
  MultiplyRows<kRows, kW>(step.keys + Shared::kValuesAt + rows * (kW + kGap),
                          step.steps + Shared::kMixedAt, changes);
  if constexpr (kTerms == kVectors) AddSummed<true, kRows>(band, changes);
  DifferentiateColumns<kRows, kTerms != kNoTerms>(hook, scores, changes);
  uint32_t packed[kRows / 16][4];
  Pack<kRows>(scores, packed);
  MultiplyColumns<kRows, kW>(packed, step.steps + Shared::kMixedAt,
                             sums->d_values);
  Pack<kRows>(changes, packed);
  MultiplyColumns<kRows, kD>(packed, step.steps, sums->dk);
  if constexpr (kTerms == kVectors) {
    DifferentiateKeyBand<kD, kRows>(band, changes, sums->d_band);
  }
}

// Adds what flows back through the queries of one head, which have the tile of
// keys from begin.key on among their near keys, or among their far ones.
template <int kD, int kW, Terms kTerms>
ORDO_DEVICE void DifferentiateHead(const TiledArguments& arguments,
                                   const Place& begin, int64_t head_number,
                                   KeysSums<kD, kW, kTerms>* sums) {
  using Shared = KeysShared<kD, kW>;
  constexpr int64_t kRows = Shared::kRows;
  const Call& call = arguments.call;
  const Problem& p = call.problem;
  const HeadOf of = {device::BlockZ(), head_number};
  const Head head = MakeHead(call, of, begin.far);
  const Shared shared = MakeKeysShared<kD, kW>();
  const Tiles rows = RowsOfQueries<kRows>(arguments, of, begin.key, begin.far);
  const int64_t steps =
      rows.end > rows.begin ? (rows.end - rows.begin + kRows - 1) / kRows : 0;
  // Nothing may be on its way when the next head's tiles are loaded.
  if (steps == 0) return;
  const auto place = [&](int64_t i) {
    return Place{rows.begin + i * kRows, begin.key, begin.far};
  };
  LoadTile<kCudaTile, kD>(head.k, {begin.key, p.keys}, shared.keys);
  LoadTile<kCudaTile, kW>(head.values, {begin.key, p.keys},
                          shared.keys + Shared::kValuesAt);
  LoadQueries(arguments, head, place(0), StepOf(shared, 0));
  for (int64_t i = 0; i < steps; ++i) {
    if (Shared::kStages == 2 && i + 1 < steps) {
      LoadQueries(arguments, head, place(i + 1), StepOf(shared, i + 1));
      device::WaitForCopies<1>();
    } else {
      device::WaitForCopies<0>();
    }
    // All threads' copies of this step are there.
    device::SyncThreads();
    const Shared step = StepOf(shared, i);
    KeysStep<kD, kW, kTerms>(
        MakeHook<kTerms != kNoTerms>(call, of.head, place(i), step.extras),
        step, MakeBandStep<kD>(arguments, of, place(i)), sums);
    // All have read this step before another takes its place.
    device::SyncThreads();
    if (Shared::kStages == 1 && i + 1 < steps) {
      LoadQueries(arguments, head, place(i + 1), shared);
    }
  }
}

// Writes the gradients of the value tensors that have a head for each head of
// the queries, or of the others, and begins those anew.
template <int kW>
ORDO_DEVICE void StoreValues(const Call& call, const HeadOf& of, bool own,
                             float (&d_values)[kW / 8][4]) {
  const Problem& p = call.problem;
  Columns to = Together(p, call.d_inputs + kValue, of, true);
  Columns begun = to;
  ORDO_UNROLL
  for (int v = 0; v < kMaxValues; ++v) {
    if (v >= p.num_values || (p.values[v].heads == p.heads) != own) {
      to.parts[v].data = nullptr;
      begun.parts[v].end = begun.parts[v].begin;
    }
  }
  const float factors[2] = {1, 1};
  StoreRows<kW>(
      d_values, factors, to,
      {device::BlockX() * kCudaTile + device::ThreadId() / 32 * 16, p.keys});
  ORDO_UNROLL
  for (int n = 0; n < kW / 8; ++n) {
    const Part part = PartAt(begun, 8 * n);
    if (part.end == 0) continue;
    ORDO_UNROLL
    for (int e = 0; e < 4; ++e) d_values[n][e] = 0;
  }
}

template <int kD, int kW, Terms kTerms>
ORDO_KERNEL(kThreads)
TiledKeys(const TiledArguments arguments) {
  const Call& call = arguments.call;
  const Problem& p = call.problem;
  const int64_t group = p.heads / p.key_heads;
  const int64_t first_head = device::BlockY() * group;
  const int64_t key = device::BlockX() * kCudaTile;
  const HeadOf of_key = {device::BlockZ(), device::BlockY()};
  const float factors[2] = {p.scale, p.scale};
  const Tokens tokens = {key + device::ThreadId() / 32 * 16, p.keys};
  KeysSums<kD, kW, kTerms> sums = {};
  for (int far = p.far_from > 0 ? 1 : 0; far >= 0; --far) {
    for (int64_t head = first_head; head < first_head + group; ++head) {
      DifferentiateHead<kD, kW, kTerms>(arguments, {0, key, far == 1}, head,
                                        &sums);
      // Near keys come last: then the head's values have all they get.
      if (far == 0) {
        StoreValues<kW>(call, {device::BlockZ(), head}, true, sums.d_values);
      }
    }
    StoreRows<kD>(
        sums.dk, factors,
        OneTensor(call.d_inputs[far == 1 ? kFarK : kK], of_key, p.width),
        tokens);
    Clear(sums.dk);
  }
  if constexpr (kTerms == kVectors) {
    StoreRows<kD>(sums.d_band, factors,
                  OneTensor(call.d_inputs[kKeyBand], of_key, p.key_band),
                  tokens);
  }
  StoreValues<kW>(call, {device::BlockZ(), first_head}, false, sums.d_values);
}

}  // namespace ordo::kernels::attention::ORDO_OF_TYPE

#endif  // ORDO_KERNELS_ATTENTION_CUDA_TILED_KEYS_H_
