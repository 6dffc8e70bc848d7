#include "scheduler/core/observe.h"

#include <algorithm>
#include <set>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/time/time.h"
#include "base/status/details.h"
#include "google/protobuf/util/time_util.h"
#include "scheduler/core/admin.h"
#include "scheduler/core/attempts.h"
#include "scheduler/core/board.h"
#include "scheduler/core/moment.h"
#include "scheduler/core/observe_attempt.h"
#include "scheduler/core/quarantine.h"

namespace ordo::scheduler::core {
namespace {

using agent::v1::ObservedAttempt;
using google::protobuf::util::TimeUtil;

constexpr int kMaxDevices = 1024;
constexpr int kMaxNanos = 999'999'999;

// "cpu" of "cpu:0"; empty when it is no device name.
std::string KindOf(const std::string& device) {
  const size_t colon = device.find(':');
  if (colon == 0 || colon == std::string::npos || colon + 1 == device.size()) {
    return "";
  }
  return device.substr(0, colon);
}

absl::Status CheckAnnouncement(const agent::v1::AnnounceRequest& request) {
  std::vector<base::FieldViolation> violations;
  const std::string& id = request.worker();
  const bool is_id =
      !id.empty() && id.size() <= kMaxIdLength &&
      id.find_first_not_of("abcdefghijklmnopqrstuvwxyz0123456789-") ==
          std::string::npos;
  if (!is_id) {
    violations.push_back({"worker",
                          "must be lower-case letters, digits and '-', at most "
                          "63 characters"});
  }
  if (request.incarnation().empty()) {
    violations.push_back({"incarnation", "must be set, new for each start"});
  }
  if (request.address().find(':') == std::string::npos) {
    violations.push_back({"address", "must be HOST:PORT"});
  }
  if (request.devices().empty() || request.devices_size() > kMaxDevices) {
    violations.push_back(
        {"devices", absl::StrCat("must be 1 to ", kMaxDevices)});
  }
  std::set<std::string> names;
  for (int i = 0; i < request.devices_size(); ++i) {
    const std::string& name = request.devices(i).name();
    const std::string field = absl::StrCat("devices[", i, "]");
    if (KindOf(name).empty() || (!request.devices(i).kind().empty() &&
                                 request.devices(i).kind() != KindOf(name))) {
      violations.push_back({field, "must be <kind>:<index>, such as cpu:0"});
    }
    if (!names.insert(name).second) {
      violations.push_back({field, absl::StrCat(name, " is listed twice")});
    }
  }
  if (const auto& leave = request.leave_time();
      leave.seconds() < TimeUtil::kTimestampMinSeconds ||
      leave.seconds() > TimeUtil::kTimestampMaxSeconds || leave.nanos() < 0 ||
      leave.nanos() > kMaxNanos) {
    violations.push_back({"leave_time", "must be a time"});
  }
  return base::InvalidFields(violations);
}

void Touch(Turn& turn, Worker& worker) {
  const absl::Duration now = turn.now.monotonic;
  worker.last_seen = turn.now.wall;
  SetDeadline(turn.state, {Deadline::Kind::kLease, worker.id, &worker.lease_at},
              now + turn.state.options.lease);
  SetDeadline(turn.state,
              {Deadline::Kind::kForget, worker.id, &worker.forget_at},
              std::nullopt);
  if (!worker.heartbeat_at.has_value()) {
    SetDeadline(turn.state,
                {Deadline::Kind::kHeartbeat, worker.id, &worker.heartbeat_at},
                now + turn.state.options.heartbeat);
  }
  turn.workers_changed.insert(worker.id);
}

bool Lists(const agent::v1::ObservedSet& set, const RankId& id,
           int32_t attempt) {
  return std::any_of(set.attempts().begin(), set.attempts().end(),
                     [&](const ObservedAttempt& observed) {
                       return observed.job() == id.first &&
                              observed.attempt() == attempt &&
                              observed.rank() == id.second;
                     });
}

// A new start of a worker: what it adopted stays, the rest is lost.
void ChangeIncarnation(Turn& turn, Worker& worker,
                       const agent::v1::AnnounceRequest& request) {
  if (!worker.incarnation.empty()) {
    worker.superseded.push_back(worker.incarnation);
    if (worker.superseded.size() > kMaxSuperseded) {
      worker.superseded.erase(worker.superseded.begin());
    }
  }
  worker.incarnation = request.incarnation();
  worker.answered = false;
  worker.observed_sequence = 0;
  const std::set<RankId> live = worker.live;
  for (const RankId& id : live) {
    JobEntry& entry = turn.state.jobs.at(id.first);
    if (IncarnationOf(*entry.job, id.second) == request.incarnation()) continue;
    JobEdit edit(turn, entry);
    if (Lists(request.observed(), id, entry.job->attempt_number())) {
      edit.SetIncarnation(id.second, request.incarnation());
    } else {
      EndRank(edit, id.second,
              WorkerLost(worker.id, "was restarted without it"));
    }
    edit.Commit();
  }
}

// The devices of an attempt that is not live; all when that is not known.
void AddDevicesOf(const State& state, const Worker& worker,
                  const ObservedAttempt& observed,
                  std::set<std::string>* devices) {
  if (!observed.devices().empty()) {
    devices->insert(observed.devices().begin(), observed.devices().end());
    return;
  }
  const auto it = state.jobs.find(observed.job());
  if (it != state.jobs.end()) {
    for (const AttemptPtr& attempt : it->second.job->attempts) {
      if (attempt->number() != observed.attempt()) continue;
      const auto& held =
          observed.rank() >= 0 && observed.rank() < attempt->ranks_size()
              ? attempt->ranks(observed.rank()).devices()
              : attempt->devices();
      devices->insert(held.begin(), held.end());
      return;
    }
  }
  for (const auto& [name, device] : worker.announced) devices->insert(name);
}

void TakeObserved(Turn& turn, Worker& worker,
                  const agent::v1::ObservedSet& set) {
  if (set.sequence() < worker.observed_sequence) return;
  worker.observed_sequence = set.sequence();
  std::set<std::string> lingering;
  for (const ObservedAttempt& observed : set.attempts()) {
    const auto it = turn.state.jobs.find(observed.job());
    const bool is_live =
        worker.live.count({observed.job(), observed.rank()}) > 0 &&
        it->second.job->attempt_number() == observed.attempt();
    if (is_live) {
      // Its task is not sent again, which makes room for others.
      if (worker.left_out &&
          !LiveIn(it->second)->ranks[observed.rank()].observed) {
        turn.desired_changed.insert(worker.id);
      }
      ObserveAttempt(turn, it->second, observed);
    } else if (observed.phase() != ObservedAttempt::EXITED) {
      AddDevicesOf(turn.state, worker, observed, &lingering);
    }
  }
  if (lingering == worker.lingering) return;
  if (lingering.size() > worker.lingering.size()) {
    turn.Counted(Count::What::kStaleAttempt);
  }
  worker.lingering = std::move(lingering);
  turn.state.board_changed = true;
  ShowWorker(turn.state, worker);
}

// What an announcement says of the worker itself.
void TakeIdentity(const agent::v1::AnnounceRequest& request, Worker& worker) {
  worker.address = request.address();
  worker.build_digest = request.build_digest();
  worker.draining = request.draining();
  worker.cpus = request.cpus();
  worker.memory_bytes = request.memory_bytes();
  worker.protocol = std::max(1, request.protocol());
  worker.nccl = request.nccl();
  worker.data_roots.reset();
  if (request.has_data_roots()) worker.data_roots = request.data_roots();
  worker.leave_time.reset();
  if (request.has_leave_time()) {
    worker.leave_time = ToTime(request.leave_time());
  }
  worker.labels.clear();
  worker.labels.insert(request.labels().begin(), request.labels().end());
  worker.announced.clear();
  for (const workers::v1::Device& device : request.devices()) {
    workers::v1::Device& announced = worker.announced[device.name()];
    announced = device;
    announced.set_kind(KindOf(device.name()));
    announced.clear_job();
    announced.clear_attempt();
    announced.clear_quarantine();
    announced.clear_blames();
  }
}

}  // namespace

void HandleAnnounced(Turn& turn, const Announced& announced) {
  const agent::v1::AnnounceRequest& request = announced.request;
  if (absl::Status status = CheckAnnouncement(request); !status.ok()) {
    turn.Emit(AnswerAnnounce{status});
    return;
  }
  if (turn.state.workers.count(request.worker()) == 0 &&
      turn.state.workers.size() >= turn.state.options.max_workers) {
    turn.Emit(AnswerAnnounce{absl::ResourceExhaustedError(absl::StrCat(
        "there are ", turn.state.options.max_workers,
        " workers, and no more may come; lost ones are forgotten after ",
        absl::FormatDuration(turn.state.options.forget_worker)))});
    return;
  }
  Worker& worker = turn.state.workers[request.worker()];
  if (worker.id.empty()) {
    worker.id = request.worker();
    TakeAdmin(turn.state, turn.now, worker);
  }
  if (std::count(worker.superseded.begin(), worker.superseded.end(),
                 request.incarnation()) > 0) {
    turn.Emit(AnswerAnnounce{absl::AbortedError(
        absl::StrCat("worker ", worker.id, " has been started again at ",
                     worker.address, "; two workers must not share an id"))});
    return;
  }
  const bool is_new = worker.liveness != Worker::Liveness::kOnline ||
                      worker.incarnation != request.incarnation() ||
                      worker.draining != request.draining();
  // A drain stops the other ranks of what runs here too.
  if (worker.draining != request.draining()) TellPeersOf(turn, worker);
  TakeIdentity(request, worker);
  worker.liveness = Worker::Liveness::kOnline;
  if (worker.incarnation != request.incarnation()) {
    ChangeIncarnation(turn, worker, request);
  }
  Touch(turn, worker);
  FollowDevices(turn, worker);
  // While it is known what runs where.
  TakeFaults(turn, worker);
  TakeObserved(turn, worker, request.observed());
  ShowWorker(turn.state, worker);
  if (is_new) turn.desired_changed.insert(worker.id);
  turn.Emit(AnswerAnnounce{absl::OkStatus()});
}

void HandleObserved(Turn& turn, const Observed& observed) {
  const auto it = turn.state.workers.find(observed.worker);
  if (it == turn.state.workers.end() ||
      it->second.incarnation != observed.incarnation ||
      it->second.liveness != Worker::Liveness::kOnline) {
    return;
  }
  Worker& worker = it->second;
  Touch(turn, worker);
  // Also by an answer that an announcement has overtaken: that is newer still.
  const bool is_first = !std::exchange(worker.answered, true);
  TakeObserved(turn, worker, observed.observed);
  if (is_first) ShowWorker(turn.state, worker);
}

void LoseWorker(Turn& turn, const std::string& id) {
  Worker& worker = turn.state.workers.at(id);
  worker.lease_at.reset();
  SetDeadline(turn.state,
              {Deadline::Kind::kHeartbeat, id, &worker.heartbeat_at},
              std::nullopt);
  SetDeadline(turn.state, {Deadline::Kind::kForget, id, &worker.forget_at},
              turn.now.monotonic + turn.state.options.forget_worker);
  worker.liveness = Worker::Liveness::kLost;
  worker.answered = false;
  worker.lingering.clear();
  turn.workers_changed.insert(id);
  turn.Counted(Count::What::kWorkerLost);
  const std::set<RankId> live = worker.live;
  for (const auto& [job, rank] : live) {
    JobEdit edit(turn, turn.state.jobs.at(job));
    EndRank(edit, rank, WorkerLost(id, "was silent for longer than its lease"));
    edit.Commit();
  }
  ShowWorker(turn.state, worker);
}

void ForgetWorker(Turn& turn, const std::string& id) {
  Worker& worker = turn.state.workers.at(id);
  SetDeadline(turn.state, {Deadline::Kind::kDrain, id, &worker.drain_at},
              std::nullopt);
  ForgetOnBoard(turn.state, turn.state.workers.at(id));
  turn.state.workers.erase(id);
  turn.workers_changed.erase(id);
  turn.desired_changed.erase(id);
  turn.Emit(PublishAbsent(turn.state, id));
}

}  // namespace ordo::scheduler::core
