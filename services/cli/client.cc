#include "services/cli/client.h"

#include <algorithm>
#include <chrono>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "base/backoff/backoff.h"
#include "base/rpc/client.h"
#include "base/rpc/grpc_status.h"
#include "base/rpc/tls_probe.h"
#include "base/status/status.h"
#include "grpcpp/create_channel.h"

namespace ordo::services::cli {
namespace {

// Tries that get no answer in time before a call gives up.
constexpr int kMaxTimeouts = 2;

// How soon an interrupt is noticed while a connection is awaited.
constexpr std::chrono::milliseconds kInterruptPoll(50);

bool CouldNotConnect(const grpc::Status& status) {
  return absl::StrContains(status.error_message(), "failed to connect");
}

// A call that failed so may have been served.
bool MaybeDone(const grpc::Status& status) {
  return status.error_code() == grpc::StatusCode::DEADLINE_EXCEEDED ||
         (IsAway(status) && !CouldNotConnect(status));
}

}  // namespace

bool IsAway(const grpc::Status& status) {
  return status.error_code() == grpc::StatusCode::UNAVAILABLE ||
         status.error_code() == grpc::StatusCode::CANCELLED;
}

bool IsRefusedForNow(const grpc::Status& status) {
  // What is larger than a message may be is refused at each try.
  return status.error_code() == grpc::StatusCode::RESOURCE_EXHAUSTED &&
         !absl::StrContains(status.error_message(), "larger than max");
}

std::shared_ptr<grpc::Channel> Client::channel() {
  if (channel_ != nullptr) return channel_;
  channel_ = options_.tls.ca.path.empty() ? base::Connect(options_.address)
                                          : ConnectWithTls();
  return channel_;
}

std::shared_ptr<grpc::Channel> Client::ConnectWithTls() {
  const auto tls = base::ClientTls::Load(options_.tls);
  if (tls.ok()) return base::Connect(options_.address, (*tls)->ForHost());
  tls_error_ = tls.status();
  return grpc::CreateChannel(options_.address, nullptr);
}

jobs::v1::JobsService::Stub& Client::jobs() {
  if (jobs_ == nullptr) jobs_ = jobs::v1::JobsService::NewStub(channel());
  return *jobs_;
}

checkpoints::v1::CheckpointsService::Stub& Client::checkpoints() {
  if (checkpoints_ == nullptr) {
    checkpoints_ = checkpoints::v1::CheckpointsService::NewStub(channel());
  }
  return *checkpoints_;
}

ordo::data::v1::DataService::Stub& Client::data() {
  if (data_ == nullptr) {
    data_ = ordo::data::v1::DataService::NewStub(channel());
  }
  return *data_;
}

ordo::access::v1::AccessService::Stub& Client::access() {
  if (access_ == nullptr) {
    access_ = ordo::access::v1::AccessService::NewStub(channel());
  }
  return *access_;
}

queues::v1::QueuesService::Stub& Client::queues() {
  if (queues_ == nullptr) {
    queues_ = queues::v1::QueuesService::NewStub(channel());
  }
  return *queues_;
}

usage::v1::UsageService::Stub& Client::usage() {
  if (usage_ == nullptr) usage_ = usage::v1::UsageService::NewStub(channel());
  return *usage_;
}

reports::v1::ReportsService::Stub& Client::reports() {
  if (reports_ == nullptr) {
    reports_ = reports::v1::ReportsService::NewStub(channel());
  }
  return *reports_;
}

workers::v1::WorkersService::Stub& Client::workers() {
  if (workers_ == nullptr) {
    workers_ = workers::v1::WorkersService::NewStub(channel());
  }
  return *workers_;
}

absl::Status Client::Unreachable(const std::string& detail) const {
  ORDO_RETURN_IF_ERROR(tls_error_);
  ORDO_RETURN_IF_ERROR(base::ProbeTls(options_.address, options_.tls));
  // It was there, or is: only its own words say what to do.
  if (!detail.empty()) {
    return absl::UnavailableError(
        absl::StrCat("the scheduler at ", options_.address,
                     " cannot serve this now (", detail, "); try again"));
  }
  return absl::UnavailableError(absl::StrCat(
      "cannot reach the scheduler at ", options_.address,
      "; start one with 'ordo up', or name another with --server HOST:PORT or "
      "ORDO_SERVER"));
}

absl::Status Client::Explain(const grpc::Status& status) const {
  ORDO_RETURN_IF_ERROR(tls_error_);
  switch (status.error_code()) {
    case grpc::StatusCode::UNAVAILABLE:
      // What gRPC says of a refused connection helps nobody.
      return Unreachable(CouldNotConnect(status) ? "" : status.error_message());
    case grpc::StatusCode::DEADLINE_EXCEEDED:
      return absl::UnavailableError(absl::StrCat(
          "the scheduler at ", options_.address, " gave no answer within ",
          absl::FormatDuration(options_.call_timeout),
          "; it may have much to do: try again"));
    case grpc::StatusCode::UNIMPLEMENTED:
      return absl::InvalidArgumentError(absl::StrCat(
          options_.address, " is not an Ordo scheduler of this version (",
          status.error_message(), "); check --server"));
    default:
      return base::FromGrpcStatus(status);
  }
}

std::unique_ptr<grpc::ClientContext> Client::StreamContext() const {
  auto context = std::make_unique<grpc::ClientContext>();
  base::CallOptions options;
  options.timeout = absl::InfiniteDuration();
  options.user = options_.user;
  options.bearer = options_.bearer;
  options.trace_parent = options_.trace_parent;
  base::PrepareCall(options, context.get());
  return context;
}

bool Client::WaitToRetry(absl::Duration delay) {
  if (channel()->GetState(false) == GRPC_CHANNEL_READY) {
    return !interrupt_.WaitFor(delay);
  }
  // Without a call or this wait nobody would drive the connection forward, and
  // a server that is back would not be noticed for seconds.
  const auto end =
      std::chrono::steady_clock::now() + absl::ToChronoNanoseconds(delay);
  while (!interrupt_.triggered() && std::chrono::steady_clock::now() < end) {
    if (channel()->WaitForConnected(std::chrono::system_clock::now() +
                                    kInterruptPoll)) {
      break;
    }
  }
  return !interrupt_.triggered();
}

absl::Status Client::Retry(
    const std::function<grpc::Status(grpc::ClientContext*)>& call,
    bool* maybe_done) {
  base::CallOptions call_options;
  call_options.timeout = options_.call_timeout;
  call_options.user = options_.user;
  call_options.bearer = options_.bearer;
  call_options.trace_parent = options_.trace_parent;
  base::BackoffOptions backoff;
  backoff.initial = absl::Milliseconds(50);
  backoff.max = absl::Seconds(1);

  const auto give_up = std::chrono::steady_clock::now() +
                       absl::ToChronoNanoseconds(options_.retry_for);
  int num_timeouts = 0;
  for (int failures = 1;; ++failures) {
    grpc::ClientContext context;
    base::PrepareCall(call_options, &context);
    const Interrupt::Scope cancel(interrupt_, [&] { context.TryCancel(); });
    const grpc::Status status = call(&context);
    if (status.ok()) return absl::OkStatus();
    if (maybe_done != nullptr && MaybeDone(status)) *maybe_done = true;
    // The interrupt has cancelled the call, or ends the tries.
    if (interrupt_.triggered()) return absl::CancelledError("interrupted");
    const bool again =
        status.error_code() == grpc::StatusCode::DEADLINE_EXCEEDED
            ? ++num_timeouts < kMaxTimeouts
            : status.error_code() == grpc::StatusCode::UNAVAILABLE &&
                  std::chrono::steady_clock::now() < give_up;
    if (!again) return Explain(status);
    if (!WaitToRetry(base::BackoffDelay(backoff, failures, options_.address))) {
      return absl::CancelledError("interrupted");
    }
  }
}

}  // namespace ordo::services::cli
