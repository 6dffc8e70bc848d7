#include "worker/agent/announce_schedule.h"

#include <algorithm>
#include <utility>

#include "base/backoff/backoff.h"

namespace ordo::worker::agent {
namespace {

const base::BackoffOptions kBackoff{absl::Milliseconds(50), absl::Seconds(1), 2,
                                    0.2};

}  // namespace

AnnounceSchedule::AnnounceSchedule(std::string worker)
    : worker_(std::move(worker)) {}

absl::Duration AnnounceSchedule::TimeLeft(absl::Duration now, News news) const {
  if (under_way_) return absl::InfiniteDuration();
  absl::Duration due = last_sent_ + period_;
  if (news == News::kUrgent) due = now;
  if (news == News::kStarts) due = std::min(due, last_sent_ + kStartPeriod);
  if (news == News::kSteps) due = std::min(due, last_sent_ + kStepPeriod);
  return std::max(due, retry_at_) - now;
}

void AnnounceSchedule::Sent(absl::Duration now) {
  last_sent_ = now;
  under_way_ = true;
}

void AnnounceSchedule::Answered(absl::Duration period) {
  under_way_ = false;
  num_failures_ = 0;
  retry_at_ = -absl::InfiniteDuration();
  if (period > absl::ZeroDuration()) period_ = period;
}

void AnnounceSchedule::Failed(absl::Duration now) {
  under_way_ = false;
  ++num_failures_;
  retry_at_ = now + base::BackoffDelay(kBackoff, num_failures_, worker_);
}

void AnnounceSchedule::Refused(absl::Duration now) {
  Failed(now);
  retry_at_ = now + kRefusedPeriod;
}

}  // namespace ordo::worker::agent
