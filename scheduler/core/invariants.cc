#include "scheduler/core/invariants.h"

#include <algorithm>
#include <map>
#include <optional>
#include <set>
#include <string>

#include "absl/strings/str_cat.h"
#include "base/status/status.h"
#include "scheduler/core/device_admin.h"
#include "scheduler/core/follow.h"
#include "scheduler/core/ranks.h"
#include "scheduler/core/reasons.h"
#include "scheduler/core/references.h"
#include "scheduler/core/scores.h"
#include "scheduler/core/waiting.h"
#include "scheduler/policy/check.h"

// Returns an error that names `what` unless `condition` holds.
#define ORDO_HOLDS(condition, what)                                  \
  if (!(condition)) {                                                \
    return absl::InternalError(absl::StrCat(what, ": " #condition)); \
  }

namespace ordo::scheduler::core {
namespace {

using jobs::v1::Job;

bool HasDeadline(const State& state, Deadline::Kind kind, const std::string& id,
                 const std::optional<absl::Duration>& at) {
  return !at.has_value() || state.deadlines.count({*at, kind, id}) > 0;
}

// Jobs that it needs, that have not ended, and that know of it.
int NumNeeded(const State& state, const JobFacts& job) {
  int count = 0;
  for (const NeededJob& need : job.needs) {
    const auto needed = state.jobs.find(need.id);
    if (needed == state.jobs.end() || IsTerminal(needed->second.job->state)) {
      continue;
    }
    const auto waiting = state.needed_by.find(need.id);
    count +=
        waiting != state.needed_by.end() && waiting->second.count(job.id) > 0;
  }
  return count;
}

absl::Status CheckQueued(const State& state, const JobEntry& entry,
                         const Queued& queued) {
  const JobRecord& job = *entry.job;
  const JobFacts& facts = *job.facts;
  const std::string& id = facts.id;
  ORDO_HOLDS(job.state == Job::QUEUED, id);
  const auto found = state.waiting.find(facts.sequence);
  const bool waits = found != state.waiting.end();
  ORDO_HOLDS(!waits || found->second->id == id, id);
  ORDO_HOLDS(waits == state.board.IsWaiting(facts.sequence), id);
  const auto queue = state.waiting_in.find(QueueOf(*facts.spec));
  ORDO_HOLDS(waits == (queue != state.waiting_in.end() &&
                       queue->second.count(facts.sequence) > 0),
             id);
  const bool backs_off = queued.not_before.has_value();
  ORDO_HOLDS(
      HasDeadline(state, Deadline::Kind::kBackoff, id, queued.not_before), id);
  ORDO_HOLDS(
      HasDeadline(state, Deadline::Kind::kQueueLimit, id, queued.limit_at), id);
  // What a job with parts waits for these is not its own time.
  const bool counts = facts.parts.empty() || queued.num_needed == 0;
  ORDO_HOLDS(
      queued.limit_at.has_value() ==
          (counts && facts.demand().queue_time_limit > absl::ZeroDuration()),
      id);
  ORDO_HOLDS(queued.num_needed == NumNeeded(state, facts), id);
  ORDO_HOLDS(
      waits == (!backs_off && queued.num_needed == 0 && job.held_by.empty() &&
                !queued.awaits_checkpoint && !queued.awaits_answer),
      id);
  ORDO_HOLDS(queued.awaits_checkpoint == AwaitsCheckpoint(state, entry, facts),
             id);
  ORDO_HOLDS(backs_off == (job.not_before_ns != 0), id);
  ORDO_HOLDS(job.incarnation.empty() && job.acknowledged_records == 0, id);
  return absl::OkStatus();
}

// Each rank that is not over is live on its worker, and its record says where.
absl::Status CheckRanks(const State& state, const JobRecord& job,
                        const Live& live) {
  const std::string& id = job.id();
  const jobs::v1::Attempt& attempt = job.newest_attempt();
  const int num_ranks = static_cast<int>(live.ranks.size());
  ORDO_HOLDS(num_ranks == job.facts->num_ranks, id);
  ORDO_HOLDS(attempt.ranks_size() == (num_ranks == 1 ? 0 : num_ranks), id);
  bool any_is_live = false;
  for (int i = 0; i < num_ranks; ++i) {
    const LiveRank& rank = live.ranks[i];
    const auto worker = state.workers.find(rank.worker);
    const bool is_live =
        worker != state.workers.end() && worker->second.live.count({id, i}) > 0;
    ORDO_HOLDS(is_live == !rank.over, id);
    any_is_live |= is_live;
    const bool is_first =
        i == 0 && attempt.worker() == rank.worker &&
        std::equal(rank.devices.begin(), rank.devices.end(),
                   attempt.devices().begin(), attempt.devices().end());
    ORDO_HOLDS(is_first || i > 0, id);
    ORDO_HOLDS(static_cast<int>(rank.devices.size()) == job.facts->num_devices,
               id);
    if (num_ranks == 1) continue;
    const jobs::v1::Attempt::Rank& recorded = attempt.ranks(i);
    ORDO_HOLDS(recorded.worker() == rank.worker, id);
    ORDO_HOLDS(std::equal(rank.devices.begin(), rank.devices.end(),
                          recorded.devices().begin(), recorded.devices().end()),
               id);
    ORDO_HOLDS(recorded.has_end_time() == rank.over, id);
  }
  ORDO_HOLDS(any_is_live, id);
  return absl::OkStatus();
}

absl::Status CheckLive(const State& state, const JobEntry& entry,
                       const Live& live) {
  const JobRecord& job = *entry.job;
  const std::string& id = job.id();
  ORDO_HOLDS(job.state == Job::STARTING || job.state == Job::RUNNING ||
                 job.state == Job::CANCELLING,
             id);
  ORDO_HOLDS(!job.attempts.empty(), id);
  ORDO_HOLDS(!job.newest_attempt().has_end_time(), id);
  ORDO_HOLDS(HasDeadline(state, Deadline::Kind::kRunLimit, id, live.limit_at),
             id);
  // Once it has struck, the attempt is being ended.
  ORDO_HOLDS(
      live.limit_at.has_value() ||
          job.facts->demand().shape.run_time_limit == absl::ZeroDuration() ||
          AskedOf(job) != Asked::kRun,
      id);
  const auto found = state.running.find(job.facts->sequence);
  ORDO_HOLDS(found != state.running.end() && found->second->id == id, id);
  ORDO_HOLDS(state.board.IsRunning(job.facts->sequence), id);
  ORDO_HOLDS(job.queue_ns == 0 && job.not_before_ns == 0, id);
  return CheckRanks(state, job, live);
}

absl::Status CheckPlace(const State& state, const JobEntry& entry) {
  if (const auto* queued = std::get_if<Queued>(&entry.place)) {
    return CheckQueued(state, entry, *queued);
  }
  if (const auto* live = LiveIn(entry)) {
    return CheckLive(state, entry, *live);
  }
  const std::string& id = entry.job->id();
  ORDO_HOLDS(IsTerminal(entry.job->state), id);
  ORDO_HOLDS(entry.job->end_ns != 0, id);
  return absl::OkStatus();
}

absl::Status CheckAttempts(const JobEntry& entry) {
  const JobRecord& job = *entry.job;
  const std::string& id = job.id();
  int32_t previous = 0;
  for (size_t i = 0; i < job.attempts.size(); ++i) {
    const jobs::v1::Attempt& attempt = *job.attempts[i];
    ORDO_HOLDS(attempt.number() > previous, id);
    previous = attempt.number();
    const bool may_be_live =
        LiveIn(entry) != nullptr && i + 1 == job.attempts.size();
    ORDO_HOLDS(attempt.has_end_time() != may_be_live, id);
    ORDO_HOLDS(!attempt.has_end_time() || !attempt.reason().empty(), id);
  }
  const int max_attempts = job.facts->max_attempts;
  ORDO_HOLDS(job.failed_attempts <= max_attempts, id);
  ORDO_HOLDS(job.failed_attempts < max_attempts || IsTerminal(job.state), id);
  ORDO_HOLDS(
      job.interruptions < job.facts->max_interruptions || IsTerminal(job.state),
      id);
  return absl::OkStatus();
}

// A checkpoint before which so many newer ones are there is kept, as far as it
// is, for a reason; and a run that has not ended finds its newest whole.
absl::Status CheckKept(const State& state, const JobEntry& entry,
                       const checkpoints::v1::Checkpoint& checkpoint,
                       int num_newer) {
  const Demand& demand = entry.job->facts->demand();
  const bool is_held = state.pins.count(checkpoint.name()) > 0 ||
                       !AwaitedBy(state, checkpoint).empty();
  const CheckpointPtr best =
      num_newer < demand.keep ? nullptr : BestCheckpoint(entry);
  const bool is_best = best != nullptr && best->name() == checkpoint.name();
  ORDO_HOLDS(num_newer < demand.keep || is_held || is_best, checkpoint.name());
  ORDO_HOLDS(num_newer < demand.keep_optimizer || is_held ||
                 IsNeededAsBest(state, entry, checkpoint) ||
                 !HasOptimizer(checkpoint),
             checkpoint.name());
  ORDO_HOLDS(!checkpoint.has_thin_time() || !HasOptimizer(checkpoint),
             checkpoint.name());
  ORDO_HOLDS(num_newer > 0 || IsTerminal(entry.job->state) ||
                 !checkpoint.has_thin_time(),
             checkpoint.name());
  return absl::OkStatus();
}

absl::Status CheckArtifacts(const State& state, const JobEntry& entry) {
  const std::string& id = entry.job->id();
  const int32_t newest_attempt = entry.job->attempt_number();
  int num_available = 0;
  for (auto it = entry.checkpoints.rbegin(); it != entry.checkpoints.rend();
       ++it) {
    const auto& checkpoint = *it->second;
    ORDO_HOLDS(checkpoint.name() == CheckpointName(id, CheckpointId(it->first)),
               id);
    ORDO_HOLDS(checkpoint.attempt() <= newest_attempt, id);
    if (checkpoint.state() != checkpoints::v1::Checkpoint::AVAILABLE) continue;
    ORDO_RETURN_IF_ERROR(CheckKept(state, entry, checkpoint, num_available++));
  }
  for (const auto& [report_id, report] : entry.reports) {
    ORDO_HOLDS(report->name() == ReportName(id, report_id), id);
    ORDO_HOLDS(report->attempt() <= newest_attempt, id);
  }
  return absl::OkStatus();
}

// What a job names that has not ended is there, but for what jobs that it needs
// have yet to write; and so are its parts.
absl::Status CheckReferences(const State& state, const JobEntry& entry) {
  const JobRecord& job = *entry.job;
  if (IsTerminal(job.state)) return absl::OkStatus();
  const auto* queued = std::get_if<Queued>(&entry.place);
  const bool waits_for_needs = queued != nullptr && queued->num_needed > 0;
  for (const std::string& name : job.facts->references) {
    ORDO_HOLDS(state.jobs.count(JobIdOf(name)) > 0, name);
    if (NamesEvery(name)) continue;
    if (IsDecidedLater(name) && waits_for_needs) continue;
    if (FormOf(name) == ReferenceForm::kReport) {
      ORDO_HOLDS(FindReport(state, name) != nullptr, name);
      continue;
    }
    const CheckpointPtr checkpoint = FindReferenced(state, name);
    ORDO_HOLDS(checkpoint != nullptr, name);
    ORDO_HOLDS(checkpoint->state() == checkpoints::v1::Checkpoint::AVAILABLE,
               name);
  }
  for (const std::string& part : job.facts->parts) {
    ORDO_HOLDS(state.jobs.count(part) > 0, part);
  }
  return absl::OkStatus();
}

absl::Status CheckJobs(const State& state) {
  std::set<int64_t> sequences;
  size_t num_waiting = 0;
  size_t num_running = 0;
  size_t num_live = 0;
  size_t num_requests = 0;
  for (const auto& [id, entry] : state.jobs) {
    const JobFacts& facts = *entry.job->facts;
    ORDO_HOLDS(facts.id == id, id);
    ORDO_HOLDS(facts.sequence < state.next_sequence, id);
    ORDO_HOLDS(sequences.insert(facts.sequence).second, id);
    ORDO_RETURN_IF_ERROR(CheckJob(state, entry));
    const auto* queued = std::get_if<Queued>(&entry.place);
    num_waiting += queued != nullptr &&
                   WaitReason(*entry.job, *queued) == reason::kWaitingForDevice;
    if (const auto* live = LiveIn(entry)) {
      ++num_running;
      num_live +=
          std::count_if(live->ranks.begin(), live->ranks.end(),
                        [](const LiveRank& rank) { return !rank.over; });
    }
    if (facts.request.empty()) continue;
    ++num_requests;
    const auto request = state.requests.find(facts.request.id());
    ORDO_HOLDS(request != state.requests.end() && (*request)->id == id, id);
  }
  for (const auto& [id, worker] : state.workers) num_live -= worker.live.size();
  ORDO_HOLDS(num_waiting == state.waiting.size(), "waiting jobs");
  for (const auto& [queue, sequences] : state.waiting_in) {
    ORDO_HOLDS(!sequences.empty(), queue);
    num_waiting -= sequences.size();
  }
  ORDO_HOLDS(num_waiting == 0, "waiting jobs by queue");
  ORDO_HOLDS(num_running == state.running.size(), "running jobs");
  ORDO_HOLDS(num_live == 0, "live jobs");
  ORDO_HOLDS(num_requests == state.requests.size(), "request ids");
  return absl::OkStatus();
}

// Whoever is told of the end of another waits for it.
absl::Status CheckNeeds(const State& state) {
  for (const auto& [needed, waiting] : state.needed_by) {
    const auto entry = state.jobs.find(needed);
    ORDO_HOLDS(entry != state.jobs.end(), needed);
    ORDO_HOLDS(!IsTerminal(entry->second.job->state), needed);
    ORDO_HOLDS(!waiting.empty(), needed);
    for (const std::string& id : waiting) {
      const auto job = state.jobs.find(id);
      ORDO_HOLDS(job != state.jobs.end(), id);
      ORDO_HOLDS(std::holds_alternative<Queued>(job->second.place), id);
      const auto& needs = job->second.job->facts->needs;
      ORDO_HOLDS(std::any_of(needs.begin(), needs.end(),
                             [&needed = needed](const NeededJob& need) {
                               return need.id == needed;
                             }),
                 id);
    }
  }
  return absl::OkStatus();
}

// What an alias or a pin names is there.
absl::Status CheckNamed(const State& state, const std::string& name) {
  const CheckpointPtr checkpoint = FindCheckpoint(state, name);
  ORDO_HOLDS(checkpoint != nullptr, name);
  ORDO_HOLDS(checkpoint->state() == checkpoints::v1::Checkpoint::AVAILABLE,
             name);
  return absl::OkStatus();
}

// A question is answered by one live job, and what is awaited is answered.
absl::Status CheckAnswers(const State& state) {
  std::map<std::string, std::string> answering;
  std::map<std::string, std::set<std::string>> awaited;
  size_t num_awaiting = 0;
  for (const auto& [id, entry] : state.jobs) {
    if (const auto* live = LiveIn(entry)) {
      for (const std::string& question : live->questions) {
        ORDO_HOLDS(answering.emplace(question, id).second, id);
      }
    } else if (const auto* queued = std::get_if<Queued>(&entry.place)) {
      const auto question = state.awaits.find(id);
      ORDO_HOLDS((question != state.awaits.end()) == queued->awaits_answer, id);
      if (queued->awaits_answer) awaited[question->second].insert(id);
      num_awaiting += queued->awaits_answer ? 1 : 0;
    }
  }
  ORDO_HOLDS(answering == state.answering, "answers");
  ORDO_HOLDS(awaited == state.awaited, "awaited answers");
  ORDO_HOLDS(num_awaiting == state.awaits.size(), "awaited answers");
  for (const auto& [question, waiting] : awaited) {
    ORDO_HOLDS(answering.count(question) > 0, question);
  }
  return absl::OkStatus();
}

absl::Status CheckPins(const State& state) {
  std::map<std::string, std::set<std::string>> pins;
  for (const auto& [id, entry] : state.jobs) {
    if (IsTerminal(entry.job->state)) continue;
    for (const std::string& name : PinnedBy(*entry.job->facts)) {
      pins[name].insert(id);
    }
  }
  for (const auto& [id, alias] : AllAliases(state.aliases)) {
    ORDO_HOLDS(alias->name() == AliasName(id), id);
    ORDO_RETURN_IF_ERROR(CheckNamed(state, alias->checkpoint()));
    ORDO_HOLDS(
        alias->manifest_sha256() ==
            FindCheckpoint(state, alias->checkpoint())->manifest_sha256(),
        id);
    pins[alias->checkpoint()].insert(alias->name());
  }
  for (const auto& [checkpoint, pin] : state.pinned) {
    ORDO_RETURN_IF_ERROR(CheckNamed(state, checkpoint));
    pins[checkpoint].insert(kPinHolder);
  }
  ORDO_HOLDS(pins == state.pins, "pins");
  return absl::OkStatus();
}

absl::Status CheckWorkerDeadlines(const State& state, const Worker& worker) {
  const auto is_set = [&](Deadline::Kind kind,
                          const std::optional<absl::Duration>& at) {
    return at.has_value() && state.deadlines.count({*at, kind, worker.id}) > 0;
  };
  const bool online = worker.liveness == Worker::Liveness::kOnline;
  const bool lost = worker.liveness == Worker::Liveness::kLost;
  ORDO_HOLDS(is_set(Deadline::Kind::kLease, worker.lease_at) == !lost,
             worker.id);
  ORDO_HOLDS(is_set(Deadline::Kind::kHeartbeat, worker.heartbeat_at) == online,
             worker.id);
  ORDO_HOLDS(is_set(Deadline::Kind::kForget, worker.forget_at) == lost,
             worker.id);
  ORDO_HOLDS(!lost || worker.live.empty(), worker.id);
  return absl::OkStatus();
}

// A worker is as people decided.
absl::Status CheckAdmin(const State& state, const Worker& worker) {
  const WorkerAdminPtr admin = AdminOf(state, worker.id);
  const bool drains = DrainTime(admin).has_value();
  ORDO_HOLDS(worker.closed == IsCordoned(admin), worker.id);
  const bool is_awaited = worker.drain_at.has_value();
  ORDO_HOLDS(
      HasDeadline(state, Deadline::Kind::kDrain, worker.id, worker.drain_at),
      worker.id);
  ORDO_HOLDS(drains == (worker.emptied || is_awaited), worker.id);
  ORDO_HOLDS(!worker.emptied || !is_awaited, worker.id);
  ORDO_HOLDS(worker.quarantined == QuarantinedIn(admin), worker.id);
  for (const policy::Device& device : worker.shown.devices) {
    const bool is_announced = worker.announced.count(device.name) > 0;
    ORDO_HOLDS(
        !device.offered || !is_announced ||
            (worker.answered && worker.quarantined.count(device.name) == 0),
        worker.id);
  }
  return absl::OkStatus();
}

absl::Status CheckWorkers(const State& state) {
  for (const auto& [id, worker] : state.workers) {
    ORDO_HOLDS(worker.id == id, id);
    ORDO_HOLDS(state.board.HasWorker(id), id);
    ORDO_HOLDS(worker.shown.takes_work == TakesWork(worker), id);
    ORDO_HOLDS(worker.shown.drain_at ==
                   worker.drain_at.value_or(absl::InfiniteDuration()),
               id);
    std::set<std::string> live_devices;
    for (const auto& [job, rank] : worker.live) {
      const auto entry = state.jobs.find(job);
      ORDO_HOLDS(entry != state.jobs.end(), job);
      const Live* live = LiveIn(entry->second);
      ORDO_HOLDS(live != nullptr, job);
      ORDO_HOLDS(rank >= 0 && rank < static_cast<int>(live->ranks.size()), job);
      ORDO_HOLDS(live->ranks[rank].worker == id, job);
      for (const std::string& device : live->ranks[rank].devices) {
        ORDO_HOLDS(live_devices.insert(device).second, job);
      }
    }
    ORDO_RETURN_IF_ERROR(CheckWorkerDeadlines(state, worker));
    ORDO_RETURN_IF_ERROR(CheckAdmin(state, worker));
  }
  return policy::Check(state.board);
}

bool IsOfJob(Deadline::Kind kind) {
  return kind == Deadline::Kind::kBackoff ||
         kind == Deadline::Kind::kQueueLimit ||
         kind == Deadline::Kind::kRunLimit;
}

absl::Status CheckJobDeadline(const State& state, const Deadline& deadline) {
  const auto job = state.jobs.find(deadline.id);
  ORDO_HOLDS(job != state.jobs.end(), deadline.id);
  std::optional<absl::Duration> noted;
  if (const auto* queued = std::get_if<Queued>(&job->second.place)) {
    if (deadline.kind == Deadline::Kind::kBackoff) noted = queued->not_before;
    if (deadline.kind == Deadline::Kind::kQueueLimit) noted = queued->limit_at;
  } else if (const auto* live = LiveIn(job->second)) {
    if (deadline.kind == Deadline::Kind::kRunLimit) noted = live->limit_at;
  }
  ORDO_HOLDS(noted == deadline.at, deadline.id);
  return absl::OkStatus();
}

absl::Status CheckDeadlines(const State& state) {
  for (const Deadline& deadline : state.deadlines) {
    if (deadline.kind == Deadline::Kind::kPlace) {
      ORDO_HOLDS(state.place_at == deadline.at, "placement");
      continue;
    }
    if (IsOfJob(deadline.kind)) {
      ORDO_RETURN_IF_ERROR(CheckJobDeadline(state, deadline));
      continue;
    }
    const auto worker = state.workers.find(deadline.id);
    ORDO_HOLDS(worker != state.workers.end(), deadline.id);
    const auto& slot =
        deadline.kind == Deadline::Kind::kLease ? worker->second.lease_at
        : deadline.kind == Deadline::Kind::kHeartbeat
            ? worker->second.heartbeat_at
        : deadline.kind == Deadline::Kind::kDrain ? worker->second.drain_at
                                                  : worker->second.forget_at;
    ORDO_HOLDS(slot == deadline.at, deadline.id);
  }
  return absl::OkStatus();
}

// What the policy decided was carried out: asked again at the same time, it
// decides nothing.
absl::Status CheckPlaced(const State& state) {
  ORDO_HOLDS(HasDeadline(state, Deadline::Kind::kPlace, "", state.place_at),
             "placement");
  const bool is_under_way =
      state.board_changed || state.place_at == state.placed_at;
  if (is_under_way) return absl::OkStatus();
  const policy::Decisions decisions =
      state.options.place(state.board, state.placed_at);
  ORDO_HOLDS(decisions.empty() && !decisions.more, "placement");
  // It is asked again in time.
  ORDO_HOLDS(state.place_at.value_or(absl::InfiniteDuration()) <=
                 std::min(decisions.ask_again_at, decisions.lapses_at),
             "placement");
  return absl::OkStatus();
}

// Jobs that have not ended are counted by queue, and the board has their queues
// and those that people made.
absl::Status CheckQueuesOf(const State& state) {
  std::map<std::string, int64_t> unfinished;
  for (const auto& [id, entry] : state.jobs) {
    if (!IsTerminal(entry.job->state)) {
      ++unfinished[QueueOf(*entry.job->facts->spec)];
    }
  }
  ORDO_HOLDS(state.unfinished == unfinished, "jobs by queue");
  for (const auto& [id, queue] : state.queues) {
    ORDO_HOLDS(state.board.HasQueue(id) == !queue->has_delete_time(), id);
  }
  for (const auto& [id, count] : unfinished) {
    ORDO_HOLDS(state.board.HasQueue(id), id);
  }
  return absl::OkStatus();
}

}  // namespace

absl::Status CheckJob(const State& state, const JobEntry& entry) {
  ORDO_RETURN_IF_ERROR(CheckPlace(state, entry));
  ORDO_RETURN_IF_ERROR(CheckAttempts(entry));
  ORDO_RETURN_IF_ERROR(CheckArtifacts(state, entry));
  return CheckReferences(state, entry);
}

absl::Status CheckInvariants(const State& state) {
  ORDO_RETURN_IF_ERROR(CheckJobs(state));
  ORDO_RETURN_IF_ERROR(CheckQueuesOf(state));
  ORDO_RETURN_IF_ERROR(CheckNeeds(state));
  ORDO_RETURN_IF_ERROR(CheckAnswers(state));
  ORDO_RETURN_IF_ERROR(CheckPins(state));
  ORDO_RETURN_IF_ERROR(CheckWorkers(state));
  ORDO_RETURN_IF_ERROR(CheckDeadlines(state));
  return CheckPlaced(state);
}

}  // namespace ordo::scheduler::core
