#ifndef ORDO_TESTS_SIM_EXPLAINED_H_
#define ORDO_TESTS_SIM_EXPLAINED_H_

#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "proto/ordo/jobs/v1/jobs.pb.h"
#include "proto/ordo/workers/v1/workers.pb.h"
#include "scheduler/core/explain.h"
#include "scheduler/core/state.h"
#include "scheduler/policy/facts.h"
#include "tests/sim/durable.h"

namespace ordo::tests::sim {

// What a reason has to agree with that is not the core's own bookkeeping.
struct Books {
  // The records, as the core left them.
  const Durable& left;
  // The queues by name, as people have last set them.
  const std::map<std::string, scheduler::policy::Queue>& queues;
};

// What Explain tells those who wait in a state, held against what the state
// does not say of itself:
// - a job on hold, one that needs others and one that backs off is told so, by
//   its record and those of what it needs, one that awaits a checkpoint or an
//   answer is told that, and all others are told what the policy says;
// - one that is told of a limit would be above it, counted from live attempts
//   and reservations, with the numbers that it is told; nothing that comes
//   before that limit holds it up; and one that is told of something else that
//   comes after the limits is above none;
// - who comes first waits in the same queue, comes earlier, and is alike or
//   above a limit; for whom room is kept has a reservation;
// - whoever lacks room does not while nothing runs and none is kept;
// - what nobody has, the workers do not have by what they announced; when no
//   worker takes work, or none that has it, so it is.
class Explanations {
 public:
  // Both outlive it, and do not change meanwhile.
  Explanations(const scheduler::core::State& state, const Books& books);

  // INTERNAL, naming the job, when what it is told is wrong. OK of a job that
  // is not queued.
  absl::Status Check(const std::string& job) const;

 private:
  // That a job is above.
  struct Limit {
    const char* reason;
    // Held and kept by others, with what the job asks for; what it asks for
    // alone; what may be.
    int64_t wanted;
    int64_t asked;
    int64_t limit;
  };

  void Count(const scheduler::core::JobFacts& job, int64_t devices);
  // Nothing: it would not be above.
  std::optional<Limit> QueueLimit(const scheduler::core::JobFacts& job) const;
  std::optional<Limit> OwnerLimit(const scheduler::core::JobFacts& job) const;
  std::optional<Limit> ParentLimit(const scheduler::core::JobFacts& job) const;
  // The limit that holds up the job whoever is before it; and the one that does
  // when its turn comes.
  std::optional<Limit> OwnLimit(const scheduler::core::JobFacts& job) const;
  std::optional<Limit> TurnLimit(const scheduler::core::JobFacts& job) const;

  // Of a job that the policy places: what is wrong with what it is told; empty:
  // nothing.
  std::string WrongIn(const scheduler::core::JobFacts& job,
                      const scheduler::core::Placing& placing,
                      const jobs::v1::ExplainResponse::Blocker& told) const;
  std::string WrongOffers(const scheduler::core::JobFacts& job,
                          const std::string& told) const;
  std::string WrongFirst(const scheduler::core::JobFacts& job,
                         const std::string& other) const;
  std::string WrongKept(const scheduler::core::JobFacts& job,
                        const std::string& other) const;
  std::string WrongRoom(const scheduler::core::JobFacts& job) const;

  const scheduler::core::State& state_;
  const Books books_;
  // Those that are known by more than records, as the API shows them.
  std::vector<workers::v1::Worker> workers_;
  // Devices that are held or kept: by queue, and by queue and owner.
  std::map<std::string, int64_t> by_queue_;
  std::map<std::pair<std::string, std::string>, int64_t> by_owner_;
  // Jobs (sequence) for which room is kept.
  std::set<int64_t> reserved_;
};

}  // namespace ordo::tests::sim

#endif  // ORDO_TESTS_SIM_EXPLAINED_H_
