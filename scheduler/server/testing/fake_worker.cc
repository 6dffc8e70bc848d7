#include "scheduler/server/testing/fake_worker.h"

#include <chrono>

#include "absl/time/time.h"
#include "base/clock/clock.h"
#include "gtest/gtest.h"

namespace ordo::scheduler::server::testing {
namespace {

constexpr absl::Duration kPatience = absl::Seconds(20);

const agent::v1::DesiredAttempt* Find(
    const agent::v1::SetDesiredRequest& request, const std::string& job,
    int attempt) {
  for (const auto& desired : request.attempts()) {
    if (desired.job() == job && desired.attempt() == attempt) return &desired;
  }
  return nullptr;
}

}  // namespace

class FakeWorker::Service
    : public agent::v1::WorkerAgentService::CallbackService {
 public:
  explicit Service(FakeWorker& worker) : worker_(worker) {}

  grpc::ServerUnaryReactor* SetDesired(
      grpc::CallbackServerContext* context,
      const agent::v1::SetDesiredRequest* request,
      agent::v1::SetDesiredResponse* response) override {
    return base::Finish(context, worker_.Take(*request, response));
  }

 private:
  FakeWorker& worker_;
};

FakeWorker::FakeWorker(const std::string& id, int32_t protocol,
                       const std::shared_ptr<grpc::ServerCredentials>& tls)
    : id_(id), protocol_(protocol), service_(std::make_unique<Service>(*this)) {
  base::RpcServerOptions options;
  options.tls = tls;
  auto server = base::RpcServer::Start(options, {service_.get()});
  EXPECT_TRUE(server.ok()) << server.status();
  if (server.ok()) server_ = *std::move(server);
}

FakeWorker::~FakeWorker() { server_.reset(); }

absl::Status FakeWorker::Take(const agent::v1::SetDesiredRequest& request,
                              agent::v1::SetDesiredResponse* response) {
  base::MutexLock lock(mutex_);
  if (!refusal_.ok()) return refusal_;
  if (request.incarnation() != id_ + "-first") {
    return absl::FailedPreconditionError("another incarnation");
  }
  if (std::make_pair(request.epoch(), request.sequence()) <
      std::make_pair(newest_.epoch(), newest_.sequence())) {
    return absl::AbortedError("older than a set already taken");
  }
  newest_ = request;
  ++num_sets_;
  // What is over and desired no more is forgotten.
  for (auto it = observed_.begin(); it != observed_.end();) {
    const bool over =
        it->second.phase() == agent::v1::ObservedAttempt::EXITED &&
        Find(request, it->first.first, it->first.second) == nullptr;
    if (over) ++sequence_;
    it = over ? observed_.erase(it) : std::next(it);
  }
  *response->mutable_observed() = Observed();
  changed_.NotifyAll();
  return absl::OkStatus();
}

agent::v1::ObservedSet FakeWorker::Observed() const {
  agent::v1::ObservedSet set;
  set.set_sequence(sequence_);
  for (const auto& [key, attempt] : observed_) *set.add_attempts() = attempt;
  return set;
}

void FakeWorker::Set(const agent::v1::ObservedAttempt& attempt) {
  base::MutexLock lock(mutex_);
  observed_[{attempt.job(), attempt.attempt()}] = attempt;
  ++sequence_;
}

void FakeWorker::AnnounceTo(Scheduler& scheduler) {
  agent::v1::AnnounceRequest request;
  {
    base::MutexLock lock(mutex_);
    request.set_worker(id_);
    request.set_incarnation(id_ + "-first");
    request.set_address(address());
    request.set_protocol(protocol_);
    workers::v1::Device& device = *request.add_devices();
    device.set_name("cpu:0");
    device.set_kind("cpu");
    *request.mutable_observed() = Observed();
  }
  const auto response = scheduler.Announce(request);
  EXPECT_TRUE(response.ok()) << response.status();
  bool answers = response.ok();
  while (answers) {
    const int num_sets = [this] {
      base::MutexLock lock(mutex_);
      return num_sets_;
    }();
    const auto shown = scheduler.GetWorker(id_);
    // One that was decided about is shown, as lost, before it is back.
    if (shown.ok() && shown->state() == workers::v1::Worker::ONLINE &&
        shown->devices(0).withheld().empty()) {
      return;
    }
    answers = WaitForSets(num_sets + 1);
    EXPECT_TRUE(answers) << id_ << " is not asked any more";
  }
}

void FakeWorker::Refuse(const absl::Status& status) {
  base::MutexLock lock(mutex_);
  refusal_ = status;
}

agent::v1::SetDesiredRequest FakeWorker::newest() const {
  base::MutexLock lock(mutex_);
  return newest_;
}

template <typename Condition>
bool FakeWorker::WaitUntil(Condition holds) {
  // The monotonic clock is the steady one.
  const std::chrono::steady_clock::time_point deadline(
      absl::ToChronoNanoseconds(base::RealClock().Monotonic() + kPatience));
  base::MutexLock lock(mutex_);
  while (!holds()) {
    if (!changed_.WaitUntil(mutex_, deadline)) return holds();
  }
  return true;
}

bool FakeWorker::WaitForDesired(const std::string& job, int attempt) {
  return WaitUntil([&] { return Find(newest_, job, attempt) != nullptr; });
}

bool FakeWorker::WaitForForgotten(const std::string& job, int attempt) {
  return WaitUntil([&] { return observed_.count({job, attempt}) == 0; });
}

bool FakeWorker::WaitForAction(agent::v1::DesiredAttempt::Action action) {
  return WaitUntil([&] {
    for (const auto& desired : newest_.attempts()) {
      if (desired.action() == action) return true;
    }
    return false;
  });
}

bool FakeWorker::WaitForSets(int count) {
  return WaitUntil([&] { return num_sets_ >= count; });
}

}  // namespace ordo::scheduler::server::testing
