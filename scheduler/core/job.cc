#include "scheduler/core/job.h"

#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"

namespace ordo::scheduler::core {
namespace {

// Of specs of an earlier release, which did not fill them in.
constexpr char kDefaultKind[] = "cpu";
constexpr int kDefaultMaxAttempts = 3;
constexpr int kDefaultKeep = 3;

}  // namespace

JobFacts FactsOf(const jobs::v1::JobSpec& spec) {
  JobFacts facts;
  facts.id = spec.name();
  facts.kind = spec.kind();
  facts.need = NeedOf(spec);
  facts.max_attempts = spec.retry().max_attempts() > 0
                           ? spec.retry().max_attempts()
                           : kDefaultMaxAttempts;
  facts.keep =
      spec.checkpoint().keep() > 0 ? spec.checkpoint().keep() : kDefaultKeep;
  facts.step_timeout = absl::Seconds(spec.retry().step_timeout().seconds()) +
                       absl::Nanoseconds(spec.retry().step_timeout().nanos());
  facts.references = References(spec);
  return facts;
}

policy::Need NeedOf(const jobs::v1::JobSpec& spec) {
  policy::Need need = {spec.resources().device(), {}};
  if (need.kind.empty()) need.kind = kDefaultKind;
  const auto add = [&need](const std::string& row) {
    // As a probe calls the row of the table of attention kernels that a recipe
    // names.
    if (!row.empty()) need.kernels.insert(absl::StrCat("attention/", row));
  };
  add(spec.training().kernel());
  for (const training::v1::Evaluation& one : spec.evaluations()) {
    add(one.kernel());
  }
  return need;
}

std::vector<std::string> References(const jobs::v1::JobSpec& spec) {
  std::vector<std::string> names(spec.checkpoints().begin(),
                                 spec.checkpoints().end());
  if (!spec.start_from().empty()) names.push_back(spec.start_from());
  if (!spec.model().from().empty()) names.push_back(spec.model().from());
  return names;
}

std::vector<std::string> JobsNamedBy(const jobs::v1::JobSpec& spec) {
  std::vector<std::string> jobs;
  std::vector<std::string> names = References(spec);
  for (const jobs::v1::Need& need : spec.needs()) names.push_back(need.job());
  for (const std::string& reference : names) {
    // jobs/{job} or jobs/{job}/checkpoints/{checkpoint}.
    const std::vector<std::string> parts = absl::StrSplit(reference, '/');
    if (parts.size() >= 2) jobs.push_back(parts[1]);
  }
  return jobs;
}

}  // namespace ordo::scheduler::core
