#include "services/usage/usage_sum.h"

#include <algorithm>

#include "absl/strings/str_cat.h"
#include "base/units/proto_time.h"
#include "scheduler/past_usage.h"

namespace ordo::services::usage {
namespace {

using ordo::base::ToTime;
using ordo::jobs::v1::Attempt;
using ordo::jobs::v1::Job;
using ordo::usage::v1::ArchivedUsage;
using ordo::usage::v1::PastUsage;
using ordo::usage::v1::ReportUsageRequest;
using ordo::usage::v1::ReportUsageResponse;
using ordo::usage::v1::Usage;

// When an attempt had its devices, and how many.
struct Held {
  absl::Time start;
  absl::Time end;
  // Of which no trainer had reported up to here.
  absl::Time reported;
  // Of which all from here on was lost.
  absl::Time saved;
  double num_devices = 0;
};

double CountDevices(const Attempt& attempt) {
  if (attempt.ranks().empty()) return attempt.devices_size();
  int count = 0;
  for (const Attempt::Rank& rank : attempt.ranks()) {
    count += rank.devices_size();
  }
  return count;
}

Held HeldBy(const Attempt& attempt, absl::Time now) {
  Held held;
  held.start = ToTime(attempt.start_time());
  held.end = attempt.has_end_time()
                 ? std::max(ToTime(attempt.end_time()), held.start)
                 : std::max(now, held.start);
  const double seconds = absl::ToDoubleSeconds(held.end - held.start);
  if (!attempt.has_end_time()) {
    held.num_devices = CountDevices(attempt);
    held.reported =
        attempt.has_run_time() ? ToTime(attempt.run_time()) : held.end;
    held.saved = held.end;
    return held;
  }
  held.reported = held.start;
  held.saved = held.end;
  if (seconds <= 0) return held;
  // Ranks that were over before the others make it a mean.
  held.num_devices = attempt.device_seconds() / seconds;
  if (held.num_devices <= 0) return held;
  held.reported +=
      absl::Seconds(attempt.idle_device_seconds() / held.num_devices);
  held.saved -= absl::Seconds(attempt.lost_device_seconds() / held.num_devices);
  return held;
}

// Seconds from `begin` to `end` that are not before `since`.
double SecondsIn(absl::Time begin, absl::Time end, absl::Time since) {
  return std::max(0.0, absl::ToDoubleSeconds(end - std::max(begin, since)));
}

void AddAttempt(const Attempt& attempt, absl::Time since, absl::Time now,
                Usage* row) {
  const Held held = HeldBy(attempt, now);
  if (held.end < since) return;
  // Whole; also when the clock went back meanwhile.
  if (attempt.has_end_time() && held.start >= since) {
    scheduler::AddUsage(scheduler::UsageOf(attempt), row);
    return;
  }
  row->set_attempts(row->attempts() + 1);
  scheduler::AddLostSteps(attempt, row);
  const double all = held.num_devices * SecondsIn(held.start, held.end, since);
  const double idle =
      held.num_devices * SecondsIn(held.start, held.reported, since);
  const double lost = held.num_devices * SecondsIn(held.saved, held.end, since);
  row->set_used_device_seconds(row->used_device_seconds() +
                               std::max(0.0, all - idle));
  row->set_idle_device_seconds(row->idle_device_seconds() + idle);
  row->set_lost_device_seconds(row->lost_device_seconds() + lost);
  if (lost > 0) {
    (*row->mutable_lost_device_seconds_by_reason())[attempt.reason()] += lost;
  }
}

// What a row is called: of a job, or of a queue and an owner.
struct Names {
  std::string job;
  std::string queue;
  std::string owner;
};

std::string KeyOf(const Names& names, UsageSum::By by) {
  if (by == ReportUsageRequest::JOB) return names.job;
  if (by == ReportUsageRequest::QUEUE) {
    return absl::StrCat("queues/", names.queue);
  }
  return names.owner;
}

// Of all that have no row of their own.
const Names& Others() {
  static const Names& others =
      *new Names{absl::StrCat("jobs/", scheduler::kOtherUsage),
                 scheduler::kOtherUsage, scheduler::kOtherUsage};
  return others;
}

}  // namespace

Usage& UsageSum::RowOf(const std::string& key) {
  const bool full =
      rows_.size() >= scheduler::kMaxUsageRows && rows_.count(key) == 0;
  return rows_[full ? KeyOf(Others(), by_) : key];
}

void UsageSum::AddPast(const PastUsage& past, Usage* sum) const {
  for (const PastUsage::Day& day : past.days()) {
    if (ToTime(day.start_time()) + scheduler::kUsageDay <= since_) continue;
    scheduler::AddUsage(day.usage(), sum);
  }
}

void UsageSum::Add(const Job& job) {
  Usage sum;
  for (const Attempt& attempt : job.attempts()) {
    AddAttempt(attempt, since_, now_, &sum);
  }
  AddPast(job.earlier_usage(), &sum);
  if (sum.attempts() == 0) return;
  const Names names{job.name(), job.spec().queue(), job.owner().user()};
  scheduler::AddUsage(sum, &RowOf(KeyOf(names, by_)));
}

void UsageSum::AddArchived(const ArchivedUsage& archived) {
  Usage sum;
  AddPast(archived.usage(), &sum);
  if (sum.attempts() == 0) return;
  const Names names{Others().job, archived.queue(), archived.owner()};
  scheduler::AddUsage(sum, &RowOf(KeyOf(names, by_)));
}

ReportUsageResponse UsageSum::Report() const {
  ReportUsageResponse report;
  for (const auto& [key, row] : rows_) {
    *report.add_rows() = row;
    report.mutable_rows()->rbegin()->set_key(key);
    scheduler::AddUsage(row, report.mutable_total());
  }
  return report;
}

}  // namespace ordo::services::usage
