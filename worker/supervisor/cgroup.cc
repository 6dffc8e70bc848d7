#include "worker/supervisor/cgroup.h"

#include <cerrno>
#include <cstdlib>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include "worker/supervisor/journal.h"

namespace ordo::worker::supervisor {
namespace {

// 0 or an errno.
int WriteText(const std::string& path, const std::string& text) {
  const int file = open(path.c_str(), O_WRONLY | O_CLOEXEC);
  if (file < 0) return errno;
  const ssize_t written = write(file, text.data(), text.size());
  const int error = written < 0 ? errno : 0;
  close(file);
  return error;
}

std::string ReadText(const std::string& path) {
  const int file = open(path.c_str(), O_RDONLY | O_CLOEXEC);
  if (file < 0) return "";
  char text[1024];
  const ssize_t num_bytes = read(file, text, sizeof(text));
  close(file);
  return num_bytes > 0 ? std::string(text, num_bytes) : "";
}

}  // namespace

int64_t EventCount(const std::string& text, const std::string& name) {
  const std::string lines = "\n" + text;
  const std::string wanted = "\n" + name + " ";
  const size_t at = lines.find(wanted);
  if (at == std::string::npos) return 0;
  return std::strtoll(lines.c_str() + at + wanted.size(), nullptr, 10);
}

Cgroup::~Cgroup() {
  if (file_ >= 0) close(file_);
}

int Cgroup::Make(const Confinement& wanted) {
  if (wanted.cgroup.empty()) return 0;
  folder_ = wanted.cgroup;
  if (mkdir(folder_.c_str(), 0755) != 0 && errno != EEXIST) return errno;
  int error = 0;
  if (wanted.memory_bytes > 0) {
    error =
        WriteText(folder_ + "/memory.max", std::to_string(wanted.memory_bytes));
    // Not there where the machine has no swap. What is swapped out would count
    // for nothing.
    WriteText(folder_ + "/memory.swap.max", "0");
    // One process of several that is missing leaves the others waiting.
    WriteText(folder_ + "/memory.oom.group", "1");
  }
  if (error == 0 && wanted.processes > 0) {
    error = WriteText(folder_ + "/pids.max", std::to_string(wanted.processes));
  }
  if (error != 0) return error;
  file_ = open((folder_ + "/cgroup.procs").c_str(), O_WRONLY | O_CLOEXEC);
  return file_ < 0 ? errno : 0;
}

uint32_t Cgroup::LimitsMet() const {
  if (folder_.empty()) return 0;
  uint32_t met = 0;
  if (EventCount(ReadText(folder_ + "/memory.events"), "oom_kill") > 0) {
    met |= kMemoryLimit;
  }
  if (EventCount(ReadText(folder_ + "/pids.events"), "max") > 0) {
    met |= kProcessLimit;
  }
  return met;
}

void Cgroup::Remove() {
  if (!folder_.empty()) rmdir(folder_.c_str());
}

}  // namespace ordo::worker::supervisor
