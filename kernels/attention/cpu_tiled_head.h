#ifndef ORDO_KERNELS_ATTENTION_CPU_TILED_HEAD_H_
#define ORDO_KERNELS_ATTENTION_CPU_TILED_HEAD_H_

#include <stdint.h>
#include <string.h>

#include "kernels/attention/cpu_tiled_code.h"
#include "kernels/attention/cpu_tiled_distances.h"
#include "kernels/attention/cpu_tiled_rows.h"
#include "kernels/common/cpu_rows.h"
#include "kernels/common/cpu_vectors.h"

// What terms that are more than an addition to a logit know of a head.

namespace ordo::kernels::attention {
namespace {

// A row of the batch and a head of a call.
struct HeadAt {
  const Call* call;
  int64_t batch;
  int64_t head;
  // Of the keys.
  int64_t key_head;

  const Problem& problem() const { return call->problem; }
  // Whether it is the first, the last of the heads that share keys.
  bool is_first() const {
    return head % (problem().heads / problem().key_heads) == 0;
  }
  bool is_last() const {
    return (head + 1) % (problem().heads / problem().key_heads) == 0;
  }
  Head Of(const View& view, int64_t of_head) const {
    return {&view, batch * view.batch_stride + of_head * view.head_stride,
            problem().type};
  }
  // The head of a value tensor that goes with this one.
  int64_t ValueHead(int v) const {
    return problem().values[v].heads == problem().heads ? head : key_head;
  }
  // The head's number in [B,H], and that of a row of [B,H,T].
  int64_t index() const { return batch * problem().heads + head; }
  int64_t Row(int64_t query) const {
    return index() * problem().queries + query;
  }
  Head OfQueries(const View& view) const { return Of(view, head); }
  Head OfKeys(const View& view) const { return Of(view, key_head); }
  // Of one of the views of the value tensors.
  Head OfValue(const View* views, int v) const {
    return Of(views[kValue + v], ValueHead(v));
  }
  // Of a table of vectors.
  Head OfTable(const View& view) const {
    return {&view, problem().table_heads == 1 ? 0 : head * view.head_stride,
            problem().type};
  }
};

// Where a gradient is summed up: in its view if it can be computed on there,
// else in `room`.
inline Rows Target(const Head& head, int64_t width, float* room) {
  if (head.view->data == nullptr) return {};
  if (!IsDirect(head.type, width)) return {room, Padded(width)};
  return {static_cast<float*>(head.view->data) + head.offset,
          head.view->token_stride};
}

// Writes what was summed up in `room`.
inline void WriteTarget(const Rows& rows, int64_t count, int64_t width,
                        const Head& head) {
  if (rows.data == nullptr || IsDirect(head.type, width)) return;
  WriteRows(rows, count, width, head);
}

inline void ClearRows(const Rows& rows, int64_t count, int64_t width) {
  if (rows.data == nullptr) return;
  for (int64_t t = 0; t < count; ++t) {
    memset(rows.From(t).data, 0, Padded(width) * 4);
  }
}

// The distances between the queries and the keys of a tile.
struct Span {
  int64_t least;
  int64_t most;
  // That of the first key and the first query; if `even`, it grows by one from
  // key to key and falls by one from query to query.
  int64_t first;
  bool even;
};

// `ids` are the position ids of the tokens; null: their numbers.
inline int64_t DistanceOf(const Problem& p, const int32_t* ids, int64_t query,
                          int64_t key) {
  const int64_t token = p.keys - p.queries + query;
  return ids == nullptr ? key - token : int64_t{ids[key]} - ids[token];
}

inline Span SpanOf(const Problem& p, const int32_t* ids, const Place& place) {
  const int64_t first = DistanceOf(p, ids, place.query, place.key);
  if (ids == nullptr) {
    return {first - place.num_queries + 1, first + place.num_keys - 1, first,
            true};
  }
  int64_t to_key[2] = {0, 0}, to_query[2] = {0, 0};
  bool even = true;
  const int32_t* const keys = ids + place.key;
  for (int64_t c = 1; c < place.num_keys; ++c) {
    const int64_t step = int64_t{keys[c]} - keys[0];
    to_key[0] = Least(to_key[0], step);
    to_key[1] = -Least(-to_key[1], -step);
    even = even && step == c;
  }
  const int32_t* const queries = ids + p.keys - p.queries + place.query;
  for (int64_t r = 1; r < place.num_queries; ++r) {
    const int64_t step = int64_t{queries[r]} - queries[0];
    to_query[0] = Least(to_query[0], step);
    to_query[1] = -Least(-to_query[1], -step);
    even = even && step == r;
  }
  return {first + to_key[0] - to_query[1], first + to_key[1] - to_query[0],
          first, even};
}

}  // namespace
}  // namespace ordo::kernels::attention

#endif  // ORDO_KERNELS_ATTENTION_CPU_TILED_HEAD_H_
