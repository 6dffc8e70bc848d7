#include "kernels/attention/cpu_tiled.h"

#include <algorithm>
#include <string>
#include <utility>

#include "kernels/attention/cpu_tiled_code.h"

namespace ordo::kernels::attention {
namespace {

// Parts of the workspace begin at multiples of it.
constexpr int64_t kLine = 64;

int64_t Lines(int64_t bytes) { return (bytes + kLine - 1) / kLine * kLine; }

int64_t PartsBytes(const Problem& problem) {
  if (!problem.biased) return 0;
  return Lines(problem.batch * problem.heads * SpreadStride(problem) *
               static_cast<int64_t>(sizeof(float)));
}

template <const TiledCode& code>
int64_t WorkspaceBytes(const Problem& problem, int threads) {
  return PartsBytes(problem) + threads * Lines(code.room_bytes(problem));
}

// Calls `pass` for each unit of work.
template <const TiledCode& code, typename Pass>
void ForEachUnit(const Problem& problem, const Resources& resources,
                 const Pass& pass) {
  char* const workspace = static_cast<char*>(resources.workspace);
  const int64_t room_bytes = Lines(code.room_bytes(problem));
  resources.run(problem.batch * problem.key_heads, [&](int64_t i, int thread) {
    pass(Unit{i, workspace + PartsBytes(problem) + thread * room_bytes,
              reinterpret_cast<float*>(workspace)});
  });
}

template <const TiledCode& code>
absl::Status Forward(const Call& call, const Resources& resources) {
  ForEachUnit<code>(call.problem, resources,
                    [&](const Unit& unit) { code.forward(call, unit); });
  return absl::OkStatus();
}

// The sum over the rows of the batch, in their order.
void SumBias(const Problem& problem, const float* parts, const View& d_bias) {
  for (int64_t head = 0; head < problem.heads; ++head) {
    float* const sums =
        static_cast<float*>(d_bias.data) + head * d_bias.head_stride;
    std::fill_n(sums, problem.distances(), 0.0F);
    for (int64_t row = 0; row < problem.batch; ++row) {
      const float* const part =
          parts + (row * problem.heads + head) * SpreadStride(problem);
      for (int64_t i = 0; i < SpreadLength(problem); ++i) {
        sums[PlaceOf(problem, i)] += part[i];
      }
    }
  }
}

template <const TiledCode& code>
absl::Status Backward(const Call& call, const Resources& resources) {
  ForEachUnit<code>(call.problem, resources,
                    [&](const Unit& unit) { code.backward(call, unit); });
  if (call.d_inputs[kBias].data != nullptr) {
    SumBias(call.problem, static_cast<const float*>(resources.workspace),
            call.d_inputs[kBias]);
  }
  return absl::OkStatus();
}

absl::Status Needs(bool has, const char* what) {
  if (has) return absl::OkStatus();
  return absl::UnimplementedError(std::string("this processor has no ") + what);
}

// What problem.h has and these kernels do not.
absl::Status SupportsTerms(const Problem& p) {
  const std::pair<bool, const char*> terms[] = {
      {p.device != Device::kCpu, "tensors on another device"},
      {p.bounded, "first keys"},
      {p.positioned, "position ids"},
      {p.multiplied || p.rectified, "a multiplier of the product"},
      {p.pieces > 0, "a ramp"},
      {p.query_band > 0 || p.key_band > 0, "vectors of distances"},
      {p.by_channel, "products by channel"},
      {p.far_from > 0, "a far product"},
      {p.summed, "sums of weights by distance"},
      {p.gates != Gates::kNone, "counted positions"},
  };
  for (const auto& [has, what] : terms) {
    if (has) {
      return absl::UnimplementedError(
          std::string("tiled attention does not do ") + what);
    }
  }
  return absl::OkStatus();
}

absl::Status SupportsAvx512(const Problem& problem) {
  const absl::Status status =
      Needs(__builtin_cpu_supports("avx512f"), "AVX-512");
  return status.ok() ? SupportsTerms(problem) : status;
}

absl::Status SupportsAvx2(const Problem& problem) {
  const absl::Status status =
      Needs(__builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma"),
            "AVX2 with FMA");
  return status.ok() ? SupportsTerms(problem) : status;
}

template <const TiledCode& code>
Kernel Row(const char* name, absl::Status (*supports)(const Problem&)) {
  return {name, supports, WorkspaceBytes<code>, Forward<code>, Backward<code>};
}

}  // namespace

std::vector<Kernel> TiledKernels() {
  return {Row<kTiledAvx512>("cpu_tiled_avx512", SupportsAvx512),
          Row<kTiledAvx2>("cpu_tiled_avx2", SupportsAvx2),
          Row<kTiledBaseline>("cpu_tiled", SupportsTerms)};
}

}  // namespace ordo::kernels::attention
