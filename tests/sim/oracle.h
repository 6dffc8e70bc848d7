#ifndef ORDO_TESTS_SIM_ORACLE_H_
#define ORDO_TESTS_SIM_ORACLE_H_

#include <map>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "proto/ordo/reports/v1/reports.pb.h"
#include "proto/ordo/training/v1/progress.pb.h"
#include "scheduler/core/effect.h"
#include "scheduler/core/load.h"
#include "scheduler/core/moment.h"
#include "scheduler/core/state.h"
#include "scheduler/policy/facts.h"
#include "tests/sim/durable.h"
#include "tests/sim/order.h"
#include "tests/sim/requests.h"
#include "tests/sim/world.h"
#include "worker/agent/core.h"

namespace ordo::tests::sim {

using worker::agent::AttemptKey;

// How a trainer really ended.
enum class TrueEnd {
  // It did all of its work.
  kFinished,
  // By its own fault: counts against the budget.
  kOwnFault,
  // By its own fault, and will do so again.
  kRefused,
  // It was told to, or something else ended it.
  kInnocent,
};

// Sees all processes at once, and fails the world when something does not hold:
// - what CheckInvariants says, after each Apply;
// - the records that left the core are the durable part of its state;
// - every change of a job is legal by the transition table, none follows its
//   end, its version and its attempt numbers only grow;
// - no device is given away that, as far as the scheduler was told, another
//   attempt still holds, or that lacks a kernel that the job names;
// - a job gets what it asks of machines (CheckRequests), and one that is to be
//   alone on its workers none on which, as far as the scheduler was told,
//   another attempt still is;
// - a rank of an attempt starts at most once anywhere, and only for one worker;
// - no attempt begins with which its queue or its owner holds more devices than
//   it may, as people have last set it;
// - no attempt is preempted but for a job of its queue that waits with a larger
//   priority, or for one of another queue, which with it holds no more than it
//   is guaranteed, while its own has no less than that left;
// - jobs begin in their order, and the first of them in time (Order);
// - no attempt begins with which more parts of its job's parent are live than
//   max_parallel lets; parts of a job that has ended have, or are being
//   cancelled; what sums up parts is told how each of them durably ended;
// - no queue is deleted while a job of it has not ended, and no job is created
//   in one that is not there;
// - no attempt begins while its job is on hold, or before what that needs has
//   ended as it must have;
// - no attempt begins on a worker that is cordoned, or that may run beyond its
//   drain by what the scheduler's wall clock shows, or on a device in
//   quarantine;
// - no device is put in quarantine of which less went wrong than must have;
// - a job that was acknowledged is there, however often the scheduler dies; a
//   cancel that was acknowledged is not taken back;
// - what is durable never goes back, and a job that has durably ended stays as
//   it ended;
// - parts of sweeps are stopped early when, and only when, their scores are
//   behind (CheckStoppedEarly);
// - a job SUCCEEDED only if all ranks of its newest attempt finished, FAILED
//   only by the job's own faults or one of its limits, CANCELLED only if
//   somebody asked, it waited too long or was behind; no more failures are
//   counted than the job's trainers had;
// - what a job wrote is known when it has succeeded, and nothing of it twice;
// - of an attempt that told with what state it ended it is known how it began,
//   as its first rank said it, whatever that said before;
// - what is asked of a checkpoint is evaluated once, but by who does so again,
//   and whoever takes a result takes one that is there and of the same;
// - of the jobs of one call all are there, or none;
// - what a worker was told of in this life of the scheduler, or has told it
//   that it holds, is in each later desired set until it is over;
// - a queued job is told the one thing that holds it up (Explanations): after
//   each event those whose records it changed, and one other in turn; all of
//   them after every few.
class Oracle {
 public:
  // `world` outlives it.
  explicit Oracle(World& world) : world_(world), order_(world) {}

  // What a machine has.
  void KnowMachine(const std::string& machine, const Offer& offer) {
    offers_[machine] = offer;
  }

  // What users asked for and were told.
  void CancelAsked(const std::string& job) { cancel_asked_.insert(job); }
  void Acknowledged(const std::string& job) { acknowledged_.insert(job); }
  void CancelAcknowledged(const std::string& job) { cancelled_.insert(job); }
  // It takes no results.
  void Again(const std::string& job) { again_.insert(job); }
  // Of one call.
  void Together(const std::vector<std::string>& jobs) {
    together_.push_back(jobs);
  }

  // What trainers did.
  void TrainerStarted(const AttemptKey& key, const std::string& machine);
  // It says how it begins; `late`: it had said something else before.
  void TrainerBegan(const AttemptKey& key,
                    const training::v1::TrainerStarted& started, bool late) {
    began_[key] = started;
    if (late) ++num_began_late_;
  }
  void TrainerEnded(const AttemptKey& key, TrueEnd end);
  void CheckpointWritten(const AttemptKey& key, const std::string& name) {
    written_[key].push_back(name);
  }
  // A device failed: so many times what an attempt that fails is.
  void DeviceFailed(const std::string& machine, const std::string& device,
                    int times) {
    wrongs_[{machine, device}] += times;
  }

  // What the scheduler's core did: after a start with what the store held, and
  // after each event.
  void AfterLoad(const scheduler::core::State& state,
                 const scheduler::core::Records& records);
  void AfterApply(const scheduler::core::State& state,
                  const scheduler::core::Effects& effects,
                  const scheduler::core::Moment& now);
  // Before an event: what a worker says in it.
  void Told(const std::string& worker, const std::string& incarnation,
            const agent::v1::ObservedSet& observed);
  // What its shell did.
  void AfterCommit(const std::vector<scheduler::core::Record>& records);
  void Dispatched(const scheduler::core::SetDesired& desired);

  // Everything has ended.
  void AtEnd(const scheduler::core::State& state);
  // Of jobs that were acknowledged, those that have not ended.
  std::vector<std::string> Unfinished(
      const scheduler::core::State& state) const;

  Order& order() { return order_; }
  const Order& order() const { return order_; }
  int num_jobs() const { return static_cast<int>(acknowledged_.size()); }
  // The longest time from the end of a trainer that something else ended to the
  // start of its job's next one.
  absl::Duration longest_gap() const { return longest_gap_; }
  // Of attempts with several ranks: the longest time from the first trainer
  // that failed to the end of the last.
  absl::Duration longest_straggle() const { return longest_straggle_; }
  int num_attempts() const { return num_attempts_; }
  int num_quarantines() const { return num_quarantines_; }
  int num_queues_deleted() const { return num_queues_deleted_; }
  int num_stopped_early() const { return num_stopped_early_; }
  // Trainers that said something before they said how they begin.
  int num_began_late() const { return num_began_late_; }
  // Reports that were taken over.
  int num_taken() const { return num_taken_; }

 private:
  // `durable` has what came before.
  void CheckChange(const Durable& durable, const JobView& after);
  void TakeQueue(const scheduler::core::Row& row);
  // That it is in a queue that is there, when it is new.
  void CheckQueue(const JobView& job);
  // When it begins: how many parts of its parent are live.
  void CheckParallel(const scheduler::core::State& state, const JobView& job);
  // When it has ended: its parts.
  void CheckParts(const JobView& job);
  // Before and after what it needs; records are looked at as they leave.
  void CheckOrder(const JobView& job);
  void CheckOpen(const scheduler::core::State& state,
                 const scheduler::core::Moment& now, const JobView& job);
  void CheckQuarantined(const std::string& worker,
                        const std::set<std::string>& devices);
  // The worst of its ranks; innocent when one has not ended.
  TrueEnd EndOf(const JobView& job) const;
  void CheckEnd(const Durable& durable, const JobView& job);
  void CheckBeginning(const JobView& job);
  void CheckDevices(const scheduler::core::State& state);
  void CheckListed(const scheduler::core::State& state,
                   const scheduler::core::SetDesired& desired);
  // Devices by queue; of those that were not told to stop; of those that were
  // by this event, for a job of their own queue; by queue and owner.
  struct Held {
    std::map<std::string, int> all;
    std::map<std::string, int> going_on;
    std::map<std::string, int> overtaken;
    std::map<std::pair<std::string, std::string>, int> by_owner;
  };
  static Held Count(const scheduler::core::State& state);
  // A job that starts: that it leaves no more held than may be.
  void CheckHeld(const Held& held, const JobView& job);
  bool IsNewlyPreempted(const JobView& job) const;
  std::map<std::string, int> CountOvertaken(
      const scheduler::core::State& state,
      const scheduler::core::Effects& effects) const;
  void CheckPreempted(const scheduler::core::State& state, const Held& held,
                      const JobView& job);
  void CheckAcknowledged(const std::string& when);
  // A report that has become durable, before those that come after it.
  void CheckResult(const reports::v1::Report& report);
  // After an event that changed the records of these, which are queued.
  void CheckExplained(const scheduler::core::State& state,
                      std::set<std::string> jobs);

  // A job that starts: that it gets what it asks of machines.
  void CheckGiven(const scheduler::core::State& state, const JobView& job);

  World& world_;
  Order order_;
  // By machine.
  std::map<std::string, Offer> offers_;
  // Those that are in the records and not deleted, as they are now.
  std::map<std::string, scheduler::policy::Queue> queues_;
  std::set<std::string> cancel_asked_;
  std::set<std::string> cancelled_;
  std::set<std::string> acknowledged_;
  std::vector<std::vector<std::string>> together_;
  std::set<std::string> again_;
  // By its key: the report that was evaluated by who does not do so again.
  std::map<std::string, std::string> evaluated_;
  int num_taken_ = 0;
  // Machine by attempt.
  std::map<AttemptKey, std::string> started_;
  int num_attempts_ = 0;
  int num_queues_deleted_ = 0;
  int num_stopped_early_ = 0;
  std::map<AttemptKey, training::v1::TrainerStarted> began_;
  int num_began_late_ = 0;
  std::map<AttemptKey, TrueEnd> ended_;
  // By job: since when its last trainer is gone by no fault of its own.
  std::map<std::string, absl::Duration> gone_since_;
  absl::Duration longest_gap_;
  // By attempt (rank 0): when its first trainer failed.
  std::map<AttemptKey, absl::Duration> failed_at_;
  absl::Duration longest_straggle_;
  // Resource names of checkpoints.
  std::map<AttemptKey, std::vector<std::string>> written_;
  // Worker by attempt.
  std::map<AttemptKey, std::string> given_;
  // Devices in quarantine, by worker, as the records say; and what went wrong
  // with each device of a machine, in failures.
  std::map<std::string, std::set<std::string>> quarantined_;
  std::map<std::pair<std::string, std::string>, int> wrongs_;
  int num_quarantines_ = 0;
  // Failures that may be charged, by job.
  std::map<std::string, int> own_faults_;
  // What the scheduler was last told, by worker, and the device of each attempt
  // that it gave one.
  struct LastWords {
    std::string incarnation;
    int64_t sequence = 0;
    std::vector<AttemptKey> held;
  };
  std::map<std::string, LastWords> last_words_;
  // By worker, in this life of the scheduler: what it has last been told of,
  // and what it has said since that it holds.
  std::map<std::string, std::set<AttemptKey>> listed_;
  std::map<AttemptKey, std::vector<std::string>> devices_;
  // As the core left it, and as the store has it.
  Durable left_;
  Durable stored_;
  int64_t num_applies_ = 0;
  // The last that had its turn to be looked at.
  std::string last_explained_;
};

}  // namespace ordo::tests::sim

#endif  // ORDO_TESTS_SIM_ORACLE_H_
