#ifndef ORDO_KERNELS_ATTENTION_CPU_TILED_SOFTMAX_H_
#define ORDO_KERNELS_ATTENTION_CPU_TILED_SOFTMAX_H_

#include <math.h>
#include <stdint.h>

#include "kernels/attention/cpu_tiled_distances.h"
#include "kernels/attention/cpu_tiled_head.h"
#include "kernels/attention/cpu_tiled_hook.h"
#include "kernels/attention/cpu_tiled_rows.h"
#include "kernels/common/cpu_rows.h"
#include "kernels/common/cpu_vectors.h"

// Logits and weights of a tile, and what its queries mix; see cpu_vectors.h.

namespace ordo::kernels::attention {
namespace {

// What a tile of queries mixes, a tile of keys at a time.
struct Mixing {
  const Problem* problem;
  // [kTile, Padded(width)] of each value tensor.
  float* mixed[kMaxValues];
  // Of the logits so far, in base 2, and of the weights: [kTile] each.
  float* largest;
  float* sums;

  // Before the first tile of keys.
  void Begin() const {
    for (int64_t r = 0; r < kTile; ++r) largest[r] = kLowest;
  }

  Rows Of(int v) const { return {mixed[v], Padded(problem->values[v].width)}; }

  // Row r of all that is mixed times `factor`.
  void Scale(int64_t r, Vector factor) const {
    for (int v = 0; v < problem->num_values; ++v) {
      const Rows rows = Of(v);
      float* const row = rows.From(r).data;
      for (int64_t d = 0; d < rows.row; d += kLanes) {
        Store(row + d, Load(row + d) * factor);
      }
    }
  }

  // One step of the online softmax for row r: kTileVectors vectors of logits
  // become weights, and what is mixed so far is scaled to the new maximum, by
  // the factor that is returned; `begins` with the first tile of keys.
  Vector Step(int64_t r, bool begins, Vector* row) const {
    Vector most = row[0];
#pragma GCC unroll 16
    for (int v = 1; v < kTileVectors; ++v) most = Max(most, row[v]);
    const float before = largest[r];
    const float found = Largest(most);
    const float now = found > before ? found : before;
    Vector sum = {};
#pragma GCC unroll 16
    for (int v = 0; v < kTileVectors; ++v) {
      row[v] = Exp2(row[v] - now);
      sum += row[v];
    }
    largest[r] = now;
    if (begins || now == before) {
      sums[r] = (begins ? 0 : sums[r]) + Sum(sum);
      return All(1);
    }
    const Vector factor = Exp2(All(before - now));
    sums[r] = sums[r] * factor[0] + Sum(sum);
    Scale(r, factor);
    return factor;
  }

  // What row r's weights are to be multiplied by in the end.
  float Share(int64_t r) const { return sums[r] == 0 ? 0 : 1 / sums[r]; }

  // After the last tile of keys: divides by the sums and writes the results.
  void Finish(const HeadAt& at, const Place& place) const {
    const Call& call = *at.call;
    float* const lse = call.lse_BHT + at.Row(place.query);
    for (int64_t r = 0; r < place.num_queries; ++r) {
      lse[r] = sums[r] == 0 ? INFINITY : kLn2 * largest[r] + logf(sums[r]);
      Scale(r, All(Share(r)));
    }
    for (int v = 0; v < problem->num_values; ++v) {
      Head out = at.OfQueries(call.outputs[kMixed + v]);
      out.offset += place.query * out.view->token_stride;
      WriteRows(Of(v), place.num_queries, problem->values[v].width, out);
    }
  }
};

inline Mixing MakeMixing(const Problem& p, Arena* arena) {
  Mixing mixing;
  mixing.problem = nullptr;
  mixing.largest = arena->Floats(kTile);
  mixing.sums = arena->Floats(kTile);
  for (int v = 0; v < p.num_values; ++v) {
    mixing.mixed[v] = arena->Floats(kTile * Padded(p.values[v].width));
  }
  return mixing;
}

// For kLanes queries, zeros behind `count`: the sum over all that a query mixed
// of its gradient times itself. Summed up as products of tiles are, so that a
// query of one key has a gradient of 0.
inline Vector MixedDelta(const HeadAt& at, int64_t query, int64_t count) {
  const Call& call = *at.call;
  const Problem& p = call.problem;
  Vector sum = {};
  for (int v = 0; v < p.num_values; ++v) {
    const View& change = call.d_outputs[kMixed + v];
    if (change.data == nullptr) continue;
    const Head heads[] = {at.OfQueries(call.outputs[kMixed + v]),
                          at.OfQueries(change)};
    Vector of_value = {};
    ForEachVector(p.values[v].width, [&](kernels::Place place) {
      Vector blocks[2][kLanes];
      for (int of = 0; of < 2; ++of) {
        for (int64_t i = 0; i < kLanes; ++i) {
          blocks[of][i] =
              i < count ? LoadAt(p.type, RowAt(heads[of], query + i), place)
                        : Vector{};
        }
        TransposeBlock(blocks[of]);
      }
      for (int64_t d = 0; d < kLanes; ++d) {
        of_value += blocks[0][d] * blocks[1][d];
      }
    });
    sum += of_value;
  }
  return sum;
}

// Of `count` queries; room for whole vectors.
inline void MixedDeltas(const HeadAt& at, int64_t query, int64_t count,
                        float* deltas) {
  for (int64_t r = 0; r < count; r += kLanes) {
    Store(deltas + r, MixedDelta(at, query + r, count - r));
  }
}

// A tile on its way back, and rows of all queries.
struct TileChange {
  // [kTile, kTile]: q.k, and the gradients of weights.
  float* scores;
  float* d_scores;
  // Of the logits, in base 2.
  const float* lse;
  const float* delta;
};

// Logits become weights, and the gradients of weights those of q.k.
inline void Differentiate(const Hook& hook, const TableSums& tables,
                          const Place& place, const TileChange& tile) {
  for (int64_t r = 0; r < place.num_queries; ++r) {
    float* const scores = tile.scores + r * kTile;
    float* const d_scores = tile.d_scores + r * kTile;
    Vector row[kTileVectors];
    hook.Apply(place, r, scores, row);
    const float lse = tile.lse[place.query + r];
    const float delta = tile.delta[place.query + r];
    Vector change[kTileVectors];
#pragma GCC unroll 16
    for (int v = 0; v < kTileVectors; ++v) {
      row[v] = Exp2(row[v] - lse);
      change[v] = row[v] * (Load(d_scores + v * kLanes) - delta);
    }
    hook.Differentiate(place, r, tables, {scores, change});
    const float scale = hook.problem->scale;
#pragma GCC unroll 16
    for (int v = 0; v < kTileVectors; ++v) {
      Store(scores + v * kLanes, row[v]);
      Store(d_scores + v * kLanes, change[v] * scale);
    }
  }
}

}  // namespace
}  // namespace ordo::kernels::attention

#endif  // ORDO_KERNELS_ATTENTION_CPU_TILED_SOFTMAX_H_
