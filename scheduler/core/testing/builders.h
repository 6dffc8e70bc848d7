#ifndef ORDO_SCHEDULER_CORE_TESTING_BUILDERS_H_
#define ORDO_SCHEDULER_CORE_TESTING_BUILDERS_H_

#include <cstdint>
#include <string>
#include <vector>

#include "absl/time/time.h"
#include "proto/ordo/agent/v1/agent.pb.h"
#include "scheduler/scheduler.h"

// Jobs, announcements and observations in one line each.

namespace ordo::scheduler::core::testing {

class JobBuilder {
 public:
  // A training job of ada's on a cpu, three attempts.
  explicit JobBuilder(const std::string& name);

  JobBuilder& Device(const std::string& kind);
  JobBuilder& MaxAttempts(int count);
  JobBuilder& Keep(int count);
  JobBuilder& KeepOptimizer(int count);
  JobBuilder& RequestId(const std::string& id,
                        const std::string& fingerprint = "f");
  // It has an evaluation of its own of this name.
  JobBuilder& EvaluatesItself(const std::string& name);
  // Makes it an evaluation of these.
  JobBuilder& Evaluates(const std::vector<std::string>& checkpoints);
  JobBuilder& StartFrom(const std::string& checkpoint);
  // Makes it a gate of these.
  JobBuilder& Gates(const std::string& candidate, const std::string& baseline);
  // So many processes, with so many devices each.
  JobBuilder& Ranks(int count, int devices = 1);
  JobBuilder& Held();
  // Another job must have succeeded, or ended.
  JobBuilder& Needs(const std::string& job);
  JobBuilder& NeedsEnded(const std::string& job);
  JobBuilder& Priority(int priority);
  // Makes it a sweep of these jobs, of which at most so many hold devices at a
  // time; 0: no limit.
  JobBuilder& Sweeps(const std::vector<std::string>& parts,
                     int max_parallel = 0);
  // Of a sweep: which of its parts end early.
  JobBuilder& StopsEarly(const jobs::v1::EarlyStopping& rule);
  // It takes the learning rate of the best of these jobs, which it needs
  // (ENDED), by the largest `score` of `held`; the first has 1, and so on.
  JobBuilder& TunedBy(const std::vector<std::string>& trials);
  // It has the steps that take the device-time of 100 steps of the second of
  // these jobs, at the pace of the first; it needs both.
  JobBuilder& PacedBy(const std::string& own, const std::string& baseline);
  // Makes it part of a sweep.
  JobBuilder& PartOf(const std::string& parent, const std::string& part = "");
  JobBuilder& MaxInterruptions(int count);
  JobBuilder& QueueTimeLimit(absl::Duration limit);
  JobBuilder& RunTimeLimit(absl::Duration limit);

  operator NewJob() const { return job_; }  // NOLINT: reads as a job.

 private:
  NewJob job_;
};

class AttemptBuilder {
 public:
  // Starting.
  AttemptBuilder(const std::string& job, int attempt, int rank = 0);

  // Its trainer runs and went on from `start_step`.
  AttemptBuilder& Running(int64_t start_step = 0);
  // It has made this step, its first at `first_step`.
  AttemptBuilder& Step(int64_t step, int64_t total_steps = 100);
  // It is at this evaluation.
  AttemptBuilder& Evaluating(const std::string& name);
  // A durable checkpoint, number `number` of its records, with the model and
  // the optimizer's state.
  AttemptBuilder& Checkpoint(int64_t number, int64_t step);
  AttemptBuilder& Report(int64_t number, const std::string& id);
  // Report <evaluation>-<step> with this `score`, of its checkpoint at the
  // step.
  AttemptBuilder& Score(int64_t number, const std::string& evaluation,
                        int64_t step, double score);
  AttemptBuilder& Warning(int64_t number, const std::string& message);
  // After its last record.
  AttemptBuilder& Exited(int exit_code);
  // The same of one whose steps took so long.
  AttemptBuilder& ExitedAfter(double step_seconds);
  AttemptBuilder& Ended(agent::v1::ObservedAttempt::Cause cause,
                        int signal = 0);

  operator agent::v1::ObservedAttempt() const {  // NOLINT: reads as one.
    return attempt_;
  }

 private:
  agent::v1::ObservedAttempt attempt_;
};

class WorkerBuilder {
 public:
  // First incarnation, one device cpu:0, running nothing.
  explicit WorkerBuilder(const std::string& id);

  WorkerBuilder& Incarnation(const std::string& incarnation);
  WorkerBuilder& Devices(const std::vector<std::string>& names);
  // As a worker of another release; that of this one is the default.
  WorkerBuilder& Protocol(int32_t version);
  WorkerBuilder& Draining();
  // It will drain by itself then, by the wall clock.
  WorkerBuilder& LeavesAt(absl::Time time);
  WorkerBuilder& Sequence(int64_t sequence);
  WorkerBuilder& Runs(const agent::v1::ObservedAttempt& attempt);

  operator agent::v1::AnnounceRequest() const {  // NOLINT: reads as one.
    return request_;
  }

 private:
  agent::v1::AnnounceRequest request_;
};

}  // namespace ordo::scheduler::core::testing

#endif  // ORDO_SCHEDULER_CORE_TESTING_BUILDERS_H_
