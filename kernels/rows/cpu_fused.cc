#include "kernels/rows/cpu_fused.h"

#include <algorithm>

#include "kernels/common/cpu_features.h"
#include "kernels/rows/cpu_fused_code.h"

namespace ordo::kernels::rows {
namespace {

// Numbers of a unit of work: small enough for many threads, large enough that
// handing it out costs nothing.
constexpr int64_t kUnitNumbers = 16 * 1024;
// Units whose parts are summed up.
constexpr int64_t kMostParts = 32;

int64_t Quotient(int64_t a, int64_t b) { return (a + b - 1) / b; }

int64_t UnitRows(int64_t width) {
  return std::max<int64_t>(1, kUnitNumbers / width);
}

// Calls pass(range, i) for ranges of `unit` each.
template <typename Pass>
absl::Status ForEachRange(int64_t count, int64_t unit,
                          const Resources& resources, const Pass& pass) {
  resources.run(Quotient(count, unit), [&](int64_t i, int /*thread*/) {
    pass(Range{i * unit, std::min(unit, count - i * unit)}, i);
  });
  return absl::OkStatus();
}

template <void (*const FusedCode::*pass)(const Rotation&, const HeadTokens&)>
absl::Status TurnAll(const FusedCode& code, const Rotation& r,
                     const Resources& resources) {
  const int64_t unit = UnitRows(r.width);
  const int64_t units = Quotient(r.tokens, unit);
  resources.run(r.batch * r.heads * units, [&](int64_t i, int /*thread*/) {
    HeadTokens part;
    part.batch = i / units / r.heads;
    part.head = i / units % r.heads;
    part.tokens.first = i % units * unit;
    part.tokens.count = std::min(unit, r.tokens - part.tokens.first);
    (code.*pass)(r, part);
  });
  return absl::OkStatus();
}

int64_t PartRows(const Norm& norm) {
  return std::max(UnitRows(norm.width), Quotient(norm.rows, kMostParts));
}

absl::Status NormBackward(const FusedCode& code, const Norm& norm,
                          const Resources& resources) {
  const bool wanted = norm.d_weight_C != nullptr;
  auto* const parts = static_cast<float*>(resources.workspace);
  absl::Status status = ForEachRange(
      norm.rows, PartRows(norm), resources, [&](const Range& rows, int64_t i) {
        code.norm_backward(norm, rows,
                           wanted ? parts + i * norm.width : nullptr);
      });
  if (!wanted) return status;
  std::fill_n(norm.d_weight_C, norm.width, 0.0F);
  for (int64_t i = 0; i < Quotient(norm.rows, PartRows(norm)); ++i) {
    for (int64_t c = 0; c < norm.width; ++c) {
      norm.d_weight_C[c] += parts[i * norm.width + c];
    }
  }
  return status;
}

// What of the parts lies in a range.
void StepRange(const FusedCode& code, const Adam& adam, const Range& numbers) {
  const int64_t end = numbers.first + numbers.count;
  const AdamPart* const last = adam.parts + adam.num_parts;
  const AdamPart* part = std::upper_bound(
      adam.parts, last, numbers.first,
      [](int64_t first, const AdamPart& p) { return first < p.first; });
  // The one before may reach into the range.
  if (part != adam.parts) --part;
  for (; part != last && part->first < end; ++part) {
    const int64_t first = std::max(part->first, numbers.first);
    const int64_t count = std::min(part->first + part->count, end) - first;
    if (count <= 0) continue;
    code.adam(adam, {part->gradient + (first - part->first), first, count});
  }
}

absl::Status StepAll(const FusedCode& code, const Adam& adam,
                     const Resources& resources) {
  if (adam.num_parts == 0) return absl::OkStatus();
  const AdamPart& last = adam.parts[adam.num_parts - 1];
  return ForEachRange(
      last.first + last.count, kUnitNumbers, resources,
      [&](const Range& numbers, int64_t) { StepRange(code, adam, numbers); });
}

int64_t NormWorkspaceBytes(const Norm& norm) {
  return Quotient(norm.rows, PartRows(norm)) * norm.width *
         static_cast<int64_t>(sizeof(float));
}

// A pass that refuses the type that the code does not read.
template <typename Problem>
Pass<Problem> Typed(absl::Status (*pass)(const Problem&, const Resources&)) {
  return [pass](const Problem& problem, const Resources& resources) {
    if (problem.type != Type::kFloat16) return pass(problem, resources);
    return absl::UnimplementedError("cpu_fused does not do fp16");
  };
}

template <const FusedCode& code>
Kernel Row(const char* name, absl::Status (*supports)()) {
  Kernel kernel;
  kernel.name = name;
  kernel.supports = supports;
  kernel.turn =
      Typed<Rotation>([](const Rotation& r, const Resources& resources) {
        return TurnAll<&FusedCode::turn>(code, r, resources);
      });
  kernel.turn_backward =
      Typed<Rotation>([](const Rotation& r, const Resources& resources) {
        return TurnAll<&FusedCode::turn_backward>(code, r, resources);
      });
  kernel.norm = Typed<Norm>([](const Norm& norm, const Resources& resources) {
    return ForEachRange(
        norm.rows, UnitRows(norm.width), resources,
        [&](const Range& rows, int64_t) { code.norm(norm, rows); });
  });
  kernel.norm_backward =
      Typed<Norm>([](const Norm& norm, const Resources& resources) {
        return NormBackward(code, norm, resources);
      });
  kernel.gate = Typed<Gate>([](const Gate& gate, const Resources& resources) {
    return ForEachRange(
        gate.rows, UnitRows(gate.width), resources,
        [&](const Range& rows, int64_t) { code.gate(gate, rows); });
  });
  kernel.gate_backward =
      Typed<Gate>([](const Gate& gate, const Resources& resources) {
        return ForEachRange(gate.rows, UnitRows(gate.width), resources,
                            [&](const Range& rows, int64_t) {
                              code.gate_backward(gate, rows);
                            });
      });
  kernel.adam = [](const Adam& adam, const Resources& resources) {
    return StepAll(code, adam, resources);
  };
  kernel.loss = [](const Loss& loss, const Resources& resources) {
    return ForEachRange(
        loss.rows, UnitRows(loss.width), resources,
        [&](const Range& rows, int64_t) { code.loss(loss, rows); });
  };
  kernel.loss_backward = [](const Loss& loss, const Resources& resources) {
    return ForEachRange(
        loss.rows, UnitRows(loss.width), resources,
        [&](const Range& rows, int64_t) { code.loss_backward(loss, rows); });
  };
  kernel.norm_workspace_bytes = NormWorkspaceBytes;
  return kernel;
}

}  // namespace

std::vector<Kernel> FusedKernels() {
  return {Row<kFusedAvx512>("cpu_fused_avx512", HasAvx512),
          Row<kFusedAvx2>("cpu_fused_avx2", HasAvx2),
          Row<kFusedBaseline>("cpu_fused", [] { return absl::OkStatus(); })};
}

}  // namespace ordo::kernels::rows
