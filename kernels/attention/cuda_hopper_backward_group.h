#ifndef ORDO_KERNELS_ATTENTION_CUDA_HOPPER_BACKWARD_GROUP_H_
#define ORDO_KERNELS_ATTENTION_CUDA_HOPPER_BACKWARD_GROUP_H_

#include "kernels/attention/cuda_hopper_backward_load.h"
#include "kernels/attention/cuda_hopper_multiplied.h"

// What a group of the backward pass of cuda_hopper.cu does with a step: 64 keys
// and 64 queries.
//
// Legend: D columns of q and k, W of all value tensors side by side.

namespace ordo::kernels::attention::ORDO_OF_TYPE {

// One of the groups that compute.
template <int kD, int kW, DistanceNumber kNumber, GradientsOf kPart>
struct HopperBackwardGroup {
  using Shape = HopperBackwardShape<kD, kW, kPart>;
  static constexpr int kKeys = Shape::kKeys;
  static constexpr int kRows = Shape::kRows;
  // Whether a thread has registers for products that M multiplies and weights.
  static constexpr bool kKeeps = kD + kW <= 128;

  // The lane's pairs of a step: products with the queries, then weights (or
  // beside M the products still, and weights in `kept` if kKeeps); and their
  // gradients.
  struct Pairs {
    float scores[kRows / 8][4];
    float changes[kRows / 8][4];
    float kept[kRows / 8][4];
    MultipliedPairs multiplied;
  };

  const HopperArguments& arguments;
  HopperBackwardShared<Shape> shared;
  // Of the group's first row in the tile of keys, and of the lane's first.
  int row;
  int lane_row;
  KeySight sight;

  // Whether every query of a step sees every key of the group.
  ORDO_DEVICE bool IsWhole(const Place& place) {
    const Problem& p = arguments.tiled.call.problem;
    const int64_t key = place.key + row;
    return !p.padded && !p.bounded && key + 64 <= p.keys &&
           (!p.causal || key + 63 <= LastKey(place)) && !HasFarPairs(place);
  }

  // The last key that the first query of a step sees.
  ORDO_DEVICE int64_t LastKey(const Place& place) {
    const Problem& p = arguments.tiled.call.problem;
    const int64_t own = p.keys - p.queries + place.query;
    return kNumber == kFarPair && place.far ? own - p.far_from : own;
  }

  // Whether near pairs of a step are some of all.
  ORDO_DEVICE bool HasFarPairs(const Place& place) {
    const Problem& p = arguments.tiled.call.problem;
    return kNumber == kFarPair && !place.far &&
           place.key + row <= LastKey(place) + kRows - 1 - p.far_from;
  }

  ORDO_DEVICE QueryTile QueriesOf(const Place& place,
                                  const typename Shape::Facts& facts) {
    const Problem& p = arguments.tiled.call.problem;
    return {static_cast<int>(LastKey(place)), p.bounded ? facts.first : nullptr,
            lane_row};
  }

  // Whether pairs of a step are nearer than the farthest distance of vectors.
  ORDO_DEVICE bool IsNear(const Place& place) {
    return IsNearby<kRows, kKeys>(arguments.tiled.call.problem, place);
  }

  // Products with the queries of a step become weights.
  ORDO_DEVICE void Weigh(const HeadOf& of, const Place& place,
                         const typename Shape::Facts& facts,
                         float (&scores)[kRows / 8][4]) {
    float scale = arguments.tiled.call.problem.scale * kLog2E;
    if constexpr (kNumber == kBiasNumber) {
      AddTurnedBias<kRows>(scale, lane_row, facts, scores);
      scale = 1;
    }
    if constexpr (kNumber == kBandNumber) {
      if (IsNear(place)) {
        AddTurnedTerms<kRows>(arguments, of,
                              {place.query, place.key + lane_row}, scores);
        scale = 1;
      }
    }
    if constexpr (kNumber == kModNumber) scale = kLog2E;
    if (!IsWhole(place)) {
      HideQueries<kRows>(sight, QueriesOf(place, facts), scores);
    }
    if (HasFarPairs(place)) {
      HideFarQueries<kRows>(
          sight, QueriesOf(place, facts),
          static_cast<int>(arguments.tiled.call.problem.far_from), scores);
    }
    const float* const lse = facts.lse + device::ThreadId() % 4 * 2;
    ORDO_UNROLL
    for (int n = 0; n < kRows / 8; ++n) {
      ORDO_UNROLL
      for (int e = 0; e < 4; ++e) {
        scores[n][e] = exp2f(fmaf(scores[n][e], scale, -lse[8 * n + e % 2]));
      }
    }
  }

  // Of a step, for a score mod: finds the pieces of the warp's blocks. All
  // lanes have released the step before.
  ORDO_DEVICE void FindPieces(const BackwardPlace& at,
                              const typename Shape::Facts& facts) {
    const int block = device::ThreadId() % 32 / 2;
    if (block < kRows / 8) {
      // Distances grow by 16 from warp to warp, and fall with the queries.
      const int first = 2 * ComputingWarp() + kRows / 8 - 1 - block;
      StorePiece(ModOfHead(arguments.tiled.call, at.of.head),
                 BoundsOfThree(facts.bounds, first),
                 facts.query_bounds.group[block],
                 shared.mod->pieces[ComputingWarp()]);
    }
    device::SyncWarp();
  }

  ORDO_DEVICE StepMod<kRows / 8> ModOfStep(const BackwardPlace& at) {
    return {ModOfHead(arguments.tiled.call, at.of.head),
            LoadPieces<kRows / 8>(shared.mod->pieces[ComputingWarp()])};
  }

  // Gradients of the weights become those of the logits.
  ORDO_DEVICE void Differentiate(const typename Shape::Facts& facts,
                                 const float (&weights)[kRows / 8][4],
                                 float (&changes)[kRows / 8][4]) {
    const float* const delta = facts.delta + device::ThreadId() % 4 * 2;
    ORDO_UNROLL
    for (int n = 0; n < kRows / 8; ++n) {
      ORDO_UNROLL
      for (int e = 0; e < 4; ++e) {
        changes[n][e] = weights[n][e] * (changes[n][e] - delta[8 * n + e % 2]);
      }
    }
  }

  // Writes gradients of logits where the products of the queries read them.
  ORDO_DEVICE void ShareChanges(uint32_t pass,
                                const uint32_t (&packed)[kRows / 16][4]) {
    // The pass before the last has read this tile: who did it has shared the
    // last pass' changes since, and the other has waited for those.
    const int lane = device::ThreadId() % 32;
    char* const tile = shared.changes + pass % 2 * Shape::kChangeBytes +
                       lane_row * kTileRowBytes + lane % 4 * 4;
    ORDO_UNROLL
    for (int n = 0; n < kRows / 8; ++n) {
      const int piece = (n ^ lane / 4) * 16;
      ORDO_UNROLL
      for (int half = 0; half < 2; ++half) {
        *reinterpret_cast<uint32_t*>(tile + 8 * half * kTileRowBytes + piece) =
            packed[n / 2][n % 2 * 2 + half];
      }
    }
    device::PublishToProducts();
    device::SyncWarp();
    if (lane == 0) device::Arrive(shared.of_changes.full + pass % 2);
  }

  // Adds kTileColumns columns of a step's gradients of the queries, from
  // `column` on, to their sums. `head`: HeadNumber.
  ORDO_DEVICE void AddQueries(int64_t head, int64_t query, int column,
                              const float (&dq)[kTileColumns / 8][4]) {
    const Problem& p = arguments.tiled.call.problem;
    const int thread = device::ThreadId() % kGroupThreads;
    const int lane = thread % 32;
    ORDO_UNROLL
    for (int half = 0; half < 2; ++half) {
      const int64_t token = query + thread / 32 * 16 + lane / 4 + 8 * half;
      if (token >= p.queries) continue;
      float* const sums =
          arguments.dq_BHTD + (head * p.queries + token) * p.width;
      ORDO_UNROLL
      for (int n = 0; n < kTileColumns / 8; ++n) {
        const int at = column + 8 * n + lane % 4 * 2;
        if (at >= p.width) continue;
        device::AddPair(sums + at, dq[n][2 * half], dq[n][2 * half + 1]);
      }
    }
  }

  // The gradients of a step's queries, by the group whose turn it is.
  ORDO_DEVICE void DifferentiateQueries(const BackwardPlace& at, uint32_t pass,
                                        const Place& place) {
    const Call& call = arguments.tiled.call;
    const Problem& p = call.problem;
    const char* const changes = shared.changes + pass % 2 * Shape::kChangeBytes;
    const int64_t query = place.query;
    const int64_t head = HeadNumber(p, at.of, place.far);
    const int64_t tiles = (p.queries + kRows - 1) / kRows;
    int* const turns = arguments.turns + head * tiles + query / kRows;
    const int64_t end =
        TilesOfKeys<kRows, kKeys>(arguments.tiled, at.of, query, place.far).end;
    WaitUntilFull<2>(shared.of_changes, pass);
    // As many columns at a time as there are registers for.
    ORDO_UNROLL
    for (int column = 0; column < kD; column += kTileColumns) {
      float dq[kTileColumns / 8][4];
      device::BeginProducts();
      ORDO_UNROLL
      for (int k = 0; k < kKeys; k += 16) {
        device::MultiplyTiles<Element, kTileColumns, true, true>(
            AlongColumns(changes + k * kTileRowBytes, 0),
            AlongColumns(
                shared.keys + BoxBytes(kKeys, column) + k * kTileRowBytes, 0),
            k != 0, dq);
      }
      device::CommitProducts();
      device::WaitForProducts<0>();
      device::Pin(dq);
      if (column == 0) {
        if (device::ThreadId() % kGroupThreads == 0) {
          device::WaitForTurn(turns, static_cast<int>(end - 1 - at.tile));
        }
        SyncGroup();
      }
      AddQueries(head, query, column, dq);
    }
    if constexpr (kNumber == kModNumber) {
      float* const sums = arguments.tiled.d_rows;
      if (sums != nullptr) {
        AddModQueries(*shared.mod, pass % 2, p.queries - query,
                      sums + head * p.queries + query);
      }
    }
    SyncGroup();
    if (device::ThreadId() % kGroupThreads == 0) device::EndTurn(turns);
  }

  ORDO_DEVICE MultipliedPairs MultipliedOf(const Place& place,
                                           const typename Shape::Facts& facts) {
    const bool whole = IsWhole(place);
    return {TurnedNumbers(facts, lane_row),
            facts.lse,
            facts.delta,
            LeastProduct(arguments.tiled.call.problem),
            whole,
            whole ? 0 : HiddenQueries<kRows>(sight, QueriesOf(place, facts))};
  }

  // Products of a step, which have ended, become weights, and those the left
  // side of the product of the values' gradients.
  ORDO_DEVICE void MakeWeights(const BackwardPlace& at, const Place& place,
                               Pairs* pairs,
                               uint32_t (&weights)[kRows / 16][4]) {
    const auto& facts = shared.facts[(at.before + at.step) % Shape::kStages];
    if constexpr (kNumber == kMultiplierNumber) {
      pairs->multiplied = MultipliedOf(place, facts);
      WeighMultiplied<kRows, kKeeps>(pairs->multiplied, pairs->scores,
                                     pairs->kept, weights);
    } else {
      Weigh(at.of, place, facts, pairs->scores);
      Pack<kRows>(pairs->scores, weights);
    }
  }

  // What the gradients of a step's weights, which have ended, add to those of
  // keys, queries and the table.
  ORDO_DEVICE void DifferentiateLogits(const BackwardPlace& at,
                                       const Place& place, Pairs* pairs,
                                       float (&dk)[kD / 8][4]) {
    const uint32_t pass = at.before + at.step;
    const uint32_t stage = pass % Shape::kStages;
    device::Pin(pairs->changes);
    if constexpr (kNumber == kMultiplierNumber) {
      DifferentiateMultiplied<kRows, kKeeps>(pairs->multiplied, pairs->kept,
                                             pairs->scores, pairs->changes);
    } else {
      Differentiate(shared.facts[stage], pairs->scores, pairs->changes);
    }
    uint32_t packed[kRows / 16][4];
    Pack<kRows>(pairs->changes, packed);
    device::Pin(packed);
    device::Pin(dk);
    device::BeginProducts();
    BeginColumnsProduct<kRows, kD>(
        packed, shared.steps + stage * Shape::kStepBytes, true, dk);
    device::CommitProducts();
    if constexpr (kNumber == kModNumber) {
      DifferentiateMod(ModOfStep(at),
                       MakePairsOfColumns(shared.facts[stage], lane_row),
                       {shared.mod->rows[pass % 2][ComputingWarp()],
                        shared.mod->theta[ComputingWarp()]},
                       pairs->changes);
    }
    ShareChanges(pass, packed);
    if constexpr (kNumber == kBiasNumber || kNumber == kModNumber) {
      AddToTable(at, place, pairs->changes);
    }
    if constexpr (kNumber == kMultiplierNumber) {
      AddToTable(at, place, pairs->scores);
    }
    if constexpr (kNumber == kBandNumber) {
      if (arguments.band_changes_BHTL != nullptr && IsNear(place)) {
        StoreNearChanges<kRows>(arguments, at.of,
                                {place.query, place.key + lane_row},
                                pairs->changes);
      }
    }
    if (static_cast<int>(pass % 2) == row / 64)
      DifferentiateQueries(at, pass, place);
    // The product reads them up to here.
    device::WaitForProducts<0>();
    device::Pin(dk);
  }

  // What a step adds to the gradients of keys and values.
  ORDO_DEVICE void Step(const BackwardPlace& at, const Place& place,
                        float (&dk)[kD / 8][4], float (&d_values)[kW / 8][4]) {
    constexpr bool kLogits = kPart != kOfValues, kValues = kPart != kOfLogits;
    const uint32_t pass = at.before + at.step;
    const uint32_t stage = pass % Shape::kStages;
    const char* const q = shared.steps + stage * Shape::kStepBytes;
    const char* const mixed = q + Shape::kQueryBytes;
    const char* const keys = shared.keys + row * kTileRowBytes;
    WaitUntilFull<Shape::kStages>(shared.of_steps, pass);
    Pairs pairs;
    device::BeginProducts();
    BeginRowsProduct<kKeys, kRows, kD>(keys, q, pairs.scores);
    device::CommitProducts();
    if constexpr (kLogits) {
      BeginRowsProduct<kKeys, kRows, kW>(keys + Shape::kKeyBytes, mixed,
                                         pairs.changes);
      device::CommitProducts();
    }
    if constexpr (kNumber == kModNumber) FindPieces(at, shared.facts[stage]);
    device::WaitForProducts<(kLogits ? 1 : 0)>();
    device::Pin(pairs.scores);
    if constexpr (kNumber == kModNumber) {
      AddMod(ModOfStep(at), MakePairsOfColumns(shared.facts[stage], lane_row),
             arguments.tiled.call.problem.scale, pairs.scores);
    }
    uint32_t weights[kRows / 16][4];
    MakeWeights(at, place, &pairs, weights);
    if constexpr (kValues) {
      device::Pin(weights);
      device::Pin(d_values);
      device::BeginProducts();
      BeginColumnsProduct<kRows, kW>(weights, mixed, true, d_values);
      device::CommitProducts();
    }
    if constexpr (kLogits) {
      // Registers of the weights are wanted back where they are few.
      device::WaitForProducts<(kValues && kD + kW <= 192 ? 1 : 0)>();
      DifferentiateLogits(at, place, &pairs, dk);
    } else {
      device::WaitForProducts<0>();
    }
    if constexpr (kValues) device::Pin(d_values);
    Release<Shape::kStages>(shared.of_steps, pass);
  }

  // The group's part of the gradients of tables.
  ORDO_DEVICE int64_t PartOf(const BackwardPlace& at) {
    const TiledArguments& tiled = arguments.tiled;
    const Problem& p = tiled.call.problem;
    return (at.of.batch * p.heads + at.of.head) * tiled.parts +
           2 * at.block->x + row / 64;
  }

  // Adds a step's addends to the gradient of the table.
  ORDO_DEVICE void AddToTable(const BackwardPlace& at, const Place& place,
                              const float (&addends)[kRows / 8][4]) {
    constexpr bool kMultiplied = kNumber == kMultiplierNumber;
    const TiledArguments& tiled = arguments.tiled;
    const Problem& p = tiled.call.problem;
    float* const parts = tiled.d_parts[SumsOf(kNumber)];
    if (parts == nullptr) return;
    const int64_t token = p.keys - p.queries + place.query;
    AddDiagonals(
        addends,
        {parts + PartOf(at) * tiled.spread_stride, tiled.spread_length,
         place.key + row - token + p.keys - 1, kMultiplied ? p.scale : 1},
        shared.terms + row / 64);
  }

  // Of the gradients of tables: before the first head.
  ORDO_DEVICE void BeginTables() {
    constexpr bool kHasTable = kNumber == kBiasNumber ||
                               kNumber == kMultiplierNumber ||
                               kNumber == kModNumber;
    if constexpr (kHasTable) {
      BeginDiagonals(shared.terms + row / 64);
    }
    if constexpr (kNumber == kModNumber) {
      BeginTheta(shared.mod->theta[ComputingWarp()]);
    }
  }

  // For a score mod: after each head's steps.
  ORDO_DEVICE void EndTheta(const BackwardPlace& at) {
    const TiledArguments& tiled = arguments.tiled;
    if (tiled.d_theta == nullptr) return;
    const auto parameters = static_cast<int>(ParametersOf(tiled.call.problem));
    attention::EndTheta({tiled.d_theta + PartOf(at) * parameters, parameters,
                         row / 64 * (kGroupThreads / 32)},
                        shared.mod);
  }
};

}  // namespace ordo::kernels::attention::ORDO_OF_TYPE

#endif  // ORDO_KERNELS_ATTENTION_CUDA_HOPPER_BACKWARD_GROUP_H_
