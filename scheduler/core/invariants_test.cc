#include "scheduler/core/invariants.h"

#include <functional>
#include <string>
#include <vector>

#include "base/status/testing/status_matchers.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "scheduler/core/testing/test_shell.h"

namespace ordo::scheduler::core {
namespace {

using base::testing::IsOk;
using base::testing::StatusIs;
using testing::AttemptBuilder;
using testing::JobBuilder;
using testing::TestShell;
using testing::WorkerBuilder;

// A worker runs a, which has a checkpoint that c waits to evaluate; b waits.
State Busy() {
  TestShell shell;
  EXPECT_THAT(shell.Announce(WorkerBuilder("w")), IsOk());
  shell.Ignore();
  EXPECT_THAT(shell.Submit(JobBuilder("a").RequestId("r")), IsOk());
  shell.Ignore();
  EXPECT_THAT(shell.Submit(JobBuilder("b")), IsOk());
  shell.Observe("w", {AttemptBuilder("a", 1).Running().Checkpoint(1, 5)});
  shell.Ignore();
  EXPECT_THAT(shell.Submit(JobBuilder("c").Evaluates({"jobs/a"})), IsOk());
  return shell.state();
}

// Changes a job behind the core's back.
void Change(State& state, const std::string& id,
            const std::function<void(JobRecord&)>& change) {
  auto job = std::make_shared<JobRecord>(*state.jobs.at(id).job);
  change(*job);
  state.jobs.at(id).job = job;
}

struct Damage {
  const char* what;
  std::function<void(State&)> make;
};

std::vector<Damage> Damages() {
  return {
      {"a live job that is not live on its worker",
       [](State& s) { s.workers.at("w").live.clear(); }},
      {"a job that waits nowhere", [](State& s) { s.waiting.clear(); }},
      {"a job that waits in no queue", [](State& s) { s.waiting_in.clear(); }},
      {"a queue in which a job waits that is not there",
       [](State& s) { s.waiting_in["night"].insert(7); }},
      {"a waiting job that is ended",
       [](State& s) { s.jobs.at("b").place = Ended{}; }},
      {"a public state of its own",
       [](State& s) {
         Change(s, "b", [](auto& job) { job.state = jobs::v1::Job::RUNNING; });
       }},
      {"an attempt that the board does not know",
       [](State& s) { s.board.End(1, absl::Seconds(1)); }},
      {"a worker that the board does not know as it is",
       [](State& s) { s.workers.at("w").shown.takes_work = false; }},
      {"two attempts on a device",
       [](State& s) {
         Live live = *LiveIn(s.jobs.at("a"));
         s.waiting.erase(2);
         s.waiting_in.clear();
         s.jobs.at("b").place = Box<Live>(live);
         s.workers.at("w").live.insert({"b", 0});
         Change(s, "b", [&s](auto& job) {
           job.state = jobs::v1::Job::STARTING;
           job.attempts = s.jobs.at("a").job->attempts;
         });
       }},
      {"a rank more than the job has",
       [](State& s) {
         LiveIn(s.jobs.at("a"))->ranks.emplace_back().over = true;
       }},
      {"a job that is on hold and waits for a device",
       [](State& s) {
         Change(s, "b", [](auto& job) { job.held_by = "ada"; });
       }},
      {"a job that waits for one that it does not need",
       [](State& s) { s.needed_by["a"].insert("b"); }},
      {"a limit of waiting that nobody set",
       [](State& s) {
         std::get<Queued>(s.jobs.at("b").place).limit_at = absl::Seconds(9);
       }},
      {"a live attempt with an end",
       [](State& s) {
         Change(s, "a", [](auto& job) {
           auto ended =
               std::make_shared<jobs::v1::Attempt>(job.newest_attempt());
           ended->mutable_end_time()->set_seconds(1);
           job.attempts.back() = ended;
         });
       }},
      {"a budget overdrawn",
       [](State& s) {
         Change(s, "b", [](auto& job) { job.failed_attempts = 3; });
       }},
      {"a pin missing", [](State& s) { s.pins.clear(); }},
      {"a needed checkpoint removed",
       [](State& s) {
         auto& checkpoint = s.jobs.at("a").checkpoints.begin()->second;
         auto removed =
             std::make_shared<checkpoints::v1::Checkpoint>(*checkpoint);
         removed->set_state(checkpoints::v1::Checkpoint::DELETED);
         checkpoint = removed;
       }},
      {"the newest of a run that goes on thinned",
       [](State& s) {
         auto& checkpoint = s.jobs.at("a").checkpoints.rbegin()->second;
         auto thin = std::make_shared<checkpoints::v1::Checkpoint>(*checkpoint);
         thin->clear_files();
         thin->mutable_thin_time()->set_seconds(1);
         checkpoint = thin;
       }},
      {"an alias that names nothing",
       [](State& s) {
         auto alias = std::make_shared<checkpoints::v1::Alias>();
         alias->set_name("aliases/main");
         alias->set_checkpoint("jobs/a/checkpoints/7-7");
         s.aliases["main"] = alias;
         s.pins[alias->checkpoint()].insert(alias->name());
       }},
      {"an alias with another digest than what it names",
       [](State& s) {
         auto alias = std::make_shared<checkpoints::v1::Alias>();
         alias->set_name("aliases/main");
         alias->set_checkpoint(
             s.jobs.at("a").checkpoints.rbegin()->second->name());
         alias->set_manifest_sha256("another");
         s.aliases["main"] = alias;
         s.pins[alias->checkpoint()].insert(alias->name());
       }},
      {"a pinned checkpoint that nobody holds",
       [](State& s) {
         s.pinned[s.jobs.at("a").checkpoints.rbegin()->second->name()] =
             std::make_shared<const audit::v1::Change>();
       }},
      {"a request id that leads nowhere", [](State& s) { s.requests.clear(); }},
      {"a sequence used twice",
       [](State& s) {
         Change(s, "a", [](auto& job) {
           auto facts = std::make_shared<JobFacts>(*job.facts);
           facts->sequence = 2;
           job.facts = facts;
         });
       }},
      {"a worker without a lease", [](State& s) { s.deadlines.clear(); }},
      {"a device in quarantine that is offered",
       [](State& s) {
         auto admin = std::make_shared<workers::v1::Worker>();
         workers::v1::Device& device = *admin->add_devices();
         device.set_name("cpu:0");
         device.mutable_quarantine();
         Worker& worker = s.workers.at("w");
         worker.quarantined = {"cpu:0"};
         s.admin["w"] = std::move(admin);
       }},
      {"a deadline without an owner",
       [](State& s) {
         s.deadlines.insert(
             {absl::Seconds(9), Deadline::Kind::kBackoff, "nobody"});
       }},
      {"a checkpoint of an attempt that never was",
       [](State& s) {
         auto checkpoint = std::make_shared<checkpoints::v1::Checkpoint>();
         checkpoint->set_name("jobs/b/checkpoints/5-7");
         checkpoint->set_attempt(7);
         s.jobs.at("b").checkpoints[{5, 7}] = checkpoint;
       }},
  };
}

TEST(InvariantsTest, AHealthyStateHasNoFault) {
  EXPECT_THAT(CheckInvariants(Busy()), IsOk());
}

TEST(InvariantsTest, EveryDamageIsFound) {
  for (const Damage& damage : Damages()) {
    SCOPED_TRACE(damage.what);
    State state = Busy();
    damage.make(state);
    EXPECT_THAT(CheckInvariants(state), StatusIs(absl::StatusCode::kInternal));
  }
}

TEST(InvariantsTest, ADecisionThatWasNotCarriedOutIsFound) {
  State state = Busy();
  state.options.place = [](const policy::Board&, absl::Duration) {
    policy::Decisions decisions;
    decisions.starts.push_back({2, {{"w", 0, {"cpu:0"}}}});
    return decisions;
  };
  EXPECT_THAT(CheckInvariants(state), StatusIs(absl::StatusCode::kInternal));
}

}  // namespace
}  // namespace ordo::scheduler::core
