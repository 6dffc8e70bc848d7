#ifndef ORDO_KERNELS_ATTENTION_CUDA_HOPPER_BACKWARD_LOAD_H_
#define ORDO_KERNELS_ATTENTION_CUDA_HOPPER_BACKWARD_LOAD_H_

#include "kernels/attention/cuda_hopper_body.h"
#include "kernels/attention/cuda_hopper_mod.h"
#include "kernels/attention/cuda_hopper_sight.h"
#include "kernels/attention/cuda_hopper_sums.h"

// Of the backward pass of cuda_hopper.cu: where tiles lie in shared memory, the
// way of a block through them, and the group that loads them.
//
// Legend: D columns of q and k, W of all value tensors side by side.

namespace ordo::kernels::attention {

// Which block of the grid a block is, by the order in which they begin: that of
// the device's numbers nobody promises, and a block may wait for those before
// it only if they have begun. (With a table also for those behind it: Place in
// cuda_hopper_rows.cu keeps them so few that all have.)
struct BlockNumber {
  int x;
  int y;
  int z;
};

// What a kernel of the backward pass has the gradients of: all; the logits,
// that is queries and keys; the values.
enum GradientsOf { kOfAll, kOfLogits, kOfValues };

// For one thread.
template <GradientsOf kPart>
ORDO_DEVICE BlockNumber NumberBlock(const HopperArguments& arguments) {
  if constexpr (kPart == kOfValues) {
    // It waits for no other.
    return {static_cast<int>(device::BlockX()),
            static_cast<int>(device::BlockY()),
            static_cast<int>(device::BlockZ())};
  }
  const int ticket = device::TakeTicket(arguments.begun);
  const int along = static_cast<int>(device::GridX());
  const int heads = static_cast<int>(arguments.tiled.call.problem.key_heads);
  return {ticket % along, ticket / along % heads, ticket / along / heads};
}

template <int kD, int kW, GradientsOf kPart>
struct HopperBackwardShape {
  static constexpr int kWidth = kD;
  static constexpr int kValuesWidth = kW;
  static constexpr int kKeys = 128;
  static constexpr int kRows = 64;
  static constexpr int kStages = 2;
  static constexpr int64_t kKeyBytes = BoxBytes(kKeys, kD);
  static constexpr bool kHasValues = kPart != kOfValues;
  static constexpr int64_t kFixedBytes =
      kKeyBytes + (kHasValues ? BoxBytes(kKeys, kW) : 0);
  static constexpr int64_t kQueryBytes = BoxBytes(kRows, kD);
  static constexpr int64_t kStepBytes = kQueryBytes + BoxBytes(kRows, kW);
  // Gradients of logits: a row for each key.
  static constexpr int64_t kChangeBytes =
      kPart == kOfValues ? 0 : BoxBytes(kKeys, kRows);
  // Numbers of distances, and their sums: in one kernel with all gradients
  // only.
  static constexpr bool kHasNumbers = kPart == kOfAll;
  using Mod = ModShared<kRows, kReaders>;
  static constexpr int64_t kModBytes = kHasNumbers ? sizeof(Mod) : 0;
  using Facts = QueryFacts<kRows, kHasNumbers ? kRows + kKeys : 1>;
  // Of a thread that computes, and of one that loads: three groups have 504.
  static constexpr int kRegisters = kD + kW > 192 ? 232 : 224;
  static constexpr int kLoadRegisters = 504 - 2 * kRegisters;
  static constexpr int64_t kTiles =
      kFixedBytes + kStages * kStepBytes + 2 * kChangeBytes;
  // Two for the keys, for each stage, for each tile of gradients.
  static constexpr int kBarriers = 2 + 2 * kStages + 2;
  static constexpr int64_t kBytes =
      kTileAlignment + kTiles + kModBytes + kBarriers * sizeof(uint64_t) +
      kStages * sizeof(Facts) + kHasNumbers * 2 * sizeof(DiagonalTerms) +
      sizeof(BlockNumber);
  static_assert(kBytes <= kMaxBlockBytes);
};

template <typename Shape>
struct HopperBackwardShared {
  char* keys;
  char* steps;
  char* changes;
  // Only if kHasNumbers.
  typename Shape::Mod* mod;
  Ring of_keys;
  Ring of_steps;
  // Only full: see ShareChanges.
  Ring of_changes;
  typename Shape::Facts* facts;
  DiagonalTerms* terms;
  BlockNumber* block;
};

template <typename Shape>
ORDO_DEVICE HopperBackwardShared<Shape> MakeHopperBackwardShared() {
  HopperBackwardShared<Shape> shared;
  shared.keys = AlignedShared();
  shared.steps = shared.keys + Shape::kFixedBytes;
  shared.changes = shared.steps + Shape::kStages * Shape::kStepBytes;
  char* const tiles_end = shared.keys + Shape::kTiles;
  shared.mod = reinterpret_cast<typename Shape::Mod*>(tiles_end);
  auto* const barriers =
      reinterpret_cast<uint64_t*>(tiles_end + Shape::kModBytes);
  shared.of_keys = {barriers, barriers + 1};
  shared.of_steps = {barriers + 2, barriers + 2 + Shape::kStages};
  uint64_t* const of_changes = barriers + 2 + 2 * Shape::kStages;
  shared.of_changes = {of_changes, nullptr};
  shared.facts =
      reinterpret_cast<typename Shape::Facts*>(barriers + Shape::kBarriers);
  shared.terms =
      reinterpret_cast<DiagonalTerms*>(shared.facts + Shape::kStages);
  shared.block =
      reinterpret_cast<BlockNumber*>(shared.terms + 2 * Shape::kHasNumbers);
  return shared;
}

// Tiles [first, end) of kRows queries that need keys from `key` on, among their
// near keys or among their far ones.
template <int kRows, int kKeys>
ORDO_DEVICE Steps StepsOfQueries(const TiledArguments& arguments,
                                 const HeadOf& of, int64_t key, bool far) {
  const Tiles rows = RowsOfQueries<kRows, kKeys>(arguments, of, key, far);
  const int first = static_cast<int>(rows.begin / kRows);
  const int end = static_cast<int>((rows.end + kRows - 1) / kRows);
  return {first, end > first ? end : first};
}

// What a block does, one after the other: tiles of keys, every so many-th, the
// last ones first; for each near pairs, then far ones, if there are any; for
// each the heads that share the keys; for each the steps. Passes through the
// rings are counted over all.
struct BackwardPlace {
  // In shared memory, as registers are few.
  const BlockNumber* block;
  int tile;
  HeadOf of;
  bool far = false;
  // Passes through the ring of keys.
  uint32_t turn = 0;
  // Steps before this head's, and of this head's so far.
  uint32_t before = 0;
  int step = 0;
};

// The warp's first key.
ORDO_DEVICE int64_t FirstOfWarp(const BackwardPlace& at) {
  return int64_t{at.tile} * 128 + device::ThreadId() / 32 * 16 -
         kGroupThreads / 32 * 16;
}

// Goes to the first head, or the next, of near pairs or of far ones; false:
// there is none. kMayBeFar: whether the problem may have any of those.
ORDO_DEVICE bool BeginHeads(const Problem& p, int keys,
                            const BlockNumber* block, BackwardPlace* place) {
  place->block = block;
  place->tile = static_cast<int>((p.keys - 1) / keys) - block->x;
  place->of = {block->z, block->y * (p.heads / p.key_heads)};
  return place->tile >= 0;
}

template <bool kMayBeFar>
ORDO_DEVICE bool NextHead(const Problem& p, int steps, BackwardPlace* place) {
  const int64_t group = p.heads / p.key_heads;
  ++place->turn;
  place->before += steps;
  if (++place->of.head < (place->block->y + 1) * group) return true;
  place->of.head -= group;
  if (kMayBeFar && p.far_from > 0) {
    place->far = !place->far;
    if (place->far) return true;
  }
  place->tile -= static_cast<int>(device::GridX());
  return place->tile >= 0;
}

// The thread that begins copies.
template <typename Shape>
ORDO_DEVICE void CopyBackward(const HopperArguments& arguments,
                              const HopperBackwardShared<Shape>& shared) {
  constexpr int kD = Shape::kWidth, kW = Shape::kValuesWidth;
  const Call& call = arguments.tiled.call;
  const Problem& p = call.problem;
  BackwardPlace place;
  Steps steps = {0, 0};
  for (bool any = BeginHeads(p, Shape::kKeys, shared.block, &place); any;
       any = NextHead<true>(p, steps.end - steps.first, &place)) {
    const int64_t key = int64_t{place.tile} * Shape::kKeys;
    const HeadOf of_key = {place.of.batch, shared.block->y};
    WaitUntilEmpty<1>(shared.of_keys, place.turn);
    uint64_t* const full = shared.of_keys.full;
    device::ArriveExpecting(full, Shape::kFixedBytes);
    CopyRows<Shape::kKeys, kD>(arguments.maps[place.far ? kBoxedFarK : kBoxedK],
                               PlaceIn(of_key, key, 0), {shared.keys, full});
    if constexpr (Shape::kHasValues) {
      CopySlots<Shape::kKeys, kW>(arguments, kBoxedValue,
                                  PlaceIn(place.of, key, 0),
                                  {shared.keys + Shape::kKeyBytes, full});
    }
    steps = StepsOfQueries<Shape::kRows, Shape::kKeys>(
        arguments.tiled, place.of, key, place.far);
    for (int i = steps.first; i < steps.end; ++i) {
      const uint32_t pass = place.before + i - steps.first;
      const uint32_t stage = pass % Shape::kStages;
      WaitUntilEmpty<Shape::kStages>(shared.of_steps, pass);
      const Landing to = {shared.steps + stage * Shape::kStepBytes,
                          shared.of_steps.full + stage};
      device::ArriveExpecting(to.full, Shape::kStepBytes);
      const device::BoxPlace from = PlaceIn(place.of, i * Shape::kRows, 0);
      CopyRows<Shape::kRows, kD>(
          arguments.maps[place.far ? kBoxedFarQ : kBoxedQ], from, to);
      CopySlots<Shape::kRows, kW>(arguments, kBoxedMixed, from,
                                  {to.tile + Shape::kQueryBytes, to.full});
    }
  }
}

// The warps that bring what is known of queries and distances.
template <typename Shape>
ORDO_DEVICE void LoadBackward(const HopperArguments& arguments,
                              const HopperBackwardShared<Shape>& shared) {
  const Problem& p = arguments.tiled.call.problem;
  BackwardPlace place;
  Steps steps = {0, 0};
  for (bool any = BeginHeads(p, Shape::kKeys, shared.block, &place); any;
       any = NextHead<true>(p, steps.end - steps.first, &place)) {
    const int64_t key = int64_t{place.tile} * Shape::kKeys;
    steps = StepsOfQueries<Shape::kRows, Shape::kKeys>(
        arguments.tiled, place.of, key, place.far);
    for (int i = steps.first; i < steps.end; ++i) {
      const uint32_t pass = place.before + i - steps.first;
      const uint32_t stage = pass % Shape::kStages;
      WaitUntilEmpty<Shape::kStages>(shared.of_steps, pass);
      LoadQueryFacts<Shape::kRows, Shape::kKeys>(
          arguments, place.of, {int64_t{i} * Shape::kRows, key},
          shared.facts + stage);
      device::Arrive(shared.of_steps.full + stage);
    }
  }
}

}  // namespace ordo::kernels::attention

#endif  // ORDO_KERNELS_ATTENTION_CUDA_HOPPER_BACKWARD_LOAD_H_
