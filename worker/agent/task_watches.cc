#include "worker/agent/task_watches.h"

#include <algorithm>

namespace ordo::worker::agent {

TaskWatches::TaskWatches(Watcher& watcher, const TaskFolders& folders)
    : watcher_(watcher),
      watches_{Watch{folders.task, true},
               Watch{folders.task + "/journal", false},
               Watch{folders.attempt, true}, Watch{folders.progress, false}} {
  Extend();
}

TaskWatches::~TaskWatches() {
  for (const Watch& watch : watches_) {
    if (watch.name >= 0) watcher_.Unwatch(watch.name);
  }
}

void TaskWatches::Extend() {
  for (Watch& watch : watches_) {
    if (watch.name >= 0) continue;
    const auto name = watch.folder ? watcher_.WatchFolder(watch.path)
                                   : watcher_.WatchFile(watch.path);
    if (name.ok()) watch.name = *name;
  }
}

bool TaskWatches::IsIn(const std::set<int>& changed) const {
  return std::any_of(watches_.begin(), watches_.end(), [&](const Watch& watch) {
    return changed.count(watch.name) > 0;
  });
}

}  // namespace ordo::worker::agent
