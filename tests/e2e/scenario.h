#ifndef ORDO_TESTS_E2E_SCENARIO_H_
#define ORDO_TESTS_E2E_SCENARIO_H_

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/time/time.h"
#include "base/files/files.h"
#include "base/files/testing/temporary_folder.h"
#include "base/process/process.h"
#include "gtest/gtest.h"
#include "proto/ordo/checkpoints/v1/checkpoints.pb.h"
#include "proto/ordo/jobs/v1/jobs.pb.h"
#include "tests/harness/deployment.h"

namespace ordo::tests::e2e {

// What is waited for comes long before this, or never.
inline constexpr absl::Duration kDeadline = absl::Seconds(60);
// A cancel takes no longer.
inline constexpr absl::Duration kCancelLimit = absl::Seconds(5);

// The path of one of our programs, absolute.
std::string ProgramPath(const std::string& name);

// Looks until `done`; false at the deadline.
bool WaitFor(const std::function<bool()>& done);

// One deployment with the real binaries in a temporary folder. At its end
// the workers are drained, and a process that is left is a failure.
class Scenario : public ::testing::Test {
 protected:
  // The defaults: the fake trainer, behaving as `fake` says (see
  // tests/fake/behaviour.h), short times but for limits that no test waits for.
  // Change the result and pass it on.
  harness::DeploymentOptions Options(const std::string& fake) const;
  // The same with the real trainer. The job named "job" is held where it
  // renames or opens `held_at`, a path below its folder, until Go.
  harness::DeploymentOptions RealOptions(const std::string& held_at) const;
  void Start(const harness::DeploymentOptions& options);
  void Start(const std::string& fake) { Start(Options(fake)); }
  void TearDown() override;

  // A valid training job: 60 steps, a checkpoint after each twentieth, two
  // attempts.
  static jobs::v1::JobSpec Spec(const std::string& name);
  // Both as arms, with one seed.
  static void AddRopeAndAlibi(jobs::v1::Compare* compare);
  // A comparison of both, with one seed: its parts, <name>-rope-s1 and
  // <name>-alibi-s1, train for 20 steps and evaluate at their end.
  static jobs::v1::JobSpec RopeAndAlibi(const std::string& name);
  void Submit(const jobs::v1::JobSpec& spec);

  absl::StatusOr<jobs::v1::Job> Cancel(const std::string& job);
  // Ends the hold of a queued job.
  absl::StatusOr<jobs::v1::Job> EndHold(const std::string& job);
  absl::StatusOr<jobs::v1::ExplainResponse> Explain(const std::string& job);
  absl::StatusOr<jobs::v1::ListJobsResponse> List();
  // All of an attempt's log from an offset.
  absl::StatusOr<std::string> Log(const std::string& job, int64_t offset);
  absl::StatusOr<checkpoints::v1::Checkpoint> LatestCheckpoint(
      const std::string& job);
  // The names of all that are registered, newest first.
  absl::StatusOr<std::vector<std::string>> Checkpoints(const std::string& job);
  // SHA-256 of the parameters in the job's newest checkpoint; empty, and a
  // failure, when there is none.
  std::string ParametersDigest(const std::string& job);

  // Waits until workers that are there offer so many devices.
  void WaitForDevices(int count);

  // Looks at the job until `done`; a failure, and nothing, at the deadline.
  std::optional<jobs::v1::Job> WaitUntil(
      const std::string& job,
      const std::function<bool(const jobs::v1::Job&)>& done);
  std::optional<jobs::v1::Job> WaitForState(const std::string& job,
                                            jobs::v1::Job::State state);
  std::optional<jobs::v1::Job> WaitForEnd(const std::string& job);
  // The job's trainer process, once it runs.
  std::optional<base::ProcessId> WaitForTrainer(const std::string& job);

  // What `ordo <arguments>` says of this deployment, if it is started and they
  // have no `--server`, and how it ends; -1 and a failure when it does not.
  struct Said {
    int exit_code = -1;
    std::string out;
    std::string err;
  };
  Said RunOrdo(const std::vector<std::string>& arguments);

  // Cancels, and expects the end in time and nothing left.
  void CancelAndExpectTheEnd(const std::string& job);
  // The job after it has failed; an empty one, and a failure, when it has not.
  jobs::v1::Job WaitForFailure(const std::string& job);
  // Cuts a file of a checkpoint in half, or flips one of its bits.
  void Damage(const std::string& path, bool truncate);

  // Lets a fake trainer go on that is held.
  void Release(const std::string& job);
  // Of a real one.
  void WaitUntilHeld();
  void Go();

  std::string JobFolder(const std::string& job) const;
  // The first attempt has begun to write the checkpoint of a step.
  bool HasBegunCheckpoint(const std::string& job, int64_t step);
  // Supervisors, trainers and what these left behind.
  std::vector<base::RunningProcess> ProcessesOf(const std::string& job) const;

  void KillWorker();
  void KillScheduler();

  base::testing::TemporaryFolder folder_;
  base::PosixFilesystem files_;
  std::unique_ptr<harness::Deployment> deployment_;
  std::string trainer_;
};

}  // namespace ordo::tests::e2e

#endif  // ORDO_TESTS_E2E_SCENARIO_H_
