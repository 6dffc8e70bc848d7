#ifndef ORDO_SCHEDULER_CORE_TURN_H_
#define ORDO_SCHEDULER_CORE_TURN_H_

#include <memory>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "scheduler/core/effect.h"
#include "scheduler/core/moment.h"
#include "scheduler/core/state.h"

// What the parts of one Apply share. Internal to scheduler/core.

namespace ordo::scheduler::core {

// A rank that has ended in a way that tells of its device: its job finished, or
// that failed it before another rank had failed.
struct RankEnd {
  std::string job;
  std::string worker;
  // The one that it computed on: the first of those that it held.
  std::string device;
  bool finished = false;
};

// A report that a job left.
struct Reported {
  std::string job;
  int64_t step = 0;
};

// One Apply while it runs.
struct Turn {
  State& state;
  const Moment now;
  Effects effects = {};
  // Workers that must be told a new desired set, and whose public look changed;
  // told once, at the end of the turn.
  std::set<std::string> desired_changed = {};
  std::set<std::string> workers_changed = {};
  // Jobs that waited for something else and since this turn wait for devices.
  std::vector<std::string> freed = {};
  // Jobs that ended in this turn, until those that need them know.
  std::vector<std::string> ended = {};
  // Queues and kinds of device of which ranks ended in this turn.
  std::set<std::pair<std::string, std::string>> use_changed = {};
  // In this turn, until their devices are judged.
  std::vector<RankEnd> rank_ends = {};
  // Of parts, in this turn, until these are compared with their siblings.
  std::vector<Reported> reported = {};

  void Emit(Effect effect) { effects.push_back(std::move(effect)); }
  void Counted(Count::What what, const std::string& label = "",
               double amount = 1) {
    Emit(Count{what, label, amount});
  }
};

// Changes of one job in one turn: however many, it gets one new version and one
// record. Call Commit at the end; without a call to job() it does nothing.
class JobEdit {
 public:
  // Both outlive this.
  JobEdit(Turn& turn, JobEntry& entry) : turn_(turn), entry_(entry) {}
  JobEdit(const JobEdit&) = delete;
  JobEdit& operator=(const JobEdit&) = delete;

  Turn& turn() { return turn_; }
  JobEntry& entry() { return entry_; }
  // The job as changed so far.
  const JobRecord& read() const { return job_ ? *job_ : *entry_.job; }
  // The job to change.
  JobRecord& job();
  // The newest attempt to change; there is one.
  jobs::v1::Attempt& attempt();
  // Adds an attempt, the newest from here on.
  jobs::v1::Attempt& AddAttempt();
  // Of a rank of the newest attempt.
  void SetIncarnation(int32_t rank, const std::string& incarnation);
  void SetAcknowledged(int32_t rank, int64_t number);
  // Makes the change part of the state and records it.
  void Commit();

 private:
  Turn& turn_;
  JobEntry& entry_;
  std::shared_ptr<JobRecord> job_;
  // The last of job_'s attempts, once it has been changed.
  std::shared_ptr<jobs::v1::Attempt> attempt_;
};

// A deadline of a worker or a job (`id`), and where that notes it.
struct OwnedDeadline {
  Deadline::Kind kind;
  const std::string& id;
  std::optional<absl::Duration>* note;
};

// Moves a deadline. Nothing: no deadline.
void SetDeadline(State& state, const OwnedDeadline& deadline,
                 std::optional<absl::Duration> at);

// Brings State.unfinished up to date: +1 for a job that has begun, -1 for one
// that has ended.
void CountUnfinished(State& state, const JobFacts& job, int64_t change);

}  // namespace ordo::scheduler::core

#endif  // ORDO_SCHEDULER_CORE_TURN_H_
