#include "tests/sim/sim_scheduler.h"

#include <algorithm>
#include <utility>
#include <variant>

#include "absl/strings/str_cat.h"
#include "scheduler/core/load.h"
#include "scheduler/server/backlog.h"
#include "scheduler/server/writer.h"

namespace ordo::tests::sim {
namespace {

namespace core = scheduler::core;
using agent::v1::AnnounceResponse;
using agent::v1::SetDesiredRequest;
using agent::v1::SetDesiredResponse;

// As in scheduler/server/server.cc.
constexpr int kAnnouncesPerLease = 3;
constexpr absl::Duration kFullRetry = absl::Milliseconds(500);
constexpr absl::Duration kOpenTime = absl::Milliseconds(50);
// Of a commit on a disk that is well, mostly and rarely.
constexpr absl::Duration kUsualCommit = absl::Milliseconds(2);
constexpr absl::Duration kLongCommit = absl::Milliseconds(200);
constexpr double kLongShare = 0.05;

absl::Status NoRoom() { return absl::UnavailableError("the disk is full"); }

}  // namespace

queues::v1::Queue QueueOf(const scheduler::policy::Queue& queue) {
  queues::v1::Queue set;
  set.set_name(core::QueueName(queue.name));
  set.set_weight(queue.weight);
  set.set_max_queued_jobs(scheduler::kDefaultMaxQueuedJobs);
  for (const auto& [device, quota] : queue.quotas) {
    queues::v1::Quota& given = *set.add_quotas();
    given.set_device(device);
    given.set_guaranteed(quota.guaranteed);
    if (quota.limit.has_value()) given.set_limit(*quota.limit);
  }
  if (queue.max_per_owner.has_value()) {
    set.set_max_devices_per_owner(*queue.max_per_owner);
  }
  return set;
}

SimScheduler::SimScheduler(World& world, Network& network, Storage& storage,
                           Oracle& oracle)
    : world_(world),
      network_(network),
      storage_(storage),
      oracle_(oracle),
      dice_(world.MakeDice("scheduler")),
      store_dice_(world.MakeDice("store")),
      boot_dice_(world.MakeDice("scheduler/boots")),
      memory_(std::make_shared<scheduler::store::testing::Memory>()) {}

void SimScheduler::Begin(SimSchedulerOptions options, SetDesired set_desired) {
  options_ = std::move(options);
  set_desired_ = std::move(set_desired);
  clock_.emplace(world_, world_.MakeDice("scheduler/clock"),
                 options_.clock_drift);
  MakeQueues();
  Start();
}

void SimScheduler::MakeQueues() {
  std::vector<core::Record> rows;
  for (const scheduler::policy::Queue& queue : options_.queues) {
    rows.push_back({std::make_shared<const core::Row>(
        core::Row{core::Row::Kind::kQueue, queue.name,
                  QueueOf(queue).SerializeAsString()})});
  }
  scheduler::store::testing::MemoryStore store(memory_);
  store.Commit(rows).IgnoreError();
}

void SimScheduler::Start() {
  if (world_.now() < broken_until_) {
    world_.After(absl::Seconds(1), "the store cannot be opened",
                 [this] { Start(); });
    return;
  }
  ++num_lives_;
  store_ = std::make_unique<scheduler::store::testing::MemoryStore>(memory_);
  const auto contents = store_->Load();
  core::Options options = options_.core;
  options.epoch = contents->epoch;
  options.boot_id = absl::StrCat("boot-", num_boots_);
  auto state = core::Load(options, contents->records, clock_->Now());
  if (!state.ok()) {
    world_.Fail(
        absl::StrCat("the store is not taken: ", state.status().ToString()));
    return;
  }
  state_ = *std::move(state);
  queue_.clear();
  group_.clear();
  calls_.clear();
  queue_calls_.clear();
  worker_calls_.clear();
  alias_calls_.clear();
  checkpoint_calls_.clear();
  peers_.clear();
  committing_ = in_transaction_ = full_ = false;
  tick_at_.reset();
  stalled_until_ = absl::ZeroDuration();
  life_.Begin();
  world_.Note(absl::StrCat("start scheduler ", num_lives_));
  in_flight_ = {};
  const core::Records stored = Stored();
  oracle_.AfterLoad(*state_, stored);
  for (const std::string& name : DeletedCheckpoints(stored)) {
    storage_.Remove(name);
  }
  for (const std::string& name : ThinnedCheckpoints(stored)) {
    storage_.Thin(name);
  }
  PlanTick();
}

void SimScheduler::Kill() {
  if (!runs()) return;
  world_.Note("end scheduler");
  // A transaction that was under way took place, or not.
  const bool has_room = world_.now() >= full_until_;
  if (in_transaction_ && has_room && store_dice_.Chance(0.5)) {
    const auto records = scheduler::server::LastOfEachKey(group_);
    store_->Commit(records).IgnoreError();
    oracle_.AfterCommit(records);
  }
  life_.End();
  state_.reset();
  world_.After(dice_.Between(kOpenTime, options_.max_away), "",
               [this] { Start(); });
}

void SimScheduler::LosePower() {
  if (!runs()) return;
  world_.Note("power is lost on scheduler");
  Kill();
  ++num_boots_;
  clock_->Boot(boot_dice_.Between(absl::Seconds(1), absl::Hours(1)));
}

void SimScheduler::Stall(absl::Duration duration) {
  stalled_until_ = world_.now() + duration;
}

void SimScheduler::SlowStore(absl::Duration duration) {
  slow_until_ = world_.now() + duration;
}

void SimScheduler::FillStore(absl::Duration duration) {
  full_until_ = world_.now() + duration;
}

void SimScheduler::BreakStore(absl::Duration duration) {
  broken_until_ = world_.now() + duration;
}

void SimScheduler::Enter(std::function<void()> then) {
  const absl::Duration left = stalled_until_ - world_.now();
  if (left <= absl::ZeroDuration()) return then();
  world_.After(left, "", life_, [this, then] { Enter(then); });
}

// What the core takes of what workers say: nothing of an incarnation that is
// over, and answers only of one that is online.
void SimScheduler::TellOracle(const core::Event& event) {
  if (const auto* announced = std::get_if<core::Announced>(&event)) {
    const agent::v1::AnnounceRequest& request = announced->request;
    const auto worker = state_->workers.find(request.worker());
    if (worker != state_->workers.end()) {
      const auto& superseded = worker->second.superseded;
      if (std::count(superseded.begin(), superseded.end(),
                     request.incarnation()) > 0) {
        return;
      }
    }
    oracle_.Told(request.worker(), request.incarnation(), request.observed());
  } else if (const auto* observed = std::get_if<core::Observed>(&event)) {
    const auto worker = state_->workers.find(observed->worker);
    if (worker == state_->workers.end() ||
        worker->second.incarnation != observed->incarnation ||
        worker->second.liveness != core::Worker::Liveness::kOnline) {
      return;
    }
    oracle_.Told(observed->worker, observed->incarnation, observed->observed);
  }
}

absl::Status SimScheduler::Apply(core::Event event) {
  ++num_applies_;
  TellOracle(event);
  const core::Moment now = clock_->Now();
  core::Effects effects = core::Apply(*state_, std::move(event), now);
  oracle_.AfterApply(*state_, effects, now);
  absl::Status answer;
  for (const core::Effect& effect : effects) {
    if (const auto* announce = std::get_if<core::AnswerAnnounce>(&effect)) {
      answer = announce->status;
    }
  }
  in_flight_.Add(effects);
  if (!effects.empty()) queue_.push_back(std::move(effects));
  Commit();
  PlanTick();
  return answer;
}

void SimScheduler::PlanTick() {
  const auto next = core::NextDeadline(*state_);
  if (!next.has_value()) return;
  const absl::Duration at =
      world_.now() + std::max(absl::ZeroDuration(), clock_->Until(*next));
  // An earlier wake-up looks again.
  if (tick_at_.has_value() && *tick_at_ <= at) return;
  tick_at_ = at;
  world_.After(at - world_.now(), "", life_, [this, at] {
    if (tick_at_ != at) return;
    Enter([this] {
      tick_at_.reset();
      const auto due = core::NextDeadline(*state_);
      if (due.has_value() && *due <= clock_->Now().monotonic) {
        Apply(core::Tick{}).IgnoreError();
      }
      PlanTick();
    });
  });
}

void SimScheduler::Commit() {
  if (committing_ || queue_.empty()) return;
  committing_ = true;
  group_ = std::exchange(queue_, {});
  CommitGroup();
}

void SimScheduler::CommitGroup() {
  absl::Duration takes = absl::Microseconds(20);
  if (!scheduler::server::LastOfEachKey(group_).empty()) {
    in_transaction_ = true;
    takes = store_dice_.Between(
        absl::Microseconds(100),
        store_dice_.Chance(kLongShare) ? kLongCommit : kUsualCommit);
    if (world_.now() < slow_until_) {
      takes += store_dice_.Between(
          absl::ZeroDuration(),
          absl::Milliseconds(options_.store.max_commit_ms()));
    }
  }
  world_.After(takes, in_transaction_ ? "commit" : "", life_,
               [this] { Enter([this] { FinishCommit(); }); });
}

void SimScheduler::FinishCommit() {
  if (in_transaction_) {
    // A commit that fails ends the process; it may have taken place.
    if (world_.now() < broken_until_) return Kill();
    in_transaction_ = false;
    if (world_.now() < full_until_) return WaitForRoom();
    const auto records = scheduler::server::LastOfEachKey(group_);
    store_->Commit(records).IgnoreError();
    oracle_.AfterCommit(records);
    for (const core::Record& record : records) {
      const auto* job = std::get_if<core::JobPtr>(&record.value);
      if (job != nullptr) (*job)->facts->spec->LetGo();
    }
  }
  Release(0, 0);
}

void SimScheduler::WaitForRoom() {
  full_ = true;
  RefuseCalls();
  world_.After(kFullRetry, "no room", life_, [this] {
    Enter([this] {
      // The real one merges more of them at a time (scheduler/server/writer.h).
      for (core::Effects& effects : std::exchange(queue_, {})) {
        group_.push_back(std::move(effects));
      }
      group_ = {scheduler::server::Merge(std::move(group_))};
      CommitGroup();
    });
  });
}

void SimScheduler::RefuseCalls() {
  refused_before_ = next_call_;
  for (const auto& [call, reply] : std::exchange(calls_, {})) reply(NoRoom());
  for (const auto& [call, reply] : std::exchange(queue_calls_, {})) {
    reply(NoRoom());
  }
  for (const auto& [call, reply] : std::exchange(worker_calls_, {})) {
    reply(NoRoom());
  }
  for (const auto& [call, reply] : std::exchange(alias_calls_, {})) {
    reply(NoRoom());
  }
  for (const auto& [call, reply] : std::exchange(checkpoint_calls_, {})) {
    reply(NoRoom());
  }
}

void SimScheduler::CheckRefused(uint64_t call) {
  if (call < refused_before_) return;
  world_.Fail(absl::StrCat("call ", call, " is answered twice"));
}

void SimScheduler::Release(size_t turn, size_t effect) {
  for (; turn < group_.size(); ++turn, effect = 0) {
    for (; effect < group_[turn].size(); ++effect) {
      if (world_.troubled() && dice_.Chance(options_.kill_at_release)) {
        return Kill();
      }
      ReleaseEffect(group_[turn][effect]);
    }
  }
  committing_ = full_ = false;
  Forget(in_flight_.Remove(group_));
  Commit();
}

void SimScheduler::Forget(std::vector<std::string> jobs) {
  if (!jobs.empty()) Apply(core::Forget{std::move(jobs)}).IgnoreError();
}

void SimScheduler::Call(const scheduler::server::Mentioned& mentioned,
                        core::Event event) {
  auto past = store_->FindPast(mentioned.jobs, mentioned.request_ids);
  std::vector<std::string> recalled;
  for (const core::PastJob& each : past->jobs) {
    recalled.push_back(each.job->id());
  }
  if (!past->jobs.empty()) {
    Apply(core::Recall{std::move(past->jobs)}).IgnoreError();
  }
  Apply(std::move(event)).IgnoreError();
  Forget(in_flight_.Without(recalled));
}

void SimScheduler::ReleaseEffect(const core::Effect& effect) {
  if (const auto* desired = std::get_if<core::SetDesired>(&effect)) {
    oracle_.Dispatched(*desired);
    const std::string& worker = desired->request->worker();
    peers_[worker].pending = desired->request;
    Send(worker);
  } else if (const auto* answer = std::get_if<core::Answer>(&effect)) {
    const auto call = calls_.find(answer->call);
    if (call == calls_.end()) return CheckRefused(answer->call);
    const JobsReply reply = std::move(call->second);
    calls_.erase(call);
    reply(answer->jobs);
  } else if (const auto* queue = std::get_if<core::AnswerQueue>(&effect)) {
    const auto call = queue_calls_.find(queue->call);
    if (call == queue_calls_.end()) return CheckRefused(queue->call);
    const QueueReply reply = std::move(call->second);
    queue_calls_.erase(call);
    reply(queue->queue);
  } else if (const auto* changed = std::get_if<core::AnswerWorker>(&effect)) {
    const auto call = worker_calls_.find(changed->call);
    if (call == worker_calls_.end()) return CheckRefused(changed->call);
    const WorkerReply reply = std::move(call->second);
    worker_calls_.erase(call);
    reply(changed->worker);
  } else if (const auto* alias = std::get_if<core::AnswerAlias>(&effect)) {
    const auto call = alias_calls_.find(alias->call);
    if (call == alias_calls_.end()) return CheckRefused(alias->call);
    const AliasReply reply = std::move(call->second);
    alias_calls_.erase(call);
    reply(alias->alias);
  } else if (const auto* checkpoint =
                 std::get_if<core::AnswerCheckpoint>(&effect)) {
    const auto call = checkpoint_calls_.find(checkpoint->call);
    if (call == checkpoint_calls_.end()) return CheckRefused(checkpoint->call);
    const CheckpointReply reply = std::move(call->second);
    checkpoint_calls_.erase(call);
    reply(checkpoint->checkpoint);
  } else if (const auto* remove =
                 std::get_if<core::RemoveCheckpoint>(&effect)) {
    const std::string name =
        core::CheckpointName(remove->job, remove->checkpoint);
    if (remove->file.empty()) {
      storage_.Remove(name);
    } else {
      storage_.Thin(name);
    }
  } else if (const auto* worker = std::get_if<core::PublishWorker>(&effect)) {
    if (worker->value == nullptr) peers_.erase(worker->worker);
  }
}

void SimScheduler::Send(const std::string& worker) {
  Peer& peer = peers_[worker];
  if (peer.under_way || peer.pending == nullptr) return;
  peer.under_way = true;
  const std::shared_ptr<const SetDesiredRequest> request =
      std::exchange(peer.pending, nullptr);
  const auto take = [this, worker,
                     request](absl::StatusOr<SetDesiredResponse> answer) {
    const auto told = peers_.find(worker);
    if (told != peers_.end()) {
      told->second.under_way = false;
      Send(worker);
    }
    if (!answer.ok()) return;
    Apply(core::Observed{worker, request->incarnation(), answer->observed()})
        .IgnoreError();
  };
  network_.Call<SetDesiredResponse>(
      {"scheduler", worker, absl::StrCat("set ", request->incarnation()),
       options_.core.lease / 2},
      [this, request](Reply<SetDesiredResponse> reply) {
        set_desired_(*request, std::move(reply));
      },
      life_.Guard(Reply<SetDesiredResponse>(
          [this, take](absl::StatusOr<SetDesiredResponse> answer) {
            Enter([take, answer] { take(answer); });
          })));
}

void SimScheduler::CreateJobs(const std::vector<scheduler::NewJob>& jobs,
                              JobsReply reply) {
  Ask(
      scheduler::server::MentionedBy(jobs),
      [jobs](uint64_t call) {
        return core::Submit{call, jobs};
      },
      std::move(reply));
}

void SimScheduler::Ask(const scheduler::server::Mentioned& mentioned,
                       const std::function<core::Event(uint64_t call)>& make,
                       JobsReply reply) {
  if (!runs()) return reply(absl::UnavailableError("no such process"));
  Enter([this, mentioned, make, reply] {
    if (full_) return reply(NoRoom());
    const uint64_t call = next_call_++;
    calls_[call] = reply;
    Call(mentioned, make(call));
  });
}

void SimScheduler::CancelJob(const std::string& job, JobsReply reply) {
  Ask(
      {{job}},
      [job](uint64_t call) {
        return core::Cancel{call, job, "ada"};
      },
      std::move(reply));
}

void SimScheduler::HoldJob(const std::string& job, JobsReply reply) {
  Ask(
      {{job}},
      [job](uint64_t call) {
        return core::Hold{call, job, "ada"};
      },
      std::move(reply));
}

void SimScheduler::ReleaseJob(const std::string& job, JobsReply reply) {
  Ask(
      {{job}},
      [job](uint64_t call) {
        return core::Release{call, job, "ada"};
      },
      std::move(reply));
}

void SimScheduler::SetPriority(const std::string& job, int32_t priority,
                               JobsReply reply) {
  Ask(
      {{job}},
      [job, priority](uint64_t call) {
        return core::SetPriority{call, job, "ada", priority};
      },
      std::move(reply));
}

void SimScheduler::ChangeQueue(const core::ChangeQueue& change,
                               QueueReply reply) {
  if (!runs()) return reply(absl::UnavailableError("no such process"));
  Enter([this, change, reply] {
    if (full_) return reply(NoRoom());
    core::ChangeQueue numbered = change;
    numbered.call = next_call_++;
    const core::QueuePtr now =
        core::FindQueue(state_->queues, core::IdOf(change.queue.name()));
    if (change.verb == core::ChangeQueue::Verb::kUpdate && now != nullptr) {
      numbered.queue.set_etag(now->etag());
    }
    queue_calls_[numbered.call] = reply;
    Apply(std::move(numbered)).IgnoreError();
  });
}

void SimScheduler::ChangeWorker(const core::ChangeWorker& change,
                                WorkerReply reply) {
  if (!runs()) return reply(absl::UnavailableError("no such process"));
  Enter([this, change, reply] {
    if (full_) return reply(NoRoom());
    core::ChangeWorker numbered = change;
    numbered.call = next_call_++;
    worker_calls_[numbered.call] = reply;
    Apply(numbered).IgnoreError();
  });
}

void SimScheduler::ChangeAlias(const core::ChangeAlias& change,
                               AliasReply reply) {
  if (!runs()) return reply(absl::UnavailableError("no such process"));
  Enter([this, change, reply] {
    if (full_) return reply(NoRoom());
    core::ChangeAlias numbered = change;
    numbered.call = next_call_++;
    alias_calls_[numbered.call] = reply;
    scheduler::server::Mentioned mentioned;
    if (!change.setting.checkpoint.empty()) {
      mentioned.jobs.push_back(core::JobIdOf(change.setting.checkpoint));
    }
    Call(mentioned, std::move(numbered));
  });
}

void SimScheduler::ChangeCheckpoint(const core::ChangeCheckpoint& change,
                                    CheckpointReply reply) {
  if (!runs()) return reply(absl::UnavailableError("no such process"));
  Enter([this, change, reply] {
    if (full_) return reply(NoRoom());
    core::ChangeCheckpoint numbered = change;
    numbered.call = next_call_++;
    checkpoint_calls_[numbered.call] = reply;
    Call({{core::JobIdOf(change.checkpoint)}}, std::move(numbered));
  });
}

void SimScheduler::Announce(const agent::v1::AnnounceRequest& request,
                            const Reply<AnnounceResponse>& reply) {
  if (!runs()) return reply(absl::UnavailableError("no such process"));
  Enter([this, request, reply] {
    if (absl::Status status = Apply(core::Announced{request}); !status.ok()) {
      return reply(status);
    }
    AnnounceResponse response;
    *response.mutable_period() =
        core::ToProtoDuration(options_.core.lease / kAnnouncesPerLease);
    reply(std::move(response));
  });
}

bool SimScheduler::IsIdle() const {
  return runs() && !committing_ && queue_.empty();
}

bool SimScheduler::IsLive(const AttemptKey& key) const {
  return runs() && sim::IsLive(*state_, key);
}

}  // namespace ordo::tests::sim
