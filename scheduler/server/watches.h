#ifndef ORDO_SCHEDULER_SERVER_WATCHES_H_
#define ORDO_SCHEDULER_SERVER_WATCHES_H_

#include <cstdint>
#include <map>
#include <set>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "base/mutex.h"
#include "scheduler/scheduler.h"

namespace ordo::scheduler::server {

// Who watches which job. Add, AskToShow, Stop and IsWatched may be called from
// any thread; Tell, TellOne and TakeUnshown from one thread only, on which all
// callbacks run.
class Watches {
 public:
  int64_t Add(const std::string& job, Scheduler::WatchCallback callback);
  // Whether the caller has to have TakeUnshown called: once until that is, for
  // however many watches come, and go, meanwhile.
  bool AskToShow();
  // The watches that were added since the last call and are not over, with
  // their jobs.
  std::vector<std::pair<int64_t, std::string>> TakeUnshown();
  // No callback of the watch runs after the return. May be called from a
  // callback, and for a watch that is over.
  void Stop(int64_t watch);

  bool IsWatched(const std::string& job) const;
  // Gives the job to all who watch it; `last` ends their watches.
  void Tell(const jobs::v1::Job& job, bool last);
  // The same for one watch, if it is still there.
  void TellOne(int64_t watch, const jobs::v1::Job& job, bool last);
  // Jobs that somebody watches.
  std::set<std::string> WatchedJobs() const;

 private:
  struct Watch {
    std::string job;
    Scheduler::WatchCallback callback;
  };

  mutable base::Mutex mutex_;
  base::CondVar callback_done_;
  int64_t next_ ORDO_GUARDED_BY(mutex_) = 1;
  std::map<int64_t, Watch> watches_ ORDO_GUARDED_BY(mutex_);
  std::map<std::string, std::set<int64_t>> by_job_ ORDO_GUARDED_BY(mutex_);
  // Added since TakeUnshown, and that it was asked for.
  std::set<int64_t> unshown_ ORDO_GUARDED_BY(mutex_);
  bool asked_to_show_ ORDO_GUARDED_BY(mutex_) = false;
  // The watch whose callback runs, 0 when none does, and on which thread.
  int64_t running_ ORDO_GUARDED_BY(mutex_) = 0;
  std::thread::id running_on_ ORDO_GUARDED_BY(mutex_);
};

}  // namespace ordo::scheduler::server

#endif  // ORDO_SCHEDULER_SERVER_WATCHES_H_
