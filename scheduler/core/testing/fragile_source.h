#ifndef ORDO_SCHEDULER_CORE_TESTING_FRAGILE_SOURCE_H_
#define ORDO_SCHEDULER_CORE_TESTING_FRAGILE_SOURCE_H_

#include <cstdint>
#include <memory>
#include <string>
#include <utility>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "scheduler/core/spec_handle.h"
#include "scheduler/core/state.h"

namespace ordo::scheduler::core::testing {

// Has one spec, which cannot be read while `error` says why.
class FragileSource : public SpecSource {
 public:
  explicit FragileSource(SpecPtr spec) : spec_(std::move(spec)) {}

  absl::StatusOr<SpecPtr> ReadSpec(int64_t) override {
    if (!error.ok()) return error;
    return spec_;
  }

  absl::Status error = absl::DataLossError("table specs, id 7");

 private:
  const SpecPtr spec_;
};

// Where the spec of the job, which is in memory, lies from now on.
inline absl::StatusOr<std::shared_ptr<FragileSource>> StoreSpecOf(
    const std::string& job, const State& state) {
  const SpecHandle& spec = *state.jobs.at(job).job->facts->spec;
  const auto held = spec.Get();
  if (!held.ok()) return held.status();
  auto source = std::make_shared<FragileSource>(*held);
  spec.NoteStored(7, source);
  spec.LetGo();
  return source;
}

}  // namespace ordo::scheduler::core::testing

#endif  // ORDO_SCHEDULER_CORE_TESTING_FRAGILE_SOURCE_H_
