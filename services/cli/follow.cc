#include "services/cli/follow.h"

#include <algorithm>
#include <chrono>
#include <memory>
#include <optional>
#include <utility>

#include "base/backoff/backoff.h"
#include "base/mutex.h"
#include "base/rpc/grpc_status.h"
#include "base/status/details.h"
#include "base/status/status.h"
#include "services/cli/names.h"
#include "services/cli/print.h"

namespace ordo::services::cli {
namespace {

using jobs::v1::WatchJobRequest;
using jobs::v1::WatchJobResponse;
using SteadyTime = std::chrono::steady_clock::time_point;

SteadyTime Now() { return std::chrono::steady_clock::now(); }

SteadyTime After(absl::Duration duration) {
  return Now() +
         absl::ToChronoNanoseconds(std::min(duration, absl::Hours(24 * 365)));
}

// What the streams tell the follower.
struct Mailbox {
  struct Slot {
    std::optional<jobs::v1::Job> job;      // New since last looked at.
    std::optional<grpc::Status> finished;  // The stream is over.
  };

  base::Mutex mutex;
  base::CondVar changed;
  std::vector<Slot> slots ORDO_GUARDED_BY(mutex);
  bool interrupted ORDO_GUARDED_BY(mutex) = false;
};

// One open stream. Lives until it has put `finished` into its slot.
class Stream : public grpc::ClientReadReactor<WatchJobResponse> {
 public:
  Stream(std::shared_ptr<Mailbox> mailbox, size_t slot)
      : mailbox_(std::move(mailbox)), slot_(slot) {}

  void Start(Client& client, const std::string& job) {
    context_ = client.StreamContext();
    request_.set_name(job);
    client.jobs().async()->WatchJob(context_.get(), &request_, this);
    StartRead(&response_);
    StartCall();
  }
  void Cancel() { context_->TryCancel(); }

  void OnReadDone(bool ok) override {
    if (!ok) return;
    {
      base::MutexLock lock(mailbox_->mutex);
      mailbox_->slots[slot_].job = response_.job();
      mailbox_->changed.NotifyAll();
    }
    StartRead(&response_);
  }

  void OnDone(const grpc::Status& status) override {
    // The follower may destroy this as soon as it can lock.
    const std::shared_ptr<Mailbox> mailbox = mailbox_;
    base::MutexLock lock(mailbox->mutex);
    mailbox->slots[slot_].finished = status;
    mailbox->changed.NotifyAll();
  }

 private:
  const std::shared_ptr<Mailbox> mailbox_;
  const size_t slot_;
  std::unique_ptr<grpc::ClientContext> context_;
  WatchJobRequest request_;
  WatchJobResponse response_;
};

// Whether the job was archived: how it ended is all that is known of it.
bool NoteArchived(const grpc::Status& status, FollowedJob* job) {
  const auto info = base::GetErrorInfo(base::FromGrpcStatus(status));
  jobs::v1::Job::State state;
  if (!info.has_value() || info->reason != "JOB_ARCHIVED" ||
      info->metadata.count("state") == 0 ||
      !jobs::v1::Job::State_Parse(info->metadata.at("state"), &state) ||
      !HasEnded(state)) {
    return false;
  }
  job->job.set_name(job->name);
  job->job.set_state(state);
  job->job.set_message("it was archived");
  return true;
}

class Follower {
 public:
  Follower(Context& context, std::vector<FollowedJob>& jobs)
      : context_(context), jobs_(jobs), follows_(jobs.size()) {
    mailbox_->slots.resize(jobs.size());
  }
  ~Follower() { Stop(); }

  absl::StatusOr<FollowEnd> Run(const FollowOptions& options) {
    const std::shared_ptr<Mailbox> mailbox = mailbox_;
    const Interrupt::Scope scope(context_.interrupt, [mailbox] {
      base::MutexLock lock(mailbox->mutex);
      mailbox->interrupted = true;
      mailbox->changed.NotifyAll();
    });
    const bool looks_once = options.timeout <= absl::ZeroDuration();
    const SteadyTime deadline = After(
        looks_once ? context_.client.options().call_timeout : options.timeout);
    // Without anybody to call, nothing ticks.
    SteadyTime next_tick = options.on_change != nullptr ? Now() : deadline;
    while (true) {
      ORDO_RETURN_IF_ERROR(StartStreams());
      bool changed = false;
      bool interrupted = false;
      ORDO_RETURN_IF_ERROR(TakeNews(&changed, &interrupted));
      if (options.on_change != nullptr && (changed || Now() >= next_tick)) {
        options.on_change(jobs_);
        next_tick = After(options.tick);
      }
      if (AllEnded()) return FollowEnd::kAllEnded;
      if (interrupted) return FollowEnd::kInterrupted;
      if (looks_once && HeardOfAll()) return FollowEnd::kTimedOut;
      if (Now() >= deadline) {
        // Nobody said how it stands.
        if (looks_once && !AllConnected()) {
          return context_.client.Unreachable("");
        }
        return FollowEnd::kTimedOut;
      }
      Sleep(std::min(deadline, next_tick));
    }
  }

 private:
  struct Follow {
    std::unique_ptr<Stream> stream;
    int failures = 0;
    SteadyTime retry_at = Now();
    std::optional<absl::Duration> away_since;  // By the context's clock.
  };

  bool AllEnded() const {
    return std::all_of(jobs_.begin(), jobs_.end(), [](const FollowedJob& job) {
      return HasEnded(job.job.state());
    });
  }

  bool HeardOfAll() const {
    return std::all_of(jobs_.begin(), jobs_.end(), [](const FollowedJob& job) {
      return !job.job.name().empty();
    });
  }

  bool AllConnected() const {
    return std::all_of(jobs_.begin(), jobs_.end(),
                       [](const FollowedJob& job) { return job.connected; });
  }

  absl::Status StartStreams() {
    for (size_t i = 0; i < jobs_.size(); ++i) {
      Follow& follow = follows_[i];
      if (follow.stream != nullptr || HasEnded(jobs_[i].job.state()) ||
          Now() < follow.retry_at) {
        continue;
      }
      // From version 0, so that the server answers at once: an answer is the
      // proof that it is back.
      follow.stream = std::make_unique<Stream>(mailbox_, i);
      follow.stream->Start(context_.client, jobs_[i].name);
    }
    return absl::OkStatus();
  }

  absl::Status TakeNews(bool* changed, bool* interrupted) {
    base::MutexLock lock(mailbox_->mutex);
    *interrupted = mailbox_->interrupted;
    for (size_t i = 0; i < jobs_.size(); ++i) {
      Mailbox::Slot& slot = mailbox_->slots[i];
      if (slot.job.has_value()) {
        jobs_[i].job = *std::move(slot.job);
        jobs_[i].connected = true;
        follows_[i].failures = 0;
        follows_[i].away_since.reset();
        slot.job.reset();
        *changed = true;
      }
      if (!slot.finished.has_value()) continue;
      const grpc::Status status = *std::move(slot.finished);
      slot.finished.reset();
      follows_[i].stream = nullptr;
      if (HasEnded(jobs_[i].job.state())) continue;
      *changed = *changed || jobs_[i].connected;
      ORDO_RETURN_IF_ERROR(NoteAbsence(i, status));
    }
    return absl::OkStatus();
  }

  absl::Status NoteAbsence(size_t i, const grpc::Status& status) {
    Follow& follow = follows_[i];
    if (NoteArchived(status, &jobs_[i])) return absl::OkStatus();
    if (IsRefusedForNow(status)) {
      // It is there, and takes so many calls a second or streams at a time.
      follow.away_since.reset();
      RetryLater(i, absl::Seconds(2));
      return absl::OkStatus();
    }
    if (!status.ok() && !IsAway(status)) return context_.client.Explain(status);
    jobs_[i].connected = false;
    const absl::Duration now = context_.clock.Monotonic();
    if (!follow.away_since.has_value()) follow.away_since = now;
    if (now - *follow.away_since >= context_.client.options().patience) {
      return context_.client.Unreachable("");
    }
    RetryLater(i, absl::Seconds(1));
    return absl::OkStatus();
  }

  void RetryLater(size_t i, absl::Duration most) {
    base::BackoffOptions backoff;
    backoff.initial = absl::Milliseconds(50);
    backoff.max = most;
    follows_[i].retry_at = After(
        base::BackoffDelay(backoff, ++follows_[i].failures, jobs_[i].name));
  }

  void Sleep(SteadyTime until) {
    for (size_t i = 0; i < jobs_.size(); ++i) {
      if (follows_[i].stream == nullptr && !HasEnded(jobs_[i].job.state())) {
        until = std::min(until, follows_[i].retry_at);
      }
    }
    base::MutexLock lock(mailbox_->mutex);
    while (!HasNews()) {
      if (!mailbox_->changed.WaitUntil(mailbox_->mutex, until)) return;
    }
  }

  bool HasNews() const ORDO_REQUIRES(mailbox_->mutex) {
    if (mailbox_->interrupted) return true;
    return std::any_of(mailbox_->slots.begin(), mailbox_->slots.end(),
                       [](const Mailbox::Slot& slot) {
                         return slot.job.has_value() ||
                                slot.finished.has_value();
                       });
  }

  // Ends all streams: each must have said that it is finished before it goes.
  void Stop() {
    for (Follow& follow : follows_) {
      if (follow.stream != nullptr) follow.stream->Cancel();
    }
    base::MutexLock lock(mailbox_->mutex);
    for (size_t i = 0; i < follows_.size(); ++i) {
      while (follows_[i].stream != nullptr &&
             !mailbox_->slots[i].finished.has_value()) {
        mailbox_->changed.WaitUntil(mailbox_->mutex, After(absl::Hours(1)));
      }
    }
  }

  Context& context_;
  std::vector<FollowedJob>& jobs_;
  const std::shared_ptr<Mailbox> mailbox_ = std::make_shared<Mailbox>();
  std::vector<Follow> follows_;
};

}  // namespace

absl::StatusOr<FollowEnd> FollowJobs(Context& context,
                                     std::vector<FollowedJob>& jobs,
                                     const FollowOptions& options) {
  Follower follower(context, jobs);
  return follower.Run(options);
}

absl::StatusOr<std::vector<FollowedJob>> JobsToFollow(
    const std::vector<std::string>& names) {
  std::vector<FollowedJob> jobs;
  for (const std::string& name : names) {
    FollowedJob job;
    ORDO_ASSIGN_OR_RETURN(job.name, JobName(name));
    jobs.push_back(std::move(job));
  }
  return jobs;
}

}  // namespace ordo::services::cli
