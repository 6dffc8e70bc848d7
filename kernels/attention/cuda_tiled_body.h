#ifndef ORDO_KERNELS_ATTENTION_CUDA_TILED_BODY_H_
#define ORDO_KERNELS_ATTENTION_CUDA_TILED_BODY_H_

#include <cmath>
#include <cstdint>

#include "kernels/attention/cuda_tile.h"
#include "kernels/attention/cuda_tiled_code.h"
#include "kernels/attention/cuda_tiled_hook.h"
#include "kernels/common/cuda_device.h"

// What the passes of cuda_tiled.cu have in common: where a block is, and the
// tiles that it reads.

namespace ordo::kernels::attention {

// A tile in shared memory of kRows rows, as elements.
constexpr int64_t TileElements(int64_t rows, int64_t width) {
  return rows * (width + kGap);
}

// Steps whose tiles are in shared memory at a time: the next one arrives while
// one is worked on, unless that leaves room for one block only on a
// multiprocessor of compute capability 8.0 (164 KB).
constexpr int Stages(int64_t fixed_elements, int64_t step_elements) {
  return 2 * (fixed_elements + 2 * step_elements) <= 80 * 1024 ? 2 : 1;
}

// The block's row of the batch, its head, and the tensors of both.
struct Head {
  HeadOf of_query;
  HeadOf of_key;
  Columns q;
  Columns k;
  Columns values;
};

ORDO_DEVICE HeadOf ValueHead(const Problem& p, int v, const HeadOf& of) {
  const bool own = p.values[v].heads == p.heads;
  return {of.batch, own ? of.head : of.head / (p.heads / p.key_heads)};
}

// The tensors `views` side by side: of keys' tokens with the head that is
// theirs, of queries' with the head itself.
ORDO_DEVICE Columns Together(const Problem& p, const View* views,
                             const HeadOf& of, bool of_keys) {
  Columns columns = {};
  int begin = 0;
  for (int v = 0; v < p.num_values; ++v) {
    const int end = begin + static_cast<int>(p.values[v].width);
    columns.parts[v] =
        MakePart(views[v], of_keys ? ValueHead(p, v, of) : of, begin, end);
    begin = end;
  }
  return columns;
}

// With q and k of near keys or of far ones.
ORDO_DEVICE Head MakeHead(const Call& call, const HeadOf& of, bool far) {
  const Problem& p = call.problem;
  Head head;
  head.of_query = of;
  head.of_key = {of.batch, of.head / (p.heads / p.key_heads)};
  head.q = OneTensor(call.inputs[far ? kFarQ : kQ], head.of_query, p.width);
  head.k = OneTensor(call.inputs[far ? kFarK : kK], head.of_key, p.width);
  head.values = Together(p, call.inputs + kValue, of, true);
  return head;
}

// Where a head's sums of weights by distance, or their gradients, begin; null:
// there are none.
ORDO_DEVICE uint16_t* SumsOf(const View& view, const HeadOf& of) {
  auto* const data = static_cast<uint16_t*>(view.data);
  if (data == nullptr) return nullptr;
  return data + of.batch * view.batch_stride + of.head * view.head_stride;
}

// Tiles [begin, end); there may be none.
struct Tiles {
  int64_t begin;
  int64_t end;
};

// Those of kKeys keys that a query of the tile of kQueries from `query` on
// needs, of near ones or of far ones.
template <int kQueries = kCudaTile, int kKeys = kCudaTile>
ORDO_DEVICE Tiles TilesOfKeys(const TiledArguments& arguments, const HeadOf& of,
                              int64_t query, bool far) {
  const Problem& p = arguments.call.problem;
  const int64_t before = p.keys - p.queries;
  const int64_t last =
      query + kQueries < p.queries ? query + kQueries : p.queries;
  int64_t begin = FirstNeeded(arguments, of, query);
  int64_t end = p.causal ? before + last : p.keys;
  if (far) end -= p.far_from;
  if (p.far_from > 0 && !far && begin <= before + query - p.far_from) {
    begin = before + query - p.far_from + 1;
  }
  return {begin / kKeys, end > 0 ? (end + kKeys - 1) / kKeys : 0};
}

// The queries that need a key of the tile of kKeys from `key` on, among their
// near keys or among their far ones, from the first in whole steps of kRows on
// to the last; there may be none.
template <int64_t kRows, int kKeys = kCudaTile>
ORDO_DEVICE Tiles RowsOfQueries(const TiledArguments& arguments,
                                const HeadOf& of, int64_t key, bool far) {
  const Problem& p = arguments.call.problem;
  const int64_t before = p.keys - p.queries;
  int64_t begin = p.causal ? key - before : 0;
  int64_t end = QueriesBefore(arguments, of, key + kKeys);
  if (far) begin += p.far_from;
  // The last keys are far from nobody.
  if (begin >= p.queries) return {0, 0};
  const int64_t last = key + kKeys - 1 + p.far_from - before;
  if (p.far_from > 0 && !far && end > last) end = last;
  return {begin > 0 ? begin / kRows * kRows : 0, end};
}

// A sum, or a maximum, over the four lanes that share a row.
ORDO_DEVICE float SumOfRow(float x) {
  x += device::ShuffleXor(x, 1);
  return x + device::ShuffleXor(x, 2);
}

ORDO_DEVICE float LargestOfRow(float x) {
  x = fmaxf(x, device::ShuffleXor(x, 1));
  return fmaxf(x, device::ShuffleXor(x, 2));
}

}  // namespace ordo::kernels::attention

#endif  // ORDO_KERNELS_ATTENTION_CUDA_TILED_BODY_H_
