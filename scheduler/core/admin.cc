#include "scheduler/core/admin.h"

#include <memory>
#include <utility>

#include "absl/strings/str_cat.h"
#include "scheduler/core/attempts.h"
#include "scheduler/core/board.h"

namespace ordo::scheduler::core {
namespace {

RowPtr WorkerRow(const std::string& id, const WorkerAdminPtr& admin) {
  return std::make_shared<const Row>(
      Row{Row::Kind::kWorker, id, admin->SerializeAsString()});
}

// NOT_FOUND unless something is known of the worker.
absl::Status CheckKnown(const State& state, const std::string& worker) {
  if (state.workers.count(worker) > 0 || AdminOf(state, worker) != nullptr) {
    return absl::OkStatus();
  }
  return absl::NotFoundError(
      absl::StrCat("there is no worker ", worker, "; see: ordo list workers"));
}

WorkerAdminPtr NextAdmin(const Turn& turn, const ChangeWorker& change) {
  const WorkerAdminPtr admin = AdminOf(turn.state, change.worker);
  const WorkerChange by{change.worker, change.author, turn.now.wall};
  switch (change.verb) {
    case ChangeWorker::Verb::kCordon:
      return Cordoned(admin, by);
    case ChangeWorker::Verb::kDrain:
      return Drained(admin, change.drain_at, by);
    case ChangeWorker::Verb::kUncordon:
      break;
  }
  return Uncordoned(admin, by);
}

// As the API shows a worker that may not be there now.
std::shared_ptr<const workers::v1::Worker> Shown(const State& state,
                                                 const std::string& id) {
  const auto worker = state.workers.find(id);
  if (worker != state.workers.end()) {
    return std::make_shared<const workers::v1::Worker>(
        ToProto(state, worker->second));
  }
  auto shown = std::make_shared<workers::v1::Worker>(*AdminOf(state, id));
  shown->set_state(workers::v1::Worker::LOST);
  return shown;
}

// The worker's part of a decision about it.
void ApplyAdmin(Turn& turn, const std::string& id) {
  const auto found = turn.state.workers.find(id);
  if (found == turn.state.workers.end()) return;
  Worker& worker = found->second;
  const bool was_emptied = worker.emptied;
  TakeAdmin(turn.state, turn.now, worker);
  ShowWorker(turn.state, worker);
  turn.workers_changed.insert(id);
  if (worker.emptied != was_emptied) TellPeersOf(turn, worker);
}

}  // namespace

void HandleChangeWorker(Turn& turn, const ChangeWorker& change) {
  if (absl::Status status = CheckKnown(turn.state, change.worker);
      !status.ok()) {
    turn.Emit(AnswerWorker{change.call, status});
    return;
  }
  const WorkerAdminPtr next = NextAdmin(turn, change);
  if (AdminOf(turn.state, change.worker) != next) {
    turn.state.admin[change.worker] = next;
    turn.Emit(Record{WorkerRow(change.worker, next)});
    ApplyAdmin(turn, change.worker);
  }
  turn.Emit(AnswerWorker{change.call, Shown(turn.state, change.worker)});
}

void TakeAdmin(State& state, const Moment& now, Worker& worker) {
  const WorkerAdminPtr admin = AdminOf(state, worker.id);
  const std::optional<absl::Time> drain = DrainTime(admin);
  worker.closed = IsCordoned(admin);
  worker.emptied = drain.has_value() && *drain <= now.wall;
  // The wall clock may have jumped when this comes: then there is another.
  std::optional<absl::Duration> at;
  if (drain.has_value() && !worker.emptied) {
    at = now.monotonic + (*drain - now.wall);
  }
  SetDeadline(state, {Deadline::Kind::kDrain, worker.id, &worker.drain_at}, at);
}

void BeginDrain(Turn& turn, const std::string& worker) {
  turn.state.workers.at(worker).drain_at.reset();
  ApplyAdmin(turn, worker);
}

std::vector<RowPtr> AdminRows(const State& state) {
  std::vector<RowPtr> rows;
  for (const auto& [id, admin] : state.admin) {
    rows.push_back(WorkerRow(id, admin));
  }
  return rows;
}

absl::Status TakeAdminRow(const Row& row, State* state) {
  if (row.kind != Row::Kind::kWorker) return absl::OkStatus();
  auto admin = std::make_shared<workers::v1::Worker>();
  if (!row.bytes.has_value() || !admin->ParseFromString(*row.bytes)) {
    return absl::DataLossError(absl::StrCat("what the store has of worker ",
                                            row.key, " cannot be read"));
  }
  state->admin[row.key] = std::move(admin);
  return absl::OkStatus();
}

}  // namespace ordo::scheduler::core
