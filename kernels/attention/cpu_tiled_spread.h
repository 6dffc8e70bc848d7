#ifndef ORDO_KERNELS_ATTENTION_CPU_TILED_SPREAD_H_
#define ORDO_KERNELS_ATTENTION_CPU_TILED_SPREAD_H_

#include <stdint.h>
#include <string.h>

#include "kernels/attention/cpu_tiled_code.h"
#include "kernels/attention/cpu_tiled_head.h"
#include "kernels/attention/cpu_tiled_rows.h"
#include "kernels/common/cpu_vectors.h"

// Tables of vectors of distances, spread: the vectors of the farthest distances
// are repeated beyond them, so that those of any tile that is not wholly beyond
// lie side by side.

namespace ordo::kernels::attention {
namespace {

// Distances beyond the farthest on either side.
constexpr int64_t kBeyond = 2 * kTile;

struct Reach {
  // The farthest distances that are told apart.
  int64_t least;
  int64_t most;
  // Of the table's element for distance 0.
  int64_t zero;

  int64_t Near(int64_t distance) const {
    return distance < least ? least : distance > most ? most : distance;
  }
  // How many are spread, ...
  int64_t count() const { return most - least + 1 + 2 * kBeyond; }
  // ... where a distance is among them, ...
  int64_t At(int64_t distance) const { return distance - least + kBeyond; }
  // ... where that lies in the table, ...
  int64_t PlaceOf(int64_t i) const { return Near(i + least - kBeyond) + zero; }
  // ... and the distance that all of a tile count as, if that is the least (0)
  // or the greatest (1); else -1.
  int End(const Span& span) const {
    if (span.most <= least) return 0;
    return span.least >= most ? 1 : -1;
  }
  int64_t EndAt(int end) const { return At(end == 0 ? least : most); }
};

Reach ReachOf(const Problem& p) {
  const int64_t reach = p.positioned ? p.reach : Least(p.reach, p.keys - 1);
  return {-reach, p.causal ? 0 : reach, p.reach};
}

// A head of a table of vectors.
struct Spread {
  Reach reach;
  int64_t width;
  // [reach.count(), width], and the gradient; null: not wanted.
  Rows rows;
  Rows change;
  // [width, reach.count()] with rows of `stride`; null: not needed.
  float* across;
  int64_t stride;

  const float* Across(int64_t distance) const {
    return across + reach.At(distance);
  }
};

struct SpreadRoom {
  float* rows;
  float* change;
  float* across;
};

// An odd number of cache lines, lest rows share a few sets of the cache.
int64_t AcrossStride(int64_t count) { return (count + 31) / 32 * 32 + 16; }

SpreadRoom MakeSpreadRoom(const Problem& p, int64_t width, bool across,
                          Arena* arena) {
  const int64_t count = width > 0 ? ReachOf(p).count() : 0;
  SpreadRoom room;
  room.rows = arena->Floats(count * Padded(width));
  room.change = arena->Floats(count * Padded(width));
  room.across = arena->Floats(across ? width * AcrossStride(count) : 0);
  return room;
}

Spread MakeSpread(const HeadAt& at, Input table, int64_t width,
                  const SpreadRoom& room) {
  Spread spread;
  spread.reach = ReachOf(at.problem());
  spread.width = width;
  spread.rows = {room.rows, Padded(width)};
  spread.change = {};
  if (at.call->d_inputs[table].data != nullptr) {
    spread.change = {room.change, Padded(width)};
  }
  spread.across = room.across;
  spread.stride = AcrossStride(spread.reach.count());
  const Head head = at.OfTable(at.call->inputs[table]);
  const int64_t stride = head.view->token_stride;
  for (int64_t i = 0; i < spread.reach.count(); ++i) {
    float* const row = spread.rows.From(i).data;
    const int64_t from = spread.reach.PlaceOf(i) * stride;
    for (int64_t d = 0; d < width; ++d) row[d] = Read(head, from + d);
    for (int64_t d = width; d < Padded(width); ++d) row[d] = 0;
  }
  return spread;
}

// Fills in `across`.
void SetAcross(const Spread& spread) {
  constexpr int64_t kStep = 16;
  const int64_t count = spread.reach.count();
  for (int64_t first = 0; first < count; first += kStep) {
    const int64_t end = Least(first + kStep, count);
    for (int64_t d = 0; d < spread.width; ++d) {
      for (int64_t i = first; i < end; ++i) {
        spread.across[d * spread.stride + i] = spread.rows.From(i).data[d];
      }
    }
  }
}

// The gradient's sums for each place of the table: a part of the table's
// gradient, which is zeros.
void FoldSpread(const Spread& spread, float* part) {
  const int64_t row = PartRow(spread.width);
  for (int64_t i = 0; i < spread.reach.count(); ++i) {
    float* const to = part + spread.reach.PlaceOf(i) * row;
    const float* const from = spread.change.From(i).data;
    for (int64_t d = 0; d < Padded(spread.width); d += kLanes) {
      Store(to + d, Load(to + d) + Load(from + d));
    }
  }
}

// Sums the parts of tables of vectors up, for one distance in unit.index, in
// the order of the rows of the batch and the heads.
void SumVectors(const Call& call, const Unit& unit) {
  const Problem& p = call.problem;
  constexpr Input kTables[] = {kQueryVector, kKeyVector, kChannel};
  for (const Input table : kTables) {
    const View& view = call.d_inputs[table];
    if (view.data == nullptr) continue;
    const int64_t width = ShapeOf(p, table).width;
    const int64_t at = PartOffset(p, table) + unit.index * PartRow(width);
    const int64_t shared = p.heads / p.table_heads;
    for (int64_t head = 0; head < p.heads; head += shared) {
      for (int64_t d = 0; d < width; d += kLanes) {
        Vector sum = {};
        for (int64_t i = 0; i < p.batch * shared; ++i) {
          const int64_t of = i / shared * p.heads + head + i % shared;
          sum += Load(unit.parts + of * PartsStride(p) + at + d);
        }
        const Head to{&view, head / shared * view.head_stride, p.type};
        for (int64_t e = 0; e < kLanes && d + e < width; ++e) {
          Write(to, unit.index * view.token_stride + d + e, sum[e]);
        }
      }
    }
  }
}

}  // namespace
}  // namespace ordo::kernels::attention

#endif  // ORDO_KERNELS_ATTENTION_CPU_TILED_SPREAD_H_
