#include "scheduler/core/apply.h"

#include <algorithm>
#include <memory>
#include <utility>

#include "scheduler/core/admin.h"
#include "scheduler/core/attempts.h"
#include "scheduler/core/cancel.h"
#include "scheduler/core/desired.h"
#include "scheduler/core/early_stop.h"
#include "scheduler/core/life.h"
#include "scheduler/core/observe.h"
#include "scheduler/core/past.h"
#include "scheduler/core/placement.h"
#include "scheduler/core/quarantine.h"
#include "scheduler/core/queue_use.h"
#include "scheduler/core/registry.h"
#include "scheduler/core/requests.h"
#include "scheduler/core/submit.h"
#include "scheduler/core/turn.h"
#include "scheduler/core/waiting.h"

namespace ordo::scheduler::core {
namespace {

// Most events have no more.
constexpr size_t kUsualEffects = 12;

void Heartbeat(Turn& turn, const std::string& id) {
  Worker& worker = turn.state.workers.at(id);
  worker.heartbeat_at.reset();
  SetDeadline(turn.state,
              {Deadline::Kind::kHeartbeat, id, &worker.heartbeat_at},
              turn.now.monotonic + turn.state.options.heartbeat);
  turn.desired_changed.insert(id);
}

void Expire(Turn& turn, const Deadline& deadline) {
  switch (deadline.kind) {
    case Deadline::Kind::kLease:
      LoseWorker(turn, deadline.id);
      return;
    case Deadline::Kind::kHeartbeat:
      Heartbeat(turn, deadline.id);
      return;
    case Deadline::Kind::kForget:
      ForgetWorker(turn, deadline.id);
      return;
    case Deadline::Kind::kDrain:
      BeginDrain(turn, deadline.id);
      return;
    case Deadline::Kind::kBackoff:
      EndBackoff(turn, deadline.id);
      return;
    case Deadline::Kind::kQueueLimit:
      ExpireQueueTime(turn, deadline.id);
      return;
    case Deadline::Kind::kRunLimit:
      ExpireRunTime(turn, deadline.id);
      return;
    case Deadline::Kind::kPlace:
      // Every turn places.
      return;
  }
}

// A scheduler that was stopped or starved of time heard nobody meanwhile: what
// it missed counts against no worker's lease, and each may speak once more.
void ForgiveStall(Turn& turn) {
  State& state = turn.state;
  const absl::Duration now = turn.now.monotonic;
  const absl::Duration heartbeat = state.options.heartbeat;
  if (state.deadlines.empty()) return;
  const absl::Duration late = now - state.deadlines.begin()->at;
  if (late <= heartbeat) return;
  for (auto& [id, worker] : state.workers) {
    if (!worker.lease_at.has_value()) continue;
    SetDeadline(state, {Deadline::Kind::kLease, id, &worker.lease_at},
                std::max(*worker.lease_at + late, now + heartbeat));
  }
}

void ExpireDeadlines(Turn& turn) {
  std::set<Deadline>& deadlines = turn.state.deadlines;
  while (!deadlines.empty() && deadlines.begin()->at <= turn.now.monotonic) {
    const Deadline deadline = *deadlines.begin();
    deadlines.erase(deadlines.begin());
    Expire(turn, deadline);
  }
}

void Handle(Turn& turn, Event event) {
  if (auto* submit = std::get_if<Submit>(&event)) {
    HandleSubmit(turn, std::move(*submit));
  } else if (const auto* cancel = std::get_if<Cancel>(&event)) {
    HandleCancel(turn, *cancel);
  } else if (const auto* hold = std::get_if<Hold>(&event)) {
    HandleHold(turn, *hold);
  } else if (const auto* release = std::get_if<Release>(&event)) {
    HandleRelease(turn, *release);
  } else if (const auto* priority = std::get_if<SetPriority>(&event)) {
    HandleSetPriority(turn, *priority);
  } else if (const auto* queue = std::get_if<ChangeQueue>(&event)) {
    HandleChangeQueue(turn, *queue);
  } else if (const auto* worker = std::get_if<ChangeWorker>(&event)) {
    HandleChangeWorker(turn, *worker);
  } else if (const auto* alias = std::get_if<ChangeAlias>(&event)) {
    HandleChangeAlias(turn, *alias);
  } else if (const auto* checkpoint = std::get_if<ChangeCheckpoint>(&event)) {
    HandleChangeCheckpoint(turn, *checkpoint);
  } else if (const auto* announced = std::get_if<Announced>(&event)) {
    HandleAnnounced(turn, *announced);
  } else if (const auto* observed = std::get_if<Observed>(&event)) {
    HandleObserved(turn, *observed);
  } else if (auto* recall = std::get_if<Recall>(&event)) {
    HandleRecall(turn.state, std::move(*recall));
  } else if (const auto* forget = std::get_if<Forget>(&event)) {
    HandleForget(turn.state, *forget);
  }
}

void TellWorkers(Turn& turn) {
  for (const std::string& id : turn.desired_changed) {
    EmitDesired(turn, turn.state.workers.at(id));
  }
  for (const std::string& id : turn.workers_changed) {
    const Worker& worker = turn.state.workers.at(id);
    if (worker.liveness == Worker::Liveness::kUnknown) continue;
    turn.Emit(PublishWorker{id, std::make_shared<const workers::v1::Worker>(
                                    ToProto(turn.state, worker))});
  }
}

}  // namespace

Effects Apply(State& state, Event event, const Moment& now) {
  Turn turn{state, now};
  turn.effects.reserve(kUsualEffects);
  ForgiveStall(turn);
  FollowWallClock(turn);
  RecordClock(turn);
  // A worker that has spoken is not silent, however long its words waited.
  Handle(turn, std::move(event));
  ExpireDeadlines(turn);
  JudgeDevices(turn);
  JudgeParts(turn);
  SettleNeeds(turn);
  PlaceJobs(turn);
  RecordWaits(turn);
  RecordUse(turn);
  TellWorkers(turn);
  return std::move(turn.effects);
}

std::optional<absl::Duration> NextDeadline(const State& state) {
  if (state.deadlines.empty()) return std::nullopt;
  return state.deadlines.begin()->at;
}

}  // namespace ordo::scheduler::core
