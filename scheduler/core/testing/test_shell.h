#ifndef ORDO_SCHEDULER_CORE_TESTING_TEST_SHELL_H_
#define ORDO_SCHEDULER_CORE_TESTING_TEST_SHELL_H_

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <type_traits>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/time/time.h"
#include "scheduler/core/apply.h"
#include "scheduler/core/load.h"
#include "scheduler/core/testing/builders.h"

namespace ordo::scheduler::core::testing {

// A shell without threads, files or network around the core, for tests of it.
// Time stands still until the test moves it. After each event it checks the
// invariants and that the records which left the core are the durable part of
// the state. Effects of an event wait to be taken; what is left when the next
// event comes, or at the end, fails the test. Records, counts and published
// values are not among them: they are kept to be looked at.
class TestShell {
 public:
  explicit TestShell(const Options& options = DefaultOptions());
  ~TestShell();

  // The policy `fair`, a lease of 10 s, a heartbeat far away.
  static Options DefaultOptions();

  // Events. Submit and what follows up to ChangePriority take their own answer.
  absl::StatusOr<std::vector<jobs::v1::Job>> Submit(
      const std::vector<NewJob>& jobs,
      const std::vector<RetiredJob>& retired = {});
  absl::StatusOr<jobs::v1::Job> Submit(const NewJob& job);
  absl::StatusOr<jobs::v1::Job> CancelJob(const std::string& job,
                                          const std::string& user = "ada");
  absl::StatusOr<jobs::v1::Job> HoldJob(const std::string& job,
                                        const std::string& user = "ada");
  absl::StatusOr<jobs::v1::Job> ReleaseJob(const std::string& job);
  absl::StatusOr<jobs::v1::Job> ChangePriority(const std::string& job,
                                               int priority);
  // Numbered here.
  absl::StatusOr<queues::v1::Queue> Change(ChangeQueue change);
  absl::StatusOr<workers::v1::Worker> Change(ChangeWorker change);
  absl::StatusOr<checkpoints::v1::Alias> Change(ChangeAlias change);
  absl::StatusOr<checkpoints::v1::Checkpoint> Change(ChangeCheckpoint change);
  // Takes its own answer. Numbers the observed set if the test did not.
  absl::Status AnnounceOnly(agent::v1::AnnounceRequest request);
  // The same, and the worker answers its first desired set with what it said.
  absl::Status Announce(agent::v1::AnnounceRequest request);
  // The worker answers a desired set with these attempts.
  void Observe(const std::string& worker,
               const std::vector<agent::v1::ObservedAttempt>& attempts);
  // Time passes: ticks at each deadline on the way and at the end.
  void Advance(absl::Duration duration);
  // Time passes and the scheduler does not look: no ticks, until the next
  // event.
  void Stall(absl::Duration duration) {
    now_.wall += duration;
    now_.monotonic += duration;
  }
  void JumpWallClock(absl::Duration duration) { now_.wall += duration; }
  // The scheduler dies and starts again from its records.
  void Restart();
  // What is stored of these jobs is enough; and is needed again.
  void Forget(const std::vector<std::string>& jobs);
  void Recall(const std::vector<std::string>& jobs);

  // Effects of the last event; they are taken.
  // The newest desired set of a worker; the test fails if there is none.
  agent::v1::SetDesiredRequest TakeDesired(const std::string& worker);
  bool HasDesired(const std::string& worker) const;
  // Checkpoints to remove, <job>/<checkpoint>, and files of them, with a slash
  // and their name.
  std::vector<std::string> TakeRemoved();
  // All that is left, of no interest to this test.
  void Ignore();

  // What there is now.
  const State& state() const { return state_; }
  // As presented; good until the next event.
  const jobs::v1::Job& job(const std::string& id) const;
  jobs::v1::Job::State StateOf(const std::string& id) const;
  const std::string& ReasonOf(const std::string& id) const;
  // Sum of the counts so far.
  double Counted(Count::What what, const std::string& label = "") const;
  // Changes by people so far, such as "queues/night: delete".
  const std::vector<std::string>& changes() const { return changes_; }
  // As last published; null when never or taken back.
  const workers::v1::Worker* published_worker(const std::string& id) const;
  const jobs::v1::Progress* published_progress(const std::string& job) const;
  const Moment& now() const { return now_; }

 private:
  void Number(agent::v1::AnnounceRequest* request);
  void ApplyEvent(const Event& event);
  // The same; effects of the last event wait on.
  void ApplyBehind(const Event& event);
  void Keep(const Effect& effect);
  void CheckRecords();
  // Moves what is stored of a job to those that have left.
  void MoveToPast(const std::string& job);
  absl::StatusOr<std::vector<jobs::v1::Job>> TakeAnswer(uint64_t call);
  absl::StatusOr<jobs::v1::Job> TakeJob(uint64_t call);
  template <typename Answered, typename Pointer>
  auto TakeChanged(uint64_t call, absl::StatusOr<Pointer> Answered::*changed)
      -> absl::StatusOr<std::remove_const_t<typename Pointer::element_type>>;

  State state_;
  Moment now_{absl::FromUnixSeconds(1'700'000'000), absl::Seconds(1)};
  Effects pending_;
  mutable std::map<std::string, jobs::v1::Job> presented_;
  uint64_t next_call_ = 1;
  std::map<std::string, int64_t> observed_sequences_;

  // As a store would hold them.
  std::map<int64_t, JobPtr> jobs_;
  // The same as they left the core.
  std::map<int64_t, JobPtr> recorded_;
  std::map<std::string, CheckpointPtr> checkpoints_;
  std::map<std::string, ReportPtr> reports_;
  std::map<std::pair<Row::Kind, std::string>, RowPtr> rows_;
  // Of jobs that have left the state.
  std::map<std::string, PastJob> past_;
  std::map<std::pair<Count::What, std::string>, double> counts_;
  std::vector<std::string> changes_;
  std::map<std::string, std::shared_ptr<const workers::v1::Worker>> workers_;
  std::map<std::string, std::shared_ptr<const jobs::v1::Progress>> progress_;
};

}  // namespace ordo::scheduler::core::testing

#endif  // ORDO_SCHEDULER_CORE_TESTING_TEST_SHELL_H_
