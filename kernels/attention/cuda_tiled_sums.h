#ifndef ORDO_KERNELS_ATTENTION_CUDA_TILED_SUMS_H_
#define ORDO_KERNELS_ATTENTION_CUDA_TILED_SUMS_H_

#include "kernels/attention/cuda_tiled_body.h"
#include "kernels/common/cuda_vectors.h"

// What the backward pass has before and after the products: delta, and the
// sums of the parts that blocks have left, each in one order.

namespace ordo::kernels::attention {

// A warp for each query: sum over all that is mixed of its gradient times it.
ORDO_KERNEL(kThreads)
TiledDelta(const TiledArguments arguments) {
  const Call& call = arguments.call;
  const Problem& p = call.problem;
  const int thread = device::ThreadId();
  const int64_t query = device::BlockX() * (kThreads / 32) + thread / 32;
  const HeadOf of = {device::BlockZ(), device::BlockY()};
  // Whole warps leave: there is no barrier below.
  if (query >= p.queries) return;
  float sum = 0;
  for (int v = 0; v < p.num_values; ++v) {
    const int width = static_cast<int>(p.values[v].width);
    const Part mixed = MakePart(call.outputs[kMixed + v], of, 0, width);
    const Part gradient = MakePart(call.d_outputs[kMixed + v], of, 0, width);
    if (gradient.data == nullptr) continue;
    for (int d = thread % 32; d < width; d += 32) {
      sum += LoadNumber(p.type, mixed.data, query * mixed.stride + d) *
             LoadNumber(p.type, gradient.data, query * gradient.stride + d);
    }
  }
  const View& view = call.outputs[kSummed];
  const uint16_t* const sums = SumsOf(view, of);
  const uint16_t* const d_sums = SumsOf(call.d_outputs[kSummed], of);
  const int64_t last = p.causal ? p.reach : 2 * p.reach;
  for (int64_t i = thread % 32; d_sums != nullptr && i <= last; i += 32) {
    sum += LoadNumber(p.type, sums, query * view.token_stride + i) *
           LoadNumber(p.type, d_sums,
                      query * call.d_outputs[kSummed].token_stride + i);
  }
  for (int mask = 16; mask > 0; mask /= 2) {
    sum += device::ShuffleXor(sum, mask);
  }
  if (thread % 32 == 0) {
    arguments.delta_BHT[(of.batch * p.heads + of.head) * p.queries + query] =
        sum;
  }
}

// A table whose gradient is summed up: its parts, and whether all heads share
// it.
struct TableArguments {
  TiledArguments tiled;
  TableSums table;
  Input input;
  bool shared;
};

// The sum at one distance, over the heads of the block.
ORDO_DEVICE float SumOfParts(const TableArguments& arguments, int64_t at) {
  const TiledArguments& tiled = arguments.tiled;
  const Problem& p = tiled.call.problem;
  const float* const parts = tiled.d_parts[arguments.table];
  const int64_t first = arguments.shared ? 0 : device::BlockY();
  const int64_t end = arguments.shared ? p.heads : first + 1;
  float sum = 0;
  for (int64_t row = 0; row < p.batch; ++row) {
    for (int64_t i = (row * p.heads + first) * tiled.parts;
         i < (row * p.heads + end) * tiled.parts; ++i) {
      sum += parts[i * tiled.spread_stride + at];
    }
  }
  return sum;
}

// The block's sum over the distances [begin, end).
ORDO_DEVICE float SumOfRange(const TableArguments& arguments, int64_t begin,
                             int64_t end) {
  float* const sums = reinterpret_cast<float*>(device::SharedMemory());
  const int thread = device::ThreadId();
  float sum = 0;
  for (int64_t at = begin + thread; at < end; at += kThreads) {
    sum += SumOfParts(arguments, at);
  }
  sums[thread] = sum;
  // All threads' sums are there.
  device::SyncThreads();
  sum = 0;
  for (int i = 0; i < kThreads; ++i) sum += sums[i];
  return sum;
}

// The gradient of a head's table. The first two blocks have the elements that
// stand for all distances from the reach on, one at either end; the others a
// thread for each element.
ORDO_KERNEL(kThreads)
TiledTable(const TableArguments arguments) {
  const TiledArguments& tiled = arguments.tiled;
  const Problem& p = tiled.call.problem;
  const View& table = tiled.call.d_inputs[arguments.input];
  float* const gradient =
      static_cast<float*>(table.data) + device::BlockY() * table.head_stride;
  const int64_t last = p.causal ? p.reach : 2 * p.reach;
  const int64_t block = device::BlockX(), zero = ZeroOf(p);
  if (block == 0) {
    // Without a reach both ends are one.
    const int64_t end = last == 0 ? tiled.spread_length : zero - p.reach + 1;
    const float sum = SumOfRange(arguments, 0, end);
    if (device::ThreadId() == 0) gradient[0] = sum;
  } else if (block == 1) {
    if (last == 0) return;
    const float sum =
        SumOfRange(arguments, zero + last - p.reach, tiled.spread_length);
    if (device::ThreadId() == 0) gradient[last] = sum;
  } else {
    const int64_t i = 1 + (block - 2) * kThreads + device::ThreadId();
    if (i >= last) return;
    const int64_t at = zero - p.reach + i;
    gradient[i] =
        at >= 0 && at < tiled.spread_length ? SumOfParts(arguments, at) : 0;
  }
}

// The vectors of a band, X or Y, and their width.
struct VectorsArguments {
  TiledArguments tiled;
  int number;
  Input input;
  int64_t width;
};

// Their gradient, a thread for each element: of its distance, or of the
// farthest, to which blocks have added those beyond.
ORDO_KERNEL(kThreads)
TiledVectors(const VectorsArguments arguments) {
  const TiledArguments& tiled = arguments.tiled;
  const Problem& p = tiled.call.problem;
  const int64_t element = device::BlockX() * kThreads + device::ThreadId();
  const int64_t distance = element / arguments.width;
  const int64_t column = element % arguments.width;
  const int64_t last = p.causal ? p.reach : 2 * p.reach;
  if (distance > last) return;
  const int64_t row = p.keys - 1 - p.reach + distance;
  const bool own = p.table_heads > 1;
  float sum = 0;
  for (int64_t head = 0; head < p.batch * p.heads; ++head) {
    if (own && head % p.heads != device::BlockY()) continue;
    if (row < 0 || row >= tiled.spread_length) break;
    for (int64_t part = 0; part < tiled.parts; ++part) {
      const int64_t at =
          (head * tiled.parts + part) * tiled.spread_stride + row;
      sum +=
          tiled.d_vectors[arguments.number][at * tiled.vectors_width + column];
    }
  }
  const View& to = tiled.call.d_inputs[arguments.input];
  StoreNumber(
      p.type, sum * p.scale,
      device::BlockY() * to.head_stride + distance * to.token_stride + column,
      to.data);
}

// The gradient of r, a thread for each query of a row of the batch.
ORDO_KERNEL(kThreads)
TiledModQueries(const TiledArguments arguments) {
  const Problem& p = arguments.call.problem;
  const int64_t query = device::BlockX() * kThreads + device::ThreadId();
  if (query >= p.queries) return;
  float sum = 0;
  for (int64_t head = 0; head < p.heads; ++head) {
    sum += arguments
               .d_rows[(device::BlockY() * p.heads + head) * p.queries + query];
  }
  const View& rows = arguments.call.d_inputs[kModQuery];
  static_cast<float*>(rows.data)[device::BlockY() * rows.batch_stride + query] =
      sum;
}

// The gradient of theta of a score mod, a block for each head.
ORDO_KERNEL(kThreads)
TiledTheta(const TiledArguments arguments) {
  const Problem& p = arguments.call.problem;
  const View& theta = arguments.call.d_inputs[kModParameter];
  const int64_t head = device::BlockX(), parameters = ParametersOf(p);
  for (int64_t i = device::ThreadId(); i < parameters; i += kThreads) {
    float sum = 0;
    for (int64_t row = 0; row < p.batch; ++row) {
      for (int64_t part = 0; part < arguments.parts; ++part) {
        const int64_t at = (row * p.heads + head) * arguments.parts + part;
        sum += arguments.d_theta[at * parameters + i];
      }
    }
    static_cast<float*>(theta.data)[head * theta.head_stride + i] = sum;
  }
}

}  // namespace ordo::kernels::attention

#endif  // ORDO_KERNELS_ATTENTION_CUDA_TILED_SUMS_H_
