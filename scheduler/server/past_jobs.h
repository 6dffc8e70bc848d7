#ifndef ORDO_SCHEDULER_SERVER_PAST_JOBS_H_
#define ORDO_SCHEDULER_SERVER_PAST_JOBS_H_

#include <map>
#include <set>
#include <string>
#include <vector>

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
  std::vector<std::string> request_ids = {};

  bool empty() const { return jobs.empty() && request_ids.empty(); }
};

// What a call mentions that creates these jobs.
Mentioned MentionedBy(const std::vector<NewJob>& jobs);

// The jobs that left the core or the store while a call looked for those that
// it mentions. Not thread-safe.
class Departures {
 public:
  void Add(const core::JobRecord& job);
  // What the call has to look for again, since what it found, or that it found
  // nothing, may be of before they left: what it mentions of them, and those
  // that it found, which it has found no more. Forgets them.
  Mentioned Take(const Mentioned& mentioned, store::PastJobs* found);

 private:
  std::set<std::string> jobs_;
  std::set<std::string> request_ids_;
};

// Follows the records on their way to the store, of each key (KeyOf) the
// newest: earlier ones may be left out (Merge). Not thread-safe.
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
  // The objects that records hold, by job and by key, of it and of what belongs
  // to it. Only compared.
  std::map<std::string, std::map<std::string, const void*>> newest_;
};

}  // namespace ordo::scheduler::server

#endif  // ORDO_SCHEDULER_SERVER_PAST_JOBS_H_
