#include "tests/sim/oracle.h"

#include <algorithm>
#include <utility>
#include <variant>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "google/protobuf/util/message_differencer.h"
#include "scheduler/core/device_admin.h"
#include "scheduler/core/invariants.h"
#include "scheduler/core/reasons.h"
#include "scheduler/core/references.h"
#include "scheduler/core/transitions.h"
#include "scheduler/scheduler.h"
#include "tests/sim/explained.h"
#include "tests/sim/stopped.h"

namespace ordo::tests::sim {
namespace {

namespace core = scheduler::core;
using core::JobState;
using google::protobuf::util::MessageDifferencer;
using jobs::v1::Job;

// What all jobs that wait are told is looked at after every event of one seed
// of so many, and after every so many events of the others; what some of them
// are told after each.
constexpr int64_t kDearPeriod = 8;
// A drain's time is kept as exactly as this (scheduler/core/admin.cc), twice.
constexpr absl::Duration kClockTolerance = absl::Milliseconds(200);

// Whether the transition table leads from one to the other, in any number of
// steps: a record may hold several.
bool Leads(JobState from, JobState to) {
  std::set<JobState> reached = {from};
  for (size_t before = 0; before != reached.size();) {
    before = reached.size();
    for (const core::Transition& row : core::kTransitions) {
      if (reached.count(row.from) > 0) reached.insert(row.to);
    }
  }
  return reached.count(to) > 0;
}

bool Overlap(const std::vector<std::string>& a,
             const std::vector<std::string>& b) {
  return std::any_of(a.begin(), a.end(), [&b](const std::string& device) {
    return std::count(b.begin(), b.end(), device) > 0;
  });
}

std::vector<std::string> InOrder(const std::set<std::string>& devices) {
  return {devices.begin(), devices.end()};
}

bool HasFailedNeed(const Durable& durable, const core::JobFacts& job) {
  return std::any_of(job.needs.begin(), job.needs.end(),
                     [&durable](const core::NeededJob& need) {
                       const JobView* needed = durable.Find(need.id);
                       return need.must_succeed && needed != nullptr &&
                              core::IsTerminal(needed->state) &&
                              needed->state != Job::SUCCEEDED;
                     });
}

// Whether a job that it names the newest or the best checkpoint of has ended
// without one.
bool HasNothingToBeginWith(const Durable& durable, const core::JobFacts& job) {
  return std::any_of(
      job.references.begin(), job.references.end(),
      [&durable](const std::string& name) {
        const bool is_best = core::NamesBest(name);
        if (!core::NamesJob(name) && !core::NamesEvery(name) && !is_best) {
          return false;
        }
        const std::string id = core::JobIdOf(name);
        const JobView* needed = durable.Find(id);
        return needed != nullptr && core::IsTerminal(needed->state) &&
               !(is_best ? durable.HasScoredCheckpointOf(id)
                         : durable.HasCheckpointOf(id));
      });
}

std::string Named(const JobView& job) {
  return absl::StrCat("job ", job.id, " (", Job::State_Name(job.state), ", ",
                      job.reason, ", attempt ", job.attempt, ", version ",
                      job.version, ")");
}

// Whether a job of its own queue waits that comes before it.
bool IsOvertaken(const core::State& state, const JobView& job) {
  const std::string& queue = core::QueueOf(*job.facts->spec);
  return std::any_of(
      state.waiting.begin(), state.waiting.end(), [&](const auto& waiting) {
        const core::FactsPtr& facts = waiting.second;
        return core::QueueOf(*facts->spec) == queue &&
               state.jobs.at(facts->id).job->priority > job.priority;
      });
}

// The next queued job after this one, in the order of ids, from the last to the
// first; empty: none is queued.
std::string NextQueued(const core::State& state, const std::string& job) {
  const auto is_queued = [](const auto& entry) {
    return std::holds_alternative<core::Queued>(entry.second.place);
  };
  const auto after = state.jobs.upper_bound(job);
  auto found = std::find_if(after, state.jobs.end(), is_queued);
  if (found == state.jobs.end()) {
    found = std::find_if(state.jobs.begin(), after, is_queued);
    if (found == after) return "";
  }
  return found->first;
}

}  // namespace

void Oracle::TrainerStarted(const AttemptKey& key, const std::string& machine) {
  const auto [it, is_first] = started_.emplace(key, machine);
  if (!is_first) {
    world_.Fail(absl::StrCat("attempt ", key.ToString(), " starts on ", machine,
                             " and did so on ", it->second));
  }
  if (key.rank == 0) ++num_attempts_;
  if (const auto gone = gone_since_.extract(key.job); !gone.empty()) {
    longest_gap_ = std::max(longest_gap_, world_.now() - gone.mapped());
  }
}

void Oracle::TrainerEnded(const AttemptKey& key, TrueEnd end) {
  ended_[key] = end;
  const AttemptKey attempt{key.job, key.attempt};
  if (end == TrueEnd::kOwnFault) failed_at_.emplace(attempt, world_.now());
  if (const auto failed = failed_at_.find(attempt);
      failed != failed_at_.end()) {
    longest_straggle_ =
        std::max(longest_straggle_, world_.now() - failed->second);
  }
  if (end == TrueEnd::kOwnFault) ++own_faults_[key.job];
  if (end == TrueEnd::kInnocent) gone_since_[key.job] = world_.now();
}

TrueEnd Oracle::EndOf(const JobView& job) const {
  TrueEnd worst = TrueEnd::kFinished;
  bool all_finished = true;
  for (int rank = 0; rank < job.facts->num_ranks; ++rank) {
    const auto ended = ended_.find({job.id, job.attempt, rank});
    const TrueEnd end =
        ended == ended_.end() ? TrueEnd::kInnocent : ended->second;
    all_finished &= end == TrueEnd::kFinished;
    if (end == TrueEnd::kOwnFault || end == TrueEnd::kRefused) worst = end;
  }
  if (worst == TrueEnd::kFinished && !all_finished) return TrueEnd::kInnocent;
  return worst;
}

void Oracle::CheckOrder(const JobView& job) {
  const JobView* before = left_.Find(job.id);
  if (job.reason == core::reason::kNeedFailed &&
      !HasFailedNeed(left_, *job.facts) &&
      !HasNothingToBeginWith(left_, *job.facts)) {
    world_.Fail(Named(job) + " fails, and nothing that it needs has");
  }
  if (before == nullptr || job.attempt == before->attempt) return;
  if (job.held) world_.Fail(Named(job) + " begins and is on hold");
  for (const core::NeededJob& need : job.facts->needs) {
    const JobView* needed = left_.Find(need.id);
    const bool ended = needed != nullptr && core::IsTerminal(needed->state);
    if (!ended || (need.must_succeed && needed->state != Job::SUCCEEDED)) {
      world_.Fail(Named(job) + " begins without " + need.id);
    }
  }
}

void Oracle::CheckParallel(const core::State& state, const JobView& job) {
  const std::string& parent = job.facts->parent.value();
  const auto found = state.jobs.find(parent);
  if (found == state.jobs.end()) return;
  const int most = core::MaxParallelOf(*found->second.job->facts->spec);
  int num_live = 0;
  for (const std::string& part : found->second.job->facts->parts) {
    num_live += core::LiveIn(state.jobs.at(part)) != nullptr ? 1 : 0;
  }
  if (most == 0 || num_live <= most) return;
  world_.Fail(absl::StrCat(num_live, " parts of ", parent, " are live with ",
                           Named(job), ", more than ", most));
}

void Oracle::CheckParts(const JobView& job) {
  if (!core::IsTerminal(job.state)) return;
  for (const std::string& id : job.facts->parts) {
    const JobView* part = left_.Find(id);
    if (part == nullptr || core::IsTerminal(part->state) ||
        part->state == Job::CANCELLING) {
      continue;
    }
    world_.Fail(Named(job) + " has ended, and not its part " + Named(*part));
  }
}

void Oracle::CheckOpen(const core::State& state, const core::Moment& now,
                       const JobView& job) {
  const JobView* before = left_.Find(job.id);
  if (before == nullptr || job.attempt == before->attempt) return;
  for (const LiveAttempt& live : LiveAttempts(state)) {
    if (live.key.job != job.id) continue;
    const core::WorkerAdminPtr admin = core::AdminOf(state, live.worker);
    const absl::Time ends_by = now.wall + (live.ends_by - now.monotonic);
    const absl::Time drain =
        core::DrainTime(admin).value_or(absl::InfiniteFuture());
    if (core::IsCordoned(admin) || ends_by > drain + kClockTolerance) {
      world_.Fail(absl::StrCat(live.key.ToString(), " begins on ", live.worker,
                               ", which is closed"));
    }
    if (Overlap(live.devices, InOrder(core::QuarantinedIn(admin)))) {
      world_.Fail(absl::StrCat(live.key.ToString(), " begins on a device of ",
                               live.worker, " that is in quarantine"));
    }
  }
}

void Oracle::CheckQuarantined(const std::string& worker,
                              const std::set<std::string>& devices) {
  const std::set<std::string> before =
      std::exchange(quarantined_[worker], devices);
  for (const std::string& device : devices) {
    if (before.count(device) > 0) continue;
    ++num_quarantines_;
    if (wrongs_[{worker, device}] < core::kMaxBlames) {
      world_.Fail(absl::StrCat(device, " of ", worker,
                               " is put in quarantine, and nothing is wrong"));
    }
  }
}

void Oracle::CheckEnd(const Durable& durable, const JobView& job) {
  const TrueEnd end = EndOf(job);
  const core::JobFacts& facts = *job.facts;
  if (job.state == Job::SUCCEEDED && end != TrueEnd::kFinished) {
    world_.Fail(Named(job) + " succeeded, but its attempt did not finish");
  }
  if (job.state == Job::SUCCEEDED) {
    for (const std::string& name : written_[{job.id, job.attempt, 0}]) {
      if (!durable.HasCheckpoint(name)) {
        world_.Fail(Named(job) + " succeeded, but nobody knows its " + name);
      }
    }
  }
  const bool waited_too_long =
      job.reason == core::reason::kQueueTimeLimit &&
      facts.demand().queue_time_limit > absl::ZeroDuration();
  // That it was to be, CheckStoppedEarly says.
  const bool stopped_early = job.reason == core::reason::kStoppedEarly;
  if (job.state == Job::CANCELLED && cancel_asked_.count(job.id) == 0 &&
      cancel_asked_.count(facts.parent.value()) == 0 && !waited_too_long &&
      !stopped_early) {
    world_.Fail(Named(job) + " was cancelled by nobody");
  }
  const bool at_a_limit =
      (job.reason == core::reason::kRunTimeLimit &&
       facts.demand().shape.run_time_limit > absl::ZeroDuration()) ||
      (job.reason == core::reason::kInterruptionsExhausted &&
       job.interruptions >= facts.max_interruptions);
  const bool needs = !facts.needs.empty() ||
                     std::any_of(facts.references.begin(),
                                 facts.references.end(), core::NamesEvery);
  const bool need_failed = job.reason == core::reason::kNeedFailed && needs;
  if (job.state == Job::FAILED && end != TrueEnd::kOwnFault &&
      end != TrueEnd::kRefused && !at_a_limit && !need_failed) {
    world_.Fail(Named(job) + " failed by no fault of its own");
  }
  if (cancelled_.count(job.id) > 0 && core::IsTerminal(job.state) &&
      job.state != Job::CANCELLED) {
    world_.Fail(Named(job) + " ended although its cancel was acknowledged");
  }
}

void Oracle::CheckBeginning(const JobView& job) {
  if (!job.began.has_value()) return;
  const training::v1::TrainerStarted& said =
      began_[AttemptKey{job.id, job.attempt}];
  if (MessageDifferencer::Equals(said, *job.began)) return;
  world_.Fail(absl::StrCat(Named(job), " has ended, and began with {",
                           said.ShortDebugString(), "}, not with {",
                           job.began->ShortDebugString(), "}"));
}

void Oracle::CheckChange(const Durable& durable, const JobView& after) {
  const JobView* before = durable.Find(after.id);
  const auto faults = own_faults_.find(after.id);
  if (after.failed_attempts >
      (faults == own_faults_.end() ? 0 : faults->second)) {
    world_.Fail(absl::StrCat(Named(after), " is charged with ",
                             after.failed_attempts,
                             " failures, more than it had"));
  }
  if (after.has_repeated_warning) {
    world_.Fail(Named(after) + " has a warning twice");
  }
  CheckEnd(durable, after);
  CheckBeginning(after);
  if (before == nullptr) return;
  if (core::IsTerminal(before->state)) {
    world_.Fail(Named(*before) + " changes after its end to " + Named(after));
  }
  if (after.version <= before->version || after.attempt < before->attempt ||
      after.sequence != before->sequence) {
    world_.Fail(Named(*before) + " goes back to " + Named(after));
  }
  if (!Leads(before->state, after.state)) {
    world_.Fail(Named(*before) + " may not become " + Named(after));
  }
}

void Oracle::AfterLoad(const core::State& state, const core::Records& records) {
  left_.Reset(records);
  quarantined_.clear();
  listed_.clear();
  order_.AfterLoad(state);
  queues_.clear();
  for (const core::RowPtr& row : records.rows) {
    if (const auto queue = QueueIn(*row)) queues_[queue->name] = *queue;
    // Of what was not stored before the scheduler died nobody knows.
    if (const auto devices = QuarantineIn(*row)) {
      quarantined_[row->key] = *devices;
    }
  }
  if (absl::Status status = left_.CheckEquals(state); !status.ok()) {
    world_.Fail(absl::StrCat("after a start: ", status.message()));
  }
  if (absl::Status status = core::CheckInvariants(state); !status.ok()) {
    world_.Fail(absl::StrCat("after a start: ", status.message()));
  }
  CheckAcknowledged("after a start");
}

void Oracle::CheckAcknowledged(const std::string& when) {
  for (const std::string& job : acknowledged_) {
    if (left_.Find(job) == nullptr) {
      world_.Fail(
          absl::StrCat("job ", job, " was acknowledged and is lost ", when));
    }
  }
  for (const std::vector<std::string>& jobs : together_) {
    const auto is_there = [this](const std::string& job) {
      return left_.Find(job) != nullptr;
    };
    if (std::any_of(jobs.begin(), jobs.end(), is_there) &&
        !std::all_of(jobs.begin(), jobs.end(), is_there)) {
      world_.Fail(absl::StrCat("of the jobs created with ", jobs.front(),
                               " some are missing ", when));
    }
  }
  for (const std::string& job : cancelled_) {
    const JobView* view = left_.Find(job);
    if (view == nullptr ||
        (view->state != Job::CANCELLED && view->state != Job::CANCELLING)) {
      world_.Fail(absl::StrCat("the cancel of job ", job,
                               " was acknowledged and is lost ", when));
    }
  }
}

void Oracle::Told(const std::string& worker, const std::string& incarnation,
                  const agent::v1::ObservedSet& observed) {
  LastWords& words = last_words_[worker];
  if (words.incarnation == incarnation &&
      observed.sequence() < words.sequence) {
    return;
  }
  words = {incarnation, observed.sequence(), {}};
  for (const auto& attempt : observed.attempts()) {
    if (attempt.phase() != agent::v1::ObservedAttempt::EXITED) {
      words.held.push_back({attempt.job(), attempt.attempt(), attempt.rank()});
      listed_[worker].insert(words.held.back());
    }
  }
}

void Oracle::CheckListed(const core::State& state,
                         const core::SetDesired& desired) {
  std::set<AttemptKey> listed;
  for (const auto& attempt : desired.request->attempts()) {
    listed.insert({attempt.job(), attempt.attempt(), attempt.rank()});
  }
  std::set<AttemptKey>& before = listed_[desired.request->worker()];
  for (const AttemptKey& key : before) {
    if (listed.count(key) > 0 || !IsLive(state, key)) continue;
    world_.Fail(absl::StrCat(desired.request->worker(), " is not told any more",
                             " of ", key.ToString(), ", which is not over"));
  }
  before = std::move(listed);
}

void Oracle::CheckDevices(const core::State& state) {
  for (const LiveAttempt& live : LiveAttempts(state)) {
    // One that was given away before is no mistake of now: a worker may start
    // late what it was told to. (What a scheduler gave that died before it
    // could record that, the next one gives anew.)
    std::vector<std::string>& devices = devices_[live.key];
    if (std::exchange(devices, live.devices) == live.devices) continue;
    if (live.lacks_kernel) {
      world_.Fail(absl::StrCat(live.key.ToString(), " is given a device of ",
                               live.worker,
                               ", which lacks a kernel that it names"));
    }
    for (const AttemptKey& other : last_words_[live.worker].held) {
      if (other == live.key || !Overlap(devices_[other], live.devices)) {
        continue;
      }
      world_.Fail(absl::StrCat("a device of ", live.worker, " is given to ",
                               live.key.ToString(), " while ", other.ToString(),
                               " holds it"));
    }
  }
}

void Oracle::CheckGiven(const core::State& state, const JobView& job) {
  const absl::Status status = CheckRequests(state, job.id, offers_);
  if (!status.ok()) world_.Fail(std::string(status.message()));
  if (!core::ShapeOf(*job.facts->spec).exclusive) return;
  for (const LiveAttempt& live : LiveAttempts(state)) {
    if (live.key.job != job.id) continue;
    for (const AttemptKey& other : last_words_[live.worker].held) {
      if (other.job == job.id && other.attempt == job.attempt) continue;
      world_.Fail(absl::StrCat(live.key.ToString(), " is to be alone on ",
                               live.worker, ", where ", other.ToString(),
                               " still is"));
    }
  }
}

Oracle::Held Oracle::Count(const core::State& state) {
  Held held;
  for (const LiveAttempt& live : LiveAttempts(state)) {
    const int devices = static_cast<int>(live.devices.size());
    held.all[live.queue] += devices;
    if (!live.stopping) held.going_on[live.queue] += devices;
    held.by_owner[{live.queue, live.owner}] += devices;
  }
  return held;
}

void Oracle::CheckHeld(const Held& held, const JobView& job) {
  const JobView* before = left_.Find(job.id);
  if (job.attempt <= (before == nullptr ? 0 : before->attempt)) return;
  const auto queue = queues_.find(core::QueueOf(*job.facts->spec));
  if (queue == queues_.end()) return;
  const auto find = [](const auto& map, const auto& key) {
    const auto it = map.find(key);
    return it == map.end() ? 0 : it->second;
  };
  const std::string& name = queue->first;
  const int all = find(held.all, name);
  if (all > LimitOf(queue->second)) {
    world_.Fail(
        absl::StrCat(name, " holds ", all, " devices with ", Named(job)));
  }
  const int owned = find(held.by_owner, std::pair(name, job.facts->user));
  if (owned > queue->second.max_per_owner.value_or(owned)) {
    world_.Fail(absl::StrCat(job.facts->user, " holds ", owned, " devices in ",
                             name, " with ", Named(job)));
  }
}

bool Oracle::IsNewlyPreempted(const JobView& job) const {
  const JobView* before = left_.Find(job.id);
  return job.stopped_for == core::reason::kPreempted &&
         (before == nullptr || before->stopped_for != job.stopped_for);
}

std::map<std::string, int> Oracle::CountOvertaken(
    const core::State& state, const core::Effects& effects) const {
  std::map<std::string, int> overtaken;
  for (const core::Effect& effect : effects) {
    const auto* record = std::get_if<core::Record>(&effect);
    if (record == nullptr) continue;
    const auto* changed = std::get_if<core::JobPtr>(&record->value);
    if (changed == nullptr) continue;
    const JobView job = ViewOf(**changed);
    if (!IsNewlyPreempted(job) || !IsOvertaken(state, job)) continue;
    overtaken[core::QueueOf(*job.facts->spec)] +=
        job.facts->num_ranks * job.facts->num_devices;
  }
  return overtaken;
}

void Oracle::CheckPreempted(const core::State& state, const Held& held,
                            const JobView& job) {
  if (!IsNewlyPreempted(job) || IsOvertaken(state, job)) return;
  const auto find = [](const auto& map, const std::string& name) {
    const auto it = map.find(name);
    return it == map.end() ? 0 : it->second;
  };
  const auto guaranteed = [this](const std::string& name) {
    const auto it = queues_.find(name);
    return it == queues_.end() ? 0 : GuaranteedOf(it->second);
  };
  const std::string& queue = core::QueueOf(*job.facts->spec);
  // What a queue takes from its own jobs it keeps.
  const int kept = find(held.going_on, queue) + find(held.overtaken, queue);
  for (const auto& [sequence, facts] : state.waiting) {
    const std::string& other = core::QueueOf(*facts->spec);
    const bool reclaims =
        other != queue &&
        find(held.all, other) + facts->num_ranks * facts->num_devices <=
            guaranteed(other) &&
        kept >= guaranteed(queue);
    if (reclaims) return;
  }
  world_.Fail(Named(job) + " is preempted for nobody");
}

void Oracle::TakeQueue(const core::Row& row) {
  if (row.kind != core::Row::Kind::kQueue) return;
  if (const auto queue = QueueIn(row)) {
    queues_[queue->name] = *queue;
    return;
  }
  // Later it is forgotten.
  if (queues_.erase(row.key) == 0) return;
  ++num_queues_deleted_;
  for (const auto& [id, job] : left_.jobs()) {
    if (!core::IsTerminal(job.state) &&
        core::QueueOf(*job.facts->spec) == row.key) {
      world_.Fail(
          absl::StrCat("queue ", row.key, " is deleted with ", Named(job)));
    }
  }
}

void Oracle::CheckQueue(const JobView& job) {
  const std::string& queue = core::QueueOf(*job.facts->spec);
  if (left_.Find(job.id) == nullptr && queue != scheduler::kDefaultQueue &&
      queues_.count(queue) == 0) {
    world_.Fail(Named(job) + " is created in a queue that is not there");
  }
}

void Oracle::AfterApply(const core::State& state, const core::Effects& effects,
                        const core::Moment& now) {
  Held held = Count(state);
  held.overtaken = CountOvertaken(state, effects);
  std::vector<JobView> with_parts;
  std::set<std::string> queued;
  std::set<std::string> stopped;
  for (const core::Effect& effect : effects) {
    if (const auto* desired = std::get_if<core::SetDesired>(&effect)) {
      CheckListed(state, *desired);
    }
    const auto* record = std::get_if<core::Record>(&effect);
    if (record == nullptr) continue;
    // What people change comes before what follows from it.
    if (const auto* row = std::get_if<core::RowPtr>(&record->value)) {
      TakeQueue(**row);
      if (const auto devices = QuarantineIn(**row)) {
        CheckQuarantined((*row)->key, *devices);
      }
    }
    if (const auto* job = std::get_if<core::JobPtr>(&record->value)) {
      const JobView view = ViewOf(**job);
      order_.TakeJob(*view.facts);
      CheckChange(left_, view);
      CheckQueue(view);
      CheckOrder(view);
      const JobView* before = left_.Find(view.id);
      if (before != nullptr && view.attempt > before->attempt) {
        order_.CheckStart(state, view);
        CheckGiven(state, view);
        CheckParallel(state, view);
      }
      if (view.reason == core::reason::kStoppedEarly &&
          (before == nullptr || before->reason != view.reason)) {
        stopped.insert(view.id);
      }
      if (!view.facts->parts.empty()) with_parts.push_back(view);
      if (view.state == Job::QUEUED) queued.insert(view.id);
      CheckOpen(state, now, view);
      CheckHeld(held, view);
      CheckPreempted(state, held, view);
    }
    left_.Put(*record);
  }
  for (const JobView& job : with_parts) CheckParts(job);
  num_stopped_early_ += static_cast<int>(stopped.size());
  if (absl::Status status = CheckStoppedEarly(state, left_, stopped);
      !status.ok()) {
    world_.Fail(std::string(status.message()));
  }
  order_.AfterApply(state);
  if (absl::Status status = core::CheckInvariants(state); !status.ok()) {
    world_.Fail(status.ToString());
  }
  if (absl::Status status = left_.CheckEquals(state); !status.ok()) {
    world_.Fail(status.ToString());
  }
  if (absl::Status status = left_.CheckNamed(); !status.ok()) {
    world_.Fail(status.ToString());
  }
  CheckDevices(state);
  CheckExplained(state, std::move(queued));
}

void Oracle::CheckExplained(const core::State& state,
                            std::set<std::string> jobs) {
  // What is wrong by now may not even be explained.
  if (world_.failed()) return;
  const bool is_each = world_.seed() % kDearPeriod == 0;
  if (++num_applies_ % kDearPeriod == 0 || is_each) {
    for (const auto& [id, entry] : state.jobs) jobs.insert(id);
  } else {
    last_explained_ = NextQueued(state, last_explained_);
    if (!last_explained_.empty()) jobs.insert(last_explained_);
  }
  if (jobs.empty()) return;
  const Explanations explanations(state, {left_, queues_});
  for (const std::string& job : jobs) {
    const absl::Status status = explanations.Check(job);
    if (!status.ok()) world_.Fail(std::string(status.message()));
  }
}

void Oracle::AfterCommit(const std::vector<core::Record>& records) {
  // All at once: a job's record may come before those of its checkpoints.
  for (const core::Record& record : records) {
    if (const auto* report = std::get_if<core::ReportPtr>(&record.value)) {
      CheckResult(**report);
    }
    if (!std::holds_alternative<core::JobPtr>(record.value)) {
      stored_.Put(record);
    }
  }
  for (const core::Record& record : records) {
    if (const auto* job = std::get_if<core::JobPtr>(&record.value)) {
      CheckChange(stored_, ViewOf(**job));
      stored_.Put(record);
    }
  }
  if (absl::Status status = stored_.CheckNamed(); !status.ok()) {
    world_.Fail(status.ToString());
  }
}

void Oracle::CheckResult(const reports::v1::Report& report) {
  if (report.key().empty()) return;
  if (!report.taken_from().empty()) {
    ++num_taken_;
    if (stored_.KeyOf(report.taken_from()) != report.key()) {
      world_.Fail(absl::StrCat(report.name(), " is taken from ",
                               report.taken_from(), ", which is not of that"));
    }
    return;
  }
  if (again_.count(core::JobIdOf(report.name())) > 0) return;
  const auto [it, is_first] = evaluated_.emplace(report.key(), report.name());
  if (!is_first) {
    world_.Fail(absl::StrCat(report.name(), " is what ", it->second,
                             " had found before"));
  }
}

void Oracle::Dispatched(const core::SetDesired& desired) {
  const std::string& worker = desired.request->worker();
  for (const auto& attempt : desired.request->attempts()) {
    const AttemptKey key{attempt.job(), attempt.attempt(), attempt.rank()};
    const JobView* stored = stored_.Find(key.job);
    if (stored == nullptr || stored->attempt < key.attempt) {
      world_.Fail(absl::StrCat("attempt ", key.ToString(),
                               " is given away before it is durable"));
    }
    for (const auto& part : attempt.summarize().parts()) {
      const JobView* ended = stored_.Find(part.job());
      if (ended == nullptr || !core::IsTerminal(ended->state) ||
          Job::State_Name(ended->state) != part.state()) {
        world_.Fail(absl::StrCat(key.ToString(), " is told that ", part.job(),
                                 " ended as ", part.state()));
      }
    }
    const auto [it, is_first] = given_.emplace(key, worker);
    if (!is_first && it->second != worker) {
      world_.Fail(absl::StrCat("attempt ", key.ToString(), " is given to ",
                               worker, " and was given to ", it->second));
    }
  }
}

std::vector<std::string> Oracle::Unfinished(const core::State& state) const {
  std::vector<std::string> unfinished;
  for (const JobView& job : JobsOf(state)) {
    if (!core::IsTerminal(job.state)) unfinished.push_back(Named(job));
  }
  return unfinished;
}

void Oracle::AtEnd(const core::State& state) {
  CheckAcknowledged("at the end");
  const std::vector<std::string> unfinished = Unfinished(state);
  if (!unfinished.empty()) {
    world_.Fail(absl::StrCat("not ended: ", absl::StrJoin(unfinished, "; ")));
  }
  // Nothing is under way that needs one of them.
  for (const JobView& job : JobsOf(state)) {
    world_.Fail(absl::StrCat(Named(job), " has ended and has not left"));
  }
}

}  // namespace ordo::tests::sim
