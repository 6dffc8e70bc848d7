#ifndef ORDO_KERNELS_ATTENTION_CUDA_HOPPER_FORWARD_H_
#define ORDO_KERNELS_ATTENTION_CUDA_HOPPER_FORWARD_H_

#include "kernels/attention/cuda_hopper_body.h"
#include "kernels/attention/cuda_hopper_mod.h"
#include "kernels/attention/cuda_hopper_sight.h"

// Forward pass of cuda_hopper.cu: a block has 128 queries of a head, 64 for
// each of two groups, and goes through the keys that they see. A third group
// loads. While a group softens the weights of one step, the product of the step
// before runs (Shah et al. 2024, arXiv:2407.08608, section 3.2).
//
// Legend: D columns of q and k, W of all value tensors side by side.

namespace ordo::kernels::attention::ORDO_OF_TYPE {

template <int kD, int kW>
struct HopperForwardShape {
  static constexpr int kQueries = 128;
  // Weights take kKeys / 2 registers of a thread, what is mixed W / 2.
  static constexpr int kKeys = kW > 128 ? 64 : 128;
  static constexpr int kStages = 2;
  static constexpr int64_t kKeyBytes = BoxBytes(kKeys, kD);
  static constexpr int64_t kValueBytes = BoxBytes(kKeys, kW);
  static constexpr int64_t kQueryBytes = BoxBytes(kQueries, kD);
  using KeyFacts = SightFacts<kQueries, kKeys>;
  // Of q, and two for each stage of keys and of values.
  static constexpr int kBarriers = 1 + 4 * kStages;
  static constexpr int64_t kBytes =
      kTileAlignment + kQueryBytes + kStages * (kKeyBytes + kValueBytes) +
      kStages * sizeof(KeyFacts) + kBarriers * sizeof(uint64_t) +
      kReaders * kPiecesBytes;
  static_assert(kBytes <= kMaxBlockBytes);
};

template <int kD, int kW>
struct HopperForwardShared {
  using Shape = HopperForwardShape<kD, kW>;
  char* q;
  char* keys;
  char* values;
  // kPiecesBytes for each warp that computes.
  uint8_t* pieces;
  typename Shape::KeyFacts* facts;
  uint64_t* q_full;
  Ring of_keys;
  Ring of_values;
};

template <int kD, int kW>
ORDO_DEVICE HopperForwardShared<kD, kW> MakeHopperForwardShared() {
  using Shape = HopperForwardShape<kD, kW>;
  HopperForwardShared<kD, kW> shared;
  shared.q = AlignedShared();
  shared.keys = shared.q + Shape::kQueryBytes;
  shared.values = shared.keys + Shape::kStages * Shape::kKeyBytes;
  char* const tiles = shared.values + Shape::kStages * Shape::kValueBytes;
  shared.pieces = reinterpret_cast<uint8_t*>(tiles);
  char* const end = tiles + kReaders * kPiecesBytes;
  shared.q_full = reinterpret_cast<uint64_t*>(end);
  uint64_t* const rings = shared.q_full + 1;
  shared.of_keys = {rings, rings + Shape::kStages};
  shared.of_values = {rings + 2 * Shape::kStages, rings + 3 * Shape::kStages};
  shared.facts = reinterpret_cast<typename Shape::KeyFacts*>(
      end + Shape::kBarriers * sizeof(uint64_t));
  return shared;
}

// Through the keys that a block's queries need.
template <int kQueries, int kKeys>
ORDO_DEVICE Steps StepsOf(const TiledArguments& arguments, const HeadOf& of,
                          int64_t query) {
  const Problem& p = arguments.call.problem;
  const int64_t last =
      query + kQueries < p.queries ? query + kQueries : p.queries;
  const int64_t visible = p.causal ? p.keys - p.queries + last : p.keys;
  return {static_cast<int>(FirstNeeded(arguments, of, query) / kKeys),
          static_cast<int>((visible + kKeys - 1) / kKeys)};
}

// The group that loads: one thread begins copies, three warps bring what is
// known of keys and distances.
template <int kD, int kW>
ORDO_DEVICE void LoadForward(const HopperArguments& arguments, int64_t query,
                             const HopperForwardShared<kD, kW>& shared) {
  using Shape = HopperForwardShape<kD, kW>;
  const Call& call = arguments.tiled.call;
  const Problem& p = call.problem;
  const HeadOf of = {device::BlockZ(), device::BlockY()};
  const HeadOf of_key = {of.batch, of.head / (p.heads / p.key_heads)};
  const Steps steps =
      StepsOf<Shape::kQueries, Shape::kKeys>(arguments.tiled, of, query);
  const int thread = device::ThreadId() % kGroupThreads;
  if (thread == 0) {
    device::ArriveExpecting(shared.q_full, Shape::kQueryBytes);
    CopyRows<Shape::kQueries, kD>(arguments.maps[kBoxedQ],
                                  PlaceIn(of, query, 0),
                                  {shared.q, shared.q_full});
    ORDO_ROLLED
    for (int i = steps.first; i < steps.end; ++i) {
      const uint32_t pass = i - steps.first;
      const uint32_t stage = pass % Shape::kStages;
      WaitUntilEmpty<Shape::kStages>(shared.of_keys, pass);
      const Landing keys = {shared.keys + stage * Shape::kKeyBytes,
                            shared.of_keys.full + stage};
      device::ArriveExpecting(keys.full, Shape::kKeyBytes);
      CopyRows<Shape::kKeys, kD>(arguments.maps[kBoxedK],
                                 PlaceIn(of_key, i * Shape::kKeys, 0), keys);
      WaitUntilEmpty<Shape::kStages>(shared.of_values, pass);
      const Landing values = {shared.values + stage * Shape::kValueBytes,
                              shared.of_values.full + stage};
      device::ArriveExpecting(values.full, Shape::kValueBytes);
      CopySlots<Shape::kKeys, kW>(arguments, kBoxedValue,
                                  PlaceIn(of, i * Shape::kKeys, 0), values);
    }
  } else if (thread >= 32 && HasFacts(p)) {
    ORDO_ROLLED
    for (int i = steps.first; i < steps.end; ++i) {
      const uint32_t pass = i - steps.first;
      WaitUntilEmpty<Shape::kStages>(shared.of_keys, pass);
      LoadFacts(call, of, {query, int64_t{i} * Shape::kKeys},
                shared.facts + pass % Shape::kStages);
      device::Arrive(shared.of_keys.full + pass % Shape::kStages);
    }
  }
}

// What a lane knows of its two rows.
struct LaneSoftmax {
  float largest[2];
  // Of the lane's own columns.
  float sums[2];
};

// A step of the online softmax (Milakov and Gimelshein 2018, arXiv:1805.02867):
// products become weights; `factors` are what is mixed so far to be scaled by.
template <int kKeys>
ORDO_DEVICE void SoftenProducts(float scale, float (&scores)[kKeys / 8][4],
                                LaneSoftmax* softmax, float (&factors)[2]) {
  ORDO_UNROLL
  for (int half = 0; half < 2; ++half) {
    float largest = softmax->largest[half];
    ORDO_UNROLL
    for (int n = 0; n < kKeys / 8; ++n) {
      largest = fmaxf(largest, scores[n][2 * half]);
      largest = fmaxf(largest, scores[n][2 * half + 1]);
    }
    largest = LargestOfRow(largest);
    // Of a row that has seen no key so far, exp2 of -infinity less this is 0.
    const float base = largest == -INFINITY ? 0 : largest * scale;
    factors[half] = exp2f(softmax->largest[half] * scale - base);
    softmax->largest[half] = largest;
    float sum = softmax->sums[half] * factors[half];
    ORDO_UNROLL
    for (int n = 0; n < kKeys / 8; ++n) {
      ORDO_UNROLL
      for (int e = 2 * half; e < 2 * half + 2; ++e) {
        scores[n][e] = exp2f(fmaf(scores[n][e], scale, -base));
        sum += scores[n][e];
      }
    }
    softmax->sums[half] = sum;
  }
}

// The lane's first row in its group's.
ORDO_DEVICE int RowOfLane() {
  const int thread = device::ThreadId() % kGroupThreads;
  return thread / 32 * 16 + thread % 32 / 4;
}

// One of the groups that compute.
template <int kD, int kW, DistanceNumber kNumber>
struct HopperForwardGroup {
  using Shape = HopperForwardShape<kD, kW>;
  static constexpr int kKeys = Shape::kKeys;

  const HopperArguments& arguments;
  HopperForwardShared<kD, kW> shared;
  // Of the group's first row: in its tile, and of the head.
  int row;
  int64_t query;
  Sight sight;
  // Of products; where numbers of distances have made them logits, that which
  // makes those logits of base 2.
  float scale;
  int first_step;
  BandLane band;
  // r of the lane's two queries, and of all of the warp's.
  float mod_queries[2];
  Bounds mod_bounds;

  // Begins the products of the queries with the keys of a pass.
  ORDO_DEVICE void BeginScores(uint32_t pass, float (&scores)[kKeys / 8][4]) {
    WaitUntilFull<Shape::kStages>(shared.of_keys, pass);
    device::Pin(scores);
    device::BeginProducts();
    BeginRowsProduct<Shape::kQueries, kKeys, kD>(
        shared.q + row * kTileRowBytes,
        shared.keys + pass % Shape::kStages * Shape::kKeyBytes, scores);
    device::CommitProducts();
  }

  ORDO_DEVICE void BeginMixed(uint32_t pass, uint32_t (&weights)[kKeys / 16][4],
                              float (&mixed)[kW / 8][4]) {
    WaitUntilFull<Shape::kStages>(shared.of_values, pass);
    device::Pin(weights);
    device::Pin(mixed);
    device::BeginProducts();
    BeginColumnsProduct<kKeys, kW>(
        weights, shared.values + pass % Shape::kStages * Shape::kValueBytes,
        true, mixed);
    device::CommitProducts();
  }

  // Products with the keys from `first_key` on become logits of base 2, by
  // terms of vectors of distances.
  ORDO_DEVICE void AddTerms(int64_t first_key, float (&scores)[kKeys / 8][4]) {
    const Problem& p = arguments.tiled.call.problem;
    if (!IsNearby<64, kKeys>(p, {query, first_key})) {
      AddFarTerms<kKeys>(p.scale * kLog2E, band, scores);
      return;
    }
    AddNearTerms<kKeys>(arguments, band, first_key, scores);
  }

  // Of a score mod, before all passes.
  ORDO_DEVICE void LoadModQueries() {
    const int64_t first = query + RowOfLane();
    ORDO_UNROLL
    for (int half = 0; half < 2; ++half) {
      mod_queries[half] =
          ModQueryOf(arguments.tiled.call, device::BlockZ(), first + 8 * half);
    }
    mod_bounds = {fminf(mod_queries[0], mod_queries[1]),
                  fmaxf(mod_queries[0], mod_queries[1])};
    ORDO_UNROLL
    for (int mask = 4; mask < 32; mask *= 2) {
      mod_bounds.least =
          fminf(mod_bounds.least, device::ShuffleXor(mod_bounds.least, mask));
      mod_bounds.largest = fmaxf(mod_bounds.largest,
                                 device::ShuffleXor(mod_bounds.largest, mask));
    }
  }

  ORDO_DEVICE uint8_t* Pieces() {
    return shared.pieces + ComputingWarp() * kPiecesBytes;
  }

  // Those of the warp's blocks in a pass, whose facts are there. All lanes have
  // released the pass before.
  ORDO_DEVICE void FindPieces(uint32_t pass) {
    const int block = device::ThreadId() % 32 / 2;
    if (block < kKeys / 8) {
      // Distances fall by 16 from warp to warp.
      const int first =
          block + (Shape::kQueries - 16) / 8 - 2 * ComputingWarp();
      StorePiece(
          ModOfHead(arguments.tiled.call, device::BlockY()),
          BoundsOfThree(shared.facts[pass % Shape::kStages].bounds, first),
          mod_bounds, Pieces());
    }
    device::SyncWarp();
  }

  // Products of a pass, which have ended, become weights.
  ORDO_DEVICE void Soften(uint32_t pass, float (&scores)[kKeys / 8][4],
                          LaneSoftmax* softmax, float (&factors)[2]) {
    const Problem& p = arguments.tiled.call.problem;
    const auto& facts = shared.facts[pass % Shape::kStages];
    const bool has_facts = HasFacts(p);
    if (!has_facts) Release<Shape::kStages>(shared.of_keys, pass);
    const int64_t first_key = (first_step + static_cast<int64_t>(pass)) * kKeys;
    if constexpr (kNumber == kBandNumber) {
      AddTerms(first_key, scores);
    } else if constexpr (kNumber == kModNumber) {
      AddMod<PairsOfRows, kKeys / 8>(
          {ModOfHead(arguments.tiled.call, device::BlockY()),
           LoadPieces<kKeys / 8>(Pieces())},
          MakePairsOfRows(facts, row + RowOfLane(), mod_queries), p.scale,
          scores);
    } else if constexpr (kNumber != kNoNumber) {
      ApplyNumbers(PairLogitOf<kNumber>(p), row + RowOfLane(), facts, scores);
    }
    const bool whole =
        !p.padded && !p.bounded && first_key + kKeys <= p.keys &&
        (!p.causal || first_key + kKeys - 1 <= p.keys - p.queries + query);
    if (!whole) {
      HideKeys<kKeys>(sight, first_key, p.padded ? facts.hidden : nullptr,
                      scores);
    }
    if (has_facts) Release<Shape::kStages>(shared.of_keys, pass);
    SoftenProducts<kKeys>(scale, scores, softmax, factors);
  }

  // Writes the group's rows and their lse. What is mixed is summed up over the
  // lanes that share a row.
  ORDO_DEVICE void Finish(const LaneSoftmax& softmax,
                          const float (&mixed)[kW / 8][4]) {
    const Call& call = arguments.tiled.call;
    const Problem& p = call.problem;
    const HeadOf of = {device::BlockZ(), device::BlockY()};
    const int lane = device::ThreadId() % 32;
    const int64_t first = query + device::ThreadId() % kGroupThreads / 32 * 16;
    float factors[2];
    ORDO_UNROLL
    for (int half = 0; half < 2; ++half) {
      const float sum = SumOfRow(softmax.sums[half]);
      // 0: the query sees no key. What is not a number stays so.
      factors[half] = sum == 0 ? 0 : 1 / sum;
      const int64_t token = first + lane / 4 + 8 * half;
      if (lane % 4 != 0 || token >= p.queries) continue;
      call.lse_BHT[(of.batch * p.heads + of.head) * p.queries + token] =
          sum == 0 ? INFINITY
                   : kLn2 * (softmax.largest[half] * scale) + logf(sum);
    }
    StoreRows<kW>(mixed, factors,
                  ToSlots<kW>(arguments, call.outputs + kMixed, of, false),
                  {first, p.queries});
  }
};

template <int kD, int kW, DistanceNumber kNumber>
ORDO_DEVICE void ComputeForward(const HopperArguments& arguments, int64_t query,
                                const HopperForwardShared<kD, kW>& shared) {
  using Shape = HopperForwardShape<kD, kW>;
  constexpr int kKeys = Shape::kKeys;
  const Call& call = arguments.tiled.call;
  const HeadOf of = {device::BlockZ(), device::BlockY()};
  const int row = (device::GroupId() - 1) * 64;
  const int lane_row = row + RowOfLane();
  const float of_logits = kNumber == kModNumber ? kLog2E : 1;
  const float scale =
      kNumber == kNoNumber ? call.problem.scale * kLog2E : of_logits;
  const Steps steps =
      StepsOf<Shape::kQueries, kKeys>(arguments.tiled, of, query);
  HopperForwardGroup<kD, kW, kNumber> group = {
      arguments,
      shared,
      row,
      query + row,
      SightOf(call, of, query + lane_row),
      scale,
      steps.first,
      {},
      {},
      {}};
  if constexpr (kNumber == kBandNumber) {
    group.band = BandLaneOf(arguments, of, query + lane_row);
  }
  if constexpr (kNumber == kModNumber) group.LoadModQueries();
  float mixed[kW / 8][4] = {};
  float scores[kKeys / 8][4] = {};
  uint32_t weights[kKeys / 16][4];
  float factors[2];
  LaneSoftmax softmax = {{-INFINITY, -INFINITY}, {0, 0}};
  device::WaitForPhase(shared.q_full, 0);
  group.BeginScores(0, scores);
  if constexpr (kNumber == kModNumber) group.FindPieces(0);
  device::WaitForProducts<0>();
  device::Pin(scores);
  group.Soften(0, scores, &softmax, factors);
  Pack<kKeys>(scores, weights);
  const uint32_t passes = steps.end - steps.first;
  for (uint32_t pass = 1; pass < passes; ++pass) {
    group.BeginScores(pass, scores);
    group.BeginMixed(pass - 1, weights, mixed);
    if constexpr (kNumber == kModNumber) group.FindPieces(pass);
    device::WaitForProducts<1>();
    device::Pin(scores);
    group.Soften(pass, scores, &softmax, factors);
    device::WaitForProducts<0>();
    device::Pin(mixed);
    Release<Shape::kStages>(shared.of_values, pass - 1);
    ORDO_UNROLL
    for (int n = 0; n < kW / 8; ++n) {
      ORDO_UNROLL
      for (int e = 0; e < 4; ++e) mixed[n][e] *= factors[e / 2];
    }
    Pack<kKeys>(scores, weights);
  }
  group.BeginMixed(passes - 1, weights, mixed);
  device::WaitForProducts<0>();
  device::Pin(mixed);
  group.Finish(softmax, mixed);
}

template <int kD, int kW, DistanceNumber kNumber>
ORDO_KERNEL_ALONE(kHopperThreads)
HopperForward(const ORDO_GRID_CONSTANT HopperArguments arguments) {
  using Shape = HopperForwardShape<kD, kW>;
  // The last queries see most keys: their blocks begin first.
  const int64_t query =
      (device::GridX() - 1 - device::BlockX()) * Shape::kQueries;
  const HopperForwardShared<kD, kW> shared = MakeHopperForwardShared<kD, kW>();
  if (device::ThreadId() == 0) {
    const int facts = HasFacts(arguments.tiled.call.problem) ? kFactThreads : 0;
    device::BeginBarrier(shared.q_full, 1);
    BeginRing<Shape::kStages>(shared.of_keys, 1 + facts, kReaders);
    BeginRing<Shape::kStages>(shared.of_values, 1, kReaders);
    device::PublishBarriers();
  }
  device::SyncThreads();
  if (device::GroupId() == 0) {
    device::KeepRegisters<40>();
    LoadForward<kD, kW>(arguments, query, shared);
  } else {
    device::TakeRegisters<232>();
    ComputeForward<kD, kW, kNumber>(arguments, query, shared);
  }
}

}  // namespace ordo::kernels::attention::ORDO_OF_TYPE

#endif  // ORDO_KERNELS_ATTENTION_CUDA_HOPPER_FORWARD_H_
