#ifndef ORDO_KERNELS_ATTENTION_CUDA_TILED_BODY_H_
#define ORDO_KERNELS_ATTENTION_CUDA_TILED_BODY_H_

#include <cmath>
#include <cstdint>

#include "kernels/attention/cuda_tile.h"
#include "kernels/attention/cuda_tiled_code.h"
#include "kernels/common/cuda_device.h"

// What the passes of cuda_tiled.cu have in common: where a block is, the tiles
// that it reads, and logits.

namespace ordo::kernels::attention {

inline constexpr float kLog2E = 1.44269504F;
inline constexpr float kLn2 = 0.693147181F;

// A tile in shared memory of kRows rows, as elements.
constexpr int64_t TileElements(int64_t rows, int64_t width) {
  return rows * (width + kGap);
}

// What a step has beside its tiles. Distances of keys from queries in a tile
// are kept from -(kCudaTile - 1) on.
struct Extras {
  float bias[2 * kCudaTile];
  float lse[kCudaTile];
  float delta[kCudaTile];
  uint8_t hidden[kCudaTile];
};

// Steps whose tiles are in shared memory at a time: the next one arrives while
// one is worked on, unless that leaves room for one block only on a
// multiprocessor of compute capability 8.0 (164 KB).
constexpr int Stages(int64_t fixed_elements, int64_t step_elements) {
  return 2 * (fixed_elements + 2 * step_elements) <= 80 * 1024 ? 2 : 1;
}

// A step of a pass: where its tiles begin.
struct Place {
  int64_t query;
  int64_t key;
};

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

ORDO_DEVICE Head MakeHead(const Call& call, const HeadOf& of) {
  const Problem& p = call.problem;
  Head head;
  head.of_query = of;
  head.of_key = {of.batch, of.head / (p.heads / p.key_heads)};
  head.q = OneTensor(call.inputs[kQ], head.of_query, p.width);
  head.k = OneTensor(call.inputs[kK], head.of_key, p.width);
  head.values = Together(p, call.inputs + kValue, of, true);
  return head;
}

// Distance d of a step has element d + kCudaTile - 1 of its extras; that and
// this is its element of a part of d_bias.
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

// The step's part of the bias, times log2(e), and which of its keys are hidden.
ORDO_DEVICE void LoadExtras(const TiledArguments& arguments, const HeadOf& of,
                            const Place& place, Extras* extras) {
  const Problem& p = arguments.call.problem;
  const int i = device::ThreadId();
  if (p.biased) {
    const View& table = arguments.call.inputs[kBias];
    const float* const bias =
        static_cast<const float*>(table.data) + of.head * table.head_stride;
    const int64_t distance = SpreadBase(p, place) + i - (p.keys - 1);
    extras->bias[i] = bias[TableAt(p, distance)] * kLog2E;
  }
  if (i < kCudaTile) {
    const int64_t key = place.key + i;
    const uint8_t* const real = arguments.call.facts.real_BS;
    extras->hidden[i] =
        key >= p.keys || (p.padded && real[of.batch * p.keys + key] == 0);
  }
}

// Logits in base 2 of a step: scale, bias, what is hidden.
struct Hook {
  const Extras* extras;
  float scale;
  bool biased;
  // Whether every query of the tile sees every key of it.
  bool whole;
  // A query sees keys up to its own number in the tile plus this.
  int diagonal;
};

ORDO_DEVICE Hook MakeHook(const Problem& p, const Place& place,
                          const Extras* extras) {
  const int64_t token = p.keys - p.queries + place.query;
  const int64_t ahead = token - place.key;
  Hook hook;
  hook.extras = extras;
  hook.scale = p.scale * kLog2E;
  hook.biased = p.biased;
  // Beyond a tile it makes no difference, and the difference fits an int.
  hook.diagonal =
      !p.causal || ahead > kCudaTile ? kCudaTile : static_cast<int>(ahead);
  hook.whole = !p.padded && place.key + kCudaTile <= p.keys &&
               hook.diagonal >= kCudaTile - 1;
  return hook;
}

// -infinity if the query does not see the key; both count in their tiles.
ORDO_DEVICE float Logit(const Hook& hook, float product, int query, int key) {
  if (!hook.whole &&
      (key - query > hook.diagonal || hook.extras->hidden[key] != 0)) {
    return -INFINITY;
  }
  const float logit = product * hook.scale;
  return hook.biased ? logit + hook.extras->bias[key - query + kCudaTile - 1]
                     : logit;
}

// Keys that a query of the tile from `query` on sees.
ORDO_DEVICE int64_t VisibleKeys(const Problem& p, int64_t query) {
  const int64_t last =
      query + kCudaTile < p.queries ? query + kCudaTile : p.queries;
  return p.causal ? p.keys - p.queries + last : p.keys;
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
