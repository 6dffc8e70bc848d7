// The row of cuda_tiled.cu: which problems it takes, by which pair of widths,
// and what of the backward pass does not depend on them.
//
// ORDO_CUDA_TILED_INSTANCES(X), of a generated header, calls X(width,
// values_width) for each pair of the build, least first.

#include <algorithm>

#include "kernels/attention/cuda_code.h"
#include "kernels/attention/cuda_tiled_body.h"
#include "kernels/attention/cuda_tiled_instances.h"

namespace ordo::kernels::attention {
namespace {

// Parts of the workspace begin at multiples of it.
constexpr int64_t kLine = 64;

int64_t Lines(int64_t bytes) { return (bytes + kLine - 1) / kLine * kLine; }

int64_t ValuesWidth(const Problem& p) {
  int64_t width = 0;
  for (int v = 0; v < p.num_values; ++v) width += p.values[v].width;
  return width;
}

// The least pair that has room, or null.
const TiledWidths* FindWidths(const Problem& p) {
  static const TiledWidths* const kAll[] = {
#define ORDO_ONE_PAIR(width, values_width) &Widths<width, values_width>(),
      ORDO_CUDA_TILED_INSTANCES(ORDO_ONE_PAIR)
#undef ORDO_ONE_PAIR
  };
  for (const TiledWidths* const widths : kAll) {
    if (widths->width >= p.width && widths->values_width >= ValuesWidth(p)) {
      return widths;
    }
  }
  return nullptr;
}

// What problem.h has and this kernel does not.
const char* MissingTerm(const Problem& p) {
  if (p.bounded) return "it does not do first keys";
  if (p.positioned) return "it does not do position ids";
  if (p.multiplied || p.rectified) {
    return "it does not do a multiplier of the product";
  }
  if (p.pieces > 0) return "it does not do a ramp";
  if (p.query_band > 0 || p.key_band > 0) {
    return "it does not do vectors of distances";
  }
  if (p.by_channel) return "it does not do products by channel";
  if (p.far_from > 0) return "it does not do a far product";
  if (p.summed) return "it does not do sums of weights by distance";
  if (p.gates != Gates::kNone) return "it does not do counted positions";
  return nullptr;
}

const char* Refusal(const Problem& p) {
  const int64_t shared = device::SharedBytesOfBlock();
  if (shared == 0) return "no device";
  if (p.device != Device::kCuda) return "its tensors must lie on a GPU";
  if (p.type != Type::kBfloat16) return "its type must be bf16";
  bool whole = p.width % 8 == 0;
  for (int v = 0; v < p.num_values; ++v) whole &= p.values[v].width % 8 == 0;
  if (!whole) return "its widths must be multiples of 8";
  const TiledWidths* const widths = FindWidths(p);
  if (widths == nullptr) {
    return "its widths are larger than the library was built for: bazel build "
           "--config=cuda_all";
  }
  if (widths->shared_bytes > shared) {
    return "its widths need more shared memory than the GPU has";
  }
  if (p.batch > 65535 || p.heads > 65535) {
    return "batch and heads must be below 65536";
  }
  return MissingTerm(p);
}

int64_t SpreadLength(const Problem& p) {
  return p.causal ? p.keys : 2 * p.keys - 1;
}

int64_t SpreadStride(const Problem& p) { return Lines(SpreadLength(p)); }

int64_t DeltaBytes(const Problem& p) {
  return Lines(p.batch * p.heads * p.queries *
               static_cast<int64_t>(sizeof(float)));
}

int64_t WorkspaceBytes(const Problem& p) {
  if (!p.biased) return DeltaBytes(p);
  return DeltaBytes(p) + p.batch * p.heads * kBiasParts * SpreadStride(p) *
                             static_cast<int64_t>(sizeof(float));
}

TiledArguments Arguments(const Call& call, void* workspace) {
  const Problem& p = call.problem;
  TiledArguments arguments;
  arguments.call = call;
  arguments.spread_length = SpreadLength(p);
  arguments.spread_stride = SpreadStride(p);
  arguments.delta_BHT = static_cast<float*>(workspace);
  if (call.d_inputs[kBias].data != nullptr) {
    arguments.d_bias_parts =
        reinterpret_cast<float*>(static_cast<char*>(workspace) + DeltaBytes(p));
  }
  arguments.parts =
      std::min(kBiasParts, (p.queries + kCudaTile - 1) / kCudaTile);
  return arguments;
}

const char* Forward(const Call& call, void* workspace, void* stream) {
  return FindWidths(call.problem)->forward(Arguments(call, workspace), stream);
}

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
      sum += device::FromBfloat16(mixed.data[query * mixed.stride + d]) *
             device::FromBfloat16(gradient.data[query * gradient.stride + d]);
    }
  }
  for (int mask = 16; mask > 0; mask /= 2) {
    sum += device::ShuffleXor(sum, mask);
  }
  if (thread % 32 == 0) {
    arguments.delta_BHT[(of.batch * p.heads + of.head) * p.queries + query] =
        sum;
  }
}

// The sum over rows of the batch and parts, in their order.
ORDO_DEVICE float SumOfParts(const TiledArguments& arguments, int64_t at) {
  const Problem& p = arguments.call.problem;
  float sum = 0;
  for (int64_t row = 0; row < p.batch; ++row) {
    for (int64_t part = 0; part < arguments.parts; ++part) {
      const int64_t head = row * p.heads + device::BlockY();
      sum += arguments.d_bias_parts[(head * arguments.parts + part) *
                                        arguments.spread_stride +
                                    at];
    }
  }
  return sum;
}

// The block's sum over the distances [begin, end), always in the same order.
ORDO_DEVICE float SumOfRange(const TiledArguments& arguments, int64_t begin,
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

// d_bias of a head. The first two blocks have the elements that stand for all
// distances from the reach on, one at either end; the others a thread for each
// element.
ORDO_KERNEL(kThreads)
TiledBias(const TiledArguments arguments) {
  const Problem& p = arguments.call.problem;
  const View& table = arguments.call.d_inputs[kBias];
  float* const d_bias =
      static_cast<float*>(table.data) + device::BlockY() * table.head_stride;
  const int64_t last = p.causal ? p.reach : 2 * p.reach;
  const int64_t block = device::BlockX(), zero = p.keys - 1;
  if (block == 0) {
    // Without a reach both ends are one.
    const int64_t end =
        last == 0 ? arguments.spread_length : zero - p.reach + 1;
    const float sum = SumOfRange(arguments, 0, end);
    if (device::ThreadId() == 0) d_bias[0] = sum;
  } else if (block == 1) {
    if (last == 0) return;
    const float sum =
        SumOfRange(arguments, zero + last - p.reach, arguments.spread_length);
    if (device::ThreadId() == 0) d_bias[last] = sum;
  } else {
    const int64_t i = 1 + (block - 2) * kThreads + device::ThreadId();
    if (i >= last) return;
    const int64_t at = zero - p.reach + i;
    d_bias[i] =
        at >= 0 && at < arguments.spread_length ? SumOfParts(arguments, at) : 0;
  }
}

const char* Backward(const Call& call, void* workspace, void* stream) {
  const Problem& p = call.problem;
  const TiledArguments arguments = Arguments(call, workspace);
  constexpr int64_t kQueries = kThreads / 32;
  const device::Grid of_queries = {(p.queries + kQueries - 1) / kQueries,
                                   p.heads, p.batch, kThreads, 0};
  const char* error = device::Launch(TiledDelta, of_queries, stream, arguments);
  if (error != nullptr) return error;
  error = FindWidths(p)->backward(arguments, stream);
  if (error != nullptr || arguments.d_bias_parts == nullptr) return error;
  const int64_t inner = (p.distances() + kThreads - 1) / kThreads;
  const device::Grid of_bias = {2 + inner, p.heads, 1, kThreads,
                                kThreads * sizeof(float)};
  return device::Launch(TiledBias, of_bias, stream, arguments);
}

}  // namespace

const CudaCode& TiledCuda() {
  static constexpr CudaCode kCode = {"cuda_tiled", Refusal, WorkspaceBytes,
                                     Forward, Backward};
  return kCode;
}

}  // namespace ordo::kernels::attention
