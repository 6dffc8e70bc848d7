#ifndef ORDO_KERNELS_ATTENTION_CUDA_HOPPER_BACKWARD_H_
#define ORDO_KERNELS_ATTENTION_CUDA_HOPPER_BACKWARD_H_

#include "kernels/attention/cuda_hopper_backward_group.h"

// Backward pass of cuda_hopper.cu: a block has 128 keys of a head of keys, 64
// for each of two groups, and goes through the queries that see them, 64 a
// step, of all heads that share the keys. Products are turned: a fragment has
// keys as its rows, so that weights and gradients of logits are left sides of
// products at once.
//
// Gradients of logits go through shared memory into those of the queries, which
// the groups compute in turns, each of whole steps, and add to fp32 sums in
// global memory; blocks do so from the last keys to the first, so that reruns
// agree bit for bit. They wait for those that began earlier. Where they are
// causal and go on alike nobody has to: the queries that a block begins with
// see no later keys, and from then on the block of the next keys is two steps
// ahead. With a table a block's second tile also waits for blocks behind it, of
// which so few are started that all are there at once.
//
// Where the values are so wide that a thread has no registers for all gradients
// (GradientsOf), one kernel has those of the logits, that is of keys and
// queries, and another those of the values, for which it computes the weights
// once more.
//
// Legend: D columns of q and k, W of all value tensors side by side.

namespace ordo::kernels::attention::ORDO_OF_TYPE {

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

template <int kD, int kW, DistanceNumber kNumber, GradientsOf kPart>
ORDO_DEVICE void ComputeBackward(
    const HopperArguments& arguments,
    const HopperBackwardShared<HopperBackwardShape<kD, kW, kPart>>& shared) {
  using Shape = HopperBackwardShape<kD, kW, kPart>;
  const Call& call = arguments.tiled.call;
  const Problem& p = call.problem;
  const int row = (device::GroupId() - 1) * 64;
  const int thread = device::ThreadId() % kGroupThreads;
  HopperBackwardGroup<kD, kW, kNumber, kPart> group = {
      arguments, shared, row, row + thread / 32 * 16 + thread % 32 / 4, {}};
  group.BeginTables();
  float dk[kD / 8][4] = {};
  float d_values[kW / 8][4] = {};
  const int64_t last = (shared.block->y + 1) * (p.heads / p.key_heads) - 1;
  BackwardPlace at;
  for (bool any = BeginHeads(p, Shape::kKeys, shared.block, &at); any;
       any = NextHead<kNumber == kFarPair>(p, at.step, &at)) {
    const int64_t key = int64_t{at.tile} * Shape::kKeys;
    group.sight = KeySightOf(call, at.of.batch, key + group.lane_row);
    const bool far = kNumber == kFarPair && at.far;
    const Steps steps = StepsOfQueries<Shape::kRows, Shape::kKeys>(
        arguments.tiled, at.of, key, far);
    WaitUntilFull<1>(shared.of_keys, at.turn);
    for (at.step = 0; at.step < steps.end - steps.first; ++at.step) {
      group.Step(at, {int64_t{steps.first + at.step} * Shape::kRows, key, far},
                 dk, d_values);
    }
    Release<1>(shared.of_keys, at.turn);
    if constexpr (kNumber == kModNumber) group.EndTheta(at);
    // Far keys come last: then values have all they get.
    const bool stores = kPart != kOfLogits && (kNumber != kFarPair || far);
    if (stores) StoreSlots<kW>(arguments, at, true, d_values);
    if (at.of.head != last) continue;
    if (stores) StoreSlots<kW>(arguments, at, false, d_values);
    if constexpr (kPart == kOfValues) continue;
    const float factor = ChangeFactor(p);
    const float factors[2] = {factor, factor};
    StoreRows<kD>(dk, factors,
                  OneTensor(call.d_inputs[far ? kFarK : kK],
                            {at.of.batch, shared.block->y}, p.width),
                  {FirstOfWarp(at), p.keys});
    ORDO_UNROLL
    for (int n = 0; n < kD / 8; ++n) {
      ORDO_UNROLL
      for (int e = 0; e < 4; ++e) dk[n][e] = 0;
    }
  }
}

template <int kD, int kW, DistanceNumber kNumber, GradientsOf kPart>
ORDO_KERNEL_ALONE(kHopperThreads)
HopperBackward(const ORDO_GRID_CONSTANT HopperArguments arguments) {
  using Shape = HopperBackwardShape<kD, kW, kPart>;
  const HopperBackwardShared<Shape> shared = MakeHopperBackwardShared<Shape>();
  const int thread = device::ThreadId();
  if (thread == 0) {
    BeginRing<1>(shared.of_keys, 1, kReaders);
    BeginRing<Shape::kStages>(shared.of_steps, 1 + kFactThreads, kReaders);
    device::BeginBarrier(shared.of_changes.full, kReaders);
    device::BeginBarrier(shared.of_changes.full + 1, kReaders);
    device::PublishBarriers();
    *shared.block = NumberBlock<kPart>(arguments);
  }
  device::SyncThreads();
  if (device::GroupId() == 0) {
    device::KeepRegisters<Shape::kLoadRegisters>();
    if (thread == 0) CopyBackward<Shape>(arguments, shared);
    if (thread >= 32) LoadBackward<Shape>(arguments, shared);
  } else {
    device::TakeRegisters<Shape::kRegisters>();
    ComputeBackward<kD, kW, kNumber, kPart>(arguments, shared);
  }
}

}  // namespace ordo::kernels::attention::ORDO_OF_TYPE

#endif  // ORDO_KERNELS_ATTENTION_CUDA_HOPPER_BACKWARD_H_
