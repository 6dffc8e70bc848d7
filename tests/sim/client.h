#ifndef ORDO_TESTS_SIM_CLIENT_H_
#define ORDO_TESTS_SIM_CLIENT_H_

#include <functional>
#include <set>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "scheduler/policy/facts.h"
#include "scheduler/scheduler.h"
#include "tests/sim/network.h"
#include "tests/sim/oracle.h"
#include "tests/sim/requests.h"
#include "tests/sim/scenario.pb.h"
#include "tests/sim/sim_scheduler.h"
#include "tests/sim/world.h"

// A user: submits jobs and cancels some, tries again when no answer comes, and
// tells the oracle what was acknowledged.

namespace ordo::tests::sim {

class Client {
 public:
  // All outlive the client.
  Client(World& world, Network& network, SimScheduler& scheduler,
         Oracle& oracle);

  struct Part {
    Workload workload;
    // This client's of the workload's.
    int max_jobs = 0;
    // Those of the cluster, as are the machines.
    std::vector<scheduler::policy::Queue> queues;
    std::vector<Offer> offers;
  };
  void Begin(const std::string& id, const Part& part);

  // Asks for nothing new, and cancels what would never end.
  void Settle();
  // Nothing is under way.
  bool IsIdle() const { return num_under_way_ == 0; }

 private:
  using Answer = absl::StatusOr<std::vector<scheduler::core::JobPtr>>;

  void PlanNext(double per_minute, void (Client::*action)());
  void SubmitOne();
  void SubmitBatch();
  void SubmitParent();
  void CancelOne();
  void HoldOne();
  void MoveOne();

  scheduler::NewJob MakeJob();
  // A sweep or pipeline with its parts before it.
  std::vector<scheduler::NewJob> MakeParent();
  scheduler::NewJob MakePart(const std::string& parent, int number);
  // Has each part but the first need the one before it, and begin with, or
  // evaluate, what that leaves.
  void Chain(std::vector<scheduler::NewJob>* parts);
  // Has a part that needs the one before it begin with, or evaluate, the best
  // of that, where it trains and ends.
  void TakeBest(scheduler::NewJob* before, scheduler::NewJob* part);
  // Of a sweep, its parts before it: has these evaluated, and stopped by that.
  void LetStopEarly(std::vector<scheduler::NewJob>* jobs);
  void Submit(const std::vector<scheduler::NewJob>& jobs);
  void TakeSubmitted(const std::vector<scheduler::NewJob>& jobs,
                     const Answer& answer);
  void Cancel(const std::string& job);
  void TakeCancelled(const std::string& job, const Answer& answer);
  void Hold(const std::string& job);
  void Release(const std::string& job);
  // Of a job that may not be queued, or not be there.
  void TakeMoved(const std::string& job, const Answer& answer,
                 std::function<void()> again);
  void DrawLimits(const std::string& id, jobs::v1::JobSpec* spec);
  void DrawSize(jobs::v1::JobSpec* spec);
  void DrawRequests(jobs::v1::JobSpec* spec);
  void DrawQueue(scheduler::NewJob* job, jobs::v1::JobSpec* spec);
  void DrawNeeds(jobs::v1::JobSpec* spec);
  void DrawQuestions(const std::string& id, jobs::v1::JobSpec* spec);
  // Tries again after a while.
  void Again(std::function<void()> then);

  World& world_;
  Network& network_;
  SimScheduler& scheduler_;
  Oracle& oracle_;
  std::string id_;
  Workload workload_;
  int max_jobs_ = 0;
  std::vector<scheduler::policy::Queue> queues_;
  std::vector<Offer> offers_;
  Dice dice_;
  Dice requests_;
  Dice parents_;
  Dice stops_;
  Dice optimizers_;
  Dice questions_;
  Dice bests_;
  int num_jobs_ = 0;
  int num_parents_ = 0;
  int num_under_way_ = 0;
  bool settled_ = false;
  // Submitted, whether or not that was answered.
  std::vector<std::string> known_;
  // Never end by themselves.
  std::set<std::string> endless_;
  // On hold, or asked to be.
  std::set<std::string> held_;
};

}  // namespace ordo::tests::sim

#endif  // ORDO_TESTS_SIM_CLIENT_H_
