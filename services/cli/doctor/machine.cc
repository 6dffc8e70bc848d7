#include "services/cli/doctor/machine.h"

#include <cerrno>
#include <climits>
#include <cstdlib>
#include <sys/resource.h>
#include <sys/statvfs.h>
#include <sys/syscall.h>
#include <sys/timex.h>
#include <sys/utsname.h>
#include <unistd.h>

#include "absl/strings/ascii.h"
#include "absl/strings/match.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "absl/time/time.h"
#include "base/files/file_util.h"
#include "base/files/files.h"

namespace ordo::services::cli::doctor {
namespace {

constexpr size_t kMaxBytes = 1 << 20;
constexpr int64_t kMib = 1 << 20;
// A scheduler with many clients has a file for each; a worker some for each
// attempt.
constexpr int64_t kFewOpenFiles = 4096;
constexpr int64_t kLeastOpenFiles = 1024;
// A worker has one instance and some watches for each attempt.
constexpr int64_t kFewInstances = 128;
constexpr int64_t kFewWatches = 8192;
// Ranks on GPUs meet there.
constexpr int64_t kLittleSharedMemory = 256 * kMib;

std::string TextOf(const std::string& path) {
  base::PosixFilesystem files;
  return std::string(absl::StripAsciiWhitespace(
      base::ReadFile(files, path, kMaxBytes).value_or("")));
}

int64_t NumberOf(const std::string& path) {
  int64_t number = 0;
  return absl::SimpleAtoi(TextOf(path), &number) ? number : -1;
}

bool HasProcessCalls() {
  const long file = syscall(SYS_pidfd_open, getpid(), 0);
  if (file < 0) return false;
  close(static_cast<int>(file));
  // Nobody has a file of this number.
  return syscall(SYS_close_range, UINT_MAX, UINT_MAX, 0) == 0;
}

// As worker/supervisor/landlock.h asks for it.
bool HasLandlock() {
  constexpr long kCreateRuleset = 444;
  constexpr unsigned kAskVersion = 1;
  constexpr long kLeastVersion = 2;
  return syscall(kCreateRuleset, nullptr, 0, kAskVersion) >= kLeastVersion;
}

// The folder of this process's cgroup; empty where there is no version 2.
std::string CgroupFolder(const std::string& root) {
  const std::string text = TextOf(root + "/proc/self/cgroup");
  for (const absl::string_view line : absl::StrSplit(text, '\n')) {
    if (!absl::StartsWith(line, "0::")) continue;
    return absl::StrCat(root, "/sys/fs/cgroup", line.substr(3));
  }
  return "";
}

int64_t RoomOf(const std::string& path) {
  struct statvfs about = {};
  if (statvfs(path.c_str(), &about) != 0) return -1;
  return static_cast<int64_t>(about.f_bsize) *
         static_cast<int64_t>(about.f_blocks);
}

bool ClockIsKept() {
  timex about = {};
  const int state = adjtimex(&about);
  return state >= 0 && state != TIME_ERROR && (about.status & STA_UNSYNC) == 0;
}

int64_t LimitOf(rlim_t limit) {
  return limit == RLIM_INFINITY ? INT64_MAX : static_cast<int64_t>(limit);
}

Finding JudgeKernel(const MachineFacts& facts) {
  if (facts.has_process_calls) {
    return {"machine/kernel", Health::kOk, "Linux " + facts.kernel};
  }
  return {"machine/kernel", Health::kFail,
          "Linux " + facts.kernel + " lacks pidfd_open or close_range",
          "boot Linux 5.9 or newer; in a container, permit these calls"};
}

Finding JudgeLandlock(const MachineFacts& facts) {
  if (facts.has_landlock) {
    return {"machine/landlock", Health::kOk,
            "trainers can be kept to folders of their own"};
  }
  return {"machine/landlock", Health::kWarn, "the kernel has no Landlock",
          "where trainers run, boot Linux 5.19 or newer with landlock among "
          "its `lsm=`, or run the worker as root with `sandbox.user`; else "
          "they may what the worker may, and it does not start with "
          "`sandbox.readable`"};
}

Finding JudgeOpenFiles(const MachineFacts& facts) {
  Finding finding{"machine/open-files", Health::kOk,
                  absl::StrCat(facts.open_files, " open files a process")};
  if (facts.open_files >= kFewOpenFiles) return finding;
  finding.health =
      facts.open_files < kLeastOpenFiles ? Health::kFail : Health::kWarn;
  finding.advice = absl::StrCat(
      "let services have more: LimitNOFILE=65536 of a unit, or ulimit -n",
      facts.max_open_files >= kFewOpenFiles
          ? absl::StrCat(" (up to ", facts.max_open_files, " here)")
          : "");
  return finding;
}

Finding JudgeInotify(const MachineFacts& facts) {
  if (facts.inotify_instances < 0 || facts.inotify_watches < 0) {
    return {"machine/inotify", Health::kWarn, "there is no inotify",
            "use a kernel with inotify: progress is looked at once a second "
            "otherwise"};
  }
  Finding finding{"machine/inotify", Health::kOk,
                  absl::StrCat(facts.inotify_instances, " instances, ",
                               facts.inotify_watches, " watches a user")};
  if (facts.inotify_instances < kFewInstances ||
      facts.inotify_watches < kFewWatches) {
    finding.health = Health::kWarn;
    finding.advice =
        absl::StrCat("sysctl fs.inotify.max_user_instances=", kFewInstances,
                     " fs.inotify.max_user_watches=", kFewWatches, ", or more");
  }
  return finding;
}

Finding JudgeCgroup(const MachineFacts& facts) {
  if (facts.controllers.empty()) {
    return {"machine/cgroup", Health::kWarn,
            "no cgroup of version 2 with controllers",
            "boot with systemd.unified_cgroup_hierarchy=1: memory and "
            "processes of attempts are bounded by it"};
  }
  if (!facts.cgroup_delegated) {
    return {"machine/cgroup", Health::kWarn,
            absl::StrCat("controllers ", facts.controllers,
                         ", but this process may make no cgroup"),
            "run the worker by its unit, which has Delegate=yes; an "
            "interactive shell has no cgroup of its own"};
  }
  return {"machine/cgroup", Health::kOk,
          "attempts can have cgroups of their own: " + facts.controllers};
}

Finding JudgeSharedMemory(const MachineFacts& facts) {
  Finding finding{"machine/shared-memory", Health::kOk,
                  facts.shared_memory_bytes < 0
                      ? std::string("there is no /dev/shm")
                      : absl::StrCat("/dev/shm has ",
                                     facts.shared_memory_bytes / kMib, " MiB")};
  if (facts.shared_memory_bytes >= kLittleSharedMemory) return finding;
  finding.health = Health::kWarn;
  finding.advice = absl::StrCat(
      "give /dev/shm ", kLittleSharedMemory / kMib,
      " MiB or more: ranks of a job on one machine meet there (containers: "
      "--shm-size, or an emptyDir of medium Memory)");
  return finding;
}

Finding JudgeClock(const MachineFacts& facts) {
  if (facts.clock_kept) {
    return {"machine/clock", Health::kOk, "the clock is kept right"};
  }
  return {"machine/clock", Health::kWarn,
          "nothing keeps this machine's clock right",
          "run chrony or systemd-timesyncd: tokens, certificates, drains and "
          "usage go by it (in a container the host's counts)"};
}

Finding JudgeTimeZone(const MachineFacts& facts) {
  if (facts.time_zone_known) {
    return {"machine/time-zone", Health::kOk,
            facts.time_zone.empty() ? "that of the machine" : facts.time_zone};
  }
  return {"machine/time-zone", Health::kWarn,
          "TZ=" + facts.time_zone + " is no zone of this machine",
          "install tzdata, or name another zone: times are shown in UTC"};
}

}  // namespace

MachineFacts ReadMachineFacts(const std::string& root) {
  MachineFacts facts;
  utsname name = {};
  if (uname(&name) == 0) facts.kernel = name.release;
  facts.has_process_calls = HasProcessCalls();
  facts.has_landlock = HasLandlock();
  rlimit limit = {};
  if (getrlimit(RLIMIT_NOFILE, &limit) == 0) {
    facts.open_files = LimitOf(limit.rlim_cur);
    facts.max_open_files = LimitOf(limit.rlim_max);
  }
  const std::string inotify = root + "/proc/sys/fs/inotify/max_user_";
  facts.inotify_instances = NumberOf(inotify + "instances");
  facts.inotify_watches = NumberOf(inotify + "watches");
  if (const std::string folder = CgroupFolder(root); !folder.empty()) {
    facts.controllers = TextOf(folder + "/cgroup.controllers");
    facts.cgroup_delegated = access(folder.c_str(), W_OK) == 0;
  }
  facts.shared_memory_bytes = RoomOf(root + "/dev/shm");
  facts.clock_kept = ClockIsKept();
  if (const char* zone = std::getenv("TZ"); zone != nullptr) {
    facts.time_zone = *zone == ':' ? zone + 1 : zone;
    absl::TimeZone found;
    facts.time_zone_known =
        facts.time_zone.empty() || absl::LoadTimeZone(facts.time_zone, &found);
  }
  return facts;
}

Findings JudgeMachine(const MachineFacts& facts) {
  return {JudgeKernel(facts),  JudgeLandlock(facts), JudgeOpenFiles(facts),
          JudgeInotify(facts), JudgeCgroup(facts),   JudgeSharedMemory(facts),
          JudgeClock(facts),   JudgeTimeZone(facts)};
}

}  // namespace ordo::services::cli::doctor
