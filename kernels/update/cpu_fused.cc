#include "kernels/update/cpu_fused.h"

#include <algorithm>

#include "kernels/common/cpu_features.h"
#include "kernels/update/cpu_fused_code.h"

namespace ordo::kernels::update {
namespace {

// Units of work, each with a part of the sums: enough for many threads, few
// enough for their sum to cost nothing.
constexpr int64_t kMostUnits = 32;

int64_t UnitTokens(const Problem& p) {
  const int64_t all = p.batch * p.tokens;
  const int64_t least = (all + kMostUnits - 1) / kMostUnits;
  return std::max<int64_t>(kBlock, (least + kBlock - 1) / kBlock * kBlock);
}

int64_t NumUnits(const Problem& p) {
  return (p.batch * p.tokens + UnitTokens(p) - 1) / UnitTokens(p);
}

// The workspace: what all units read, the parts of the gradients, and a room
// for each thread.
template <const FusedCode& code>
int64_t PartsBytes(const Problem& p, Way way) {
  if (way == Way::kForward) return 0;
  return (NumUnits(p) * code.part_floats(p) *
              static_cast<int64_t>(sizeof(float)) +
          63) /
         64 * 64;
}

template <const FusedCode& code>
int64_t WorkspaceBytes(const Problem& p, Way way, int threads) {
  return code.shared_bytes(p) + PartsBytes<code>(p, way) +
         threads * code.room_bytes(p);
}

template <const FusedCode& code>
float* Parts(const Problem& p, const Resources& resources) {
  return reinterpret_cast<float*>(static_cast<char*>(resources.workspace) +
                                  code.shared_bytes(p));
}

// Calls the pass for each unit of work.
template <const FusedCode& code>
void ForEachUnit(const Call& call, const Resources& resources, Way way) {
  const Problem& p = call.problem;
  const auto pass = way == Way::kForward ? code.forward : code.backward;
  float* const parts = Parts<code>(p, resources);
  char* const rooms = reinterpret_cast<char*>(parts) + PartsBytes<code>(p, way);
  code.prepare(call, resources.workspace);
  resources.run(NumUnits(p), [&](int64_t i, int thread) {
    Unit unit;
    unit.first = i * UnitTokens(p);
    unit.count = std::min(UnitTokens(p), p.batch * p.tokens - unit.first);
    unit.room = rooms + thread * code.room_bytes(p);
    unit.shared = resources.workspace;
    if (way == Way::kBackward) unit.part = parts + i * code.part_floats(p);
    pass(call, unit);
  });
}

// UNIMPLEMENTED names the type that the code does not read.
absl::Status CheckTypes(const Call& call) {
  const Inputs& in = call.inputs;
  const Gradients& gradients = call.gradients;
  for (const Type type : {in.base.type, in.x.type, in.psi_type, call.out.type,
                          gradients.d_out.type, gradients.d_x.type}) {
    if (type != Type::kFloat16) continue;
    return absl::UnimplementedError("cpu_fused does not do fp16");
  }
  return absl::OkStatus();
}

template <const FusedCode& code>
absl::Status Forward(const Call& call, const Resources& resources) {
  const absl::Status types = CheckTypes(call);
  if (!types.ok()) return types;
  ForEachUnit<code>(call, resources, Way::kForward);
  return absl::OkStatus();
}

template <const FusedCode& code>
absl::Status Backward(const Call& call, const Resources& resources) {
  const absl::Status types = CheckTypes(call);
  if (!types.ok()) return types;
  ForEachUnit<code>(call, resources, Way::kBackward);
  float* const sum = Parts<code>(call.problem, resources);
  const int64_t floats = code.part_floats(call.problem);
  for (int64_t unit = 1; unit < NumUnits(call.problem); ++unit) {
    for (int64_t i = 0; i < floats; ++i) sum[i] += sum[unit * floats + i];
  }
  code.finish(call, sum);
  return absl::OkStatus();
}

template <const FusedCode& code>
Kernel Row(const char* name, absl::Status (*supports)(const Problem&)) {
  return {name, supports, WorkspaceBytes<code>, Forward<code>, Backward<code>};
}

}  // namespace

std::vector<Kernel> FusedKernels() {
  return {Row<kFusedAvx512>("cpu_fused_avx512",
                            [](const Problem&) { return HasAvx512(); }),
          Row<kFusedAvx2>("cpu_fused_avx2",
                          [](const Problem&) { return HasAvx2(); }),
          Row<kFusedBaseline>("cpu_fused",
                              [](const Problem&) { return absl::OkStatus(); })};
}

}  // namespace ordo::kernels::update
