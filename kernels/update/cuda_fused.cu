// The change of a state on tensor cores, for any GPU of compute capability 8.0
// or newer: a block has 16 tokens at a time in shared memory, makes their maps
// by one product from psi, W2 diag(psi) W1 being linear in psi, and multiplies
// each token's heads by its map. The state is read once and written once;
// nothing else of its size is in memory. The backward pass makes maps again,
// and its blocks sum up the parameters' gradients, in parts of the tokens that
// depend on the problem alone: reruns agree bit for bit.
//
// Where no tensor is bf16, numbers are split into three of bf16, which keeps
// their 24 bits (or the 11 of fp16, whatever their exponent), for six products
// in place of one. Else the map, and what it multiplies, are rounded to bf16;
// what the product is added to is not.
//
// Not measured: written without a device.

#include <algorithm>

#include "kernels/update/cuda_code.h"
#include "kernels/update/cuda_fused_passes.h"

namespace ordo::kernels::update {
namespace {

// Blocks at most: a few for each multiprocessor of the largest GPU. Backward
// they are fewer, as each has a part of the sums.
constexpr int64_t kMostBlocks = 1024;
constexpr int64_t kMostParts = 264;
// Of all parts of the sums together, unless there is one.
constexpr int64_t kMostPartBytes = int64_t{64} << 20;

int64_t Padded(int64_t x) { return (x + 15) / 16 * 16; }
int64_t Quotient(int64_t a, int64_t b) { return (a + b - 1) / b; }
int64_t Lines(int64_t bytes) { return (bytes + 63) / 64 * 64; }

// Numbers of 16 bits for one.
int Parts(const Call& call) {
  const Inputs& in = call.inputs;
  bool rounded = in.x.type == Type::kBfloat16;
  if (call.problem.by_token()) {
    rounded |= in.psi_type == Type::kBfloat16;
  } else if (in.base.data != nullptr) {
    rounded |= in.base.type == Type::kBfloat16;
  }
  if (call.gradients.d_out.data != nullptr) {
    rounded |= call.gradients.d_out.type == Type::kBfloat16;
  }
  return rounded ? 1 : 3;
}

int64_t PartFloats(const Problem& p) {
  const int64_t heads = Padded(p.heads);
  return p.by_token() ? Padded(p.inner) * p.heads * heads
                      : kWarps * heads * heads;
}

// Of shared memory, but for sums.
int64_t TileBytes(const Problem& p, int parts, int64_t tokens, bool backward) {
  const int64_t heads = Padded(p.heads), inner = Padded(p.inner);
  const int64_t state =
      MatrixBytes(parts, tokens * p.heads + 1, Padded(p.width));
  int64_t bytes =
      state + MatrixBytes(parts, (p.by_token() ? tokens : 1) * heads, heads);
  if (p.by_token()) bytes += MatrixBytes(parts, kTokens, inner);
  if (!backward) return bytes;
  bytes += state;
  if (p.by_token()) bytes += MatrixBytes(parts, kTokens, p.heads * heads);
  return bytes;
}

// Of a tile: the most that leave room for two blocks on a multiprocessor, or
// for one; 0 if there is no room.
int64_t TileTokens(const Problem& p, int parts, bool backward) {
  const int64_t room = device::SharedBytesOfBlock();
  for (const int64_t wanted : {room / 2 - 1024, room}) {
    for (int64_t tokens = kTokens; tokens > 0; tokens /= 2) {
      if (tokens < kTokens / 2 && wanted < room) break;
      if (TileBytes(p, parts, tokens, backward) <= wanted) return tokens;
    }
  }
  return 0;
}

// Blocks of the backward pass, which is where a part of the sums is for each.
// It does not depend on types: the workspace is asked for without them.
int64_t NumParts(const Problem& p) {
  const int64_t fit = kMostPartBytes / (PartFloats(p) * 4);
  return std::max<int64_t>(
      1, std::min({kMostParts, fit, Quotient(p.batch * p.tokens, kTokens)}));
}

// Words of K for products, of all parts.
int64_t MapWords(const Problem& p) {
  if (!p.by_token()) return 0;
  return 3 * Padded(p.inner) * p.heads * Padded(p.heads) / 2;
}

// K and its turned form; backward the blocks' parts and their sums behind them.
int64_t ForwardBytes(const Problem& p) { return Lines(2 * MapWords(p) * 4); }

int64_t BackwardBytes(const Problem& p) {
  return ForwardBytes(p) + Lines(NumParts(p) * PartFloats(p) * 4) +
         Lines(PartFloats(p) * 4);
}

ORDO_KERNEL(kThreads)
FusedSum(const FusedArguments a);

const char* Refusal(const Problem& p) {
  if (device::SharedBytesOfBlock() == 0) return "no device";
  static const char* const not_built = device::WhyNotBuilt(FusedSum);
  if (not_built != nullptr) return not_built;
  if (p.device != Device::kCuda) return "its tensors must lie on a GPU";
  if (p.batch * p.tokens > INT32_MAX) {
    return "its tokens must be fewer than 2^31";
  }
  if (TileTokens(p, 3, /*backward=*/true) == 0) {
    return "its heads, width and inner width need more shared memory than the "
           "GPU has";
  }
  return nullptr;
}

FusedArguments Arguments(const Call& call, void* workspace, bool backward) {
  const Problem& p = call.problem;
  FusedArguments a = {};
  a.call = call;
  a.tokens = static_cast<int>(TileTokens(p, Parts(call), backward));
  a.tiles = Quotient(p.batch * p.tokens, a.tokens);
  a.heads = static_cast<int>(Padded(p.heads));
  a.width = static_cast<int>(Padded(p.width));
  a.inner = static_cast<int>(Padded(p.inner));
  a.maps = static_cast<uint32_t*>(workspace);
  a.turned_maps = a.maps + MapWords(p);
  a.parts =
      reinterpret_cast<float*>(static_cast<char*>(workspace) + ForwardBytes(p));
  a.part_floats = PartFloats(p);
  a.num_parts = NumParts(p);
  a.sums_in_shared = backward && TileBytes(p, Parts(call), a.tokens, backward) +
                                         a.part_floats * 4 <=
                                     device::SharedBytesOfBlock();
  return a;
}

// Of which row of a right side of 16 x 8 a lane has its word, and the column.
struct WordAt {
  int64_t row;
  int64_t column;
};
ORDO_DEVICE WordAt PlaceOfWord(int64_t word, int64_t columns) {
  const int64_t fragment = word / 64, lane = word % 64 / 2;
  return {fragment / columns * 16 + lane % 4 * 2 + word % 2 * 8,
          fragment % columns * 8 + lane / 4};
}

// An element of K, 0 behind its end: `map` is that of the map [H][HP].
ORDO_DEVICE float MapElement(const FusedArguments& a, int64_t e, int64_t map) {
  const Problem& p = a.call.problem;
  const int64_t n = map / a.heads, m = map % a.heads;
  if (e >= p.inner || m >= p.heads) return 0;
  return a.call.inputs.out_HE[n * p.inner + e] *
         a.call.inputs.in_EH[e * p.heads + m];
}

// K in the order of fragments, a thread for each word of a part.
template <int kParts>
ORDO_KERNEL(kThreads)
FusedPrepare(const FusedArguments a) {
  const int64_t map_size = MapSize(a);
  const int64_t words = a.inner * map_size / 2;
  const int64_t word = device::BlockX() * kThreads + device::ThreadId();
  if (word >= words) return;
  const WordAt at = PlaceOfWord(word, map_size / 8);
  const WordAt turned = PlaceOfWord(word, a.inner / 8);
  float low = MapElement(a, at.row, at.column);
  float high = MapElement(a, at.row + 1, at.column);
  float turned_low = MapElement(a, turned.column, turned.row);
  float turned_high = MapElement(a, turned.column, turned.row + 1);
  ORDO_UNROLL
  for (int part = 0; part < kParts; ++part) {
    const uint32_t pair = device::PackBfloat16(low, high);
    a.maps[part * words + word] = pair;
    low -= device::FromBfloat16(static_cast<uint16_t>(pair));
    high -= device::FromBfloat16(static_cast<uint16_t>(pair >> 16));
    const uint32_t other = device::PackBfloat16(turned_low, turned_high);
    a.turned_maps[part * words + word] = other;
    turned_low -= device::FromBfloat16(static_cast<uint16_t>(other));
    turned_high -= device::FromBfloat16(static_cast<uint16_t>(other >> 16));
  }
}

// Sums up the blocks' parts, behind them: a warp's lanes have 32 sums, and its
// block's warps a share of the parts each.
ORDO_KERNEL(kThreads)
FusedSum(const FusedArguments a) {
  auto* const shares = reinterpret_cast<float*>(device::SharedMemory());
  const int lane = device::ThreadId() % 32, warp = device::ThreadId() / 32;
  const int64_t i = device::BlockX() * 32 + lane;
  float sum = 0;
  for (int64_t part = warp; part < a.num_parts && i < a.part_floats;
       part += kWarps) {
    sum += a.parts[part * a.part_floats + i];
  }
  shares[device::ThreadId()] = sum;
  // All shares are there.
  device::SyncThreads();
  if (warp > 0 || i >= a.part_floats) return;
  for (int other = 1; other < kWarps; ++other) sum += shares[other * 32 + lane];
  a.parts[a.num_parts * a.part_floats + i] = sum;
}

// The element of sums in the order of fragments of 16 x 16.
ORDO_DEVICE int64_t SumAt(int64_t row, int64_t column, int64_t columns) {
  const int64_t fragment = row / 16 * (columns / 16) + column / 16;
  const int64_t lane = row % 8 * 4 + column % 8 / 2;
  const int64_t within = column % 16 / 8 * 4 + row % 16 / 8 * 2 + column % 2;
  return (fragment * 32 + lane) * 8 + within;
}

// The gradients of parameters from the sums: a thread for each element of G, or
// of W1 and then of W2.
ORDO_KERNEL(kThreads)
FusedFinish(const FusedArguments a) {
  const Problem& p = a.call.problem;
  const Gradients& gradients = a.call.gradients;
  const float* const sums = a.parts + a.num_parts * a.part_floats;
  int64_t i = device::BlockX() * kThreads + device::ThreadId();
  float sum = 0;
  if (!p.by_token()) {
    if (i >= p.heads * p.heads) return;
    for (int warp = 0; warp < kWarps; ++warp) {
      sum += sums[warp * a.heads * a.heads +
                  SumAt(i / p.heads, i % p.heads, a.heads)];
    }
    gradients.d_mix_HH[i] = sum;
    return;
  }
  const bool of_in = i < p.inner * p.heads;
  if (!of_in) i -= p.inner * p.heads;
  float* const to = of_in ? gradients.d_in_EH : gradients.d_out_HE;
  if (i >= p.inner * p.heads || to == nullptr) return;
  const int64_t e = of_in ? i / p.heads : i % p.inner;
  const int64_t head = of_in ? i % p.heads : i / p.inner;
  for (int64_t other = 0; other < p.heads; ++other) {
    const int64_t map = of_in ? other * a.heads + head : head * a.heads + other;
    const float factor = of_in ? a.call.inputs.out_HE[other * p.inner + e]
                               : a.call.inputs.in_EH[e * p.heads + other];
    sum += sums[SumAt(e, map, p.heads * a.heads)] * factor;
  }
  to[i] = sum;
}

template <int kParts>
const char* Prepare(const FusedArguments& a, void* stream) {
  const Problem& p = a.call.problem;
  if (!p.by_token()) return nullptr;
  const int64_t words = a.inner * p.heads * a.heads / 2;
  return device::Launch(FusedPrepare<kParts>,
                        {Quotient(words, kThreads), 1, 1, kThreads, 0}, stream,
                        a);
}

template <int kParts>
const char* RunForward(const FusedArguments& a, void* stream) {
  const char* const error = Prepare<kParts>(a, stream);
  if (error != nullptr) return error;
  const device::Grid grid = {
      std::min(kMostBlocks, a.tiles), 1, 1, kThreads,
      TileBytes(a.call.problem, kParts, a.tokens, /*backward=*/false)};
  return device::Launch(FusedForward<kParts>, grid, stream, a);
}

template <int kParts>
const char* RunBackward(const FusedArguments& a, void* stream) {
  const char* const error = Prepare<kParts>(a, stream);
  if (error != nullptr) return error;
  const Problem& p = a.call.problem;
  const device::Grid grid = {a.num_parts, 1, 1, kThreads,
                             TileBytes(p, kParts, a.tokens, /*backward=*/true) +
                                 (a.sums_in_shared ? a.part_floats * 4 : 0)};
  return device::Launch(FusedBackward<kParts>, grid, stream, a);
}

const char* Forward(const Call& call, void* workspace, void* stream) {
  const FusedArguments a = Arguments(call, workspace, /*backward=*/false);
  return Parts(call) == 3 ? RunForward<3>(a, stream) : RunForward<1>(a, stream);
}

const char* Backward(const Call& call, void* workspace, void* stream) {
  const Problem& p = call.problem;
  const FusedArguments a = Arguments(call, workspace, /*backward=*/true);
  const char* error =
      Parts(call) == 3 ? RunBackward<3>(a, stream) : RunBackward<1>(a, stream);
  const Gradients& wanted = call.gradients;
  if (error != nullptr ||
      (wanted.d_mix_HH == nullptr && wanted.d_in_EH == nullptr &&
       wanted.d_out_HE == nullptr)) {
    return error;
  }
  error = device::Launch(
      FusedSum,
      {Quotient(a.part_floats, 32), 1, 1, kThreads, kThreads * sizeof(float)},
      stream, a);
  if (error != nullptr) return error;
  const int64_t elements =
      p.by_token() ? 2 * p.inner * p.heads : p.heads * p.heads;
  return device::Launch(FusedFinish,
                        {Quotient(elements, kThreads), 1, 1, kThreads, 0},
                        stream, a);
}

}  // namespace

const CudaCode& FusedCuda() {
  static constexpr CudaCode kCode = {"cuda_fused",  Refusal, ForwardBytes,
                                     BackwardBytes, Forward, Backward};
  return kCode;
}

}  // namespace ordo::kernels::update
