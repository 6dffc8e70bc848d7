#include "worker/agent/announcer.h"

#include <utility>

#include "base/rpc/client.h"
#include "base/rpc/grpc_status.h"

namespace ordo::worker::agent {

using ::ordo::agent::v1::AnnounceRequest;
using ::ordo::agent::v1::AnnounceResponse;
using ::ordo::agent::v1::SchedulerAgentService;

struct Announcer::Call {
  grpc::ClientContext context;
  AnnounceRequest request;
  AnnounceResponse response;
  grpc::Status status;
  bool done = false;
};

Announcer::Announcer(std::shared_ptr<grpc::Channel> channel,
                     std::function<void()> wake)
    : stub_(SchedulerAgentService::NewStub(channel)), wake_(std::move(wake)) {}

Announcer::~Announcer() {
  base::MutexLock lock(mutex_);
  if (call_ == nullptr) return;
  call_->context.TryCancel();
  while (!call_->done) ended_.Wait(mutex_);
}

bool Announcer::Send(const AnnounceRequest& request, absl::Duration timeout) {
  Call* call = nullptr;
  {
    base::MutexLock lock(mutex_);
    if (call_ != nullptr) return false;
    call_ = std::make_unique<Call>();
    call = call_.get();
  }
  call->request = request;
  base::CallOptions options;
  options.timeout = timeout;
  options.wait_for_ready = true;
  base::PrepareCall(options, &call->context);
  stub_->async()->Announce(&call->context, &call->request, &call->response,
                           [this, call](grpc::Status status) {
                             // All under the lock: the destructor, which may
                             // wait for this, ends what is used here.
                             base::MutexLock lock(mutex_);
                             call->status = std::move(status);
                             call->done = true;
                             ended_.NotifyAll();
                             wake_();
                           });
  return true;
}

std::optional<absl::StatusOr<AnnounceResponse>> Announcer::Take() {
  base::MutexLock lock(mutex_);
  if (call_ == nullptr || !call_->done) return std::nullopt;
  const std::unique_ptr<Call> call = std::move(call_);
  if (!call->status.ok()) return base::FromGrpcStatus(call->status);
  return std::move(call->response);
}

}  // namespace ordo::worker::agent
