#ifndef ORDO_WORKER_AGENT_TASK_WATCHES_H_
#define ORDO_WORKER_AGENT_TASK_WATCHES_H_

#include <array>
#include <set>
#include <string>

#include "worker/agent/task.h"
#include "worker/agent/watcher.h"

namespace ordo::worker::agent {

// Watches the journal and the progress file of a task. Of one that is not there
// yet it watches the folder, where other files wake it too. Not thread-safe.
class TaskWatches {
 public:
  // `watcher` outlives it.
  TaskWatches(Watcher& watcher, const TaskFolders& folders);
  ~TaskWatches();
  TaskWatches(const TaskWatches&) = delete;
  TaskWatches& operator=(const TaskWatches&) = delete;

  // Files that appeared since the last call are watched from here on.
  void Extend();

  // One of its files is among what Watcher::Take gave.
  bool IsIn(const std::set<int>& changed) const;

 private:
  struct Watch {
    std::string folder;
    std::string file;
    // -1: not yet.
    int folder_name = -1;
    int file_name = -1;
  };

  Watcher& watcher_;
  std::array<Watch, 2> watches_;
};

}  // namespace ordo::worker::agent

#endif  // ORDO_WORKER_AGENT_TASK_WATCHES_H_
