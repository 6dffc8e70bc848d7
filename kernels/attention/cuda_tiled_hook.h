#ifndef ORDO_KERNELS_ATTENTION_CUDA_TILED_HOOK_H_
#define ORDO_KERNELS_ATTENTION_CUDA_TILED_HOOK_H_

#include <cmath>
#include <cstdint>

#include "kernels/attention/cuda_score_mod.h"
#include "kernels/attention/cuda_tile.h"
#include "kernels/attention/cuda_tiled_code.h"
#include "kernels/common/cuda_device.h"

// What becomes of a product q.k in the passes of cuda_tiled.cu: masks, tables
// of the distance, score mods; and what flows back through it.

namespace ordo::kernels::attention {

inline constexpr float kLog2E = 1.44269504F;
inline constexpr float kLn2 = 0.693147181F;

// Where the tiles of a step begin, and whether q and k are those of far keys.
struct Place {
  int64_t query;
  int64_t key;
  bool far = false;
};

// The position id of what is no token, or padding: behind all others.
inline constexpr int kNoId = 2147483647;

// What a step has beside its tiles. Distance d of a key from a query has
// element d + kCudaTile - 1 of the first three, where both count in their
// tiles; with position ids they have no meaning.
struct Extras {
  // Times log2(e).
  float bias[2 * kCudaTile];
  float multiplier[2 * kCudaTile];
  // t of a score mod.
  float mod_distance[2 * kCudaTile];
  // Of the queries: its r, lse in base 2, delta, the first key that is seen.
  float mod_query[kCudaTile];
  float lse[kCudaTile];
  float delta[kCudaTile];
  int first[kCudaTile];
  // Position ids, of both.
  int query_id[kCudaTile];
  int key_id[kCudaTile];
  // Of the keys.
  uint8_t hidden[kCudaTile];
};

// The element of a step's extras for distance 0, as an element of a part of a
// table's gradient (TiledArguments::d_parts).
ORDO_DEVICE int64_t SpreadBase(const Problem& p, const Place& place) {
  const int64_t token = p.keys - p.queries + place.query;
  return place.key - token + p.keys - kCudaTile;
}

// The element of a table, also for distances that no query sees.
ORDO_DEVICE int64_t TableAt(const Problem& p, int64_t distance) {
  const int64_t largest = p.causal ? 0 : p.reach;
  if (distance < -p.reach) return 0;
  return (distance < largest ? distance : largest) + p.reach;
}

ORDO_DEVICE const float* TableOf(const Call& call, Input input, int64_t head) {
  const View& view = call.inputs[input];
  return static_cast<const float*>(view.data) + head * view.head_stride;
}

ORDO_DEVICE HeadMod ModOfHead(const Call& call, int64_t head) {
  const Problem& p = call.problem;
  return {p.mod, static_cast<int>(p.pieces), call.facts.knots,
          TableOf(call, kModParameter, head)};
}

// r of a query; 0 beyond the last.
ORDO_DEVICE float ModQueryOf(const Call& call, int64_t batch, int64_t query) {
  if (query >= call.problem.queries) return 0;
  const View& rows = call.inputs[kModQuery];
  return static_cast<const float*>(
      rows.data)[batch * rows.batch_stride + query];
}

// The number of the first key that a query sees.
ORDO_DEVICE int64_t FirstKey(const Call& call, const HeadOf& of,
                             int64_t query) {
  if (!call.problem.bounded) return 0;
  const Facts& facts = call.facts;
  return facts.first_BHT[of.batch * facts.first_batch_stride +
                         of.head * facts.first_head_stride + query];
}

// That of the first key that the queries from `query` on need.
ORDO_DEVICE int64_t FirstNeeded(const TiledArguments& arguments,
                                const HeadOf& of, int64_t query) {
  const Problem& p = arguments.call.problem;
  const int64_t first = FirstKey(arguments.call, of, query);
  if (arguments.near_BH == nullptr) return first;
  const int64_t near = p.keys - p.queries + query + 1 -
                       arguments.near_BH[of.batch * p.heads + of.head];
  return near > first ? near : first;
}

// The number of queries that need keys before `key`. They come before the
// others: first keys ascend.
ORDO_DEVICE int64_t QueriesBefore(const TiledArguments& arguments,
                                  const HeadOf& of, int64_t key) {
  const Call& call = arguments.call;
  const Problem& p = call.problem;
  int64_t begin = 0, end = p.queries;
  if (arguments.near_BH != nullptr) {
    const int64_t near = key - 1 - (p.keys - p.queries) +
                         arguments.near_BH[of.batch * p.heads + of.head];
    if (near < end) end = near > 0 ? near : 0;
  }
  if (!p.bounded) return end;
  while (begin < end) {
    const int64_t middle = (begin + end) / 2;
    if (FirstKey(call, of, middle) < key) {
      begin = middle + 1;
    } else {
      end = middle;
    }
  }
  return begin;
}

// All but lse and delta. A thread has an element of each table; half of them a
// query and a key each.
ORDO_DEVICE void LoadExtras(const TiledArguments& arguments, const HeadOf& of,
                            const Place& place, Extras* extras) {
  const Call& call = arguments.call;
  const Problem& p = call.problem;
  const int i = device::ThreadId();
  const int64_t at = TableAt(p, SpreadBase(p, place) + i - (p.keys - 1));
  // With ids these are read, and not used.
  if (p.biased) extras->bias[i] = TableOf(call, kBias, of.head)[at] * kLog2E;
  if (p.multiplied) {
    extras->multiplier[i] = TableOf(call, kMultiplier, of.head)[at];
  }
  const bool has_mod = HasMod(p);
  if (has_mod) extras->mod_distance[i] = TableOf(call, kModDistance, 0)[at];
  if (i >= kCudaTile) return;
  const int64_t query = place.query + i, key = place.key + i;
  const bool real = query < p.queries;
  if (has_mod) extras->mod_query[i] = ModQueryOf(call, of.batch, query);
  if (p.bounded) {
    const int64_t first = real ? FirstKey(call, of, query) - place.key : 0;
    // Beyond the tile it makes no difference, and the difference fits an int.
    extras->first[i] =
        static_cast<int>(first < kCudaTile ? first : int64_t{kCudaTile});
  }
  const bool hidden =
      key >= p.keys ||
      (p.padded && call.facts.real_BS[of.batch * p.keys + key] == 0);
  extras->hidden[i] = hidden;
  if (!p.positioned) return;
  const int32_t* const ids = call.facts.positions_BS + of.batch * p.keys;
  extras->key_id[i] = hidden ? kNoId : ids[key];
  extras->query_id[i] = real ? ids[p.keys - p.queries + query] : kNoId;
}

// What a kernel is compiled for: masks and a bias; also all else of a distance
// that is a number; also vectors. Each takes registers even where it is not
// asked for.
enum Terms { kNoTerms, kNumbers, kVectors };

// What is done to the products of a step: masks and a bias, and with kTerms
// also all else, which costs registers even where it is not asked for.
template <bool kTerms>
struct Hook {
  const Extras* extras;
  // Of base 2.
  float scale;
  // Whether every query of the tile sees every key of it.
  bool whole;
  bool bounded;
  bool biased;
  bool multiplied;
  bool rectified;
  // Tables are of differences of position ids, of this call, for this head.
  bool positioned;
  const Call* call;
  int head;
  // A query sees keys up to its own number in the tile plus this, and beyond
  // that plus the other.
  int diagonal;
  int edge;
  HeadMod mod;
};

// A difference of numbers in two tiles: beyond a tile it makes no difference
// how large it is, and so it fits an int.
ORDO_DEVICE int WithinTiles(int64_t difference) {
  if (difference < -kCudaTile) return -kCudaTile;
  return difference < kCudaTile ? static_cast<int>(difference) : kCudaTile;
}

template <bool kTerms>
ORDO_DEVICE Hook<kTerms> MakeHook(const Call& call, int64_t head,
                                  const Place& place, const Extras* extras) {
  const Problem& p = call.problem;
  const int64_t ahead = p.keys - p.queries + place.query - place.key;
  const int64_t last = place.far ? ahead - p.far_from : ahead;
  const bool cut = p.far_from > 0 && !place.far;
  Hook<kTerms> hook = {};
  hook.extras = extras;
  hook.scale = p.scale * kLog2E;
  hook.bounded = p.bounded;
  hook.biased = p.biased;
  hook.multiplied = p.multiplied;
  hook.rectified = p.rectified;
  hook.positioned = p.positioned;
  hook.call = &call;
  hook.head = static_cast<int>(head);
  hook.diagonal = p.causal ? WithinTiles(last) : kCudaTile;
  hook.edge = cut ? WithinTiles(ahead - p.far_from) : -kCudaTile;
  hook.whole = !p.padded && !p.bounded && place.key + kCudaTile <= p.keys &&
               hook.diagonal >= kCudaTile - 1 && hook.edge <= -kCudaTile;
  if (kTerms && HasMod(p)) hook.mod = ModOfHead(call, head);
  return hook;
}

// A query and a key, by their numbers in their tiles.
struct PairAt {
  int query;
  int key;
};

// The element of extras for a query and a key.
ORDO_DEVICE int DistanceAt(int query, int key) {
  return key - query + kCudaTile - 1;
}

// A table's number for a query and a key: of `near`, its part in the extras, or
// where ids say which.
ORDO_DEVICE float NumberAt(const Hook<true>& hook, Input table,
                           const float (&near)[2 * kCudaTile],
                           const PairAt& pair) {
  if (!hook.positioned) return near[DistanceAt(pair.query, pair.key)];
  const int64_t distance = int64_t{hook.extras->key_id[pair.key]} -
                           hook.extras->query_id[pair.query];
  return TableOf(*hook.call, table,
                 table == kModDistance
                     ? 0
                     : hook.head)[TableAt(hook.call->problem, distance)];
}

// What the score mod is of.
ORDO_DEVICE ModAt AtMod(const Hook<true>& hook, const PairAt& pair) {
  const Extras& extras = *hook.extras;
  return FindPiece(hook.mod,
                   NumberAt(hook, kModDistance, extras.mod_distance, pair),
                   extras.mod_query[pair.query]);
}

// What is not a number stays so, which fmaxf would make 0.
ORDO_DEVICE float Rectified(float x) { return x < 0 ? 0 : x; }

// Whether the query sees the key. Both count in their tiles.
template <bool kTerms>
ORDO_DEVICE bool Sees(const Hook<kTerms>& hook, int query, int key) {
  const Extras& extras = *hook.extras;
  return hook.whole || (key - query <= hook.diagonal &&
                        key - query > hook.edge && extras.hidden[key] == 0 &&
                        (!hook.bounded || key >= extras.first[query]));
}

// In base 2; -infinity if the query does not see the key.
template <bool kTerms>
ORDO_DEVICE float Logit(const Hook<kTerms>& hook, float product, int query,
                        int key) {
  if (!Sees(hook, query, key)) return -INFINITY;
  const Extras& extras = *hook.extras;
  float logit = product * hook.scale;
  if constexpr (kTerms) {
    if (hook.rectified) logit = Rectified(logit);
    if (hook.multiplied) {
      logit *= NumberAt(hook, kMultiplier, extras.multiplier, {query, key});
    }
    if (hook.mod.mod != ScoreMod::kNone) {
      logit += ModValue(hook.mod, AtMod(hook, {query, key})) * kLog2E;
    }
    if (hook.biased && hook.positioned) {
      return logit + NumberAt(hook, kBias, extras.bias, {query, key}) * kLog2E;
    }
  }
  return hook.biased ? logit + extras.bias[DistanceAt(query, key)] : logit;
}

// What the gradient of a logit is times in that of its scaled product.
template <bool kTerms>
ORDO_DEVICE float ProductFactor(const Hook<kTerms>& hook, float product,
                                int query, int key) {
  if constexpr (kTerms) {
    if (hook.rectified && !(product * hook.scale > 0)) return 0;
    if (hook.multiplied) {
      return NumberAt(hook, kMultiplier, hook.extras->multiplier, {query, key});
    }
  }
  return 1;
}

}  // namespace ordo::kernels::attention

#endif  // ORDO_KERNELS_ATTENTION_CUDA_TILED_HOOK_H_
