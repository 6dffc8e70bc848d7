#include "scheduler/core/apply.h"

#include <memory>
#include <utility>

#include "scheduler/core/attempts.h"
#include "scheduler/core/desired.h"
#include "scheduler/core/observe.h"
#include "scheduler/core/submit.h"
#include "scheduler/core/turn.h"

namespace ordo::scheduler::core {
namespace {

void Heartbeat(Turn& turn, const std::string& id) {
  Worker& worker = turn.state.workers.at(id);
  worker.heartbeat_at.reset();
  SetDeadline(turn.state, Deadline::Kind::kHeartbeat, id, &worker.heartbeat_at,
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
    case Deadline::Kind::kBackoff:
      EndBackoff(turn, deadline.id);
      return;
    case Deadline::Kind::kPlace:
      // Every turn places.
      return;
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
  } else if (const auto* announced = std::get_if<Announced>(&event)) {
    HandleAnnounced(turn, *announced);
  } else if (const auto* observed = std::get_if<Observed>(&event)) {
    HandleObserved(turn, *observed);
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
  Turn turn{state, now, {}, {}, {}, {}};
  ExpireDeadlines(turn);
  Handle(turn, std::move(event));
  PlaceJobs(turn);
  RecordWaits(turn);
  TellWorkers(turn);
  return std::move(turn.effects);
}

std::optional<absl::Duration> NextDeadline(const State& state) {
  if (state.deadlines.empty()) return std::nullopt;
  return state.deadlines.begin()->at;
}

}  // namespace ordo::scheduler::core
