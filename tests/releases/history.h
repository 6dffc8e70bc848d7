#ifndef ORDO_TESTS_RELEASES_HISTORY_H_
#define ORDO_TESTS_RELEASES_HISTORY_H_

#include <string>
#include <vector>

#include "proto/ordo/agent/v1/agent.pb.h"
#include "scheduler/core/apply.h"
#include "scheduler/core/load.h"
#include "scheduler/store/store.h"
#include "worker/agent/core.h"

// A scripted history of fifty jobs that leaves some in every state, and what
// scheduler and worker say to each other at its end. README.md tells the roles.

namespace ordo::tests::releases {

inline constexpr int kNumJobs = 50;
// "job-07".
std::string JobId(int number);

// The scheduler's side: its core, with every record committed to a store.
class History {
 public:
  // `store` is new and outlives this.
  explicit History(scheduler::store::Store& store);

  // Plays all of it.
  void Play();

  // The desired set of the worker when all jobs were placed, and the last one.
  const agent::v1::SetDesiredRequest& all_placed() const { return all_placed_; }
  const agent::v1::SetDesiredRequest& desired() const { return desired_; }

 private:
  void Apply(scheduler::core::Event event);
  void Submit(int number);
  void Observe(const std::vector<agent::v1::ObservedAttempt>& attempts);
  void Pass(absl::Duration duration);
  void EndSomeJobs();

  scheduler::store::Store& store_;
  scheduler::core::State state_;
  scheduler::core::Moment now_{absl::FromUnixSeconds(1'700'000'000),
                               absl::Seconds(1)};
  int64_t observed_sequence_ = 0;
  agent::v1::SetDesiredRequest all_placed_;
  agent::v1::SetDesiredRequest desired_;
};

// What a worker announces that runs all that History asks for: attempts in
// every phase, ended in every way.
agent::v1::AnnounceRequest AnnouncementAfter(const History& history);

// One line for each job, checkpoint and report, of what the first release knew.
std::string Describe(const scheduler::core::Records& records);

}  // namespace ordo::tests::releases

#endif  // ORDO_TESTS_RELEASES_HISTORY_H_
