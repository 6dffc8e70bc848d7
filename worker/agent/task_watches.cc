#include "worker/agent/task_watches.h"

#include <algorithm>

namespace ordo::worker::agent {

TaskWatches::TaskWatches(Watcher& watcher, const TaskFolders& folders)
    : watcher_(watcher),
      watches_{Watch{folders.task, folders.task + "/journal"},
               Watch{folders.attempt, folders.progress}} {
  Extend();
}

TaskWatches::~TaskWatches() {
  for (const Watch& watch : watches_) {
    if (watch.folder_name >= 0) watcher_.Unwatch(watch.folder_name);
    if (watch.file_name >= 0) watcher_.Unwatch(watch.file_name);
  }
}

void TaskWatches::Extend() {
  for (Watch& watch : watches_) {
    if (watch.file_name >= 0) continue;
    watch.file_name = watcher_.WatchFile(watch.file).value_or(-1);
    if (watch.file_name >= 0 || watch.folder_name >= 0) continue;
    watch.folder_name = watcher_.WatchFolder(watch.folder).value_or(-1);
    // It may have come just before.
    watch.file_name = watcher_.WatchFile(watch.file).value_or(-1);
  }
}

bool TaskWatches::IsIn(const std::set<int>& changed) const {
  return std::any_of(watches_.begin(), watches_.end(), [&](const Watch& watch) {
    return changed.count(watch.folder_name) > 0 ||
           changed.count(watch.file_name) > 0;
  });
}

}  // namespace ordo::worker::agent
