#ifndef ORDO_KERNELS_ATTENTION_CUDA_HOPPER_BACKWARD_H_
#define ORDO_KERNELS_ATTENTION_CUDA_HOPPER_BACKWARD_H_

#include "kernels/attention/cuda_hopper_backward_load.h"
#include "kernels/attention/cuda_hopper_multiplied.h"

// Backward pass of cuda_hopper.cu: a block has 128 keys of a head of keys, 64
// for each of two groups, and goes through the queries that see them, 64 a
// step, of all heads that share the keys. Products are turned: a fragment has
// keys as its rows, so that weights and gradients of logits are left sides of
// products at once.
//
// Gradients of logits go through shared memory into those of the queries, which
// the groups compute in turns, each of whole steps, and add to fp32 sums in
// global memory; blocks do so in the order of their keys, so that reruns agree
// bit for bit. They wait for those that began earlier;
// with a table a block's second tile also waits for blocks behind it, of which
// so few are started that all are there at once.
//
// Legend: D columns of q and k, W of all value tensors side by side.

namespace ordo::kernels::attention::ORDO_OF_TYPE {

// One of the groups that compute.
template <int kD, int kW, DistanceNumber kNumber>
struct HopperBackwardGroup {
  using Shape = HopperBackwardShape<kD, kW>;
  static constexpr int kKeys = Shape::kKeys;
  static constexpr int kRows = Shape::kRows;

  const HopperArguments& arguments;
  HopperBackwardShared<kD, kW> shared;
  // Of the group's first row in the tile of keys, and of the lane's first.
  int row;
  int lane_row;
  KeySight sight;

  // Whether every query of a step sees every key of the group.
  ORDO_DEVICE bool IsWhole(const Place& place) {
    const Problem& p = arguments.tiled.call.problem;
    const int64_t key = place.key + row;
    return !p.padded && !p.bounded && key + 64 <= p.keys &&
           (!p.causal || key + 63 <= p.keys - p.queries + place.query);
  }

  ORDO_DEVICE QueryTile QueriesOf(const Place& place,
                                  const typename Shape::Facts& facts) {
    const Problem& p = arguments.tiled.call.problem;
    return {static_cast<int>(p.keys - p.queries + place.query),
            p.bounded ? facts.first : nullptr, lane_row};
  }

  // Products with the queries of a step become weights.
  ORDO_DEVICE void Weigh(const Place& place, const typename Shape::Facts& facts,
                         float (&scores)[kRows / 8][4]) {
    float scale = arguments.tiled.call.problem.scale * kLog2E;
    if constexpr (kNumber == kBiasNumber) {
      AddTurnedBias<kRows, kKeys>(scale, lane_row, facts, scores);
      scale = 1;
    }
    if (!IsWhole(place)) {
      HideQueries<kRows>(sight, QueriesOf(place, facts), scores);
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
  // `column` on, to their sums.
  ORDO_DEVICE void AddQueries(const HeadOf& of, int64_t query, int column,
                              const float (&dq)[kTileColumns / 8][4]) {
    const Problem& p = arguments.tiled.call.problem;
    const int thread = device::ThreadId() % kGroupThreads;
    const int lane = thread % 32;
    ORDO_UNROLL
    for (int half = 0; half < 2; ++half) {
      const int64_t token = query + thread / 32 * 16 + lane / 4 + 8 * half;
      if (token >= p.queries) continue;
      float* const sums =
          arguments.dq_BHTD +
          ((of.batch * p.heads + of.head) * p.queries + token) * p.width;
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
                                        int64_t query) {
    const Call& call = arguments.tiled.call;
    const Problem& p = call.problem;
    const char* const changes = shared.changes + pass % 2 * Shape::kChangeBytes;
    const int64_t head = at.of.batch * p.heads + at.of.head;
    const int64_t tiles = (p.queries + kRows - 1) / kRows;
    int* const turns = arguments.turns + head * tiles + query / kRows;
    const int64_t first = FirstNeeded(arguments.tiled, at.of, query) / kKeys;
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
          device::WaitForTurn(turns, static_cast<int>(at.tile - first));
        }
        SyncGroup();
      }
      AddQueries(at.of, query, column, dq);
    }
    SyncGroup();
    if (device::ThreadId() % kGroupThreads == 0) device::EndTurn(turns);
  }

  // What a step adds to the gradients of keys and values.
  ORDO_DEVICE void Step(const BackwardPlace& at, const Place& place,
                        float (&dk)[kD / 8][4], float (&d_values)[kW / 8][4]) {
    const uint32_t pass = at.before + at.step;
    const uint32_t stage = pass % Shape::kStages;
    const char* const q = shared.steps + stage * Shape::kStepBytes;
    const char* const mixed = q + Shape::kQueryBytes;
    const char* const keys = shared.keys + row * kTileRowBytes;
    const auto& facts = shared.facts[stage];
    WaitUntilFull<Shape::kStages>(shared.of_steps, pass);
    float scores[kRows / 8][4], changes[kRows / 8][4];
    device::BeginProducts();
    BeginRowsProduct<kKeys, kRows, kD>(keys, q, scores);
    device::CommitProducts();
    BeginRowsProduct<kKeys, kRows, kW>(keys + Shape::kKeyBytes, mixed, changes);
    device::CommitProducts();
    device::WaitForProducts<1>();
    device::Pin(scores);
    uint32_t weights[kRows / 16][4], packed[kRows / 16][4];
    constexpr bool kKeeps = kD + kW <= 128;
    MultipliedPairs multiplied = {};
    float kept[kRows / 8][4];
    if constexpr (kNumber == kMultiplierNumber) {
      multiplied = {TurnedNumbers(facts, lane_row),
                    facts.lse,
                    facts.delta,
                    LeastProduct(arguments.tiled.call.problem),
                    IsWhole(place),
                    0};
      if (!multiplied.whole) {
        multiplied.hidden =
            HiddenQueries<kRows>(sight, QueriesOf(place, facts));
      }
      WeighMultiplied<kRows, kKeeps>(multiplied, scores, kept, weights);
    } else {
      Weigh(place, facts, scores);
      Pack<kRows>(scores, weights);
    }
    device::Pin(weights);
    device::Pin(d_values);
    device::BeginProducts();
    BeginColumnsProduct<kRows, kW>(weights, mixed, true, d_values);
    device::CommitProducts();
    // Registers of the weights are wanted back where they are few.
    device::WaitForProducts<(kD + kW > 192 ? 0 : 1)>();
    device::Pin(changes);
    if constexpr (kNumber == kMultiplierNumber) {
      DifferentiateMultiplied<kRows, kKeeps>(multiplied, kept, scores, changes);
    } else {
      Differentiate(facts, scores, changes);
    }
    Pack<kRows>(changes, packed);
    device::Pin(packed);
    device::Pin(dk);
    device::BeginProducts();
    BeginColumnsProduct<kRows, kD>(packed, q, true, dk);
    device::CommitProducts();
    ShareChanges(pass, packed);
    if constexpr (kNumber == kBiasNumber) AddToTable(at, place, changes);
    if constexpr (kNumber == kMultiplierNumber) AddToTable(at, place, scores);
    if (static_cast<int>(pass % 2) == row / 64)
      DifferentiateQueries(at, pass, place.query);
    device::WaitForProducts<0>();
    device::Pin(d_values);
    device::Pin(dk);
    Release<Shape::kStages>(shared.of_steps, pass);
  }

  // Adds a step's addends to the gradient of the table.
  ORDO_DEVICE void AddToTable(const BackwardPlace& at, const Place& place,
                              const float (&addends)[kRows / 8][4]) {
    constexpr bool kMultiplied = kNumber == kMultiplierNumber;
    const TiledArguments& tiled = arguments.tiled;
    const Problem& p = tiled.call.problem;
    float* const parts =
        tiled.d_parts[kMultiplied ? kMultiplierSums : kBiasSums];
    if (parts == nullptr) return;
    const int group = row / 64;
    const int64_t part = (at.of.batch * p.heads + at.of.head) * tiled.parts +
                         2 * at.block->x + group;
    const int64_t token = p.keys - p.queries + place.query;
    AddDiagonals(
        addends,
        {parts + part * tiled.spread_stride, tiled.spread_length,
         place.key + row - token + p.keys - 1, kMultiplied ? p.scale : 1},
        shared.terms + group);
  }
};

// Writes the gradients of the value tensors that have a head for each head of
// the queries, or of the others, and begins those anew.
template <int kW>
ORDO_DEVICE void StoreSlots(const HopperArguments& arguments,
                            const BackwardPlace& at, bool own,
                            float (&d_values)[kW / 8][4]) {
  const Call& call = arguments.tiled.call;
  const Problem& p = call.problem;
  Columns to = ToSlots<kW>(arguments, call.d_inputs + kValue, at.of, true);
  Columns begun = to;
  ORDO_UNROLL
  for (int v = 0; v < kMaxValues; ++v) {
    if (v >= p.num_values || (p.values[v].heads == p.heads) != own) {
      to.parts[v].data = nullptr;
      begun.parts[v].end = begun.parts[v].begin;
    }
  }
  const float factors[2] = {1, 1};
  StoreRows<kW>(d_values, factors, to, {FirstOfWarp(at), p.keys});
  ORDO_UNROLL
  for (int n = 0; n < kW / 8; ++n) {
    const Part part = PartAt(begun, 8 * n);
    if (part.end == 0) continue;
    ORDO_UNROLL
    for (int e = 0; e < 4; ++e) d_values[n][e] = 0;
  }
}

template <int kD, int kW, DistanceNumber kNumber>
ORDO_DEVICE void ComputeBackward(const HopperArguments& arguments,
                                 const HopperBackwardShared<kD, kW>& shared) {
  using Shape = HopperBackwardShape<kD, kW>;
  const Call& call = arguments.tiled.call;
  const Problem& p = call.problem;
  const int row = (device::GroupId() - 1) * 64;
  const int thread = device::ThreadId() % kGroupThreads;
  HopperBackwardGroup<kD, kW, kNumber> group = {
      arguments, shared, row, row + thread / 32 * 16 + thread % 32 / 4, {}};
  float dk[kD / 8][4] = {};
  float d_values[kW / 8][4] = {};
  const int64_t last = (shared.block->y + 1) * (p.heads / p.key_heads) - 1;
  BackwardPlace at;
  for (bool any = BeginHeads(p, Shape::kKeys, shared.block, &at); any;
       any = NextHead(p, Shape::kKeys, at.step, &at)) {
    const int64_t key = int64_t{at.tile} * Shape::kKeys;
    group.sight = KeySightOf(call, at.of.batch, key + group.lane_row);
    const Steps steps =
        StepsOfQueries<Shape::kRows, Shape::kKeys>(arguments.tiled, at.of, key);
    WaitUntilFull<1>(shared.of_keys, at.turn);
    for (at.step = 0; at.step < steps.end - steps.first; ++at.step) {
      group.Step(at, {int64_t{steps.first + at.step} * Shape::kRows, key}, dk,
                 d_values);
    }
    Release<1>(shared.of_keys, at.turn);
    StoreSlots<kW>(arguments, at, true, d_values);
    if (at.of.head != last) continue;
    StoreSlots<kW>(arguments, at, false, d_values);
    const float factor = ChangeFactor(p);
    const float factors[2] = {factor, factor};
    StoreRows<kD>(
        dk, factors,
        OneTensor(call.d_inputs[kK], {at.of.batch, shared.block->y}, p.width),
        {FirstOfWarp(at), p.keys});
    ORDO_UNROLL
    for (int n = 0; n < kD / 8; ++n) {
      ORDO_UNROLL
      for (int e = 0; e < 4; ++e) dk[n][e] = 0;
    }
  }
}

template <int kD, int kW, DistanceNumber kNumber>
ORDO_KERNEL_ALONE(kHopperThreads)
HopperBackward(const ORDO_GRID_CONSTANT HopperArguments arguments) {
  using Shape = HopperBackwardShape<kD, kW>;
  const HopperBackwardShared<kD, kW> shared =
      MakeHopperBackwardShared<kD, kW>();
  const int thread = device::ThreadId();
  if (thread == 0) {
    BeginRing<1>(shared.of_keys, 1, kReaders);
    BeginRing<Shape::kStages>(shared.of_steps, 33, kReaders);
    device::BeginBarrier(shared.of_changes.full, kReaders);
    device::BeginBarrier(shared.of_changes.full + 1, kReaders);
    device::PublishBarriers();
    *shared.block = NumberBlock(arguments);
  }
  device::SyncThreads();
  if (device::GroupId() == 0) {
    device::KeepRegisters<Shape::kLoadRegisters>();
    if (thread == 0) CopyBackward<kD, kW>(arguments, shared);
    if (thread / 32 == 1) LoadBackward<kD, kW>(arguments, shared);
  } else {
    device::TakeRegisters<Shape::kRegisters>();
    ComputeBackward<kD, kW, kNumber>(arguments, shared);
  }
}

}  // namespace ordo::kernels::attention::ORDO_OF_TYPE

#endif  // ORDO_KERNELS_ATTENTION_CUDA_HOPPER_BACKWARD_H_
