#include "tests/sim/client.h"

#include <algorithm>
#include <utility>

#include "absl/strings/str_cat.h"
#include "scheduler/core/job.h"
#include "scheduler/core/testing/builders.h"

namespace ordo::tests::sim {
namespace {

using scheduler::NewJob;
using scheduler::core::JobPtr;
using scheduler::core::testing::JobBuilder;

constexpr absl::Duration kTimeout = absl::Seconds(5);
// No message comes later.
constexpr absl::Duration kLate = absl::Minutes(1);
constexpr uint64_t kMaxBatch = 8;
// Jobs whose checkpoints are asked about, and what is asked.
constexpr size_t kAskedJobs = 3;
constexpr uint64_t kQuestions = 3;
// Of either sign.
constexpr int kMaxPriority = 4;
// Steps that take longer than any simulation.
constexpr int64_t kEndless = 1'000'000'000;

bool MayTryAgain(const absl::Status& status) {
  return absl::IsUnavailable(status) || absl::IsDeadlineExceeded(status);
}

}  // namespace

Client::Client(World& world, Network& network, SimScheduler& scheduler,
               Oracle& oracle)
    : world_(world),
      network_(network),
      scheduler_(scheduler),
      oracle_(oracle),
      dice_(0, ""),
      requests_(0, ""),
      parents_(0, ""),
      stops_(0, ""),
      optimizers_(0, ""),
      questions_(0, ""),
      bests_(0, "") {}

void Client::Begin(const std::string& id, const Part& part) {
  id_ = id;
  workload_ = part.workload;
  max_jobs_ = part.max_jobs;
  queues_ = part.queues;
  offers_ = part.offers;
  dice_ = world_.MakeDice(id);
  requests_ = world_.MakeDice(id + "/requests");
  parents_ = world_.MakeDice(id + "/parents");
  stops_ = world_.MakeDice(id + "/stops");
  optimizers_ = world_.MakeDice(id + "/optimizers");
  questions_ = world_.MakeDice(id + "/questions");
  bests_ = world_.MakeDice(id + "/bests");
  PlanNext(workload_.submits_per_minute(), &Client::SubmitOne);
  PlanNext(workload_.batches_per_minute(), &Client::SubmitBatch);
  PlanNext(workload_.parents_per_minute(), &Client::SubmitParent);
  PlanNext(workload_.cancels_per_minute(), &Client::CancelOne);
  PlanNext(workload_.holds_per_minute(), &Client::HoldOne);
  PlanNext(workload_.moves_per_minute(), &Client::MoveOne);
}

void Client::PlanNext(double per_minute, void (Client::*action)()) {
  if (per_minute <= 0) return;
  const absl::Duration most = absl::Minutes(2) / per_minute;
  world_.After(dice_.Between(absl::ZeroDuration(), most), "",
               [this, per_minute, action] {
                 if (settled_) return;
                 (this->*action)();
                 PlanNext(per_minute, action);
               });
}

NewJob Client::MakeJob() {
  const std::string id = absl::StrCat(id_, "-", num_jobs_++);
  JobBuilder builder(id);
  builder.MaxAttempts(1 + static_cast<int>(dice_.Int(4)));
  builder.Keep(1 + static_cast<int>(dice_.Int(3)));
  if (optimizers_.Chance(workload_.thin())) {
    builder.KeepOptimizer(1 + static_cast<int>(optimizers_.Int(2)));
  }
  if (dice_.Chance(workload_.request_id())) {
    builder.RequestId("request-of-" + id, "fingerprint-of-" + id);
  }
  if (dice_.Chance(workload_.impossible())) {
    builder.Device("cuda");
    endless_.insert(id);
  }
  if (!known_.empty() && dice_.Chance(workload_.reference())) {
    const std::string other = known_[dice_.Int(known_.size())];
    if (dice_.Chance(0.5)) {
      builder.StartFrom("jobs/" + other);
    } else {
      builder.Evaluates({"jobs/" + other});
    }
  }
  NewJob job = builder;
  auto steps = static_cast<int64_t>(1 + dice_.Int(workload_.max_steps()));
  if (dice_.Chance(workload_.endless())) {
    steps = kEndless;
    endless_.insert(id);
  }
  jobs::v1::JobSpec& spec = job.OwnSpec();
  spec.mutable_training()->set_steps(steps);
  if (dice_.Chance(workload_.kernel())) {
    spec.mutable_training()->set_kernel(kKernel);
  }
  spec.mutable_retry()->mutable_step_timeout()->set_seconds(
      static_cast<int64_t>(2 + dice_.Int(10)));
  DrawLimits(id, &spec);
  DrawRequests(&spec);
  DrawQueue(&job, &spec);
  DrawNeeds(&spec);
  DrawQuestions(id, &spec);
  known_.push_back(id);
  return job;
}

void Client::DrawLimits(const std::string& id, jobs::v1::JobSpec* spec) {
  if (dice_.Chance(workload_.gang())) {
    spec->mutable_resources()->set_ranks(
        static_cast<int>(1 + dice_.Int(workload_.max_ranks())));
  }
  if (dice_.Chance(workload_.limit())) {
    spec->mutable_run_time_limit()->set_seconds(
        static_cast<int64_t>(1 + dice_.Int(20)));
  }
  if (dice_.Chance(workload_.limit())) {
    spec->mutable_queue_time_limit()->set_seconds(
        static_cast<int64_t>(1 + dice_.Int(60)));
  }
  if (dice_.Chance(workload_.limit())) {
    spec->mutable_retry()->set_max_interruptions(
        static_cast<int>(1 + dice_.Int(4)));
  }
  if (dice_.Chance(workload_.priority())) {
    spec->set_priority(static_cast<int>(dice_.Int(2 * kMaxPriority + 1)) -
                       kMaxPriority);
  }
  if (dice_.Chance(workload_.held())) {
    spec->set_hold(true);
    held_.insert(id);
  }
  if (workload_.run_time_limit_s() > 0) {
    spec->mutable_run_time_limit()->set_seconds(workload_.run_time_limit_s());
  }
  if (workload_.giant() > 0) DrawSize(spec);
}

void Client::DrawSize(jobs::v1::JobSpec* spec) {
  const bool is_giant = dice_.Chance(workload_.giant());
  spec->mutable_resources()->set_ranks(is_giant ? workload_.max_ranks() : 1);
  spec->set_priority(is_giant ? -kMaxPriority : kMaxPriority);
}

void Client::DrawRequests(jobs::v1::JobSpec* spec) {
  const Offer& any = offers_[requests_.Int(offers_.size())];
  training::v1::Resources& resources = *spec->mutable_resources();
  bool asks = false;
  const auto draw = [&](double chance, int64_t most) -> int64_t {
    if (!requests_.Chance(chance) || most == 0) return 0;
    asks = true;
    return 1 + static_cast<int64_t>(requests_.Int(most));
  };
  if (const int64_t devices = draw(workload_.several(), any.devices)) {
    resources.set_devices(static_cast<int>(devices));
  }
  if (const int64_t cpus = draw(workload_.cores(), any.cpus)) {
    resources.set_cpus(static_cast<int>(cpus));
  }
  if (const int64_t bytes = draw(workload_.memory(), any.memory_bytes)) {
    resources.set_memory_bytes(bytes);
  }
  if (draw(workload_.zone(), static_cast<int64_t>(any.labels.size())) > 0) {
    (*resources.mutable_labels())[kZone] = any.labels.at(kZone);
  }
  if (requests_.Chance(workload_.alone())) resources.set_exclusive(true);
  if (!asks) return;
  const scheduler::policy::Shape shape = scheduler::core::ShapeOf(*spec);
  resources.set_ranks(std::min(shape.ranks, RanksWhenEmpty(offers_, shape)));
}

void Client::DrawQueue(NewJob* job, jobs::v1::JobSpec* spec) {
  if (queues_.empty() || !dice_.Chance(workload_.queue())) return;
  const scheduler::policy::Queue& queue = queues_[dice_.Int(queues_.size())];
  spec->set_queue(queue.name);
  if (dice_.Chance(0.5)) job->owner.set_user("bob");
  const int devices = scheduler::core::ShapeOf(*spec).num_devices();
  if (devices > LimitOf(queue) ||
      devices > queue.max_per_owner.value_or(devices)) {
    endless_.insert(job->name);
  }
}

void Client::DrawNeeds(jobs::v1::JobSpec* spec) {
  for (int i = 0; i < 2 && !known_.empty(); ++i) {
    if (!dice_.Chance(workload_.need())) continue;
    jobs::v1::Need& need = *spec->add_needs();
    need.set_job("jobs/" + known_[dice_.Int(known_.size())]);
    if (dice_.Chance(0.5)) need.set_condition(jobs::v1::Need::ENDED);
  }
}

void Client::DrawQuestions(const std::string& id, jobs::v1::JobSpec* spec) {
  if (known_.empty() || !questions_.Chance(workload_.question())) return;
  const uint64_t num_asked = std::min(known_.size(), kAskedJobs);
  std::string checkpoint = "jobs/" + known_[questions_.Int(num_asked)];
  if (questions_.Chance(0.3)) checkpoint += "/checkpoints/every";
  spec->set_kind(jobs::v1::JobSpec::EVALUATE);
  spec->clear_start_from();
  spec->clear_checkpoints();
  spec->add_checkpoints(checkpoint);
  spec->mutable_resources()->set_ranks(1);
  const uint64_t first = questions_.Int(kQuestions);
  const uint64_t count = 1 + questions_.Int(2);
  for (uint64_t i = 0; i < count; ++i) {
    training::v1::Evaluation& evaluation = *spec->add_evaluations();
    evaluation.set_task("addition");
    evaluation.set_name(absl::StrCat("addition-", i));
    evaluation.set_seed(1 + (first + i) % kQuestions);
  }
  if (questions_.Chance(0.1)) {
    spec->set_again(true);
    oracle_.Again(id);
  }
}

void Client::SubmitOne() {
  if (num_jobs_ < max_jobs_) Submit({MakeJob()});
}

void Client::SubmitBatch() {
  std::vector<NewJob> jobs;
  const uint64_t count = 2 + dice_.Int(kMaxBatch - 1);
  while (jobs.size() < count && num_jobs_ < max_jobs_) {
    jobs.push_back(MakeJob());
  }
  if (jobs.empty()) return;
  std::vector<std::string> ids;
  for (const NewJob& job : jobs) ids.push_back(job.name);
  oracle_.Together(ids);
  Submit(jobs);
}

NewJob Client::MakePart(const std::string& parent, int number) {
  const std::string id = absl::StrCat(parent, "-", number);
  JobBuilder builder(id);
  builder.PartOf(parent, absl::StrCat("number=", number));
  builder.MaxAttempts(1 + static_cast<int>(parents_.Int(3)));
  NewJob part = builder;
  auto steps = static_cast<int64_t>(1 + parents_.Int(workload_.max_steps()));
  if (parents_.Chance(workload_.endless())) {
    steps = kEndless;
    endless_.insert(id);
  }
  part.OwnSpec().mutable_training()->set_steps(steps);
  if (parents_.Chance(workload_.gang())) {
    part.OwnSpec().mutable_resources()->set_ranks(
        static_cast<int>(1 + parents_.Int(workload_.max_ranks())));
  }
  return part;
}

void Client::Chain(std::vector<NewJob>* parts) {
  for (size_t i = 1; i < parts->size(); ++i) {
    NewJob& part = (*parts)[i];
    const std::string before = "jobs/" + (*parts)[i - 1].name;
    jobs::v1::Need& need = *part.OwnSpec().add_needs();
    need.set_job(before);
    // What failed may have left something.
    if (parents_.Chance(0.5)) need.set_condition(jobs::v1::Need::ENDED);
    if (parents_.Chance(0.5)) {
      part.OwnSpec().set_start_from(before);
    } else {
      part.OwnSpec().mutable_resources()->set_ranks(1);
      if (i % 2 == 0) {
        part.OwnSpec().set_kind(jobs::v1::JobSpec::GATE);
        part.OwnSpec().mutable_gate()->set_candidate(before);
        part.OwnSpec().mutable_gate()->set_baseline(before);
        training::v1::Evaluation& asked = *part.OwnSpec().add_evaluations();
        asked.set_task("addition");
        asked.set_name("addition");
        asked.set_seed(1 + bests_.Int(kQuestions));
      } else {
        part.OwnSpec().set_kind(jobs::v1::JobSpec::EVALUATE);
        part.OwnSpec().add_checkpoints(before);
      }
      endless_.erase(part.name);
    }
    if (bests_.Chance(0.4)) TakeBest(&(*parts)[i - 1], &part);
  }
}

void Client::TakeBest(NewJob* before, NewJob* part) {
  if (before->spec->kind() != jobs::v1::JobSpec::TRAIN ||
      endless_.count(before->name) > 0) {
    return;
  }
  if (before->spec->evaluations().empty()) {
    training::v1::Evaluation& evaluation = *before->OwnSpec().add_evaluations();
    evaluation.set_task(kScored);
    evaluation.set_name(kScored);
    evaluation.set_every_steps(static_cast<int64_t>(1 + bests_.Int(4)));
  }
  const std::string newest = "jobs/" + before->name;
  const std::string best = newest + "/checkpoints/best";
  jobs::v1::JobSpec& spec = part->OwnSpec();
  if (spec.start_from() == newest) spec.set_start_from(best);
  for (std::string& name : *spec.mutable_checkpoints()) {
    if (name == newest) name = best;
  }
  if (!spec.has_gate()) return;
  // The other one stays: both are looked up.
  spec.mutable_gate()->set_candidate(best);
}

void Client::LetStopEarly(std::vector<NewJob>* jobs) {
  const auto every = static_cast<int64_t>(1 + stops_.Int(4));
  const int64_t steps = every * static_cast<int64_t>(2 + stops_.Int(6));
  for (size_t i = 0; i + 1 < jobs->size(); ++i) {
    NewJob& part = (*jobs)[i];
    part.OwnSpec().mutable_training()->set_steps(steps);
    training::v1::Evaluation& evaluation = *part.OwnSpec().add_evaluations();
    evaluation.set_task(kScored);
    evaluation.set_name(kScored);
    evaluation.set_every_steps(every);
    endless_.erase(part.name);
  }
  jobs::v1::EarlyStopping& rule =
      *jobs->back().OwnSpec().mutable_sweep()->mutable_early_stopping();
  rule.set_rule(stops_.Chance(0.5) ? "median" : "halving");
  rule.set_evaluation(kScored);
  rule.set_metric(kScore);
  rule.set_goal(stops_.Chance(0.5) ? "max" : "min");
  rule.set_from_step(every * static_cast<int64_t>(1 + stops_.Int(2)));
  rule.set_factor(2);
  rule.set_min_reports(static_cast<int>(2 + stops_.Int(2)));
}

std::vector<NewJob> Client::MakeParent() {
  const std::string id = absl::StrCat(id_, "-p", num_parents_++);
  const int count = 1 + static_cast<int>(parents_.Int(4));
  std::vector<NewJob> jobs;
  std::vector<std::string> ids;
  for (int i = 0; i < count; ++i) {
    jobs.push_back(MakePart(id, i));
    ids.push_back(jobs.back().name);
  }
  const bool is_pipeline = parents_.Chance(0.4);
  if (is_pipeline) Chain(&jobs);
  JobBuilder builder(id);
  builder.Sweeps(ids, static_cast<int>(parents_.Int(3)));
  if (parents_.Chance(workload_.request_id())) {
    builder.RequestId("request-of-" + id, "fingerprint-of-" + id);
  }
  if (parents_.Chance(workload_.limit() / 4)) {
    builder.QueueTimeLimit(
        absl::Seconds(static_cast<int64_t>(1 + parents_.Int(60))));
  }
  if (parents_.Chance(workload_.held())) {
    builder.Held();
    held_.insert(id);
  }
  jobs.push_back(builder);
  if (is_pipeline) {
    jobs::v1::JobSpec& spec = jobs.back().OwnSpec();
    spec.set_kind(jobs::v1::JobSpec::PIPELINE);
    spec.mutable_pipeline()->set_max_parallel(spec.sweep().max_parallel());
    spec.clear_sweep();
  }
  if (!is_pipeline && stops_.Chance(workload_.early_stop())) {
    LetStopEarly(&jobs);
  }
  // Its parts need what it needs.
  if (!known_.empty() && parents_.Chance(workload_.need())) {
    const std::string needed = "jobs/" + known_[parents_.Int(known_.size())];
    for (NewJob& job : jobs) job.OwnSpec().add_needs()->set_job(needed);
  }
  known_.insert(known_.end(), ids.begin(), ids.end());
  known_.push_back(id);
  return jobs;
}

void Client::SubmitParent() {
  // Few: each of them is several jobs.
  if (num_parents_ * 8 >= max_jobs_) return;
  const std::vector<NewJob> jobs = MakeParent();
  std::vector<std::string> ids;
  for (const NewJob& job : jobs) ids.push_back(job.name);
  oracle_.Together(ids);
  Submit(jobs);
}

void Client::CancelOne() {
  if (!known_.empty()) Cancel(known_[dice_.Int(known_.size())]);
}

void Client::Again(std::function<void()> then) {
  ++num_under_way_;
  world_.After(dice_.Between(absl::Milliseconds(50), absl::Seconds(2)), "",
               [this, then] {
                 --num_under_way_;
                 then();
               });
}

void Client::Submit(const std::vector<NewJob>& jobs) {
  ++num_under_way_;
  network_.Call<std::vector<JobPtr>>(
      {id_, "scheduler",
       absl::StrCat("submit ", jobs.front().name, " and ", jobs.size() - 1),
       kTimeout},
      [this, jobs](Reply<std::vector<JobPtr>> reply) {
        scheduler_.CreateJobs(jobs, std::move(reply));
      },
      [this, jobs](const Answer& answer) {
        --num_under_way_;
        TakeSubmitted(jobs, answer);
      });
}

void Client::TakeSubmitted(const std::vector<NewJob>& jobs,
                           const Answer& answer) {
  if (answer.ok()) {
    // A parent that was created before comes without its parts.
    const auto num_parts =
        std::count_if(jobs.begin(), jobs.end(),
                      [](const NewJob& job) { return !job.parent.empty(); });
    const bool is_repeat =
        num_parts > 0 && !jobs.back().request_id.empty() && answer->size() == 1;
    if (answer->size() != jobs.size() && !is_repeat) {
      world_.Fail(absl::StrCat(id_, " got ", answer->size(), " jobs for ",
                               jobs.size()));
    }
    for (const NewJob& job : jobs) {
      const std::string& id = job.name;
      oracle_.Acknowledged(id);
      if (settled_ && endless_.count(id) > 0) Cancel(id);
      if (settled_ && held_.count(id) > 0) Release(id);
    }
    return;
  }
  // A reference may have nothing to refer to, or name what was thinned; what it
  // needs may have failed.
  // Without a request id, an earlier
  // try may have made the job.
  const bool expected =
      absl::IsNotFound(answer.status()) ||
      (absl::IsFailedPrecondition(answer.status()) &&
       std::any_of(jobs.begin(), jobs.end(),
                   [](const NewJob& job) {
                     return job.spec->needs_size() > 0 ||
                            !job.spec->start_from().empty();
                   })) ||
      (absl::IsAlreadyExists(answer.status()) &&
       std::any_of(jobs.begin(), jobs.end(),
                   [](const NewJob& job) { return job.request_id.empty(); }));
  if (MayTryAgain(answer.status())) {
    Again([this, jobs] { Submit(jobs); });
  } else if (!expected) {
    world_.Fail(absl::StrCat(id_, " is refused ", jobs.front().name, ": ",
                             answer.status().ToString()));
  }
}

void Client::Cancel(const std::string& job) {
  oracle_.CancelAsked(job);
  ++num_under_way_;
  network_.Call<std::vector<JobPtr>>(
      {id_, "scheduler", "cancel " + job, kTimeout},
      [this, job](Reply<std::vector<JobPtr>> reply) {
        scheduler_.CancelJob(job, std::move(reply));
      },
      [this, job](const Answer& answer) {
        --num_under_way_;
        TakeCancelled(job, answer);
      });
}

void Client::TakeCancelled(const std::string& job, const Answer& answer) {
  if (answer.ok()) {
    oracle_.CancelAcknowledged(job);
  } else if (MayTryAgain(answer.status())) {
    Again([this, job] { Cancel(job); });
  } else if (!absl::IsNotFound(answer.status()) &&
             !absl::IsFailedPrecondition(answer.status())) {
    world_.Fail(absl::StrCat("the cancel of ", job,
                             " is refused: ", answer.status().ToString()));
  }
}

void Client::HoldOne() {
  if (known_.empty()) return;
  const std::string& job = known_[dice_.Int(known_.size())];
  if (held_.count(job) > 0) {
    Release(job);
  } else {
    Hold(job);
  }
}

void Client::MoveOne() {
  if (known_.empty()) return;
  const std::string job = known_[dice_.Int(known_.size())];
  const auto priority =
      static_cast<int32_t>(dice_.Int(2 * kMaxPriority + 1)) - kMaxPriority;
  ++num_under_way_;
  network_.Call<std::vector<JobPtr>>(
      {id_, "scheduler", "move " + job, kTimeout},
      [this, job, priority](Reply<std::vector<JobPtr>> reply) {
        scheduler_.SetPriority(job, priority, std::move(reply));
      },
      [this, job](const Answer& answer) {
        --num_under_way_;
        TakeMoved(job, answer, [] {});
      });
}

void Client::Hold(const std::string& job) {
  held_.insert(job);
  ++num_under_way_;
  network_.Call<std::vector<JobPtr>>(
      {id_, "scheduler", "hold " + job, kTimeout},
      [this, job](Reply<std::vector<JobPtr>> reply) {
        scheduler_.HoldJob(job, std::move(reply));
      },
      [this, job](const Answer& answer) {
        --num_under_way_;
        // It may have arrived after what released it.
        if (settled_) return Release(job);
        TakeMoved(job, answer, [] {});
      });
}

void Client::Release(const std::string& job) {
  ++num_under_way_;
  network_.Call<std::vector<JobPtr>>(
      {id_, "scheduler", "release " + job, kTimeout},
      [this, job](Reply<std::vector<JobPtr>> reply) {
        scheduler_.ReleaseJob(job, std::move(reply));
      },
      [this, job](const Answer& answer) {
        --num_under_way_;
        TakeMoved(job, answer, [this, job] { Release(job); });
      });
}

void Client::TakeMoved(const std::string& job, const Answer& answer,
                       std::function<void()> again) {
  if (MayTryAgain(answer.status())) {
    Again(std::move(again));
  } else if (!answer.ok() && !absl::IsNotFound(answer.status()) &&
             !absl::IsFailedPrecondition(answer.status())) {
    world_.Fail(absl::StrCat("what is asked of ", job,
                             " is refused: ", answer.status().ToString()));
  }
}

void Client::Settle() {
  settled_ = true;
  for (const std::string& job : endless_) Cancel(job);
  const auto release = [this] {
    for (const std::string& job : held_) Release(job);
  };
  release();
  // What asked for a hold may still be under way.
  ++num_under_way_;
  world_.After(kLate, "", [this, release] {
    --num_under_way_;
    release();
  });
}

}  // namespace ordo::tests::sim
