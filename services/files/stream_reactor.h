#ifndef ORDO_SERVICES_FILES_STREAM_REACTOR_H_
#define ORDO_SERVICES_FILES_STREAM_REACTOR_H_

#include <atomic>
#include <chrono>
#include <functional>
#include <memory>
#include <utility>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "base/rpc/grpc_status.h"
#include "grpcpp/support/server_callback.h"
#include "services/files/slow_reader.h"
#include "services/files/work_queue.h"

namespace ordo::services::files {

// What the source of a stream has to say.
enum class StreamStep {
  // The message is filled in: send it, then ask again.
  kSend,
  // Nothing yet: ask again after kPollPeriod.
  kWait,
  // That was all.
  kEnd,
};

// How often a source that has nothing is asked again.
inline constexpr std::chrono::milliseconds kPollPeriod(100);

// A server stream of messages that a function makes, one at a time, on the
// threads of a work queue: the next is made when gRPC has taken the one before,
// so a slow client holds one message and no thread. Ends when the source does
// or fails, when the client is gone or takes no message for too long, or, with
// UNAVAILABLE, after WorkQueue::EndStreams.
//
// Deletes itself, as gRPC's reactors do. The queue outlives the server.
template <typename Response>
class StreamReactor : public grpc::ServerWriteReactor<Response> {
 public:
  // Called from one thread at a time; the message comes in cleared.
  using Source = std::function<absl::StatusOr<StreamStep>(Response*)>;

  // `keep` is kept until the stream is over. `call`: the stream's, which is cut
  // off when its client does not read (SlowReader); null: it never is.
  StreamReactor(WorkQueue& queue, Source source,
                std::shared_ptr<const void> keep = nullptr,
                grpc::CallbackServerContext* call = nullptr)
      : queue_(queue),
        source_(std::move(source)),
        keep_(std::move(keep)),
        slow_reader_(queue, call) {
    queue_.Run([this] { Step(); });
  }

  // A stream that ends at once with an error; nothing is queued for it, so that
  // calls which are refused take no room.
  StreamReactor(WorkQueue& queue, const absl::Status& error)
      : queue_(queue), slow_reader_(queue, nullptr) {
    this->Finish(base::ToGrpcStatus(error));
  }

  void OnWriteDone(bool ok) override {
    slow_reader_.EndWrite();
    if (!ok) cancelled_ = true;
    queue_.Run([this] { Step(); });
  }
  void OnCancel() override { cancelled_ = true; }
  void OnDone() override { delete this; }

 private:
  // At any moment either one Step is queued or running, or one write is under
  // way, or Finish was called: that is why nothing else needs a lock, and why
  // no Step comes after OnDone.
  void Step() {
    if (cancelled_) {
      this->Finish(
          grpc::Status(grpc::StatusCode::CANCELLED, "the client is gone"));
      return;
    }
    if (queue_.streams_end()) {
      this->Finish(grpc::Status(grpc::StatusCode::UNAVAILABLE,
                                "the server is leaving; call again"));
      return;
    }
    response_.Clear();
    const absl::StatusOr<StreamStep> step = source_(&response_);
    if (!step.ok()) {
      this->Finish(base::ToGrpcStatus(step.status()));
    } else if (*step == StreamStep::kSend) {
      slow_reader_.BeginWrite();
      this->StartWrite(&response_);
    } else if (*step == StreamStep::kWait) {
      queue_.RunAfter(kPollPeriod, [this] { Step(); });
    } else {
      this->Finish(grpc::Status::OK);
    }
  }

  WorkQueue& queue_;
  const Source source_;
  const std::shared_ptr<const void> keep_;
  SlowReader slow_reader_;
  Response response_;
  std::atomic<bool> cancelled_{false};
};

}  // namespace ordo::services::files

#endif  // ORDO_SERVICES_FILES_STREAM_REACTOR_H_
