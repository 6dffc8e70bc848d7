#ifndef ORDO_KERNELS_ATTENTION_CUDA_HOPPER_SIGHT_H_
#define ORDO_KERNELS_ATTENTION_CUDA_HOPPER_SIGHT_H_

#include <cmath>
#include <cstdint>

#include "kernels/attention/cuda_hopper_band.h"
#include "kernels/attention/cuda_hopper_pieces.h"
#include "kernels/attention/cuda_tiled_hook.h"
#include "kernels/common/cuda_hopper.h"

// Which keys a query sees, and the number of their distance, in the passes of
// cuda_hopper.cu.

namespace ordo::kernels::attention {

// Threads of the group that loads which bring what is known of a step: all but
// the warp that begins copies, so that no quarter of the multiprocessor has all
// of it.
inline constexpr int kFactThreads = kGroupThreads - 32;

ORDO_DEVICE int FactThread() { return device::ThreadId() % kGroupThreads - 32; }

// What is known of a step's keys and distances, brought by those. Distance d
// of a key from a query has element d + kQueries - 1 of `numbers`, where both
// count in their tiles.
template <int kQueries, int kKeys>
struct SightFacts {
  // b times log2(e); or M times that and the scale; or t.
  float numbers[kQueries + kKeys];
  // Of t.
  GroupBounds<kQueries + kKeys> bounds;
  uint8_t hidden[kKeys];
};

// Whether they have to bring them.
ORDO_DEVICE bool HasFacts(const Problem& p) { return HasTable(p) || p.padded; }

// Brings the numbers of kCount distances from `nearest` on.
template <int kCount>
ORDO_DEVICE void LoadNumbers(const Call& call, int64_t head, int64_t nearest,
                             float (&numbers)[kCount]) {
  const Problem& p = call.problem;
  if (!HasTable(p)) return;
  const bool is_mod = HasMod(p);
  // t is the same for all heads.
  const float* const table = TableOf(call, NumberInput(p), is_mod ? 0 : head);
  const float of_others = p.multiplied ? p.scale * kLog2E : kLog2E;
  const float factor = is_mod ? 1 : of_others;
  ORDO_ROLLED
  for (int i = FactThread(); i < kCount; i += kFactThreads) {
    numbers[i] = table[TableAt(p, nearest + i)] * factor;
  }
}

// Of numbers that these threads have brought just so.
template <int kCount>
ORDO_DEVICE void LoadBounds(const float (&numbers)[kCount],
                            GroupBounds<kCount>* bounds) {
  static_assert(kCount % 32 == 0, "lanes go on together");
  ORDO_ROLLED
  for (int i = FactThread(); i < kCount; i += kFactThreads) {
    StoreBounds(numbers[i], i, bounds);
  }
}

template <int kQueries, int kKeys>
ORDO_DEVICE void LoadFacts(const Call& call, const HeadOf& of,
                           const Place& place,
                           SightFacts<kQueries, kKeys>* facts) {
  const Problem& p = call.problem;
  LoadNumbers(call, of.head,
              place.key - (p.keys - p.queries + place.query) - (kQueries - 1),
              facts->numbers);
  if (HasMod(p)) LoadBounds(facts->numbers, &facts->bounds);
  ORDO_ROLLED
  for (int i = FactThread(); p.padded && i < kKeys; i += kFactThreads) {
    const int64_t key = place.key + i;
    facts->hidden[i] =
        key >= p.keys || call.facts.real_BS[of.batch * p.keys + key] == 0;
  }
}

// Of a lane's two queries, from the number of one's first key to that of its
// last one.
struct Sight {
  int64_t first[2];
  int64_t last[2];
};

ORDO_DEVICE Sight SightOf(const Call& call, const HeadOf& of, int64_t query) {
  const Problem& p = call.problem;
  Sight sight;
  ORDO_UNROLL
  for (int half = 0; half < 2; ++half) {
    const int64_t token = query + 8 * half;
    const bool real = token < p.queries;
    sight.first[half] = real ? FirstKey(call, of, token) : 0;
    const int64_t own = p.keys - p.queries + token;
    sight.last[half] = p.causal && own < p.keys ? own : p.keys - 1;
  }
  return sight;
}

// What of it are near keys, or far ones; `query`: the lane's first.
ORDO_DEVICE Sight SightAmong(const Problem& p, int64_t query, bool far,
                             Sight sight) {
  ORDO_UNROLL
  for (int half = 0; half < 2; ++half) {
    // The last far key.
    const int64_t edge = p.keys - p.queries + query + 8 * half - p.far_from;
    int64_t& first = sight.first[half];
    int64_t& last = sight.last[half];
    if (far && last > edge) last = edge;
    if (!far && first <= edge) first = edge + 1;
  }
  return sight;
}

ORDO_DEVICE int Clamped(int64_t x) {
  constexpr int kFar = 1 << 20;
  if (x > kFar) return kFar;
  return x < -kFar ? -kFar : static_cast<int>(x);
}

// -infinity in the place of products with keys, from `first_key` on, that a
// query does not see. `hidden`: of the keys, or null.
template <int kKeys>
ORDO_DEVICE void HideKeys(const Sight& sight, int64_t first_key,
                          const uint8_t* hidden,
                          float (&scores)[kKeys / 8][4]) {
  const int column = device::ThreadId() % 4 * 2;
  ORDO_UNROLL
  for (int half = 0; half < 2; ++half) {
    const int first = Clamped(sight.first[half] - first_key) - column;
    const int last = Clamped(sight.last[half] - first_key) - column;
    ORDO_UNROLL
    for (int n = 0; n < kKeys / 8; ++n) {
      ORDO_UNROLL
      for (int e = 0; e < 2; ++e) {
        const int key = 8 * n + e;
        if (key < first || key > last) scores[n][2 * half + e] = -INFINITY;
      }
    }
  }
  if (hidden == nullptr) return;
  ORDO_UNROLL
  for (int n = 0; n < kKeys / 8; ++n) {
    ORDO_UNROLL
    for (int e = 0; e < 4; ++e) {
      if (hidden[8 * n + e % 2 + column] != 0) scores[n][e] = -INFINITY;
    }
  }
}

// What sums of products with the gradients of products are still to be times:
// beside M those are times scale log2(e) already, as its numbers are.
ORDO_DEVICE float ChangeFactor(const Problem& p) {
  return p.multiplied ? kLn2 : p.scale;
}

// What a product less than it counts as.
ORDO_DEVICE float LeastProduct(const Problem& p) {
  return p.rectified ? 0 : -INFINITY;
}

// A product and the number of its distance become a logit of base 2.
template <DistanceNumber kNumber>
struct PairLogit {
  // The scale of products times log2(e) beside b, LeastProduct beside M.
  float fact;

  ORDO_DEVICE float operator()(float product, float number) const {
    if constexpr (kNumber == kMultiplierNumber) {
      return device::AtLeast(product, fact) * number;
    }
    return fmaf(product, fact, number);
  }
};

template <DistanceNumber kNumber>
ORDO_DEVICE PairLogit<kNumber> PairLogitOf(const Problem& p) {
  return {kNumber == kMultiplierNumber ? LeastProduct(p) : p.scale * kLog2E};
}

// Products become logits of base 2, by the numbers of the distances; `query`:
// the lane's first in its tile.
template <DistanceNumber kNumber, int kQueries, int kKeys>
ORDO_DEVICE void ApplyNumbers(const PairLogit<kNumber>& logit, int query,
                              const SightFacts<kQueries, kKeys>& facts,
                              float (&scores)[kKeys / 8][4]) {
  const float* const numbers =
      facts.numbers + device::ThreadId() % 4 * 2 - query + kQueries - 1;
  // Eight rows on are eight columns back.
  float before[2] = {numbers[-8], numbers[-7]};
  ORDO_UNROLL
  for (int n = 0; n < kKeys / 8; ++n) {
    ORDO_UNROLL
    for (int e = 0; e < 2; ++e) {
      const float here = numbers[8 * n + e];
      scores[n][e] = logit(scores[n][e], here);
      scores[n][2 + e] = logit(scores[n][2 + e], before[e]);
      before[e] = here;
    }
  }
}

// The same for the backward pass, whose fragments are turned: rows are keys,
// columns are queries. Distance d has element d + kRows - 1 of `numbers`.
template <int kRows, int kNumbers>
struct QueryFacts {
  // lse in base 2, less the term of the farthest distance where all keys are
  // there.
  float lse[kRows];
  float delta[kRows];
  // b times log2(e); or M times that and the scale; or t.
  float numbers[kNumbers];
  // First key that is seen, counted in the tile.
  int first[kRows];
  // Of score mods, where there are numbers: r, and the bounds of t and r.
  static constexpr int kModQueries = kNumbers > 1 ? kRows : 1;
  float mod_query[kModQueries];
  GroupBounds<kNumbers> bounds;
  GroupBounds<kModQueries> query_bounds;
};

template <int kRows, int kKeys, int kNumbers>
ORDO_DEVICE void LoadQueryFacts(const HopperArguments& arguments,
                                const HeadOf& of, const Place& place,
                                QueryFacts<kRows, kNumbers>* facts) {
  const Call& call = arguments.tiled.call;
  const Problem& p = call.problem;
  const bool far = p.query_band > 0 && !IsNearby<kRows, kKeys>(p, place);
  ORDO_ROLLED
  for (int i = FactThread(); i < kRows; i += kFactThreads) {
    const int64_t token = place.query + i;
    const int64_t at = (of.batch * p.heads + of.head) * p.queries + token;
    const bool real = token < p.queries;
    facts->lse[i] = real ? call.lse_BHT[at] * kLog2E : INFINITY;
    if (far) facts->lse[i] -= FarTerm(arguments, of, token);
    facts->delta[i] = real ? arguments.tiled.delta_BHT[at] : 0;
    if (kNumbers > 1 && HasMod(p)) {
      facts->mod_query[i] = ModQueryOf(call, of.batch, token);
    }
    if (!p.bounded) continue;
    facts->first[i] = real ? Clamped(FirstKey(call, of, token) - place.key) : 0;
  }
  LoadNumbers(call, of.head,
              place.key - (p.keys - p.queries + place.query) - (kRows - 1),
              facts->numbers);
  if constexpr (kNumbers > 1) {
    if (!HasMod(p)) return;
    LoadBounds(facts->numbers, &facts->bounds);
    LoadBounds(facts->mod_query, &facts->query_bounds);
  }
}

// Of a lane's two keys.
struct KeySight {
  // Of the head; far beyond all queries' tokens where nobody sees the key.
  int keys[2];
};

ORDO_DEVICE KeySight KeySightOf(const Call& call, int64_t batch, int64_t key) {
  const Problem& p = call.problem;
  KeySight sight;
  ORDO_UNROLL
  for (int half = 0; half < 2; ++half) {
    const int64_t at = key + 8 * half;
    const bool hidden =
        at >= p.keys ||
        (p.padded && call.facts.real_BS[batch * p.keys + at] == 0);
    // Where not causal, all others come before all queries.
    sight.keys[half] = hidden ? 1 << 30 : p.causal ? static_cast<int>(at) : -1;
  }
  return sight;
}

// Of a tile of queries: the last key that its first one sees; the first keys
// that they see, or null; and the lane's first key, counted as those are.
struct QueryTile {
  int own;
  const int* first;
  int row;
};

// -infinity in the place of products with queries that do not see the lane's
// keys.
template <int kRows>
ORDO_DEVICE void HideQueries(const KeySight& sight, const QueryTile& tile,
                             float (&scores)[kRows / 8][4]) {
  const int column = device::ThreadId() % 4 * 2;
  ORDO_UNROLL
  for (int half = 0; half < 2; ++half) {
    const int least = sight.keys[half] - tile.own - column;
    ORDO_UNROLL
    for (int n = 0; n < kRows / 8; ++n) {
      ORDO_UNROLL
      for (int e = 0; e < 2; ++e) {
        if (8 * n + e < least) scores[n][2 * half + e] = -INFINITY;
      }
    }
  }
  if (tile.first == nullptr) return;
  ORDO_UNROLL
  for (int n = 0; n < kRows / 8; ++n) {
    ORDO_UNROLL
    for (int e = 0; e < 4; ++e) {
      const int first = tile.first[8 * n + e % 2 + column];
      if (first > tile.row + e / 2 * 8) scores[n][e] = -INFINITY;
    }
  }
}

// The same with queries to which the lane's keys are far. Keys are fewer than
// 2^30, and far_from is no more.
template <int kRows>
ORDO_DEVICE void HideFarQueries(const KeySight& sight, const QueryTile& tile,
                                int far_from, float (&scores)[kRows / 8][4]) {
  const int column = device::ThreadId() % 4 * 2;
  ORDO_UNROLL
  for (int half = 0; half < 2; ++half) {
    const int end = sight.keys[half] - tile.own - column + far_from;
    ORDO_UNROLL
    for (int n = 0; n < kRows / 8; ++n) {
      ORDO_UNROLL
      for (int e = 0; e < 2; ++e) {
        if (8 * n + e >= end) scores[n][2 * half + e] = -INFINITY;
      }
    }
  }
}

// HideQueries as bits: 4 n + e of the product with element e of column n.
template <int kRows>
ORDO_DEVICE uint32_t HiddenQueries(const KeySight& sight,
                                   const QueryTile& tile) {
  static_assert(kRows == 64, "a word has 32 bits");
  const int column = device::ThreadId() % 4 * 2;
  uint32_t hidden = 0;
  ORDO_UNROLL
  for (int i = 0; i < 32; ++i) {
    const int key = sight.keys[i % 4 / 2];
    const int query = i / 4 * 8 + i % 2 + column;
    const bool before =
        tile.first != nullptr && tile.first[query] > tile.row + i % 4 / 2 * 8;
    if (query + tile.own < key || before) hidden |= uint32_t{1} << i;
  }
  return hidden;
}

// The numbers of the lane's column and keys from `key` on, its first: element
// 8 (e / 2) - 8 n - e % 2 is that of scores[n][e].
template <int kRows, int kNumbers>
ORDO_DEVICE const float* TurnedNumbers(const QueryFacts<kRows, kNumbers>& facts,
                                       int key) {
  return facts.numbers + key - device::ThreadId() % 4 * 2 + kRows - 1;
}

// The bias, as ApplyNumbers adds it, where rows are keys; `key`: the lane's
// first.
template <int kRows, int kNumbers>
ORDO_DEVICE void AddTurnedBias(float scale, int key,
                               const QueryFacts<kRows, kNumbers>& facts,
                               float (&scores)[kRows / 8][4]) {
  const float* const bias = TurnedNumbers(facts, key);
  // Eight rows on are eight columns back.
  float before[2] = {bias[8], bias[7]};
  ORDO_UNROLL
  for (int n = 0; n < kRows / 8; ++n) {
    ORDO_UNROLL
    for (int e = 0; e < 2; ++e) {
      const float here = bias[-8 * n - e];
      scores[n][e] = fmaf(scores[n][e], scale, here);
      scores[n][2 + e] = fmaf(scores[n][2 + e], scale, before[e]);
      before[e] = here;
    }
  }
}

}  // namespace ordo::kernels::attention

#endif  // ORDO_KERNELS_ATTENTION_CUDA_HOPPER_SIGHT_H_
