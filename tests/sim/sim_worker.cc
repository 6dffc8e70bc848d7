#include "tests/sim/sim_worker.h"

#include <algorithm>

#include "absl/strings/str_cat.h"
#include "base/units/proto_time.h"
#include "base/version/worker_protocol.h"

namespace ordo::tests::sim {
namespace {

using agent::v1::AnnounceRequest;
using agent::v1::AnnounceResponse;
using agent::v1::ObservedAttempt;
using agent::v1::SetDesiredRequest;
using agent::v1::SetDesiredResponse;
using worker::agent::Action;
using worker::agent::Actions;
using worker::agent::News;

// As in worker/agent/reporter.cc.
constexpr absl::Duration kAnnounceTimeout = absl::Seconds(2);
// From a wake-up to the turn that it causes.
constexpr absl::Duration kWakeTime = absl::Microseconds(200);
constexpr absl::Duration kLeftoversTime = absl::Milliseconds(20);
constexpr absl::Duration kStopGrace = absl::Seconds(30);

}  // namespace

SimWorker::SimWorker(World& world, Network& network, Machine& machine,
                     SimWorkerOptions options)
    : world_(world),
      network_(network),
      machine_(machine),
      options_(std::move(options)),
      dice_(world.MakeDice(options_.id + "/worker")) {
  machine_.set_changed([this](const AttemptKey&) { Wake(); });
}

void SimWorker::Start() {
  incarnation_ = absl::StrCat(id(), "-", ++num_starts_);
  life_.Begin();
  core_.emplace(id(), incarnation_, "ordo-trainer");
  schedule_.emplace(id());
  entries_.clear();
  actions_.clear();
  reported_sequence_ = 0;
  drain_announced_ = turn_planned_ = false;
  newest_set_ = {};
  lacks_kernel_ = dice_.Chance(options_.lacking_kernel);
  machine_.ListenToDriver();
  stalled_until_ = absl::ZeroDuration();
  for (const auto& [key, task] : machine_.tasks()) {
    core_->Adopt(task->desired);
    entries_[key];
  }
  world_.Note("start " + incarnation_);
  Wake();
}

void SimWorker::Kill() {
  world_.Note("end " + incarnation_);
  life_.End();
  core_.reset();
}

void SimWorker::Drain() {
  if (!runs() || core_->draining()) return;
  world_.Note("drain " + incarnation_);
  Add(core_->Drain(kStopGrace));
  Wake();
}

void SimWorker::Stall(absl::Duration duration) {
  stalled_until_ = world_.now() + duration;
}

void SimWorker::Enter(std::function<void()> then) {
  const absl::Duration left = stalled_until_ - world_.now();
  if (left <= absl::ZeroDuration()) return then();
  world_.After(left, "", life_, [this, then] { Enter(then); });
}

void SimWorker::Wake() {
  if (!runs() || turn_planned_) return;
  turn_planned_ = true;
  world_.After(kWakeTime, "", life_, [this] {
    Enter([this] {
      turn_planned_ = false;
      Turn();
    });
  });
}

void SimWorker::SetDesired(const SetDesiredRequest& request,
                           const Reply<SetDesiredResponse>& reply) {
  if (!runs()) return reply(absl::UnavailableError("no such process"));
  Enter([this, request, reply] {
    const auto actions = core_->SetDesired(request);
    if (!actions.ok()) return reply(actions.status());
    const std::pair<int64_t, int64_t> set(request.epoch(), request.sequence());
    if (set < newest_set_) {
      world_.Fail(absl::StrCat(incarnation_, " takes set ", set.second,
                               " after set ", newest_set_.second));
    }
    newest_set_ = set;
    Add(*actions);
    SetDesiredResponse response;
    *response.mutable_observed() = core_->Observed();
    reported_sequence_ = std::max(reported_sequence_, core_->sequence());
    Wake();
    reply(std::move(response));
  });
}

void SimWorker::Add(const Actions& actions) {
  actions_.insert(actions_.end(), actions.begin(), actions.end());
}

void SimWorker::Turn() {
  RunActions();
  for (auto& [key, entry] : entries_) {
    if (!entry.over) Update(key, entry);
    if (!entry.over) CheckSupervisor(key, entry);
  }
  RunActions();
  Report();
  if (core_->draining() && core_->IsEmpty() && drain_announced_) {
    Kill();
    world_.After(dice_.Between(absl::Seconds(1), absl::Seconds(20)), "",
                 [this] {
                   if (!runs()) Start();
                 });
    return;
  }
  PlanNextTurn();
}

void SimWorker::RunActions() {
  while (true) {
    Add(core_->ForgetUnlisted());
    if (actions_.empty()) return;
    for (const Action& action : std::exchange(actions_, {})) RunAction(action);
  }
}

void SimWorker::RunAction(const Action& action) {
  switch (action.kind) {
    case Action::Kind::kStart:
      StartTask(action);
      return;
    case Action::Kind::kStop:
    case Action::Kind::kKill:
      machine_.Signal(action.key, action.kind == Action::Kind::kStop,
                      action.grace);
      return;
    case Action::Kind::kForget:
      machine_.Remove(action.key);
      entries_.erase(action.key);
      return;
  }
}

void SimWorker::StartTask(const Action& action) {
  Entry& entry = entries_[action.key];
  ObservedAttempt::Cause cause = ObservedAttempt::HOST_FAILED;
  const absl::Status status = machine_.Start(action.task, &cause);
  if (status.ok()) return;
  entry.over = true;
  Add(core_->OnStartFailed(action.key, cause, std::string(status.message())));
}

void SimWorker::Update(const AttemptKey& key, Entry& entry) {
  const Task* task = machine_.Find(key);
  if (task == nullptr) return;
  for (; entry.num_read < task->records.size(); ++entry.num_read) {
    core_->OnProgress(key, task->records[entry.num_read]);
  }
  if (entry.lost) return;
  Add(core_->OnFacts(key, task->facts));
  if (task->facts.group_empty) entry.over = true;
}

void SimWorker::CheckSupervisor(const AttemptKey& key, Entry& entry) {
  const Task* task = machine_.Find(key);
  if (task == nullptr || task->supervisor.runs()) return;
  entry.lost = true;
  if (task->trainer.runs()) {
    world_.After(kLeftoversTime, "", life_,
                 [this, key] { machine_.EndLeftovers(key); });
    return;
  }
  Update(key, entry);
  entry.over = true;
  Add(core_->OnSupervisorLost(key, task->facts));
}

absl::Duration SimWorker::TimeLeft() const {
  News news = core_->NewsSince(reported_sequence_);
  if (core_->draining() && !drain_announced_) news = News::kUrgent;
  return schedule_->TimeLeft(machine_.clock().Now().monotonic, news);
}

void SimWorker::Report() {
  if (TimeLeft() <= absl::ZeroDuration()) SendAnnouncement();
}

void SimWorker::SendAnnouncement() {
  AnnounceRequest request;
  request.set_worker(id());
  request.set_incarnation(incarnation_);
  request.set_address(id() + ":1");
  request.set_protocol(base::kWorkerProtocol);
  request.set_cpus(options_.offer.cpus);
  request.set_memory_bytes(options_.offer.memory_bytes);
  request.mutable_labels()->insert(options_.offer.labels.begin(),
                                   options_.offer.labels.end());
  for (int i = 0; i < options_.offer.devices; ++i) {
    workers::v1::Device& device = *request.add_devices();
    device.set_name(absl::StrCat("cpu:", i));
    const auto faults = machine_.driver_faults().find(device.name());
    if (faults == machine_.driver_faults().end()) continue;
    *device.mutable_faults() = {faults->second.begin(), faults->second.end()};
  }
  // Its probe is repeated some time.
  if (lacks_kernel_ && world_.troubled()) {
    request.mutable_devices(0)->mutable_probe()->add_failed()->set_kernel(
        absl::StrCat("attention/", kKernel));
  }
  request.set_draining(core_->draining());
  *request.mutable_observed() = core_->Observed();
  schedule_->Sent(machine_.clock().Now().monotonic);
  const int64_t sequence = request.observed().sequence();
  const bool draining = request.draining();
  const auto take = [this, sequence,
                     draining](absl::StatusOr<AnnounceResponse> answer) {
    if (!answer.ok()) {
      schedule_->Failed(machine_.clock().Now().monotonic);
    } else {
      schedule_->Answered(base::ToDuration(answer->period()));
      drain_announced_ = drain_announced_ || draining;
      reported_sequence_ = std::max(reported_sequence_, sequence);
    }
    Wake();
  };
  network_.Call<AnnounceResponse>(
      {id(), "scheduler", absl::StrCat("announce ", incarnation_),
       kAnnounceTimeout},
      [this, request](Reply<AnnounceResponse> reply) {
        announce_(request, std::move(reply));
      },
      life_.Guard(Reply<AnnounceResponse>(
          [this, take](absl::StatusOr<AnnounceResponse> answer) {
            Enter([take, answer] { take(answer); });
          })));
}

void SimWorker::PlanNextTurn() {
  const absl::Duration left = TimeLeft();
  if (left == absl::InfiniteDuration()) return;
  const int64_t turn = ++num_turns_;
  world_.After(std::max(left, absl::Microseconds(100)), "", life_,
               [this, turn] {
                 if (turn == num_turns_) Wake();
               });
}

bool SimWorker::IsClean() const {
  return runs() && core_->IsEmpty() && machine_.tasks().empty();
}

}  // namespace ordo::tests::sim
