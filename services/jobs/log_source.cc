#include "services/jobs/log_source.h"

#include <algorithm>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "base/files/file_util.h"
#include "base/status/details.h"
#include "base/status/status.h"
#include "services/jobs/job_state.h"
#include "services/request/names.h"

namespace ordo::services::jobs {
namespace {

using files::StreamStep;
using ordo::jobs::v1::Attempt;
using ordo::jobs::v1::Job;
using ordo::jobs::v1::ReadLogsRequest;
using ordo::jobs::v1::ReadLogsResponse;

int32_t NewestAttempt(const Job& job) {
  return job.attempts().empty() ? 0 : job.attempts().rbegin()->number();
}

// Whether nothing writes to the attempt's log any more.
bool IsOver(const Job& job, int32_t number) {
  if (HasEnded(job) || NewestAttempt(job) > number) return true;
  for (const Attempt& attempt : job.attempts()) {
    if (attempt.number() == number) return attempt.has_end_time();
  }
  return false;
}

}  // namespace

absl::StatusOr<std::unique_ptr<LogSource>> LogSource::Make(
    std::shared_ptr<const scheduler::Scheduler> scheduler,
    const files::Storage& storage, const ReadLogsRequest& request) {
  ORDO_ASSIGN_OR_RETURN(std::string id,
                        request::ParseName("name", "jobs", request.name()));
  std::vector<base::FieldViolation> violations;
  if (request.attempt() < 0) {
    violations.push_back(
        {"attempt", absl::StrCat("must be >= 0, is ", request.attempt())});
  }
  if (request.offset() < 0) {
    violations.push_back(
        {"offset", absl::StrCat("must be >= 0, is ", request.offset())});
  }
  ORDO_ASSIGN_OR_RETURN(const Job job, scheduler->GetJob(id));
  const int32_t ranks = std::max(job.spec().resources().ranks(), 1);
  if (request.rank() < 0 || request.rank() >= ranks) {
    violations.push_back({"rank", absl::StrCat("must be 0..", ranks - 1,
                                               ", is ", request.rank())});
  } else if (request.metrics() && request.rank() != 0) {
    violations.push_back(
        {"rank",
         "ranks have no metrics of their own: leave it out, or leave out "
         "metrics"});
  }
  ORDO_RETURN_IF_ERROR(base::InvalidFields(violations));
  return std::unique_ptr<LogSource>(
      new LogSource(std::move(scheduler), storage, std::move(id), request));
}

absl::StatusOr<StreamStep> LogSource::FindAttempt() {
  ORDO_ASSIGN_OR_RETURN(const Job job, scheduler_->GetJob(job_));
  const int32_t newest = NewestAttempt(job);
  if (newest > 0 && attempt_ <= newest) {
    if (attempt_ == 0) attempt_ = newest;
    attempt_found_ = true;
    return StreamStep::kSend;
  }
  if (follow_ && !HasEnded(job)) return StreamStep::kWait;
  if (attempt_ != 0) {
    return absl::NotFoundError(absl::StrCat("job '", job_, "' has had ", newest,
                                            " attempts, there is no attempt ",
                                            attempt_));
  }
  return absl::FailedPreconditionError(absl::StrCat(
      "job '", job_, "' ", HasEnded(job) ? "never started" : "has not started",
      job.message().empty() ? "" : absl::StrCat(": ", job.message())));
}

absl::Status LogSource::Open() {
  const std::string name =
      metrics_ ? "metrics.jsonl" : absl::StrCat("rank-", rank_, ".log");
  const std::string path = base::JoinPath(
      storage_.root,
      absl::StrCat("jobs/", job_, "/attempts/", attempt_, "/", name));
  auto opened = storage_.files.OpenForRead(path);
  // The supervisor makes it when it starts the trainer.
  if (absl::IsNotFound(opened.status())) return absl::OkStatus();
  ORDO_RETURN_IF_ERROR(opened);
  if (!files::LiesUnder(storage_.root, **opened)) {
    return absl::DataLossError(
        absl::StrCat(path, " leads out of the storage root; it is not served"));
  }
  ORDO_ASSIGN_OR_RETURN(const uint64_t size, (*opened)->Size());
  end_ = static_cast<int64_t>(size);
  if (offset_ > end_) {
    return absl::OutOfRangeError(absl::StrCat(
        "offset: ", offset_, " is beyond the ", size, " bytes of ",
        metrics_ ? "the metrics" : "the log", " of attempt ", attempt_));
  }
  file_ = *std::move(opened);
  return absl::OkStatus();
}

absl::StatusOr<std::string> LogSource::Read() {
  if (file_ == nullptr) ORDO_RETURN_IF_ERROR(Open());
  if (file_ == nullptr) return std::string();
  size_t num_bytes = kMaxLogPartBytes;
  if (!follow_) {
    num_bytes = static_cast<size_t>(
        std::min<int64_t>(end_ - offset_, static_cast<int64_t>(num_bytes)));
  }
  return file_->ReadAt(offset_, num_bytes);
}

absl::StatusOr<StreamStep> LogSource::GoOnAfterEnd() {
  ORDO_ASSIGN_OR_RETURN(const Job job, scheduler_->GetJob(job_));
  if (!attempt_over_) {
    if (!IsOver(job, attempt_)) return StreamStep::kWait;
    // It may have written more between the read and its end.
    attempt_over_ = true;
    return StreamStep::kSend;
  }
  for (const Attempt& attempt : job.attempts()) {
    if (attempt.number() > attempt_) {
      attempt_ = attempt.number();
      offset_ = 0;
      file_.reset();
      attempt_over_ = false;
      return StreamStep::kSend;
    }
  }
  return HasEnded(job) ? StreamStep::kEnd : StreamStep::kWait;
}

absl::StatusOr<StreamStep> LogSource::Next(ReadLogsResponse* response) {
  if (!attempt_found_) {
    ORDO_ASSIGN_OR_RETURN(const StreamStep step, FindAttempt());
    if (step != StreamStep::kSend) return step;
  }
  while (true) {
    ORDO_ASSIGN_OR_RETURN(std::string data, Read());
    if (!data.empty()) {
      response->set_attempt(attempt_);
      response->set_offset(offset_);
      offset_ += static_cast<int64_t>(data.size());
      response->set_data(std::move(data));
      return StreamStep::kSend;
    }
    if (!follow_) return StreamStep::kEnd;
    ORDO_ASSIGN_OR_RETURN(const StreamStep step, GoOnAfterEnd());
    if (step != StreamStep::kSend) return step;
  }
}

}  // namespace ordo::services::jobs
