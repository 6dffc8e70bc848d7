#include "scheduler/server/dispatcher.h"

#include <utility>

#include "base/certificates/certificate.h"
#include "base/rpc/client.h"
#include "base/rpc/grpc_status.h"
#include "base/rpc/server.h"
#include "base/version/worker_protocol.h"

namespace ordo::scheduler::server {

static_assert(base::kMaxDesiredSetBytes <= size_t{base::kMaxMessageBytes});

struct Dispatcher::Call {
  grpc::ClientContext context;
  std::shared_ptr<agent::v1::WorkerAgentService::Stub> stub;
  std::shared_ptr<const agent::v1::SetDesiredRequest> request;
  agent::v1::SetDesiredResponse response;
};

Dispatcher::Dispatcher(DispatcherOptions options)
    : options_(std::move(options)) {}

Dispatcher::~Dispatcher() { Stop(); }

std::shared_ptr<grpc::ChannelCredentials> Dispatcher::TlsFor(
    const std::string& worker) const {
  if (options_.tls == nullptr) return nullptr;
  return options_.tls->ForName(base::kWorkerUriPrefix + worker);
}

std::shared_ptr<Dispatcher::Call> Dispatcher::NextCall(Peer& peer) {
  if (stopping_ || peer.call != nullptr || peer.pending == nullptr) {
    return nullptr;
  }
  peer.call = std::make_shared<Call>();
  peer.call->stub = peer.stub;
  peer.call->request = std::move(peer.pending);
  peer.pending = nullptr;
  ++num_calls_;
  return peer.call;
}

void Dispatcher::Send(const core::SetDesired& desired) {
  std::shared_ptr<Call> call;
  {
    base::MutexLock lock(mutex_);
    Peer& peer = peers_[desired.request->worker()];
    if (peer.address != desired.address) {
      peer.address = desired.address;
      peer.stub = agent::v1::WorkerAgentService::NewStub(
          base::Connect(peer.address, TlsFor(desired.request->worker())));
      // A call to the old address answers for nobody.
      if (peer.call != nullptr) peer.call->context.TryCancel();
    }
    peer.pending = desired.request;
    call = NextCall(peer);
  }
  if (call != nullptr) Start(call);
}

void Dispatcher::Start(const std::shared_ptr<Call>& call) {
  base::CallOptions options;
  options.timeout = options_.timeout;
  base::PrepareCall(options, &call->context);
  call->stub->async()->SetDesired(
      &call->context, call->request.get(), &call->response,
      [this, call](const grpc::Status& status) { Finish(call, status); });
}

void Dispatcher::Finish(const std::shared_ptr<Call>& call,
                        const grpc::Status& status) {
  std::shared_ptr<Call> next;
  bool tell = false;
  {
    base::MutexLock lock(mutex_);
    const auto peer = peers_.find(call->request->worker());
    if (peer != peers_.end() && peer->second.call == call) {
      peer->second.call = nullptr;
      next = NextCall(peer->second);
    }
    tell = !stopping_;
  }
  if (next != nullptr) Start(next);
  if (tell) {
    if (status.ok()) {
      options_.on_answer(*call->request,
                         std::move(*call->response.mutable_observed()));
    } else {
      options_.on_answer(*call->request, base::FromGrpcStatus(status));
    }
  }
  base::MutexLock lock(mutex_);
  --num_calls_;
  idle_.NotifyAll();
}

void Dispatcher::Forget(const std::string& worker) {
  base::MutexLock lock(mutex_);
  const auto peer = peers_.find(worker);
  if (peer == peers_.end()) return;
  if (peer->second.call != nullptr) peer->second.call->context.TryCancel();
  peers_.erase(peer);
}

void Dispatcher::Stop() {
  base::MutexLock lock(mutex_);
  stopping_ = true;
  for (auto& [worker, peer] : peers_) {
    if (peer.call != nullptr) peer.call->context.TryCancel();
  }
  while (num_calls_ > 0) idle_.Wait(mutex_);
}

}  // namespace ordo::scheduler::server
