#ifndef ORDO_KERNELS_ATTENTION_CPU_TILED_PAIR_H_
#define ORDO_KERNELS_ATTENTION_CPU_TILED_PAIR_H_

#include <stdint.h>

#include "kernels/attention/cpu_tiled_distances.h"
#include "kernels/attention/cpu_tiled_head.h"
#include "kernels/attention/cpu_tiled_rows.h"
#include "kernels/common/cpu_vectors.h"

// Products of q and k and their gradients.

namespace ordo::kernels::attention {
namespace {

// q and k of one head; null gradients: not wanted.
struct Pair {
  int64_t width;
  Rows q;
  Rows k;
  // In tiles, [width, kTile] each.
  float* transposed_k;
  Rows dq;
  Rows dk;
};

// The product of a tile's q and k.
void MultiplyPair(const Pair& pair, const Place& place, float* scores) {
  const Rows q = pair.q.From(place.query);
  Multiply({place.num_queries,
            kTile,
            pair.width,
            {q.data, q.row, 1},
            {pair.transposed_k + place.key * pair.width, kTile},
            {scores, kTile},
            false});
}

// Whether sums of gradients are there already.
struct Sums {
  bool dq;
  bool dk;
};

// From the gradient of a tile's product to those of q and k.
void DifferentiatePair(const Pair& pair, const Place& place,
                       const float* d_scores, Sums there) {
  if (pair.dk.data != nullptr) {
    Multiply({place.num_keys,
              Padded(pair.width),
              place.num_queries,
              {d_scores, 1, kTile},
              pair.q.From(place.query),
              pair.dk.From(place.key),
              there.dk});
  }
  if (pair.dq.data != nullptr) {
    Multiply({place.num_queries,
              Padded(pair.width),
              place.num_keys,
              {d_scores, kTile, 1},
              pair.k.From(place.key),
              pair.dq.From(place.query),
              there.dq});
  }
}

// A room for a pair: copies, if they are needed.
struct PairRoom {
  float* q;
  float* k;
  float* transposed_k;
  float* dq;
  float* dk;
};

// Which of a problem's inputs a pair is.
struct PairInputs {
  Input q;
  Input k;
};

Pair PreparePair(const HeadAt& at, PairInputs inputs, const PairRoom& room) {
  const Call& call = *at.call;
  const Problem& p = call.problem;
  Pair pair = {};
  pair.width = p.width;
  pair.q =
      Widened(at.OfQueries(call.inputs[inputs.q]), p.queries, p.width, room.q);
  pair.k = Widened(at.OfKeys(call.inputs[inputs.k]), p.keys, p.width, room.k);
  pair.transposed_k = room.transposed_k;
  for (int64_t key = 0; at.is_first() && key < p.keys; key += kTile) {
    Transpose(pair.k.From(key), Least(kTile, p.keys - key), p.width,
              room.transposed_k + key * p.width);
  }
  pair.dq = Target(at.OfQueries(call.d_inputs[inputs.q]), p.width, room.dq);
  pair.dk = Target(at.OfKeys(call.d_inputs[inputs.k]), p.width, room.dk);
  return pair;
}

// Zeros where the gradients of a pair are summed up: those of keys once for all
// heads that share them.
void ClearPair(const HeadAt& at, const Pair& pair) {
  const Problem& p = at.problem();
  ClearRows(pair.dq, p.queries, p.width);
  if (at.is_first()) ClearRows(pair.dk, p.keys, p.width);
}

void WritePair(const HeadAt& at, PairInputs inputs, const Pair& pair) {
  const Problem& p = at.problem();
  const View* const views = at.call->d_inputs;
  WriteTarget(pair.dq, p.queries, p.width, at.OfQueries(views[inputs.q]));
  WriteTarget(pair.dk, p.keys, p.width, at.OfKeys(views[inputs.k]));
}

}  // namespace
}  // namespace ordo::kernels::attention

#endif  // ORDO_KERNELS_ATTENTION_CPU_TILED_PAIR_H_
