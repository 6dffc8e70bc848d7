#include "services/jobs/watch_reactor.h"

#include <utility>

#include "services/jobs/job_state.h"

namespace ordo::services::jobs {

absl::StatusOr<WatchReactor*> WatchReactor::Start(const Context& context,
                                                  const std::string& job,
                                                  int64_t from_version) {
  const std::shared_ptr<WatchReactor> reactor(
      new WatchReactor(context, from_version));
  const absl::StatusOr<int64_t> watch = context.scheduler->WatchJob(
      job, [reactor](const ordo::jobs::v1::Job& changed, bool last) {
        reactor->OnJob(changed, last);
      });
  if (!watch.ok()) return watch.status();
  reactor->self_ = reactor;
  base::MutexLock lock(reactor->mutex_);
  // From here on Send may finish, and OnDone needs the watch.
  reactor->watch_ = *watch;
  reactor->Wake();
  return reactor.get();
}

void WatchReactor::OnJob(const ordo::jobs::v1::Job& job, bool last) {
  base::MutexLock lock(mutex_);
  const bool known = first_ && job.version() == from_version_;
  first_ = false;
  if (!known) pending_ = job;
  last_ = last_ || last;
  ended_ = HasEnded(job);
  Wake();
}

void WatchReactor::Wake() {
  if (awake_ || finished_) return;
  awake_ = true;
  context_.queue.Run([self = shared_from_this()] { self->Send(); });
}

void WatchReactor::Send() {
  grpc::Status status;
  bool finish = false;
  {
    base::MutexLock lock(mutex_);
    awake_ = false;
    if (!watch_.has_value() || writing_ || finished_) return;
    if (cancelled_) {
      finished_ = true;
      status = grpc::Status(grpc::StatusCode::CANCELLED, "the client is gone");
    } else if (pending_.has_value()) {
      writing_ = true;
      *response_.mutable_job() = *std::move(pending_);
      pending_.reset();
    } else if (last_) {
      finished_ = true;
      if (!ended_) {
        status = grpc::Status(grpc::StatusCode::UNAVAILABLE,
                              "the scheduler is leaving; watch again");
      }
    } else {
      return;
    }
    finish = finished_;
  }
  // Without the lock, since gRPC may call back at once. Until it does, nothing
  // else comes this far.
  if (finish) {
    Finish(status);
  } else {
    context_.scheduler->Hide(response_.mutable_job());
    slow_reader_.BeginWrite();
    StartWrite(&response_);
  }
}

void WatchReactor::OnWriteDone(bool ok) {
  slow_reader_.EndWrite();
  base::MutexLock lock(mutex_);
  writing_ = false;
  cancelled_ = cancelled_ || !ok;
  Wake();
}

void WatchReactor::OnCancel() {
  base::MutexLock lock(mutex_);
  cancelled_ = true;
  Wake();
}

void WatchReactor::OnDone() {
  slow_reader_.End();
  int64_t watch = 0;
  {
    base::MutexLock lock(mutex_);
    watch = *watch_;
  }
  // Waits for a call of OnJob, which is short.
  context_.scheduler->StopWatch(watch);
  const std::shared_ptr<WatchReactor> last = std::move(self_);
}

}  // namespace ordo::services::jobs
