#include "kernels/probe/probe.h"

#include <utility>

#include "absl/strings/str_cat.h"
#include "kernels/attention/check/compare.h"
#include "kernels/attention/check/problems.h"
#include "kernels/attention/table.h"
#include "kernels/common/check/numbers.h"
#include "kernels/rows/check/compare.h"
#include "kernels/rows/table.h"
#include "kernels/update/check/compare.h"
#include "kernels/update/table.h"

namespace ordo::kernels::probe {
namespace {

using check::Miss;

// Of the largest tensor of a problem: more would take more than a moment. Among
// changes of a state TAPE's usual one is within it.
constexpr int64_t kMaxRowsCount = 20000;
constexpr int64_t kMaxUpdateCount = 30000;

// More than a problem takes, with what a GPU needs for code.
constexpr int64_t kNeededBytes = int64_t{64} << 20;

// Whether there is enough of it. Without, a GPU runs no kernel, and gives
// other reasons for that.
bool HasMemory(const DeviceMemory* memory) {
  if (memory == nullptr) return true;
  void* const taken = memory->allocate(kNeededBytes);
  if (taken != nullptr) memory->release(taken);
  return taken != nullptr;
}

// Counts a problem that the kernel took; whether to go on.
bool Took(const std::string& problem, std::vector<Miss> misses,
          Finding* finding) {
  ++finding->num_problems;
  if (misses.empty()) return true;
  finding->problem = problem;
  finding->miss = std::move(misses.front());
  return false;
}

Finding ProbeKernel(const attention::Kernel& kernel,
                    const DeviceMemory* memory) {
  Finding finding;
  for (const auto& c : attention::check::SmallProblems(kernel.device)) {
    const absl::Status supported = kernel.supports(c.problem);
    if (finding.num_problems == 0) finding.unsupported = supported;
    if (!supported.ok()) continue;
    attention::check::RunOptions options;
    options.threads = 2;
    options.memory = memory;
    // With rows elsewhere cuda_hopper leaves them to cuda_tiled.
    if (kernel.device == Device::kCuda) options.gap = 8;
    if (!Took(c.label, attention::check::MissesOf(c, kernel, options),
              &finding)) {
      break;
    }
  }
  return finding;
}

Finding ProbeKernel(const update::Kernel& kernel, const DeviceMemory* memory) {
  check::UseMemory(memory);
  Finding finding;
  for (update::check::Case c : update::check::Cases(kernel.device)) {
    if (update::check::CountOf(c.problem) > kMaxUpdateCount) continue;
    c.problem.device = kernel.device;
    const absl::Status supported = kernel.supports(c.problem);
    if (finding.num_problems == 0) finding.unsupported = supported;
    if (!supported.ok()) continue;
    if (!Took(c.label, update::check::MissesOf(c, kernel), &finding)) break;
  }
  return finding;
}

Finding ProbeKernel(const rows::Kernel& kernel, const DeviceMemory* memory) {
  check::UseMemory(memory);
  Finding finding;
  finding.unsupported = kernel.supports();
  if (!finding.unsupported.ok()) return finding;
  for (const rows::check::Case& c : rows::check::Cases(kernel.device)) {
    if (c.count > kMaxRowsCount) continue;
    if (!Took(c.label, c.misses_of(kernel), &finding)) break;
  }
  return finding;
}

// Calls visit(name, kernel) for the rows of all tables.
template <typename Visit>
void ForEachRow(const Visit& visit) {
  for (const auto& kernel : attention::Kernels()) {
    visit("attention/" + kernel.name, kernel);
  }
  for (const auto& kernel : update::Kernels()) {
    visit("update/" + kernel.name, kernel);
  }
  for (const auto& kernel : rows::Kernels()) {
    visit("rows/" + kernel.name, kernel);
  }
}

}  // namespace

std::vector<std::string> Rows(Device device) {
  std::vector<std::string> rows;
  ForEachRow([&](const std::string& name, const auto& kernel) {
    if (kernel.device == device) rows.push_back(name);
  });
  return rows;
}

void Prepare(Device device) {
  for (const auto& c : attention::check::SmallProblems(device)) {
    attention::check::Judge(c);
  }
}

absl::StatusOr<Finding> ProbeRow(const std::string& row,
                                 const DeviceMemory* memory) {
  const absl::Status no_memory = absl::ResourceExhaustedError(check::kNoMemory);
  if (!HasMemory(memory)) return no_memory;
  std::optional<Finding> finding;
  ForEachRow([&](const std::string& name, const auto& kernel) {
    if (name == row) finding = ProbeKernel(kernel, memory);
  });
  if (!finding) {
    return absl::NotFoundError(absl::StrCat("no table has a row ", row));
  }
  // Somebody took it meanwhile.
  if (finding->miss && finding->miss->what == check::kNoMemory) {
    return no_memory;
  }
  return *std::move(finding);
}

}  // namespace ordo::kernels::probe
