#ifndef ORDO_SCHEDULER_SERVER_PAST_JOBS_H_
#define ORDO_SCHEDULER_SERVER_PAST_JOBS_H_

#include <map>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "scheduler/core/effect.h"
#include "scheduler/scheduler.h"
#include "scheduler/store/reader.h"

// When jobs that have ended may leave the core (core::Forget), and which have
// to be there again for a call (core::Recall).

namespace ordo::scheduler::server {

// What a call names that may have ended.
struct Mentioned {
  // Ids, of jobs to create too: names are unique for ever.
  std::vector<std::string> jobs;
  std::vector<std::string> request_ids;
  // The jobs to create, of the caller; null: none.
  const std::vector<NewJob>* created = nullptr;
};

// `jobs` outlives the result.
Mentioned MentionedBy(const std::vector<NewJob>& jobs);

// ALREADY_EXISTS when the name or the request of one of these jobs is that of a
// job which has left the store.
absl::Status CheckNotRetired(const std::vector<NewJob>& jobs,
                             const std::vector<store::RetiredJob>& retired);

// Follows the records on their way to the store. Not thread-safe.
class RecordsInFlight {
 public:
  // These left the core.
  void Add(const core::Effects& effects);
  // They are stored. The jobs that may have become ready to leave: all ended
  // ones among them and the jobs that those name, as far as nothing of them is
  // still under way.
  std::vector<std::string> Remove(const std::vector<core::Effects>& turns);
  // Those of these jobs of which nothing is under way.
  std::vector<std::string> Without(const std::vector<std::string>& jobs) const;

 private:
  // Number of records by job, of it and of what belongs to it.
  std::map<std::string, int> records_;
};

}  // namespace ordo::scheduler::server

#endif  // ORDO_SCHEDULER_SERVER_PAST_JOBS_H_
