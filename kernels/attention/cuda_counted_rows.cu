// The row of cuda_counted.cu: which problems it takes, by which width, and what
// of the backward pass does not depend on them.
//
// ORDO_CUDA_COUNTED_INSTANCES(X), of a generated header, calls X(type, width)
// for each instance of the build, of a type least first.

#include <algorithm>

#include "kernels/attention/cuda_code.h"
#include "kernels/attention/cuda_counted_code.h"
#include "kernels/attention/cuda_counted_instances.h"
#include "kernels/attention/cuda_workspace.h"
#include "kernels/common/cuda_device.h"

namespace ordo::kernels::attention {
namespace {

const auto& Instances() {
  static const CountedWidth* const kAll[] = {
#define ORDO_ONE(type, width) &CountedFor<type, width>(),
      ORDO_CUDA_COUNTED_INSTANCES(ORDO_ONE)
#undef ORDO_ONE
  };
  return kAll;
}

// The least that has room, or null.
const CountedWidth* FindWidth(const Problem& p) {
  for (const CountedWidth* const found : Instances()) {
    if (found->type == p.type &&
        found->width >= std::max(p.width, ValuesWidth(p))) {
      return found;
    }
  }
  return nullptr;
}

// What problem.h has and this kernel does not.
const char* MissingTerm(const Problem& p) {
  if (p.gates == Gates::kNone) {
    return "it does not do positions that nothing counts";
  }
  if (p.multiplied) return "it does not do multipliers";
  if (p.rectified) return "it does not do rectified products";
  if (p.pieces > 0) return "it does not do ramps";
  if (p.query_band > 0 || p.key_band > 0) {
    return "it does not do vectors of distances";
  }
  if (p.by_channel) return "it does not do products by channel";
  if (p.far_from > 0) return "it does not do a far product";
  if (p.summed) return "it does not do sums of weights by distance";
  if (p.positioned && p.biased) {
    return "it does not do position ids with tables";
  }
  for (int v = 0; v < p.num_values; ++v) {
    if (p.values[v].heads != p.key_heads) {
      return "it does not do values of heads that share keys";
    }
  }
  return nullptr;
}

const char* Refusal(const Problem& p) {
  const int64_t shared = device::SharedBytesOfBlock();
  if (shared == 0) return "no device";
  if (p.device != Device::kCuda) return "its tensors must lie on a GPU";
  const char* const of_type = TypeRefusal(Instances(), p.type);
  if (of_type != nullptr) return of_type;
  bool whole = p.width % 8 == 0;
  for (int v = 0; v < p.num_values; ++v) whole &= p.values[v].width % 8 == 0;
  if (!whole) return "its widths must be multiples of 8";
  const CountedWidth* const width = FindWidth(p);
  if (width == nullptr) {
    return "its widths are larger than the library was built for: bazel build "
           "--config=cuda_all";
  }
  if (width->shared_bytes > shared) {
    return "its widths need more shared memory than the GPU has";
  }
  if (p.batch > 65535 || p.heads > 65535) {
    return "batch and heads must be below 65536";
  }
  if (p.keys >= int64_t{1} << 30 || p.positions >= int64_t{1} << 30) {
    return "keys and positions must be below 2^30";
  }
  return MissingTerm(p);
}

// Its pointers into the workspace of the backward pass as if all gradients were
// wanted.
CountedArguments Place(const Problem& p, Workspace* workspace) {
  CountedArguments arguments;
  TiledArguments& tiled = arguments.tiled;
  const int64_t heads = p.batch * p.heads;
  const int64_t tiles = NumTiles(p.keys);
  tiled.spread_length = SpreadLength(p);
  tiled.spread_stride = Lines(SpreadLength(p));
  tiled.delta_BHT = workspace->Take<float>(heads * p.queries);
  if (p.biased) {
    tiled.d_parts[kBiasSums] =
        workspace->Take<float>(heads * kMaxParts * tiled.spread_stride);
  }
  arguments.counters = workspace->Take<Counter>(heads * tiles * kTurn);
  arguments.d_counts = workspace->Take<float>(heads * tiles * kTurn);
  arguments.begins = workspace->Take<int>(heads * kTurnTiles);
  if (p.positions == 0) {
    arguments.d_slopes = workspace->Take<float>(heads * NumTiles(p.queries));
  }
  if (p.queries <= kTurn) return arguments;
  for (int part = 0; part < kNumCountedParts; ++part) {
    if (part == kOfGates && p.gates != Gates::kOwn) continue;
    arguments.sums[part] = workspace->Take<float>(
        p.batch * p.key_heads * tiles * FindWidth(p)->width / 2 * kThreads);
  }
  return arguments;
}

// The forward pass writes what it gives, and nothing else.
int64_t ForwardBytes(const Problem& /*p*/) { return 0; }

int64_t BackwardBytes(const Problem& p) {
  Workspace workspace(nullptr);
  Place(p, &workspace);
  return workspace.bytes();
}

CountedArguments Arguments(const Call& call, void* memory) {
  const Problem& p = call.problem;
  Workspace workspace(memory);
  CountedArguments arguments = Place(p, &workspace);
  TiledArguments& tiled = arguments.tiled;
  tiled.call = call;
  if (call.d_inputs[kBias].data == nullptr) tiled.d_parts[kBiasSums] = nullptr;
  if (tiled.d_parts[kBiasSums] != nullptr) {
    tiled.parts = std::min(kMaxParts, NumTiles(p.queries));
  }
  if (call.d_inputs[kPositionSlope].data == nullptr) {
    arguments.d_slopes = nullptr;
  }
  return arguments;
}

const char* Forward(const Call& call, void* /*workspace*/, void* stream) {
  return FindWidth(call.problem)->forward(Arguments(call, nullptr), stream);
}

// Sums up a head's part of the slope's gradient, in one order.
ORDO_KERNEL(kThreads)
CountedSlopes(const CountedArguments arguments) {
  const Call& call = arguments.tiled.call;
  const Problem& p = call.problem;
  const int64_t head = device::BlockX();
  const int64_t tiles = NumTiles(p.queries);
  auto* const sums = reinterpret_cast<float*>(device::SharedMemory());
  const int thread = device::ThreadId();
  float sum = 0;
  for (int64_t i = thread; i < p.batch * tiles; i += kThreads) {
    sum += arguments.d_slopes[(i / tiles * p.heads + head) * tiles + i % tiles];
  }
  sums[thread] = sum;
  // All threads' sums are there.
  device::SyncThreads();
  if (thread != 0) return;
  sum = 0;
  for (int i = 0; i < kThreads; ++i) sum += sums[i];
  const View& view = call.d_inputs[kPositionSlope];
  static_cast<float*>(view.data)[head * view.head_stride] = sum;
}

const char* Backward(const Call& call, void* workspace, void* stream) {
  const Problem& p = call.problem;
  const CountedArguments arguments = Arguments(call, workspace);
  const char* error = FindDelta(arguments.tiled, stream);
  if (error == nullptr) error = FindWidth(p)->backward(arguments, stream);
  if (error == nullptr) error = SumTables(arguments.tiled, stream);
  if (error != nullptr || arguments.d_slopes == nullptr) return error;
  return device::Launch(CountedSlopes,
                        {p.heads, 1, 1, kThreads, kThreads * sizeof(float)},
                        stream, arguments);
}

}  // namespace

const CudaCode& CountedCuda() {
  static constexpr CudaCode kCode = {"cuda_counted", Refusal, ForwardBytes,
                                     BackwardBytes,  Forward, Backward};
  return kCode;
}

}  // namespace ordo::kernels::attention
