#include "scheduler/core/job.h"

#include <algorithm>
#include <limits>
#include <map>
#include <memory>
#include <set>
#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "base/units/proto_time.h"
#include "google/protobuf/map.h"
#include "google/protobuf/struct.pb.h"
#include "scheduler/core/names.h"
#include "scheduler/scheduler.h"

namespace ordo::scheduler::core {
namespace {

using base::ToDuration;

// Of specs of an earlier release, which did not fill them in.
constexpr char kDefaultKind[] = "cpu";
constexpr int kDefaultMaxAttempts = 3;
constexpr int kDefaultMaxInterruptions = 100;
constexpr int kDefaultKeep = 3;
// Above all that a submission may ask for.
constexpr int64_t kMostBytes = int64_t{1} << 53;
constexpr int kMostCpus = 1 << 20;

// A job that is named twice must succeed if one of them says so.
std::vector<NeededJob> NeedsOf(const jobs::v1::JobSpec& spec) {
  std::map<std::string, bool> must_succeed;
  for (const jobs::v1::Need& need : spec.needs()) {
    must_succeed[JobIdOf(need.job())] |=
        need.condition() != jobs::v1::Need::ENDED;
  }
  std::vector<NeededJob> needs;
  needs.reserve(must_succeed.size());
  for (const auto& [id, must] : must_succeed) needs.push_back({id, must});
  return needs;
}

// Ids of the jobs that these name: jobs/{job} or
// jobs/{job}/checkpoints/{checkpoint}.
std::vector<std::string> JobsOf(const std::vector<std::string>& references) {
  std::vector<std::string> jobs;
  for (const std::string& reference : references) {
    const std::vector<std::string> parts = absl::StrSplit(reference, '/');
    if (parts.size() >= 2) jobs.push_back(parts[1]);
  }
  return jobs;
}

// Of a message that has evaluation, metric and goal.
template <typename Message>
Criterion CriterionOf(const Message& message) {
  return {message.evaluation(), message.metric(), message.goal() != "min"};
}

void AddIfWhole(const google::protobuf::Value& value,
                std::set<std::string>* paths) {
  const std::string& text = value.string_value();
  if (!text.empty() && text.front() == '/') paths->insert(text);
}

// Whole paths among the parameters of a task: texts that begin with a slash.
void AddWholePaths(
    const google::protobuf::Map<std::string, google::protobuf::Value>& params,
    std::set<std::string>* paths) {
  for (const auto& [name, value] : params) {
    AddIfWhole(value, paths);
    for (const auto& one : value.list_value().values()) AddIfWhole(one, paths);
  }
}

EarlyStop EarlyStopOf(const jobs::v1::JobSpec& spec) {
  EarlyStop stop;
  if (!spec.sweep().has_early_stopping()) return stop;
  const jobs::v1::EarlyStopping& asked = spec.sweep().early_stopping();
  stop.rule = asked.rule() == "halving" ? EarlyStop::Rule::kHalving
                                        : EarlyStop::Rule::kMedian;
  stop.by = CriterionOf(asked);
  // Of 0 there would be no next step of halving.
  stop.from_step = std::max<int64_t>(1, asked.from_step());
  stop.factor = std::max(2, asked.factor());
  stop.min_reports = std::max(2, asked.min_reports());
  return stop;
}

const std::string& OrDefault(const std::string& queue) {
  static const auto& kDefault = *new std::string(kDefaultQueue);
  return queue.empty() ? kDefault : queue;
}

}  // namespace

const std::string& IncarnationOf(const JobRecord& job, int32_t rank) {
  return job.newest_attempt().ranks().empty()
             ? job.incarnation.value()
             : job.newest_attempt().ranks(rank).incarnation();
}

int64_t AcknowledgedOf(const JobRecord& job, int32_t rank) {
  return job.newest_attempt().ranks().empty()
             ? job.acknowledged_records
             : job.newest_attempt().ranks(rank).acknowledged_records();
}

JobFacts FactsOf(const jobs::v1::JobSpec& spec, SpecHandlePtr handle) {
  JobFacts facts;
  facts.id = spec.name();
  facts.spec = std::move(handle);
  facts.kind = spec.kind();
  const policy::Shape& shape = facts.demand().shape;
  facts.num_ranks = shape.ranks;
  facts.num_devices = shape.devices;
  facts.max_attempts = spec.retry().max_attempts() > 0
                           ? spec.retry().max_attempts()
                           : kDefaultMaxAttempts;
  facts.max_interruptions = spec.retry().max_interruptions() > 0
                                ? spec.retry().max_interruptions()
                                : kDefaultMaxInterruptions;
  facts.needs = NeedsOf(spec);
  facts.references = References(spec);
  return facts;
}

bool SumsUp(jobs::v1::JobSpec::Kind kind) {
  return kind == jobs::v1::JobSpec::SWEEP ||
         kind == jobs::v1::JobSpec::COMPARE ||
         kind == jobs::v1::JobSpec::PIPELINE;
}

void SetParts(std::vector<std::string> parts, JobFacts* facts) {
  std::set<std::string> needed;
  for (const NeededJob& need : facts->needs) needed.insert(need.id);
  for (const std::string& part : parts) {
    if (needed.insert(part).second) facts->needs.push_back({part, false});
  }
  facts->parts = std::move(parts);
}

int32_t MaxParallelOf(const jobs::v1::JobSpec& spec) {
  switch (spec.kind()) {
    case jobs::v1::JobSpec::SWEEP:
      return spec.sweep().max_parallel();
    case jobs::v1::JobSpec::COMPARE:
      return spec.compare().max_parallel();
    case jobs::v1::JobSpec::PIPELINE:
      return spec.pipeline().max_parallel();
    default:
      return 0;
  }
}

policy::Shape ShapeOf(const jobs::v1::JobSpec& spec) {
  const training::v1::Resources& resources = spec.resources();
  policy::Shape shape;
  shape.kind = resources.device().empty() ? kDefaultKind : resources.device();
  shape.labels.insert(resources.labels().begin(), resources.labels().end());
  shape.run_time_limit = ToDuration(spec.run_time_limit());
  if (SumsUp(spec.kind())) {
    // The rest is what its parts have unless they say otherwise.
    shape.kernels.insert(kSummarizeTask);
    return shape;
  }
  if (spec.kind() == jobs::v1::JobSpec::TRAIN) {
    shape.ranks = std::max(1, resources.ranks());
  }
  shape.devices = std::max(1, resources.devices());
  // What a store gives may be anything; sums of them must not wrap.
  const auto bytes = [](int64_t number) {
    return std::clamp<int64_t>(number, 0, kMostBytes);
  };
  shape.device_memory_bytes = bytes(resources.device_memory_bytes());
  shape.cpus = std::clamp(resources.cpus(), 0, kMostCpus);
  shape.memory_bytes = bytes(resources.memory_bytes());
  shape.exclusive = resources.exclusive();
  if (spec.kind() == jobs::v1::JobSpec::GATE) shape.kernels.insert(kGateTask);
  const auto add = [&shape](const std::string& row) {
    // As a probe calls the row of the table of attention kernels that a recipe
    // names.
    if (!row.empty()) shape.kernels.insert(absl::StrCat("attention/", row));
  };
  add(spec.training().kernel());
  for (const training::v1::Evaluation& one : spec.evaluations()) {
    add(one.kernel());
    AddWholePaths(one.params(), &shape.data_paths);
  }
  AddWholePaths(spec.data().params(), &shape.data_paths);
  return shape;
}

const std::string& QueueOf(const jobs::v1::JobSpec& spec) {
  return OrDefault(spec.queue());
}

const std::string& QueueOf(const SpecHandle& spec) {
  return OrDefault(spec.queue());
}

Demand DemandOf(const jobs::v1::JobSpec& spec) {
  Demand demand;
  demand.queue = spec.queue();
  demand.shape = ShapeOf(spec);
  demand.max_parallel = MaxParallelOf(spec);
  demand.early_stop = EarlyStopOf(spec);
  if (spec.has_tuned_by()) demand.tuned_by.by = CriterionOf(spec.tuned_by());
  for (const jobs::v1::TunedBy::Trial& trial : spec.tuned_by().trials()) {
    demand.tuned_by.jobs.push_back(JobIdOf(trial.job()));
  }
  if (spec.has_paced_by()) {
    demand.paces = {JobIdOf(spec.paced_by().own()),
                    JobIdOf(spec.paced_by().baseline())};
  }
  demand.num_steps = spec.training().steps();
  demand.keep =
      spec.checkpoint().keep() > 0 ? spec.checkpoint().keep() : kDefaultKeep;
  for (const training::v1::Evaluation& one : spec.evaluations()) {
    demand.evaluations.push_back(one.name().empty() ? one.task() : one.name());
  }
  demand.keep_optimizer = spec.checkpoint().keep_optimizer() > 0
                              ? spec.checkpoint().keep_optimizer()
                              : std::numeric_limits<int32_t>::max();
  demand.queue_time_limit = ToDuration(spec.queue_time_limit());
  demand.step_timeout = ToDuration(spec.retry().step_timeout());
  return demand;
}

std::vector<std::string> References(const jobs::v1::JobSpec& spec) {
  std::vector<std::string> names(spec.checkpoints().begin(),
                                 spec.checkpoints().end());
  if (!spec.start_from().empty()) names.push_back(spec.start_from());
  if (!spec.model().from().empty()) names.push_back(spec.model().from());
  for (const std::string* name :
       {&spec.gate().candidate(), &spec.gate().baseline(),
        &spec.gate().anchor()}) {
    if (!name->empty()) names.push_back(*name);
  }
  return names;
}

std::vector<std::string> JobsNamedBy(const jobs::v1::JobSpec& spec) {
  std::vector<std::string> jobs = JobsOf(References(spec));
  for (const jobs::v1::Need& need : spec.needs()) {
    jobs.push_back(JobIdOf(need.job()));
  }
  return jobs;
}

std::vector<std::string> JobsNamedBy(const JobFacts& job) {
  std::vector<std::string> jobs = JobsOf(job.references.value());
  for (const NeededJob& need : job.needs) jobs.push_back(need.id);
  return jobs;
}

}  // namespace ordo::scheduler::core
