#include "scheduler/past_usage.h"

#include <algorithm>
#include <string>

namespace ordo::scheduler {
namespace {

using usage::v1::PastUsage;
using usage::v1::Usage;

constexpr int64_t kDaySeconds = 24 * 60 * 60;

// The day that begins then, which is made if there is none.
Usage& DayAt(int64_t start_s, PastUsage* past) {
  auto& days = *past->mutable_days();
  const auto is_before = [](const PastUsage::Day& day, int64_t seconds) {
    return day.start_time().seconds() < seconds;
  };
  const auto found =
      std::lower_bound(days.begin(), days.end(), start_s, is_before);
  const auto index = static_cast<int>(found - days.begin());
  if (found == days.end() || found->start_time().seconds() != start_s) {
    past->add_days()->mutable_start_time()->set_seconds(start_s);
    std::rotate(days.begin() + index, days.end() - 1, days.end());
  }
  return *past->mutable_days(index)->mutable_usage();
}

}  // namespace

void AddUsage(const Usage& more, Usage* sum) {
  sum->set_used_device_seconds(sum->used_device_seconds() +
                               more.used_device_seconds());
  sum->set_idle_device_seconds(sum->idle_device_seconds() +
                               more.idle_device_seconds());
  sum->set_lost_device_seconds(sum->lost_device_seconds() +
                               more.lost_device_seconds());
  sum->set_attempts(sum->attempts() + more.attempts());
  sum->set_lost_steps(sum->lost_steps() + more.lost_steps());
  for (const auto& [reason, seconds] : more.lost_device_seconds_by_reason()) {
    (*sum->mutable_lost_device_seconds_by_reason())[reason] += seconds;
  }
  for (const auto& [reason, steps] : more.lost_steps_by_reason()) {
    (*sum->mutable_lost_steps_by_reason())[reason] += steps;
  }
}

void AddLostSteps(const jobs::v1::Attempt& attempt, Usage* sum) {
  if (attempt.lost_steps() <= 0) return;
  sum->set_lost_steps(sum->lost_steps() + attempt.lost_steps());
  (*sum->mutable_lost_steps_by_reason())[attempt.reason()] +=
      attempt.lost_steps();
}

Usage UsageOf(const jobs::v1::Attempt& attempt) {
  Usage usage;
  const double idle = attempt.idle_device_seconds();
  const double lost = attempt.lost_device_seconds();
  usage.set_used_device_seconds(std::max(0.0, attempt.device_seconds() - idle));
  usage.set_idle_device_seconds(idle);
  usage.set_lost_device_seconds(lost);
  if (lost > 0) {
    (*usage.mutable_lost_device_seconds_by_reason())[attempt.reason()] = lost;
  }
  usage.set_attempts(1);
  AddLostSteps(attempt, &usage);
  return usage;
}

void AddAttempt(const jobs::v1::Attempt& attempt, PastUsage* past) {
  const int64_t end_s = std::max<int64_t>(0, attempt.end_time().seconds());
  AddUsage(UsageOf(attempt), &DayAt(end_s - end_s % kDaySeconds, past));
}

void AddDays(const PastUsage& more, PastUsage* past) {
  for (const PastUsage::Day& day : more.days()) {
    AddUsage(day.usage(), &DayAt(day.start_time().seconds(), past));
  }
}

void FoldDays(int most, PastUsage* past) {
  const int num_folded = past->days_size() - most;
  if (num_folded <= 0) return;
  Usage& kept = *past->mutable_days(num_folded)->mutable_usage();
  for (int i = 0; i < num_folded; ++i) AddUsage(past->days(i).usage(), &kept);
  past->mutable_days()->DeleteSubrange(0, num_folded);
}

}  // namespace ordo::scheduler
