#include "base/rpc/health_service.h"

#include <utility>

#include "absl/strings/str_cat.h"
#include "base/rpc/address.h"
#include "base/rpc/grpc_status.h"

namespace ordo::base {
namespace {

using ::grpc::health::v1::HealthCheckRequest;
using ::grpc::health::v1::HealthCheckResponse;

// gRPC keeps a request for as long as its stream is open.
constexpr size_t kMaxRequestBytes = 1024;

absl::Status CheckRequest(const HealthCheckRequest& request) {
  if (request.ByteSizeLong() <= kMaxRequestBytes) return absl::OkStatus();
  return absl::InvalidArgumentError(
      absl::StrCat("a health request has at most ", kMaxRequestBytes,
                   " bytes; name a service, or none for the whole server"));
}

// Ends at once. Deletes itself.
class Refusal final : public grpc::ServerWriteReactor<HealthCheckResponse> {
 public:
  explicit Refusal(const absl::Status& why) { Finish(ToGrpcStatus(why)); }
  void OnDone() override { delete this; }
};

}  // namespace

// A stream of Watch. Deletes itself. All of it but OnDone happens under the
// lock of its service: at any moment one write is under way, or Finish was
// called, or it waits for its end.
class HealthService::Watcher final
    : public grpc::ServerWriteReactor<HealthCheckResponse> {
 public:
  // Tells the status. `service` outlives this.
  Watcher(HealthService& service, std::string address,
          HealthCheckResponse::ServingStatus status)
      : service_(service), address_(std::move(address)) {
    response_.set_status(status);
    StartWrite(&response_);
  }

  const std::string& address() const { return address_; }

  // The server drains; under the lock.
  void End() {
    ending_ = true;
    Step();
  }

  void OnWriteDone(bool ok) override {
    MutexLock lock(service_.mutex_);
    writing_ = false;
    if (!ok) gone_ = true;
    Step();
  }
  void OnCancel() override {
    MutexLock lock(service_.mutex_);
    gone_ = true;
    Step();
  }
  void OnDone() override {
    service_.Forget(this);
    delete this;
  }

 private:
  void Step() {
    if (writing_ || finished_) return;
    if (gone_) {
      finished_ = true;
      Finish(grpc::Status(grpc::StatusCode::CANCELLED, "the client is gone"));
    } else if (ending_) {
      finished_ = true;
      if (response_.status() == HealthCheckResponse::SERVING) {
        response_.set_status(HealthCheckResponse::NOT_SERVING);
      }
      StartWriteAndFinish(&response_, grpc::WriteOptions(),
                          grpc::Status(grpc::StatusCode::UNAVAILABLE,
                                       "the server is leaving; call again"));
    }
  }

  HealthService& service_;
  const std::string address_;
  HealthCheckResponse response_;
  bool writing_ = true;
  bool gone_ = false;
  bool ending_ = false;
  bool finished_ = false;
};

void HealthService::Serve(const std::vector<std::string>& services) {
  MutexLock lock(mutex_);
  services_.insert(services.begin(), services.end());
}

void HealthService::Drain() {
  MutexLock lock(mutex_);
  draining_ = true;
  for (Watcher* watcher : watchers_) watcher->End();
}

HealthCheckResponse::ServingStatus HealthService::StatusOf(
    const std::string& service) const {
  if (services_.count(service) == 0) {
    return HealthCheckResponse::SERVICE_UNKNOWN;
  }
  return draining_ ? HealthCheckResponse::NOT_SERVING
                   : HealthCheckResponse::SERVING;
}

absl::Status HealthService::MayWatch(const std::string& address) const {
  if (draining_) {
    return absl::UnavailableError("the server is leaving; call again");
  }
  const auto found = num_watches_.find(address);
  if (found != num_watches_.end() &&
      found->second >= max_watches_per_address_) {
    return absl::ResourceExhaustedError(absl::StrCat(
        address, " watches the health of this server ",
        max_watches_per_address_,
        " times, the most that one address may; end some of its streams, or "
        "call Health.Check"));
  }
  if (watchers_.size() >= max_watches_) {
    return absl::ResourceExhaustedError(
        absl::StrCat("the health of this server is watched ", max_watches_,
                     " times, the most that it can be; call Health.Check, or "
                     "try again later"));
  }
  return absl::OkStatus();
}

void HealthService::Forget(Watcher* watcher) {
  MutexLock lock(mutex_);
  watchers_.erase(watcher);
  const auto found = num_watches_.find(watcher->address());
  if (--found->second == 0) num_watches_.erase(found);
}

grpc::ServerUnaryReactor* HealthService::Check(
    grpc::CallbackServerContext* context, const HealthCheckRequest* request,
    HealthCheckResponse* response) {
  absl::Status status = CheckRequest(*request);
  if (status.ok()) {
    MutexLock lock(mutex_);
    response->set_status(StatusOf(request->service()));
    if (response->status() == HealthCheckResponse::SERVICE_UNKNOWN) {
      status = absl::NotFoundError(
          absl::StrCat("this server has no service ", request->service()));
    }
  }
  grpc::ServerUnaryReactor* const reactor = context->DefaultReactor();
  reactor->Finish(ToGrpcStatus(status));
  return reactor;
}

grpc::ServerWriteReactor<HealthCheckResponse>* HealthService::Watch(
    grpc::CallbackServerContext* context, const HealthCheckRequest* request) {
  if (const absl::Status status = CheckRequest(*request); !status.ok()) {
    return new Refusal(status);
  }
  const std::string address = AddressOf(context->peer());
  MutexLock lock(mutex_);
  if (const absl::Status status = MayWatch(address); !status.ok()) {
    return new Refusal(status);
  }
  auto* const watcher =
      new Watcher(*this, address, StatusOf(request->service()));
  watchers_.insert(watcher);
  ++num_watches_[address];
  return watcher;
}

}  // namespace ordo::base
