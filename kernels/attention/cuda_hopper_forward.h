#ifndef ORDO_KERNELS_ATTENTION_CUDA_HOPPER_FORWARD_H_
#define ORDO_KERNELS_ATTENTION_CUDA_HOPPER_FORWARD_H_

#include "kernels/attention/cuda_hopper_forward_load.h"
#include "kernels/attention/cuda_hopper_mod.h"

// Forward pass of cuda_hopper.cu: a block has 128 queries of a head, 64 for
// each of two groups, and goes through the keys that they see. A third group
// loads. While a group softens the weights of one step, the product of the step
// before runs (Shah et al. 2024, arXiv:2407.08608, section 3.2).
//
// Legend: D columns of q and k, W of all value tensors side by side.

namespace ordo::kernels::attention::ORDO_OF_TYPE {

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
  using Shape = HopperForwardShape<kD, kW, kNumber>;
  static constexpr int kKeys = Shape::kKeys;

  const HopperArguments& arguments;
  HopperForwardShared<Shape> shared;
  // Of the group's first row: in its tile, and of the head.
  int row;
  int64_t query;
  Sight sight;
  // Of products; where numbers of distances have made them logits, that which
  // makes those logits of base 2.
  float scale;
  Passes<Shape::kHasFar> passes;
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
        shared.q + (passes.IsFar(pass) ? Shape::kQueryBytes : 0) +
            row * kTileRowBytes,
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

  // Whether every query of the group sees every key of a pass.
  ORDO_DEVICE bool IsWhole(bool far, int64_t first_key) const {
    const Problem& p = arguments.tiled.call.problem;
    int64_t own = p.keys - p.queries + query;
    if constexpr (Shape::kHasFar) {
      if (!far && first_key <= own + 63 - p.far_from) return false;
      if (far) own -= p.far_from;
    }
    return !p.padded && !p.bounded && first_key + kKeys <= p.keys &&
           (!p.causal || first_key + kKeys - 1 <= own);
  }

  // Products of a pass, which have ended, become weights.
  ORDO_DEVICE void Soften(uint32_t pass, float (&scores)[kKeys / 8][4],
                          LaneSoftmax* softmax, float (&factors)[2]) {
    const Problem& p = arguments.tiled.call.problem;
    const auto& facts = shared.facts[pass % Shape::kStages];
    const bool has_facts = HasFacts(p);
    if (!has_facts) Release<Shape::kStages>(shared.of_keys, pass);
    const bool far = passes.IsFar(pass);
    const int64_t first_key = int64_t{passes.TileOf(pass)} * kKeys;
    if constexpr (kNumber == kBandNumber) {
      AddTerms(first_key, scores);
    } else if constexpr (kNumber == kModNumber) {
      AddMod<PairsOfRows, kKeys / 8>(
          {ModOfHead(arguments.tiled.call, device::BlockY()),
           LoadPieces<kKeys / 8>(Pieces())},
          MakePairsOfRows(facts, row + RowOfLane(), mod_queries), p.scale,
          scores);
    } else if constexpr (kNumber != kNoNumber && !Shape::kHasFar) {
      ApplyNumbers(PairLogitOf<kNumber>(p), row + RowOfLane(), facts, scores);
    }
    if (!IsWhole(far, first_key)) {
      const Sight seen = Shape::kHasFar
                             ? SightAmong(p, query + RowOfLane(), far, sight)
                             : sight;
      HideKeys<kKeys>(seen, first_key, p.padded ? facts.hidden : nullptr,
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

template <int kD, int kW, DistanceNumber kNumber, typename Shape>
ORDO_DEVICE void ComputeForward(const HopperArguments& arguments, int64_t query,
                                const HopperForwardShared<Shape>& shared) {
  constexpr int kKeys = Shape::kKeys;
  const Call& call = arguments.tiled.call;
  const HeadOf of = {device::BlockZ(), device::BlockY()};
  const int row = (device::GroupId() - 1) * 64;
  const int lane_row = row + RowOfLane();
  const float of_logits = kNumber == kModNumber ? kLog2E : 1;
  const float scale = kNumber == kNoNumber || Shape::kHasFar
                          ? call.problem.scale * kLog2E
                          : of_logits;
  HopperForwardGroup<kD, kW, kNumber> group = {
      arguments,
      shared,
      row,
      query + row,
      SightOf(call, of, query + lane_row),
      scale,
      PassesOf<Shape>(arguments.tiled, of, query),
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
  const uint32_t passes = group.passes.count();
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
  using Shape = HopperForwardShape<kD, kW, kNumber>;
  // The last queries see most keys: their blocks begin first.
  const int64_t query =
      (device::GridX() - 1 - device::BlockX()) * Shape::kQueries;
  const HopperForwardShared<Shape> shared = MakeHopperForwardShared<Shape>();
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
