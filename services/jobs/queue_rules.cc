#include "services/jobs/queue_rules.h"

#include <memory>
#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/time/time.h"
#include "services/spec/durations.h"

namespace ordo::services::jobs {
namespace {

std::string Text(const google::protobuf::Duration& duration) {
  return absl::FormatDuration(absl::Seconds(duration.seconds()) +
                              absl::Nanoseconds(duration.nanos()));
}

// What a job of the queue that names no limit gets; null: none.
const google::protobuf::Duration* LimitOf(
    const ordo::queues::v1::Queue& queue) {
  if (queue.has_default_run_time_limit()) {
    return &queue.default_run_time_limit();
  }
  return queue.has_max_run_time_limit() ? &queue.max_run_time_limit() : nullptr;
}

}  // namespace

scheduler::SpecPtr QueueRules::Apply(
    const scheduler::SpecPtr& spec,
    std::vector<base::FieldViolation>* violations) {
  auto found = queues_.find(spec->queue());
  if (found == queues_.end()) {
    found = queues_.emplace(spec->queue(), scheduler_.GetQueue(spec->queue()))
                .first;
  }
  if (!found->second.ok()) {
    violations->push_back(
        {"queue", std::string(found->second.status().message())});
    return spec;
  }
  const ordo::queues::v1::Queue& queue = *found->second;
  if (!spec->has_run_time_limit()) {
    const google::protobuf::Duration* const limit = LimitOf(queue);
    if (limit == nullptr) return spec;
    scheduler::SpecPtr& limited = limited_[spec];
    if (limited == nullptr) {
      auto own = std::make_shared<ordo::jobs::v1::JobSpec>(*spec);
      *own->mutable_run_time_limit() = *limit;
      limited = std::move(own);
    }
    return limited;
  }
  if (queue.has_max_run_time_limit() &&
      spec::IsLonger(spec->run_time_limit(), queue.max_run_time_limit())) {
    violations->push_back(
        {"run_time_limit",
         absl::StrCat("must be at most ", Text(queue.max_run_time_limit()),
                      ", the largest of the queue ", spec->queue(), ", is ",
                      Text(spec->run_time_limit()))});
  }
  return spec;
}

}  // namespace ordo::services::jobs
