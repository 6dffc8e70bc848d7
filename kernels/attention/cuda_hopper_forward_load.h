#ifndef ORDO_KERNELS_ATTENTION_CUDA_HOPPER_FORWARD_LOAD_H_
#define ORDO_KERNELS_ATTENTION_CUDA_HOPPER_FORWARD_LOAD_H_

#include "kernels/attention/cuda_hopper_body.h"
#include "kernels/attention/cuda_hopper_sight.h"

// Of the forward pass of cuda_hopper.cu: where tiles lie in shared memory, the
// way of a block through them, and the group that loads them.
//
// Legend: D columns of q and k, W of all value tensors side by side.

namespace ordo::kernels::attention::ORDO_OF_TYPE {

template <int kD, int kW, DistanceNumber kNumber>
struct HopperForwardShape {
  static constexpr int kQueries = 128;
  // Weights take kKeys / 2 registers of a thread, what is mixed W / 2.
  static constexpr int kKeys = kW > 128 ? 64 : 128;
  static constexpr int kStages = 2;
  static constexpr int64_t kKeyBytes = BoxBytes(kKeys, kD);
  static constexpr int64_t kValueBytes = BoxBytes(kKeys, kW);
  static constexpr int64_t kQueryBytes = BoxBytes(kQueries, kD);
  // Of q, and then of far q.
  static constexpr bool kHasFar = kNumber == kFarPair;
  static constexpr int64_t kAllQueryBytes = (kHasFar ? 2 : 1) * kQueryBytes;
  using KeyFacts = SightFacts<kQueries, kKeys>;
  // Of q, and two for each stage of keys and of values.
  static constexpr int kBarriers = 1 + 4 * kStages;
  static constexpr int64_t kBytes =
      kTileAlignment + kAllQueryBytes + kStages * (kKeyBytes + kValueBytes) +
      kStages * sizeof(KeyFacts) + kBarriers * sizeof(uint64_t) +
      kReaders * kPiecesBytes;
  static_assert(kBytes <= kMaxBlockBytes);
};

template <typename Shape>
struct HopperForwardShared {
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

template <typename Shape>
ORDO_DEVICE HopperForwardShared<Shape> MakeHopperForwardShared() {
  HopperForwardShared<Shape> shared;
  shared.q = AlignedShared();
  shared.keys = shared.q + Shape::kAllQueryBytes;
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

// Through the keys that a block's queries need: with a far pair of q and k near
// keys, then far ones.
template <bool kHasFar>
struct Passes {
  Steps near;
  Steps far;

  ORDO_DEVICE int num_near() const { return near.end - near.first; }
  ORDO_DEVICE int count() const { return num_near() + far.end - far.first; }
  ORDO_DEVICE bool IsFar(uint32_t pass) const {
    return kHasFar && static_cast<int>(pass) >= num_near();
  }
  // The tile of keys.
  ORDO_DEVICE int TileOf(uint32_t pass) const {
    const int begin = IsFar(pass) ? far.first - num_near() : near.first;
    return begin + static_cast<int>(pass);
  }
};

template <typename Shape>
ORDO_DEVICE Steps StepsOf(const TiledArguments& arguments, const HeadOf& of,
                          int64_t query, bool far) {
  const Tiles tiles =
      TilesOfKeys<Shape::kQueries, Shape::kKeys>(arguments, of, query, far);
  const int first = static_cast<int>(tiles.begin);
  const int end = static_cast<int>(tiles.end);
  return {first, end > first ? end : first};
}

template <typename Shape>
ORDO_DEVICE Passes<Shape::kHasFar> PassesOf(const TiledArguments& arguments,
                                            const HeadOf& of, int64_t query) {
  Passes<Shape::kHasFar> passes = {StepsOf<Shape>(arguments, of, query, false),
                                   {0, 0}};
  if constexpr (Shape::kHasFar) {
    passes.far = StepsOf<Shape>(arguments, of, query, true);
  }
  return passes;
}

// The group that loads: one thread begins copies, three warps bring what is
// known of keys and distances.
template <int kD, int kW, typename Shape>
ORDO_DEVICE void LoadForward(const HopperArguments& arguments, int64_t query,
                             const HopperForwardShared<Shape>& shared) {
  const Call& call = arguments.tiled.call;
  const Problem& p = call.problem;
  const HeadOf of = {device::BlockZ(), device::BlockY()};
  const HeadOf of_key = {of.batch, of.head / (p.heads / p.key_heads)};
  const auto passes = PassesOf<Shape>(arguments.tiled, of, query);
  const uint32_t count = passes.count();
  const int thread = device::ThreadId() % kGroupThreads;
  if (thread == 0) {
    device::ArriveExpecting(shared.q_full, Shape::kAllQueryBytes);
    CopyRows<Shape::kQueries, kD>(arguments.maps[kBoxedQ],
                                  PlaceIn(of, query, 0),
                                  {shared.q, shared.q_full});
    if constexpr (Shape::kHasFar) {
      CopyRows<Shape::kQueries, kD>(
          arguments.maps[kBoxedFarQ], PlaceIn(of, query, 0),
          {shared.q + Shape::kQueryBytes, shared.q_full});
    }
    ORDO_ROLLED
    for (uint32_t pass = 0; pass < count; ++pass) {
      const uint32_t stage = pass % Shape::kStages;
      const int64_t key = int64_t{passes.TileOf(pass)} * Shape::kKeys;
      WaitUntilEmpty<Shape::kStages>(shared.of_keys, pass);
      const Landing keys = {shared.keys + stage * Shape::kKeyBytes,
                            shared.of_keys.full + stage};
      device::ArriveExpecting(keys.full, Shape::kKeyBytes);
      CopyRows<Shape::kKeys, kD>(
          arguments.maps[passes.IsFar(pass) ? kBoxedFarK : kBoxedK],
          PlaceIn(of_key, key, 0), keys);
      WaitUntilEmpty<Shape::kStages>(shared.of_values, pass);
      const Landing values = {shared.values + stage * Shape::kValueBytes,
                              shared.of_values.full + stage};
      device::ArriveExpecting(values.full, Shape::kValueBytes);
      CopySlots<Shape::kKeys, kW>(arguments, kBoxedValue, PlaceIn(of, key, 0),
                                  values);
    }
  } else if (thread >= 32 && HasFacts(p)) {
    ORDO_ROLLED
    for (uint32_t pass = 0; pass < count; ++pass) {
      WaitUntilEmpty<Shape::kStages>(shared.of_keys, pass);
      LoadFacts(call, of, {query, int64_t{passes.TileOf(pass)} * Shape::kKeys},
                shared.facts + pass % Shape::kStages);
      device::Arrive(shared.of_keys.full + pass % Shape::kStages);
    }
  }
}

}  // namespace ordo::kernels::attention::ORDO_OF_TYPE

#endif  // ORDO_KERNELS_ATTENTION_CUDA_HOPPER_FORWARD_LOAD_H_
