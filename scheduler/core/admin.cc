#include "scheduler/core/admin.h"

#include <memory>
#include <optional>
#include <set>
#include <utility>

#include "absl/strings/str_cat.h"
#include "base/status/status.h"
#include "proto/ordo/usage/v1/usage.pb.h"
#include "scheduler/core/attempts.h"
#include "scheduler/core/board.h"
#include "scheduler/core/device_admin.h"
#include "scheduler/core/queue_use.h"
#include "scheduler/core/registry.h"
#include "scheduler/core/wall_history.h"

namespace ordo::scheduler::core {
namespace {

RowPtr QueueRow(const std::string& id, const QueuePtr& queue) {
  return std::make_shared<const Row>(
      Row{Row::Kind::kQueue, id, queue->SerializeAsString()});
}

RowPtr WorkerRow(const std::string& id, const WorkerAdminPtr& admin) {
  return std::make_shared<const Row>(
      Row{Row::Kind::kWorker, id, admin->SerializeAsString()});
}

int64_t NumJobs(const State& state, const std::string& queue) {
  const auto found = state.unfinished.find(queue);
  return found == state.unfinished.end() ? 0 : found->second;
}

absl::StatusOr<QueuePtr> NextQueue(const Turn& turn,
                                   const ChangeQueue& change) {
  const Queues& queues = turn.state.queues;
  const std::string id = IdOf(change.queue.name());
  switch (change.verb) {
    case ChangeQueue::Verb::kCreate:
      return CreatedQueue(queues, change.queue, change.author, turn.now.wall);
    case ChangeQueue::Verb::kUpdate:
      return UpdatedQueue(queues, change.queue, change.author, turn.now.wall);
    case ChangeQueue::Verb::kDelete:
      break;
  }
  return DeletedQueue(queues,
                      {id, change.queue.etag(), NumJobs(turn.state, id)},
                      change.author, turn.now.wall);
}

// So that deleted queues are not kept for ever.
void ForgetQueue(Turn& turn) {
  const std::string id = QueueToForget(turn.state.queues);
  if (id.empty()) return;
  turn.state.queues.erase(id);
  turn.Emit(Record{
      std::make_shared<const Row>(Row{Row::Kind::kQueue, id, std::nullopt})});
}

absl::Status Unreadable(const std::string& what) {
  return absl::DataLossError(
      absl::StrCat("what the store has of ", what, " cannot be read"));
}

absl::Status TakeQueueRow(const Row& row, State* state) {
  auto queue = std::make_shared<queues::v1::Queue>();
  if (!row.bytes.has_value() || !queue->ParseFromString(*row.bytes) ||
      !IsSound(row.key, *queue) ||
      !state->queues.emplace(row.key, queue).second) {
    return Unreadable(absl::StrCat("queue ", row.key));
  }
  if (!queue->has_delete_time()) ShowQueue(*state, *queue);
  return absl::OkStatus();
}

// It is the shell's: nothing is decided by it.
absl::Status CheckUsageRow(const Row& row) {
  usage::v1::ArchivedUsage usage;
  if (row.bytes.has_value() && usage.ParseFromString(*row.bytes)) {
    return absl::OkStatus();
  }
  return Unreadable(absl::StrCat("what archived jobs used, ", row.key));
}

absl::Status TakeClockRow(const RowPtr& row, State* state) {
  state->clock_row = row;
  return state->clock.Take(*row, state->options.boot_id);
}

absl::Status TakeWorkerRow(const Row& row, State* state) {
  auto admin = std::make_shared<workers::v1::Worker>();
  if (!row.bytes.has_value() || !admin->ParseFromString(*row.bytes)) {
    return Unreadable(absl::StrCat("worker ", row.key));
  }
  state->admin[row.key] = std::move(admin);
  return absl::OkStatus();
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
      return Uncordoned(admin, by);
    case ChangeWorker::Verb::kRelease:
      break;
  }
  return Released(admin, change.device, by);
}

std::shared_ptr<const workers::v1::Worker> ShownAbsent(
    const workers::v1::Worker& admin) {
  auto shown = std::make_shared<workers::v1::Worker>(admin);
  shown->set_state(workers::v1::Worker::LOST);
  return shown;
}

// As the API shows a worker that may not be there now.
std::shared_ptr<const workers::v1::Worker> Shown(const State& state,
                                                 const std::string& id) {
  const auto worker = state.workers.find(id);
  if (worker != state.workers.end()) {
    return std::make_shared<const workers::v1::Worker>(
        ToProto(state, worker->second));
  }
  return ShownAbsent(*AdminOf(state, id));
}

// The worker's part of a decision about it.
void ApplyAdmin(Turn& turn, const std::string& id) {
  const auto found = turn.state.workers.find(id);
  if (found == turn.state.workers.end()) {
    turn.Emit(PublishAbsent(turn.state, id));
    return;
  }
  Worker& worker = found->second;
  const bool was_emptied = worker.emptied;
  const std::set<std::string> were_quarantined = worker.quarantined;
  TakeAdmin(turn.state, turn.now, worker);
  ShowWorker(turn.state, worker);
  turn.workers_changed.insert(id);
  if (worker.emptied != was_emptied || worker.quarantined != were_quarantined) {
    TellPeersOf(turn, worker);
  }
}

// NOT_FOUND unless the worker, and the device that is to be released, are
// known.
absl::Status CheckChange(const State& state, const ChangeWorker& change) {
  ORDO_RETURN_IF_ERROR(CheckKnown(state, change.worker));
  if (change.verb != ChangeWorker::Verb::kRelease ||
      QuarantinedIn(AdminOf(state, change.worker)).count(change.device) > 0) {
    return absl::OkStatus();
  }
  return CheckHasDevice(*Shown(state, change.worker), change.device);
}

}  // namespace

void HandleChangeQueue(Turn& turn, const ChangeQueue& change) {
  const absl::StatusOr<QueuePtr> next = NextQueue(turn, change);
  if (next.ok()) {
    const std::string id = IdOf((*next)->name());
    if (FindQueue(turn.state.queues, id) != *next) {
      turn.state.queues[id] = *next;
      turn.Emit(Record{QueueRow(id, *next)});
      turn.Emit(NoteChange{(*next)->name(), *(*next)->changes().rbegin()});
      ShowQueue(turn.state, **next);
      if ((*next)->has_delete_time()) ForgetUse(turn, id);
      ForgetQueue(turn);
    }
  }
  turn.Emit(AnswerQueue{change.call, next});
}

void HandleChangeWorker(Turn& turn, const ChangeWorker& change) {
  if (absl::Status status = CheckChange(turn.state, change); !status.ok()) {
    turn.Emit(AnswerWorker{change.call, status});
    return;
  }
  const WorkerAdminPtr before = AdminOf(turn.state, change.worker);
  const WorkerAdminPtr next = NextAdmin(turn, change);
  SetAdmin(turn, change.worker, next);
  if (next != before) {
    turn.Emit(NoteChange{absl::StrCat("workers/", change.worker),
                         *next->changes().rbegin()});
  }
  turn.Emit(AnswerWorker{change.call, Shown(turn.state, change.worker)});
}

PublishWorker PublishAbsent(const State& state, const std::string& worker) {
  const WorkerAdminPtr admin = AdminOf(state, worker);
  return {worker, IsDecided(admin) ? ShownAbsent(*admin) : nullptr};
}

void TakeAdmin(State& state, const Moment& now, Worker& worker) {
  const WorkerAdminPtr admin = AdminOf(state, worker.id);
  const std::optional<absl::Time> drain = DrainTime(admin);
  worker.closed = IsCordoned(admin);
  worker.quarantined = QuarantinedIn(admin);
  worker.emptied = drain.has_value() && *drain <= now.wall;
  // The wall clock may have been set a little when this comes: then there is
  // another.
  std::optional<absl::Duration> at;
  if (drain.has_value() && !worker.emptied) {
    at = now.monotonic + (*drain - now.wall);
  }
  SetDeadline(state, {Deadline::Kind::kDrain, worker.id, &worker.drain_at}, at);
}

void SetAdmin(Turn& turn, const std::string& worker,
              const WorkerAdminPtr& admin) {
  if (AdminOf(turn.state, worker) == admin) return;
  turn.state.admin[worker] = admin;
  turn.Emit(Record{WorkerRow(worker, admin)});
  ApplyAdmin(turn, worker);
}

void FollowWallClock(Turn& turn) {
  State& state = turn.state;
  const absl::Time origin = turn.now.wall - turn.now.monotonic;
  if (absl::AbsDuration(origin - state.wall_origin) <= kClockTolerance) return;
  state.wall_origin = origin;
  for (const auto& [worker, admin] : state.admin) {
    if (DrainTime(admin).has_value()) ApplyAdmin(turn, worker);
  }
}

void RecordClock(Turn& turn) {
  State& state = turn.state;
  if (state.options.boot_id.empty()) return;
  state.clock_changed |= state.clock.Note(turn.now);
  if (!state.clock_changed) return;
  state.clock_changed = false;
  state.clock_row = state.clock.ToRow(state.options.boot_id);
  turn.Emit(Record{state.clock_row});
}

void BeginDrain(Turn& turn, const std::string& worker) {
  turn.state.workers.at(worker).drain_at.reset();
  ApplyAdmin(turn, worker);
}

absl::Status CheckQueues(const State& state,
                         const std::map<std::string, int64_t>& num_jobs) {
  for (const auto& [id, num] : num_jobs) {
    ORDO_RETURN_IF_ERROR(CheckRoom(state.queues, id, NumJobs(state, id), num));
  }
  return absl::OkStatus();
}

std::vector<RowPtr> AdminRows(const State& state) {
  std::vector<RowPtr> rows;
  for (const auto& [id, queue] : state.queues) {
    rows.push_back(QueueRow(id, queue));
  }
  for (const auto& [id, admin] : state.admin) {
    rows.push_back(WorkerRow(id, admin));
  }
  return rows;
}

absl::Status TakeAdminRow(const Row& row, State* state) {
  switch (row.kind) {
    case Row::Kind::kQueue:
      return TakeQueueRow(row, state);
    case Row::Kind::kWorker:
      return TakeWorkerRow(row, state);
    case Row::Kind::kUsage:
      return CheckUsageRow(row);
    case Row::Kind::kQueueUse:
      return TakeUseRow(row, state);
    case Row::Kind::kClock:
      return TakeClockRow(std::make_shared<const Row>(row), state);
    case Row::Kind::kAlias:
      return TakeAliasRow(row, state);
    case Row::Kind::kPin:
      return TakePinRow(row, state);
    default:
      return absl::OkStatus();
  }
}

}  // namespace ordo::scheduler::core
