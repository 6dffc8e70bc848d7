#include "scheduler/core/present.h"

#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "base/status/status.h"
#include "google/protobuf/util/time_util.h"
#include "proto/ordo/usage/v1/usage.pb.h"
#include "scheduler/core/reasons.h"
#include "scheduler/core/state.h"

namespace ordo::scheduler::core {
namespace {

using google::protobuf::Timestamp;
using google::protobuf::util::TimeUtil;

void SetTime(int64_t ns, Timestamp* (jobs::v1::Job::*field)(),
             jobs::v1::Job* job) {
  if (ns != 0) *(job->*field)() = TimeUtil::NanosecondsToTimestamp(ns);
}

// 0 when it is not set.
int64_t TimeOf(const Timestamp& time) {
  return TimeUtil::TimestampToNanoseconds(time);
}

// What follows from the other fields of a job.
std::string Implied(const JobRecord& record) {
  if (record.state != jobs::v1::Job::QUEUED) return "";
  const std::string& id = record.id();
  if (!record.held_by.empty()) {
    return absl::StrCat("held by ", record.held_by.value(), "; ordo release ",
                        id, " lets it start");
  }
  const std::string& reason = record.reason.value();
  return absl::StrCat("waits for ",
                      reason == reason::kWaitingForNeeds ? "jobs that it needs"
                      : reason == reason::kBackoff
                          ? "the time of its next attempt"
                      : reason == reason::kWaitingForCheckpoint
                          ? "the next checkpoint of the job that it follows"
                      : reason == reason::kWaitingForResult
                          ? "the result of a job that evaluates the same"
                          : "a device",
                      "; ordo explain ", id, " says what holds it up");
}

}  // namespace

std::string MessageOf(const JobRecord& record) {
  return record.message.empty() ? Implied(record) : record.message.value();
}

jobs::v1::Job PresentWithoutSpec(const JobRecord& record) {
  const JobFacts& facts = *record.facts;
  jobs::v1::Job job;
  job.set_name(JobName(facts.id));
  job.set_state(record.state);
  job.set_reason(record.reason.value());
  job.set_message(MessageOf(record));
  job.mutable_owner()->set_user(facts.user);
  job.mutable_owner()->set_verified(facts.user_verified);
  SetTime(facts.create_ns, &jobs::v1::Job::mutable_create_time, &job);
  SetTime(record.start_ns, &jobs::v1::Job::mutable_start_time, &job);
  SetTime(record.end_ns, &jobs::v1::Job::mutable_end_time, &job);
  SetTime(record.not_before_ns, &jobs::v1::Job::mutable_not_before_time, &job);
  for (const AttemptPtr& attempt : record.attempts) {
    *job.add_attempts() = *attempt;
  }
  if (record.earlier_usage != nullptr) {
    *job.mutable_earlier_usage() = *record.earlier_usage;
  }
  job.set_failed_attempts(record.failed_attempts);
  job.set_interruptions(record.interruptions);
  job.set_priority(record.priority);
  job.set_priority_set_by(record.priority_set_by.value());
  job.set_held_by(record.held_by.value());
  SetTime(record.queue_ns, &jobs::v1::Job::mutable_queue_time, &job);
  if (record.waited_ns != 0) {
    *job.mutable_waited() = TimeUtil::NanosecondsToDuration(record.waited_ns);
  }
  job.set_cancelled_by(record.cancelled_by.value());
  job.mutable_notices()->Assign(facts.notices.begin(), facts.notices.end());
  job.set_version(record.version);
  job.set_sequence(facts.sequence);
  if (!facts.parent.empty()) job.set_parent(JobName(facts.parent.value()));
  job.set_part(facts.part.value());
  for (const std::string& part : facts.parts) job.add_parts(JobName(part));
  job.set_traceparent(facts.request.trace_parent());
  return job;
}

absl::StatusOr<jobs::v1::Job> Present(const JobRecord& record) {
  ORDO_ASSIGN_OR_RETURN(const SpecPtr spec, record.facts->spec->Get());
  jobs::v1::Job job = PresentWithoutSpec(record);
  *job.mutable_spec() = *spec;
  job.mutable_spec()->set_name(record.id());
  return job;
}

JobPtr RecordOf(StoredJob stored, SpecTable* specs) {
  stored.job.set_name(JobName(stored.job.spec().name()));
  stored.job.mutable_spec()->clear_name();
  const auto spec = std::make_shared<const jobs::v1::JobSpec>(
      std::move(*stored.job.mutable_spec()));
  return RecordOf(std::move(stored), FactsOf(*spec, specs->Keep(spec)));
}

JobPtr RecordOf(StoredJob stored, const JobFacts& of_spec) {
  jobs::v1::Job& job = stored.job;
  auto facts = std::make_shared<JobFacts>(of_spec);
  facts->id = IdOf(job.name());
  facts->sequence = job.sequence();
  facts->user = job.owner().user();
  facts->user_verified = job.owner().verified();
  facts->notices =
      std::vector<std::string>(job.notices().begin(), job.notices().end());
  facts->request =
      RequestMark(stored.request_id, stored.fingerprint, job.traceparent());
  facts->create_ns = TimeOf(job.create_time());
  if (!job.parent().empty()) facts->parent = IdOf(job.parent());
  facts->part = std::move(*job.mutable_part());
  std::vector<std::string> parts;
  for (const std::string& part : job.parts()) parts.push_back(IdOf(part));
  SetParts(std::move(parts), facts.get());

  auto record = std::make_shared<JobRecord>();
  record->version = job.version();
  record->state = job.state();
  record->reason = job.reason();
  for (jobs::v1::Attempt& attempt : *job.mutable_attempts()) {
    record->attempts.push_back(
        std::make_shared<const jobs::v1::Attempt>(std::move(attempt)));
  }
  if (job.has_earlier_usage()) {
    record->earlier_usage = std::make_shared<const usage::v1::PastUsage>(
        std::move(*job.mutable_earlier_usage()));
  }
  record->failed_attempts = job.failed_attempts();
  record->interruptions = job.interruptions();
  record->priority = job.priority();
  record->priority_set_by = job.priority_set_by();
  record->held_by = job.held_by();
  record->queue_ns = TimeOf(job.queue_time());
  record->waited_ns = TimeUtil::DurationToNanoseconds(job.waited());
  record->cancelled_by = job.cancelled_by();
  record->start_ns = TimeOf(job.start_time());
  record->end_ns = TimeOf(job.end_time());
  record->not_before_ns = TimeOf(job.not_before_time());
  record->incarnation = std::move(stored.incarnation);
  record->acknowledged_records = stored.acknowledged_records;
  record->facts = std::move(facts);
  if (job.message() != Implied(*record)) record->message = job.message();
  return record;
}

}  // namespace ordo::scheduler::core
