#include "scheduler/core/board.h"

#include <string>
#include <utility>

#include "base/version/worker_protocol.h"
#include "scheduler/core/job.h"
#include "scheduler/core/ranks.h"
#include "scheduler/core/reasons.h"
#include "scheduler/scheduler.h"

namespace ordo::scheduler::core {
namespace {

policy::Device DeviceOf(const Worker& worker,
                        const workers::v1::Device& announced) {
  policy::Device device;
  device.name = announced.name();
  device.kind = announced.kind();
  device.memory_bytes = announced.memory_bytes();
  for (const auto& [kernel, why] : LackingKernels(announced)) {
    device.lacking.insert(kernel);
  }
  if (!base::KnowsSummaries(worker.protocol)) {
    device.lacking.insert(kSummarizeTask);
  }
  if (!base::KnowsGates(worker.protocol)) device.lacking.insert(kGateTask);
  const bool quarantined = worker.quarantined.count(announced.name()) > 0;
  device.offered =
      worker.answered && announced.withheld().empty() && !quarantined;
  return device;
}

// What it announced. Of one that is known from the records alone: what its live
// attempts hold.
policy::Worker LookOf(const State& state, const Worker& worker) {
  policy::Worker look;
  look.id = worker.id;
  look.labels = worker.labels;
  look.cpus = worker.cpus;
  look.memory_bytes = worker.memory_bytes;
  look.takes_work = TakesWork(worker);
  if (worker.data_roots) {
    const auto& paths = worker.data_roots->paths();
    look.data_roots.emplace(paths.begin(), paths.end());
  }
  look.drain_at = worker.drain_at.value_or(absl::InfiniteDuration());
  for (const auto& [name, announced] : worker.announced) {
    look.devices.push_back(DeviceOf(worker, announced));
    const std::string& kind = look.devices.back().kind;
    if (!TakesRanks(worker.nccl, kind)) {
      look.single_rank_kinds.insert(kind);
    }
  }
  if (worker.liveness != Worker::Liveness::kUnknown) return look;
  for (const auto& [job, rank] : worker.live) {
    const JobEntry& entry = state.jobs.at(job);
    for (const std::string& name : LiveIn(entry)->ranks[rank].devices) {
      policy::Device device;
      device.name = name;
      device.kind = ShapeOf(*entry.job->facts->spec).kind;
      look.devices.push_back(std::move(device));
    }
  }
  return look;
}

// Fields that are not set have their defaults.
policy::Queue LookOf(const queues::v1::Queue& queue) {
  policy::Queue look;
  look.name = IdOf(queue.name());
  look.weight = queue.has_weight() ? queue.weight() : kDefaultQueueWeight;
  for (const queues::v1::Quota& given : queue.quotas()) {
    policy::Quota& quota = look.quotas[given.device()];
    quota.guaranteed = given.guaranteed();
    if (given.has_limit()) quota.limit = given.limit();
  }
  if (queue.has_max_devices_per_owner()) {
    look.max_per_owner = queue.max_devices_per_owner();
  }
  return look;
}

// Of those attempts of the job that are kept in its record. Where NCCL failed,
// no device is to blame, but perhaps its library on that worker.
policy::DevicesByWorker FailedBefore(const JobRecord& job) {
  policy::DevicesByWorker devices;
  for (const AttemptPtr& attempt : job.attempts) {
    for (const LiveRank& rank : FailedByDevice(*attempt)) {
      devices[rank.worker].insert(rank.devices.begin(), rank.devices.end());
    }
  }
  for (const AttemptPtr& attempt : job.attempts) {
    for (const auto& rank : attempt->ranks()) {
      if (rank.reason() == reason::kNcclError) devices[rank.worker()].clear();
    }
  }
  return devices;
}

// As it waits for devices. Refers to the facts of `job`.
policy::WaitingJob WaitingJobOf(const State& state, const JobEntry& entry,
                                const JobRecord& job) {
  const JobFacts& facts = *job.facts;
  policy::WaitingJob waiting{
      facts.sequence,   QueueOf(*facts.spec),
      facts.user,       ShapeOf(*facts.spec),
      job.priority,     absl::FromUnixNanos(entry.order_ns),
      FailedBefore(job)};
  // One that has left has ended: what is left of its parts is being cancelled.
  const auto parent = state.jobs.find(facts.parent.value());
  if (parent == state.jobs.end()) return waiting;
  const int max_parallel = MaxParallelOf(*parent->second.job->facts->spec);
  if (max_parallel <= 0) return waiting;
  waiting.parent = facts.parent.value();
  waiting.max_parallel = max_parallel;
  return waiting;
}

// Of the index by queue: the job waits no more. Nothing, when it did not.
void LeaveWaiting(State& state, const JobFacts& facts) {
  const auto queue = state.waiting_in.find(QueueOf(*facts.spec));
  if (queue == state.waiting_in.end()) return;
  queue->second.erase(facts.sequence);
  if (queue->second.empty()) state.waiting_in.erase(queue);
}

}  // namespace

void ShowQueue(State& state, const queues::v1::Queue& queue) {
  if (queue.has_delete_time()) {
    state.board.RemoveQueue(IdOf(queue.name()));
  } else {
    state.board.PutQueue(LookOf(queue));
  }
  state.board_changed = true;
}

void StartWaiting(State& state, const JobEntry& entry, const JobRecord& job) {
  const JobFacts& facts = *job.facts;
  if (!state.waiting.emplace(facts.sequence, job.facts).second) return;
  state.waiting_in[QueueOf(*facts.spec)].insert(facts.sequence);
  state.board.Wait(WaitingJobOf(state, entry, job));
  state.board_changed = true;
}

policy::Standing StandingOf(const State& state, const JobEntry& entry,
                            absl::Duration now) {
  return policy::StandingOf(state.board, WaitingJobOf(state, entry, *entry.job),
                            now);
}

void StopWaiting(State& state, const JobRecord& job) {
  const int64_t sequence = job.facts->sequence;
  if (state.waiting.erase(sequence) == 0) return;
  LeaveWaiting(state, *job.facts);
  state.board.StopWaiting(sequence);
  state.board_changed = true;
}

void ShowPriority(State& state, const JobRecord& job) {
  const int64_t sequence = job.facts->sequence;
  if (state.waiting.count(sequence) == 0) return;
  state.board.SetPriority(sequence, job.priority);
  state.board_changed = true;
}

void ShowWorker(State& state, Worker& worker) {
  policy::Worker shown = LookOf(state, worker);
  state.board.PutWorker(shown);
  state.board.SetLingering(worker.id, worker.lingering);
  state.board_changed |= !(shown == worker.shown);
  worker.shown = std::move(shown);
}

void ForgetOnBoard(State& state, const Worker& worker) {
  state.board.RemoveWorker(worker.id);
  state.board_changed = true;
}

void ShowStart(State& state, const JobRecord& job, const Live& live) {
  const int64_t sequence = job.facts->sequence;
  policy::Run run;
  run.started = live.started;
  run.checkpointed = live.durable;
  for (size_t i = 0; i < live.ranks.size(); ++i) {
    if (live.ranks[i].over) continue;
    run.parts.push_back(
        {live.ranks[i].worker, static_cast<int>(i), live.ranks[i].devices});
  }
  LeaveWaiting(state, *job.facts);
  state.waiting.erase(sequence);
  state.running[sequence] = job.facts;
  state.board.Start(sequence, run);
  state.board_changed = true;
}

void ShowRankEnd(Turn& turn, const JobRecord& job, int32_t rank,
                 absl::Duration at) {
  turn.state.board.EndPart(job.facts->sequence, rank, at);
  turn.state.board_changed = true;
  const SpecHandle& spec = *job.facts->spec;
  turn.use_changed.insert({QueueOf(spec), ShapeOf(spec).kind});
}

void ShowEnd(Turn& turn, const JobRecord& job, absl::Duration at) {
  turn.state.board.End(job.facts->sequence, at);
  turn.state.running.erase(job.facts->sequence);
  turn.state.board_changed = true;
}

void ShowCheckpoint(Turn& turn, const JobRecord& job) {
  turn.state.board.NoteCheckpoint(job.facts->sequence, turn.now.monotonic);
}

void ShowTimeLeft(Turn& turn, const JobRecord& job, absl::Duration left) {
  turn.state.board.NoteExpectedEnd(job.facts->sequence,
                                   turn.now.monotonic + left);
}

void ShowStopping(Turn& turn, const JobRecord& job, absl::Duration grace) {
  turn.state.board.NoteStopping(job.facts->sequence,
                                turn.now.monotonic + grace);
  turn.state.board_changed = true;
}

}  // namespace ordo::scheduler::core
