#include "worker/agent/watcher.h"

#include <cerrno>
#include <cstring>
#include <sys/inotify.h>
#include <unistd.h>

#include "base/status/status.h"

namespace ordo::worker::agent {

absl::StatusOr<std::unique_ptr<Watcher>> Watcher::Create() {
  const int file = inotify_init1(IN_NONBLOCK | IN_CLOEXEC);
  if (file < 0) return base::SystemError(errno, "watch files (inotify)");
  return std::unique_ptr<Watcher>(new Watcher(file));
}

Watcher::~Watcher() { close(file_); }

absl::StatusOr<int> Watcher::WatchFolder(const std::string& path) {
  return Watch(path, IN_CREATE | IN_MOVED_TO);
}

absl::StatusOr<int> Watcher::WatchFile(const std::string& path) {
  return Watch(path, IN_MODIFY);
}

absl::StatusOr<int> Watcher::Watch(const std::string& path, uint32_t events) {
  const int watch = inotify_add_watch(file_, path.c_str(), events);
  if (watch < 0) return base::SystemError(errno, "watch " + path);
  return watch;
}

void Watcher::Unwatch(int watch) { inotify_rm_watch(file_, watch); }

std::set<int> Watcher::Take(bool* lost_some) {
  std::set<int> changed;
  *lost_some = false;
  alignas(inotify_event) char buffer[16 * 1024];
  while (true) {
    const ssize_t num_bytes = read(file_, buffer, sizeof(buffer));
    if (num_bytes <= 0) return changed;
    for (ssize_t offset = 0; offset < num_bytes;) {
      inotify_event event;
      std::memcpy(&event, buffer + offset, sizeof(event));
      if ((event.mask & IN_Q_OVERFLOW) != 0) *lost_some = true;
      changed.insert(event.wd);
      offset += static_cast<ssize_t>(sizeof(event) + event.len);
    }
  }
}

}  // namespace ordo::worker::agent
