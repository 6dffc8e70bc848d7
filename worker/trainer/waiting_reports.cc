#include "worker/trainer/waiting_reports.h"

#include <utility>

#include "absl/strings/str_cat.h"

namespace ordo::worker::trainer {
namespace {

constexpr absl::Duration kRetryDelay = absl::Seconds(10);

int64_t ItemsOf(const EvaluationResult& result) {
  return static_cast<int64_t>(result.outcome.items.size());
}

}  // namespace

void WaitingReports::Add(EvaluationResult result, const absl::Status& why) {
  options_.warn(absl::StrCat("report ", result.report.id,
                             " waits for the disk: ", why.message()));
  num_items_ += ItemsOf(result);
  waiting_.push_back(std::move(result));
  while (num_items_ > options_.max_items) {
    options_.warn(absl::StrCat("report ", waiting_.front().report.id,
                               " is left out: with it reports of ", num_items_,
                               " items wait for the disk, and memory is for ",
                               options_.max_items));
    PopFront();
  }
  retry_at_ = clock_.Monotonic() + kRetryDelay;
}

void WaitingReports::Retry() {
  if (waiting_.empty() || clock_.Monotonic() < retry_at_) return;
  retry_at_ = clock_.Monotonic() + kRetryDelay;
  while (!waiting_.empty() && options_.write(waiting_.front()).ok()) {
    PopFront();
  }
}

void WaitingReports::WriteOrLeaveOut() {
  while (!waiting_.empty()) {
    const absl::Status status = options_.write(waiting_.front());
    if (!status.ok()) {
      options_.warn(absl::StrCat("report ", waiting_.front().report.id,
                                 " is left out: ", status.message()));
    }
    PopFront();
  }
}

void WaitingReports::PopFront() {
  num_items_ -= ItemsOf(waiting_.front());
  waiting_.pop_front();
}

}  // namespace ordo::worker::trainer
