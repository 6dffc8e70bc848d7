#include "services/spec/scheduling.h"

#include <set>
#include <string>

#include "absl/strings/str_cat.h"
#include "model/catalog/fields.h"
#include "services/spec/durations.h"

namespace ordo::services::spec {
namespace {

using ordo::jobs::v1::JobSpec;
using ordo::jobs::v1::Need;
using ordo::jobs::v1::RetryPolicy;
using Violations = std::vector<base::FieldViolation>;

constexpr int kMaxAttempts = 100;
constexpr int kDefaultAttempts = 3;
constexpr int64_t kMaxStepTimeoutSeconds = 24 * 60 * 60;
constexpr int64_t kDefaultStepTimeoutSeconds = 600;
constexpr size_t kMaxShown = 64;

void ResolveRetry(RetryPolicy* retry, Violations* violations) {
  model::catalog::ResolveNumber(
      {"max_attempts", 1, kMaxAttempts, kDefaultAttempts}, "retry", retry,
      violations);
  model::catalog::ResolveNumber(
      {"max_interruptions", 1, kMaxInterruptions, kDefaultInterruptions},
      "retry", retry, violations);
  if (!retry->has_step_timeout()) {
    retry->mutable_step_timeout()->set_seconds(kDefaultStepTimeoutSeconds);
    return;
  }
  CheckDuration({"retry.step_timeout", 1, kMaxStepTimeoutSeconds, "1s..24h"},
                retry->step_timeout(), violations);
}

void ResolveNeeds(JobSpec* spec, Violations* violations) {
  if (spec->needs_size() > kMaxNeeds) {
    violations->push_back(
        {"needs", absl::StrCat("has ", spec->needs_size(), " entries; at most ",
                               kMaxNeeds)});
    return;
  }
  std::set<std::string> seen;
  for (int i = 0; i < spec->needs_size(); ++i) {
    Need* need = spec->mutable_needs(i);
    const std::string field = absl::StrCat("needs[", i, "].job");
    constexpr char kPrefix[] = "jobs/";
    std::string id = need->job();
    if (id.rfind(kPrefix, 0) == 0) id = id.substr(sizeof(kPrefix) - 1);
    if (!model::catalog::IsId(id)) {
      violations->push_back(
          {field, need->job().empty()
                      ? "required; a job's name, such as jobs/{job}"
                      : absl::StrCat("must be jobs/{job}, is '",
                                     need->job().substr(0, kMaxShown), "'")});
      continue;
    }
    if (id == spec->name()) {
      violations->push_back({field, "is the job itself; leave it out"});
    } else if (!seen.insert(id).second) {
      violations->push_back(
          {field, absl::StrCat("'", id, "' is there twice; leave one out")});
    }
    need->set_job(kPrefix + id);
    if (!Need::Condition_IsValid(need->condition())) {
      violations->push_back({absl::StrCat("needs[", i, "].condition"),
                             "must be succeeded or ended"});
    } else if (need->condition() == Need::CONDITION_UNSPECIFIED) {
      need->set_condition(Need::SUCCEEDED);
    }
  }
}

}  // namespace

void ResolveScheduling(JobSpec* spec, Violations* violations) {
  if (spec->queue().empty()) spec->set_queue(kDefaultQueue);
  if (!model::catalog::IsId(spec->queue())) {
    violations->push_back(
        {"queue", absl::StrCat("must be ", model::catalog::IdRule(), ", is '",
                               spec->queue().substr(0, kMaxShown), "'")});
  }
  model::catalog::ResolveNumber({"priority", -kMaxPriority, kMaxPriority, 0},
                                "", spec, violations);
  if (spec->has_queue_time_limit()) {
    CheckDuration({"queue_time_limit"}, spec->queue_time_limit(), violations);
  }
  if (spec->has_run_time_limit()) {
    CheckDuration({"run_time_limit"}, spec->run_time_limit(), violations);
  }
  ResolveNeeds(spec, violations);
  if (!spec->has_hold()) spec->set_hold(false);
  ResolveRetry(spec->mutable_retry(), violations);
}

}  // namespace ordo::services::spec
