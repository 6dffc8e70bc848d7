#include "kernels/attention/cpu_passes.h"

#include <algorithm>
#include <functional>
#include <utility>

#include "absl/strings/str_cat.h"
#include "kernels/common/cpu_features.h"

namespace ordo::kernels::attention {
namespace {

// Parts of the workspace begin at multiples of it.
constexpr int64_t kLine = 64;

int64_t Lines(int64_t bytes) { return (bytes + kLine - 1) / kLine * kLine; }

// Of the tables' gradients.
int64_t PartsBytes(const Problem& problem, Way way) {
  if (way == Way::kForward) return 0;
  return Lines(problem.batch * problem.heads * PartsStride(problem) *
               static_cast<int64_t>(sizeof(float)));
}

// Calls the pass for each unit of work.
void ForEachUnit(const Call& call, const Resources& resources,
                 const CpuCode& code, Way way) {
  char* const workspace = static_cast<char*>(resources.workspace);
  const Problem& p = call.problem;
  const bool forward = way == Way::kForward;
  const auto pass = forward ? code.passes->forward : code.passes->backward;
  char* const rooms = workspace + PartsBytes(p, way);
  const int64_t room_bytes = Lines(code.passes->room_bytes(p));
  resources.run(p.batch * p.key_heads, [&](int64_t i, int thread) {
    pass(call, Unit{i, rooms + thread * room_bytes,
                    forward ? nullptr : reinterpret_cast<float*>(workspace),
                    code.products});
  });
}

// Adds a part of a table's gradient.
void AddPart(const Problem& problem, Input table, const float* part,
             float* sums) {
  if (IsOfDistances(table)) {
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

bool HasVectors(const Problem& p) {
  return p.query_band > 0 || p.key_band > 0 || p.by_channel;
}

absl::Status HasAll() { return absl::OkStatus(); }

absl::Status Supports(const std::string& name, const Refusals& refusals) {
  for (const auto& [has, what] : refusals) {
    if (!has) continue;
    return absl::UnimplementedError(absl::StrCat(name, " does not do ", what));
  }
  return absl::OkStatus();
}

}  // namespace

Kernel CpuKernel(const std::string& family, const CpuCode& code,
                 Refusals (*refusals)(const Problem& problem)) {
  const TiledCode* const of = code.passes;
  Kernel kernel;
  kernel.name = family + code.suffix;
  kernel.supports = [code, family, refusals](const Problem& problem) {
    const absl::Status status = code.has_instructions();
    return status.ok() ? Supports(family, refusals(problem)) : status;
  };
  kernel.workspace_bytes = [of](const Problem& problem, Way way, int threads) {
    return PartsBytes(problem, way) + threads * Lines(of->room_bytes(problem));
  };
  kernel.forward = [code](const Call& call, const Resources& resources) {
    ForEachUnit(call, resources, code, Way::kForward);
    return absl::OkStatus();
  };
  kernel.backward = [of, code](const Call& call, const Resources& resources) {
    ForEachUnit(call, resources, code, Way::kBackward);
    for (int i = 0; i < kNumInputs; ++i) {
      const Input input = static_cast<Input>(i);
      if (!IsTable(input) || call.d_inputs[i].data == nullptr) continue;
      SumParts(call.problem, input,
               static_cast<const float*>(resources.workspace),
               call.d_inputs[i]);
    }
    if (HasVectors(call.problem)) {
      resources.run(call.problem.distances(), [&](int64_t i, int) {
        of->sum_vectors(
            call, Unit{i, nullptr, static_cast<float*>(resources.workspace)});
      });
    }
    return absl::OkStatus();
  };
  return kernel;
}

std::vector<Kernel> CpuKernels(const std::string& family,
                               const VectorCode& code,
                               Refusals (*refusals)(const Problem& problem)) {
  const auto row = [&](const CpuCode& of) {
    return CpuKernel(family, of, refusals);
  };
  return {row({"_avx512", &code.avx512, HasAvx512}),
          row({"_avx2", &code.avx2, HasAvx2}),
          row({"", &code.baseline, HasAll})};
}

}  // namespace ordo::kernels::attention
