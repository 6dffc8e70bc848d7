#ifndef ORDO_KERNELS_ATTENTION_CPU_COUNTED_BACKWARD_H_
#define ORDO_KERNELS_ATTENTION_CPU_COUNTED_BACKWARD_H_

#include <stdint.h>
#include <string.h>

#include "kernels/attention/cpu_counted_rows.h"
#include "kernels/attention/cpu_counted_work.h"

// The backward pass of cpu_counted.h; see cpu_vectors.h.

namespace ordo::kernels::attention {
namespace {

// What the backward pass of a head has beside.
struct BackwardWork {
  Rows d_mixed[kMaxValues];
  // Null data: not wanted.
  Rows dq;
  Rows dk;
  Rows d_gate_q;
  Rows d_gate_k;
  Rows d_values[kMaxValues];
  bool wants_z;
  // The head's parts of tables' gradients.
  float* parts;
  TableSums tables;
  // Of them; null: not wanted.
  float* d_slope;
};

// Where a gradient is summed up.
struct SumRoom {
  int64_t count;
  int64_t width;
  float* room;
  // Other heads' sums are there already; else zeros.
  bool add;

  Rows Of(const Head& head) const {
    const Rows rows = Target(head, width, room);
    if (!add) ClearRows(rows, count, width);
    return rows;
  }
};

BackwardWork PrepareBackward(const HeadWork& work, const Unit& unit) {
  const Problem& p = *work.problem;
  const Room& room = *work.room;
  const View* const d_in = work.call->d_inputs;
  const bool add = !work.at.is_first();
  float* const parts = unit.parts + work.at.index() * PartsStride(p);
  BackwardWork back = {};
  back.dq = SumRoom{p.queries, p.width, room.dq, false}.Of(
      work.at.OfQueries(d_in[kQ]));
  back.dk = SumRoom{p.keys, p.width, room.dk, add}.Of(work.at.OfKeys(d_in[kK]));
  back.d_gate_q = SumRoom{p.queries, p.width, room.d_gate_q, false}.Of(
      work.at.OfQueries(d_in[kGateQ]));
  back.d_gate_k = SumRoom{p.keys, p.width, room.d_gate_k, add}.Of(
      work.at.OfKeys(d_in[kGateK]));
  for (int v = 0; v < p.num_values; ++v) {
    const int64_t width = p.values[v].width;
    const bool shared = p.values[v].heads != p.heads;
    const View& gradient = work.call->d_outputs[kMixed + v];
    back.d_values[v] =
        SumRoom{p.keys, width, room.d_values[v], shared && add}.Of(
            work.at.OfValue(d_in, v));
    if (gradient.data == nullptr) continue;
    back.d_mixed[v] =
        Widened(work.at.OfQueries(gradient), p.queries, width, room.d_mixed[v]);
    TransposeTiles(work.values[v], p, width, room.transposed_values[v]);
  }
  back.wants_z = p.positions > 0 && d_in[kPositionTerm].data != nullptr;
  back.parts = parts;
  memset(parts, 0, PartsStride(p) * 4);
  back.tables = MakeTableSums(*work.call, room.hook, parts);
  if (d_in[kPositionSlope].data != nullptr) {
    back.d_slope = parts + PartOffset(p, kPositionSlope);
  }
  return back;
}

// The logarithms of the sums in base 2, and delta: the sum over all that is
// mixed of its gradient times itself.
void PrepareRows(const HeadWork& work, bool wants_z, const Place& place) {
  const Problem& p = *work.problem;
  const Room& room = *work.room;
  MixedDeltas(work.at, place.query, place.num_queries, room.delta);
  for (int64_t r = 0; r < place.num_queries; ++r) {
    const int64_t query = place.query + r;
    room.lse[r] = work.call->lse_BHT[work.at.Row(query)] * kLog2E;
    room.d_count[r] = 0;
    room.count[r] = {};
  }
  for (int64_t r = 0; r < place.num_queries && wants_z; ++r) {
    memset(room.d_z + r * p.positions * 2, 0,
           ReachedPositions(work, place) * 2 * 4);
  }
}

// Whether z is constant from a count on.
bool IsEnded(const Problem& p, const Counter& count) {
  return p.positions > 0 && count.whole >= p.positions - 1;
}

// Keeps products and the counts of rows at the ends of tiles of keys, from the
// last tile to the first where any row's z still changes, which is returned.
int64_t CountKeys(const HeadWork& work, Place place, int64_t begin) {
  const Problem& p = *work.problem;
  const Room& room = *work.room;
  place.key = (work.End(place) - 1) / kTile * kTile;
  for (; place.key >= begin; place.key -= kTile) {
    place.num_keys = Least(kTile, p.keys - place.key);
    const Products products = ProductsOf(room, place.key);
    bool ended = true;
    for (int64_t r = 0; r < place.num_queries; ++r) {
      room.counts[place.key + r] = room.count[r];
      ended = ended && IsEnded(p, room.count[r]);
    }
    if (ended) break;
    MultiplyKeys(work, place, products.scores);
    MultiplyGates(work, place, products.gates);
    for (int64_t r = 0; r < place.num_queries; ++r) {
      if (IsEnded(p, room.count[r])) continue;
      TileRow row = RowOf(work, place, r, products);
      for (int v = kTileVectors - 1; v >= 0; --v) {
        Count(row.OpenGates(v).open, room.count + r);
      }
    }
  }
  return place.key + kTile;
}

// The gradients of row r's q.k and of what gates are of, over the scale.
void StoreChange(const HeadWork& work, int64_t r, const Vector* change,
                 const Vector* d_gates) {
  const Problem& p = *work.problem;
  for (int v = 0; v < kTileVectors; ++v) {
    const int64_t at = r * kTile + v * kLanes;
    if (p.gates == Gates::kOwn) {
      Store(work.room->d_scores + at, change[v] * p.scale);
      Store(work.room->d_gates + at, d_gates[v] * p.scale);
    } else {
      Store(work.room->d_scores + at, (change[v] + d_gates[v]) * p.scale);
    }
  }
}

// Logits of a tile become weights, and the gradients of the weights become
// those of q.k and of what gates are of. `counts` are those of what is behind
// the tile; null: beyond z's last number.
void Differentiate(const HeadWork& work, const BackwardWork& back,
                   const Place& place, const Counter* counts) {
  const Problem& p = *work.problem;
  const Room& room = *work.room;
  const Products products = ProductsOf(room, place.key);
  Additions additions;
  Vector d_slope = {};
  for (int64_t r = 0; r < place.num_queries; ++r) {
    TileRow row = RowOf(work, place, r, products);
    Vector change[kTileVectors], d_gates[kTileVectors] = {};
    for (int v = 0; v < kTileVectors; ++v) {
      change[v] = Load(room.d_scores + r * kTile + v * kLanes);
    }
    const Change to = {room.lse[r], room.delta[r], room.weights + r * kTile,
                       change};
    float* const d_z = room.d_z + r * p.positions * 2;
    if (counts == nullptr || row.term.Ends(counts[r])) {
      const float sum = PlainRow(row, to);
      if (back.wants_z) d_z[2 * (p.positions - 1)] += sum;
    } else {
      const Carried carried = {counts[r], room.d_count + r,
                               back.wants_z ? &additions : nullptr,
                               back.d_slope == nullptr ? nullptr : &d_slope};
      CountedRow(&row, to, carried, d_gates);
      if (back.wants_z) additions.End(d_z);
    }
    work.hook.Differentiate(place, r, back.tables,
                            {products.scores + r * kTile, change});
    StoreChange(work, r, change, d_gates);
  }
  additions.Add();
  if (back.d_slope != nullptr) *back.d_slope += Sum(d_slope);
}

// Adds to the gradients of a product's rows and columns, of which `d` is the
// gradient.
struct Factors {
  Rows rows;
  Rows columns;
  Rows d_rows;
  Rows d_columns;

  void Add(const Place& place, const float* d, int64_t width) const {
    if (d_columns.data != nullptr) {
      Multiply({place.num_keys,
                Padded(width),
                place.num_queries,
                {d, 1, kTile},
                rows.From(place.query),
                d_columns.From(place.key),
                true});
    }
    if (d_rows.data != nullptr) {
      Multiply({place.num_queries,
                Padded(width),
                place.num_keys,
                {d, kTile, 1},
                columns.From(place.key),
                d_rows.From(place.query),
                true});
    }
  }
};

// One tile: products and what lies between them. Counts as for Differentiate.
void BackwardTile(const HeadWork& work, const BackwardWork& back,
                  const Place& place, const Counter* counts) {
  const Problem& p = *work.problem;
  const Room& room = *work.room;
  if (counts == nullptr) {
    MultiplyKeys(work, place, ProductsOf(room, place.key).scores);
  }
  bool add = false;
  for (int v = 0; v < p.num_values; ++v) {
    if (back.d_mixed[v].data == nullptr) continue;
    const int64_t width = p.values[v].width;
    const Rows gradient = back.d_mixed[v].From(place.query);
    Multiply({place.num_queries,
              kTile,
              width,
              {gradient.data, gradient.row, 1},
              {room.transposed_values[v] + place.key * width, kTile},
              {room.d_scores, kTile},
              add});
    add = true;
  }
  Differentiate(work, back, place, counts);
  for (int v = 0; v < p.num_values; ++v) {
    if (back.d_mixed[v].data == nullptr) continue;
    const Factors mixed = {back.d_mixed[v], {}, {}, back.d_values[v]};
    mixed.Add(place, room.weights, p.values[v].width);
  }
  const Factors scores = {work.q, work.k, back.dq, back.dk};
  scores.Add(place, room.d_scores, p.width);
  if (p.gates != Gates::kOwn || counts == nullptr) return;
  const Factors gates = {work.gate_q, work.gate_k, back.d_gate_q,
                         back.d_gate_k};
  gates.Add(place, room.d_gates, p.width);
}

// Writes what a tile of queries adds to the gradient of z.
void WriteTerms(const HeadWork& work, const Place& place) {
  const int64_t positions = work.problem->positions;
  const int64_t reached = ReachedPositions(work, place);
  const View& view = work.call->d_inputs[kPositionTerm];
  const Head d_z = work.at.OfQueries(view);
  for (int64_t r = 0; r < place.num_queries; ++r) {
    const float* const pairs = work.room->d_z + r * positions * 2;
    const int64_t at = (place.query + r) * view.token_stride;
    Write(d_z, at, pairs[0]);
    for (int64_t i = 1; i < reached; ++i) {
      Write(d_z, at + i, pairs[2 * i] + pairs[2 * i - 1]);
    }
    for (int64_t i = reached; i < positions; ++i) Write(d_z, at + i, 0);
  }
}

void BackwardQueries(const HeadWork& work, const BackwardWork& back,
                     Place place) {
  const Problem& p = *work.problem;
  PrepareTerms(work, place);
  PrepareRows(work, back.wants_z, place);
  const int64_t begin = work.Begin(place);
  const int64_t counted = CountKeys(work, place, begin);
  const int64_t end = work.End(place);
  for (place.key = begin; place.key < end; place.key += kTile) {
    place.num_keys = Least(kTile, p.keys - place.key);
    BackwardTile(work, back, place,
                 place.key < counted ? nullptr : work.room->counts + place.key);
  }
  if (back.wants_z) WriteTerms(work, place);
}

// Writes what was summed up in the workspace.
void WriteGradients(const HeadWork& work, const BackwardWork& back) {
  const Problem& p = *work.problem;
  const View* const d_in = work.call->d_inputs;
  WriteTarget(back.dq, p.queries, p.width, work.at.OfQueries(d_in[kQ]));
  WriteTarget(back.dk, p.keys, p.width, work.at.OfKeys(d_in[kK]));
  WriteTarget(back.d_gate_q, p.queries, p.width,
              work.at.OfQueries(d_in[kGateQ]));
  WriteTarget(back.d_gate_k, p.keys, p.width, work.at.OfKeys(d_in[kGateK]));
  for (int v = 0; v < p.num_values; ++v) {
    WriteTarget(back.d_values[v], p.keys, p.values[v].width,
                work.at.OfValue(d_in, v));
  }
}

void Backward(const Call& call, const Unit& unit) {
  ForEachHead(call, unit, [&](const HeadWork& work) {
    const BackwardWork back = PrepareBackward(work, unit);
    const int64_t queries = call.problem.queries;
    for (int64_t query = 0; query < queries; query += kTile) {
      BackwardQueries(work, back, {query, Least(kTile, queries - query), 0, 0});
    }
    FinishModSums(call.problem, back.tables.mod, back.parts);
    WriteGradients(work, back);
  });
}

}  // namespace
}  // namespace ordo::kernels::attention

#endif  // ORDO_KERNELS_ATTENTION_CPU_COUNTED_BACKWARD_H_
