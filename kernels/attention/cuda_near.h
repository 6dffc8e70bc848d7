#ifndef ORDO_KERNELS_ATTENTION_CUDA_NEAR_H_
#define ORDO_KERNELS_ATTENTION_CUDA_NEAR_H_

#include <cmath>
#include <cstdint>

#include "kernels/attention/cuda_tile.h"
#include "kernels/attention/cuda_tiled_code.h"
#include "kernels/attention/near_keys.h"
#include "kernels/common/cuda_vectors.h"

// Up to which distance keys count (near_keys.h), in two kernels before a pass:
// what of the spread each block of keys has, and what the heads make of it.

namespace ordo::kernels::attention {

// What the spread is of, the largest of each: squares of norms of queries and
// of keys, and -scale q_i.k_i. Infinite where something was not finite, or
// where a query does not see its own key.
enum SpreadTerm { kQueryNorm, kKeyNorm, kBelow, kNumSpreadTerms };

constexpr int64_t NumNearBlocks(const Problem& p) {
  return (p.keys + kThreads - 1) / kThreads;
}

ORDO_DEVICE FallingBias BiasOf(const Call& call, int64_t head) {
  const Problem& p = call.problem;
  const View& table = call.inputs[kBias];
  return {static_cast<const float*>(table.data) + head * table.head_stride,
          p.reach, logf(static_cast<float>(p.keys))};
}

ORDO_DEVICE void Enlarge(float x, float* largest) {
  if (!(x - x == 0)) x = INFINITY;
  if (x > *largest) *largest = x;
}

// A key's terms, and those of the query of the same token, if there is one.
ORDO_DEVICE void FindTerms(const Call& call, const HeadOf& of, int64_t key,
                           float (&terms)[kNumSpreadTerms]) {
  const Problem& p = call.problem;
  const int64_t query = key - (p.keys - p.queries);
  const HeadOf of_key = {of.batch, of.head / (p.heads / p.key_heads)};
  const Part k = MakePart(call.inputs[kK], of_key, 0, 0);
  const Part q = MakePart(call.inputs[kQ], of, 0, 0);
  const bool k_vectors = InVectors(p.type, k.data, k.stride);
  const bool q_vectors = InVectors(p.type, q.data, q.stride);
  float kk = 0, qq = 0, qk = 0;
  for (int64_t d = 0; d < p.width; d += 4) {
    const Four keys =
        LoadFour(p.type, k.data, {key * k.stride + d, p.width - d, k_vectors});
    Four queries = {};
    if (query >= 0) {
      queries = LoadFour(p.type, q.data,
                         {query * q.stride + d, p.width - d, q_vectors});
    }
    ORDO_UNROLL
    for (int i = 0; i < 4; ++i) {
      kk += keys.x[i] * keys.x[i];
      qq += queries.x[i] * queries.x[i];
      qk += keys.x[i] * queries.x[i];
    }
  }
  Enlarge(kk, terms + kKeyNorm);
  if (query < 0) return;
  const bool hidden =
      p.padded && call.facts.real_BS[of.batch * p.keys + key] == 0;
  Enlarge(qq, terms + kQueryNorm);
  Enlarge(hidden ? INFINITY : -p.scale * qk, terms + kBelow);
}

// The largest of all threads' terms, for all threads.
ORDO_DEVICE void ShareTerms(float (&terms)[kNumSpreadTerms]) {
  float* const shared = reinterpret_cast<float*>(device::SharedMemory());
  for (int i = 0; i < kNumSpreadTerms; ++i) {
    shared[i * kThreads + device::ThreadId()] = terms[i];
  }
  // All threads' terms are there.
  device::SyncThreads();
  for (int i = 0; i < kNumSpreadTerms; ++i) {
    for (int thread = 0; thread < kThreads; ++thread) {
      terms[i] = fmaxf(terms[i], shared[i * kThreads + thread]);
    }
  }
}

// Where blocks leave their terms for a head.
ORDO_DEVICE float* TermsOf(const TiledArguments& arguments, const HeadOf& of) {
  const Problem& p = arguments.call.problem;
  return arguments.near_terms +
         (of.batch * p.heads + of.head) * NumNearBlocks(p) * kNumSpreadTerms;
}

// A thread for each key.
ORDO_KERNEL(kThreads)
TiledSpread(const TiledArguments arguments) {
  const Call& call = arguments.call;
  const Problem& p = call.problem;
  const HeadOf of = {device::BlockZ(), device::BlockY()};
  if (!MayFallEnough(p, BiasOf(call, of.head))) return;
  const int64_t key = device::BlockX() * kThreads + device::ThreadId();
  float terms[kNumSpreadTerms] = {0, 0, -INFINITY};
  if (key < p.keys) FindTerms(call, of, key, terms);
  ShareTerms(terms);
  if (device::ThreadId() != 0) return;
  float* const to = TermsOf(arguments, of) + device::BlockX() * kNumSpreadTerms;
  for (int i = 0; i < kNumSpreadTerms; ++i) to[i] = terms[i];
}

// A block for each head.
ORDO_KERNEL(kThreads)
TiledNear(const TiledArguments arguments) {
  const Call& call = arguments.call;
  const Problem& p = call.problem;
  const HeadOf of = {device::BlockZ(), device::BlockY()};
  const FallingBias bias = BiasOf(call, of.head);
  const int thread = device::ThreadId();
  int* const near = arguments.near_BH + of.batch * p.heads + of.head;
  if (!MayFallEnough(p, bias)) {
    if (thread == 0) *near = static_cast<int>(p.keys);
    return;
  }
  float terms[kNumSpreadTerms] = {0, 0, -INFINITY};
  const float* const found = TermsOf(arguments, of);
  for (int64_t block = thread; block < NumNearBlocks(p); block += kThreads) {
    for (int i = 0; i < kNumSpreadTerms; ++i) {
      terms[i] = fmaxf(terms[i], found[block * kNumSpreadTerms + i]);
    }
  }
  ShareTerms(terms);
  const float most = fabsf(p.scale) * sqrtf(terms[kQueryNorm]) *
                     sqrtf(terms[kKeyNorm]) * kRoomForRounding;
  int last = 0;
  for (int64_t d = thread; d < p.keys; d += kThreads) {
    if (bias.Counts(most + terms[kBelow], d)) last = static_cast<int>(d);
  }
  // The terms have been read.
  device::SyncThreads();
  int* const all = reinterpret_cast<int*>(device::SharedMemory());
  all[thread] = last;
  // All threads' last distances are there.
  device::SyncThreads();
  if (thread != 0) return;
  for (int i = 1; i < kThreads; ++i) last = all[i] > last ? all[i] : last;
  *near = last + 1;
}

}  // namespace ordo::kernels::attention

#endif  // ORDO_KERNELS_ATTENTION_CUDA_NEAR_H_
