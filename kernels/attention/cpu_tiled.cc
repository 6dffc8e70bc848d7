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
  return Lines(problem.batch * problem.heads * PartsStride(problem) *
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

// Adds a part of a table's gradient.
void AddPart(const Problem& problem, Input table, const float* part,
             float* sums) {
  if (IsOfDistances(table) && !problem.positioned) {
    for (int64_t i = 0; i < SpreadLength(problem); ++i) {
      sums[PlaceOf(problem, i)] += part[i];
    }
    return;
  }
  for (int64_t i = 0; i < ShapeOf(problem, table).width; ++i) {
    sums[i] += part[i];
  }
}

// A table's gradient: the sum over the rows of the batch and the heads that
// share it, in their order.
void SumParts(const Problem& problem, Input table, const float* parts,
              const View& gradient) {
  const Shape shape = ShapeOf(problem, table);
  float* const all = static_cast<float*>(gradient.data);
  for (int64_t row = 0; row < problem.batch; ++row) {
    for (int64_t head = 0; head < problem.heads; ++head) {
      const int64_t b = shape.batch == 1 ? 0 : row;
      const int64_t h = shape.heads == 1 ? 0 : head;
      float* const sums =
          all + b * gradient.batch_stride + h * gradient.head_stride;
      if (row == b && head == h) {
        std::fill_n(sums, shape.width, 0.0F);
      }
      AddPart(problem, table,
              parts + (row * problem.heads + head) * PartsStride(problem) +
                  PartOffset(problem, table),
              sums);
    }
  }
}

template <const TiledCode& code>
absl::Status Backward(const Call& call, const Resources& resources) {
  ForEachUnit<code>(call.problem, resources,
                    [&](const Unit& unit) { code.backward(call, unit); });
  for (int i = 0; i < kNumInputs; ++i) {
    const Input input = static_cast<Input>(i);
    if (!IsTable(input) || call.d_inputs[i].data == nullptr) continue;
    SumParts(call.problem, input,
             static_cast<const float*>(resources.workspace), call.d_inputs[i]);
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
