#include "scheduler/core/summarize.h"

#include <algorithm>
#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/strings/match.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/string_view.h"
#include "absl/strings/strip.h"
#include "base/status/status.h"
#include "base/text/cut.h"
#include "scheduler/core/pace.h"
#include "scheduler/core/present.h"
#include "scheduler/core/task.h"
#include "scheduler/core/trials.h"

namespace ordo::scheduler::core {
namespace {

using jobs::v1::JobSpec;
using training::v1::PartResult;

// Compare.budget of runs that end at other steps for the same data.
constexpr char kFlopsBudget[] = "flops";
constexpr char kSecondsBudget[] = "device_seconds";

const char* NameOf(JobSpec::Kind kind) {
  switch (kind) {
    case JobSpec::COMPARE:
      return "comparison";
    case JobSpec::PIPELINE:
      return "pipeline";
    default:
      return "sweep";
  }
}

// Name of the evaluation that a report is of: its id is that, its step, and
// what tells it from others.
std::string EvaluationOf(const JobRecord& job,
                         const reports::v1::Report& report) {
  const std::string id = IdOf(report.name());
  std::string found;
  for (const std::string& name : job.facts->demand().evaluations) {
    const std::string head = absl::StrCat(name, "-", report.step());
    const bool fits =
        id == head || absl::StartsWith(id, absl::StrCat(head, "-"));
    if (fits && name.size() > found.size()) found = name;
  }
  return found.empty() ? id : found;
}

PartResult::Report ResultOf(const State& state, const JobRecord& job,
                            const reports::v1::Report& report) {
  PartResult::Report result;
  result.set_evaluation(EvaluationOf(job, report));
  result.set_task(report.task());
  result.set_step(report.step());
  result.set_path(absl::StrCat(JobName(job.id()), "/", report.folder()));
  *result.mutable_metrics() = report.metrics();
  result.set_checkpoint(report.checkpoint());
  if (const CheckpointPtr found = FindCheckpoint(state, report.checkpoint())) {
    result.set_checkpoint_sha256(found->manifest_sha256());
  }
  return result;
}

// The newest that there is room for, oldest first.
void AddReports(const State& state, const JobEntry& entry, size_t room,
                PartResult* part) {
  std::vector<ReportPtr> reports;
  for (const auto& [id, report] : entry.reports) reports.push_back(report);
  const auto age = [](const ReportPtr& report) {
    const auto& time = report->create_time();
    return std::make_tuple(time.seconds(), time.nanos(), report->step());
  };
  std::stable_sort(reports.begin(), reports.end(),
                   [&age](const ReportPtr& a, const ReportPtr& b) {
                     return age(a) < age(b);
                   });
  std::vector<PartResult::Report> results;
  size_t num_bytes = 0;
  while (!reports.empty()) {
    PartResult::Report result = ResultOf(state, *entry.job, *reports.back());
    num_bytes += result.ByteSizeLong();
    if (num_bytes > room) break;
    results.push_back(std::move(result));
    reports.pop_back();
  }
  std::reverse(results.begin(), results.end());
  for (PartResult::Report& result : results) {
    *part->add_reports() = std::move(result);
  }
  if (reports.empty()) return;
  part->set_message(absl::StrCat(
      part->message(), "; its ", reports.size(),
      " oldest reports are left out of the summary: they take too much room"));
}

// The attempts whose work is the result: that which wrote the newest checkpoint
// and those which evaluated the newest model. None: nothing was left.
std::set<int32_t> AttemptsOfResult(const JobEntry& entry) {
  std::set<int32_t> numbers;
  if (const CheckpointPtr newest = NewestCheckpoint(entry)) {
    numbers.insert(newest->attempt());
  }
  std::map<std::string, std::pair<int64_t, std::set<int32_t>>> evaluations;
  for (const auto& [id, report] : entry.reports) {
    auto& [step, attempts] = evaluations[EvaluationOf(*entry.job, *report)];
    if (report->step() > step) attempts.clear();
    step = std::max<int64_t>(step, report->step());
    if (report->step() == step) attempts.insert(report->attempt());
  }
  for (const auto& [name, evaluated] : evaluations) {
    numbers.insert(evaluated.second.begin(), evaluated.second.end());
  }
  return numbers;
}

// An attempt's `exact` speaks of all steps before it, so that of the last one
// suffices. What a run started from, of another job, is given to it, however it
// was made; of several ranks `exact` also says that they compute alike.
bool IsExact(const JobRecord& job, const jobs::v1::Attempt& attempt) {
  if (attempt.exact()) return true;
  return attempt.ranks().empty() && !attempt.resumed_from().empty() &&
         !absl::StartsWith(attempt.resumed_from(),
                           absl::StrCat(JobName(job.id()), "/"));
}

// Of an attempt that is not kept any more nobody knows.
bool IsResultExact(const JobEntry& entry) {
  std::set<int32_t> wanted = AttemptsOfResult(entry);
  const bool leaves_nothing = wanted.empty();
  bool exact = !leaves_nothing;
  for (const AttemptPtr& attempt : entry.job->attempts) {
    if (!attempt->has_run_time()) continue;
    if (leaves_nothing) {
      exact = IsExact(*entry.job, *attempt);
    } else if (wanted.erase(attempt->number()) > 0) {
      exact = exact && IsExact(*entry.job, *attempt);
    }
  }
  return exact && wanted.empty();
}

// What its attempts tell; their time also of those that are not kept one by one
// any more.
void AddAttempts(const JobEntry& entry, PartResult* part) {
  const JobRecord& job = *entry.job;
  part->set_attempts(job.attempt_number());
  double device_seconds = 0;
  if (job.earlier_usage != nullptr) {
    for (const auto& day : job.earlier_usage->days()) {
      device_seconds +=
          day.usage().used_device_seconds() + day.usage().idle_device_seconds();
    }
  }
  for (const AttemptPtr& attempt : job.attempts) {
    device_seconds += attempt->device_seconds();
    if (!attempt->has_run_time()) continue;
    part->set_build_digest(attempt->build_digest());
    if (attempt->has_control()) *part->mutable_control() = attempt->control();
  }
  part->set_device_seconds(device_seconds);
  part->set_step_device_seconds(StepDeviceSeconds(job));
  part->set_exact(IsResultExact(entry));
}

// Of a run of a comparison: it is named <comparison>-<arm>-s<seed>. Runs are
// compared by their seeds, so that none may be taken for another. Nothing: it
// is another part.
std::optional<uint64_t> SeedInName(const JobFacts& job) {
  absl::string_view seed = job.id;
  uint64_t number = 0;
  const std::string head =
      absl::StrCat(job.parent.value(), "-", job.part.value(), "-s");
  if (absl::ConsumePrefix(&seed, head) && absl::SimpleAtoi(seed, &number)) {
    return number;
  }
  return std::nullopt;
}

// All else of a part is known without its spec: it is summed up also when that
// is damaged.
absl::Status AddSeed(const JobFacts& job, PartResult* part) {
  if (job.kind != JobSpec::TRAIN) return absl::OkStatus();
  if (const std::optional<uint64_t> seed = SeedInName(job)) {
    part->set_seed(*seed);
    return absl::OkStatus();
  }
  const absl::StatusOr<SpecPtr> spec = job.spec->Get();
  if (!absl::IsDataLoss(spec.status())) {
    ORDO_RETURN_IF_ERROR(spec.status());
    part->set_seed((*spec)->training().seed());
    return absl::OkStatus();
  }
  part->set_message(absl::StrCat(
      part->message(), part->message().empty() ? "" : "; ",
      "its seed is not known, since its spec is damaged: ",
      base::Cut(std::string(spec.status().message()), kMaxSummaryLabelBytes)));
  return absl::OkStatus();
}

absl::StatusOr<PartResult> PartOf(const State& state, const JobEntry& entry,
                                  size_t room) {
  const JobRecord& job = *entry.job;
  PartResult part;
  part.set_job(job.id());
  part.set_part(base::Cut(job.facts->part.value(), kMaxSummaryLabelBytes));
  part.set_state(jobs::v1::Job::State_Name(job.state));
  part.set_reason(job.reason.value());
  part.set_message(base::Cut(MessageOf(job), kMaxSummaryMessageBytes));
  ORDO_RETURN_IF_ERROR(AddSeed(*job.facts, &part));
  AddAttempts(entry, &part);
  if (const CheckpointPtr newest = NewestCheckpoint(entry)) {
    *part.mutable_checkpoint() = SourceOf(*newest);
    part.set_data_digest(newest->data_digest());
    part.set_tokens(newest->tokens());
  }
  AddReports(state, entry, room, &part);
  return part;
}

// Says of trials whose arm they are of, and of runs whose trial they followed.
void NameTrials(const State& state, const JobFacts& parent,
                training::v1::SummarizeSpec* task) {
  std::map<std::string, std::string> arms;
  for (int i = 0; i < task->parts_size(); ++i) {
    PartResult& part = *task->mutable_parts(i);
    const Trials& trials =
        state.jobs.at(parent.parts[i]).job->facts->demand().tuned_by;
    for (const std::string& trial : trials.jobs) arms[trial] = part.part();
    const std::optional<size_t> best = BestTrial(state, trials);
    if (best.has_value()) part.set_tuned_from(trials.jobs[*best]);
  }
  for (PartResult& part : *task->mutable_parts()) {
    const auto arm = arms.find(part.job());
    if (arm != arms.end()) part.set_trial_of(arm->second);
  }
}

// Says of what measured a step whose arm it is of.
void NamePaces(const State& state, const JobFacts& parent,
               training::v1::SummarizeSpec* task) {
  std::map<std::string, std::string> arms;
  for (int i = 0; i < task->parts_size(); ++i) {
    PartResult& part = *task->mutable_parts(i);
    const std::vector<std::string>& paces =
        state.jobs.at(parent.parts[i]).job->facts->demand().paces;
    if (paces.empty() || !part.trial_of().empty()) continue;
    arms[paces[0]] = part.part();
    arms[paces[1]] = task->comparison().baseline();
  }
  for (PartResult& part : *task->mutable_parts()) {
    const auto arm = arms.find(part.job());
    if (arm != arms.end()) part.set_pace_of(arm->second);
  }
}

// Digests of the data so far, by step, of all checkpoints that it ever had.
std::map<int64_t, std::string> DataDigests(const JobEntry& entry) {
  std::map<int64_t, std::string> digests;
  for (const auto& [key, checkpoint] : entry.checkpoints) {
    if (!checkpoint->data_digest().empty()) {
      digests[key.second] = checkpoint->data_digest();
    }
  }
  return digests;
}

// Says of runs of one seed, which may end at other steps, up to where they can
// be compared.
void NameCommonSteps(const State& state, training::v1::SummarizeSpec* task) {
  std::map<uint64_t, std::vector<PartResult*>> seeds;
  for (PartResult& part : *task->mutable_parts()) {
    const bool is_run = part.trial_of().empty() && part.pace_of().empty();
    if (is_run) seeds[part.seed()].push_back(&part);
  }
  for (const auto& [seed, runs] : seeds) {
    std::map<int64_t, size_t> counts;
    for (const PartResult* run : runs) {
      for (const auto& [step, digest] :
           DataDigests(state.jobs.at(run->job()))) {
        ++counts[step];
      }
    }
    for (auto it = counts.rbegin(); it != counts.rend(); ++it) {
      if (it->second < runs.size()) continue;
      for (PartResult* run : runs) {
        run->set_common_step(it->first);
        run->set_common_data_digest(
            DataDigests(state.jobs.at(run->job())).at(it->first));
      }
      break;
    }
  }
}

}  // namespace

absl::Status SetSummarizeTask(const State& state, const JobEntry& entry,
                              training::v1::SummarizeSpec* task) {
  const JobFacts& facts = *entry.job->facts;
  task->set_job(facts.id);
  task->set_attempt(entry.job->attempt_number());
  task->set_kind(NameOf(facts.kind));
  if (facts.kind == JobSpec::COMPARE) {
    ORDO_ASSIGN_OR_RETURN(const SpecPtr spec, facts.spec->Get());
    const jobs::v1::Compare& compare = spec->compare();
    training::v1::SummarizeSpec::Comparison& asked =
        *task->mutable_comparison();
    asked.set_baseline(compare.baseline());
    asked.set_confidence(compare.confidence());
    *asked.mutable_differs() = compare.differs();
    asked.set_budget(compare.budget());
    if (compare.has_tune()) {
      const jobs::v1::Tune& tune = compare.tune();
      asked.mutable_tuning()->set_evaluation(tune.evaluation().name());
      asked.mutable_tuning()->set_metric(tune.metric());
      asked.mutable_tuning()->set_goal(tune.goal());
    }
  }
  for (const std::string& part : facts.parts) {
    ORDO_ASSIGN_OR_RETURN(*task->add_parts(),
                          PartOf(state, state.jobs.at(part),
                                 kMaxSummaryReportBytes / facts.parts.size()));
  }
  NameTrials(state, facts, task);
  const std::string& budget = task->comparison().budget();
  if (budget == kSecondsBudget) NamePaces(state, facts, task);
  if (budget == kFlopsBudget || budget == kSecondsBudget) {
    NameCommonSteps(state, task);
  }
  for (const auto& [id, report] : entry.reports) task->add_finished_reports(id);
  return absl::OkStatus();
}

}  // namespace ordo::scheduler::core
