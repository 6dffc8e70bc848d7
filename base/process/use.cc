#include "base/process/use.h"

#include <dirent.h>
#include <string>
#include <time.h>
#include <unistd.h>
#include <vector>

#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "base/process/process.h"
#include "base/status/status.h"

namespace ordo::base {
namespace {

// Columns of /proc/<pid>/stat from the third on, behind the name, which may
// hold blanks (proc(5) counts from 1).
constexpr size_t kUserTicks = 14 - 3;
constexpr size_t kSystemTicks = 15 - 3;
constexpr size_t kThreads = 20 - 3;
constexpr size_t kStartTicks = 22 - 3;
constexpr size_t kResidentPages = 24 - 3;

// What the ticks of a start count from.
double SecondsSinceBoot() {
  timespec now = {};
  clock_gettime(CLOCK_BOOTTIME, &now);
  return static_cast<double>(now.tv_sec) +
         static_cast<double>(now.tv_nsec) * 1e-9;
}

}  // namespace

absl::StatusOr<ProcessUse> UseOf(pid_t process) {
  ORDO_ASSIGN_OR_RETURN(const std::string stat, ReadProcFile(process, "stat"));
  const size_t name_end = stat.rfind(')');
  std::vector<std::string> columns;
  if (name_end != std::string::npos && name_end + 2 < stat.size()) {
    columns = absl::StrSplit(stat.substr(name_end + 2), ' ');
  }
  columns.resize(kResidentPages + 1);
  int64_t numbers[kResidentPages + 1] = {};
  for (const size_t column :
       {kUserTicks, kSystemTicks, kThreads, kStartTicks, kResidentPages}) {
    if (!absl::SimpleAtoi(columns[column], &numbers[column])) {
      return absl::NotFoundError(
          absl::StrCat("/proc/", process, "/stat tells nothing"));
    }
  }
  const auto tick = static_cast<double>(sysconf(_SC_CLK_TCK));
  ProcessUse use;
  use.cpu_seconds =
      static_cast<double>(numbers[kUserTicks] + numbers[kSystemTicks]) / tick;
  use.resident_bytes = numbers[kResidentPages] * sysconf(_SC_PAGESIZE);
  use.num_threads = numbers[kThreads];
  use.age_seconds =
      SecondsSinceBoot() - static_cast<double>(numbers[kStartTicks]) / tick;
  return use;
}

absl::StatusOr<int64_t> CountOpenFiles(pid_t process) {
  const std::string path = absl::StrCat("/proc/", process, "/fd");
  DIR* const folder = opendir(path.c_str());
  if (folder == nullptr) {
    return absl::NotFoundError(absl::StrCat(path, " cannot be read"));
  }
  int64_t count = 0;
  while (const dirent* entry = readdir(folder)) {
    if (entry->d_name[0] != '.') ++count;
  }
  closedir(folder);
  // One of this process's is the folder itself.
  return process == getpid() ? count - 1 : count;
}

}  // namespace ordo::base
