#include "worker/supervisor/confinement.h"

#include <algorithm>
#include <cerrno>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "worker/supervisor/landlock.h"

namespace ordo::worker::supervisor {
namespace {

// 0 or an errno; nothing for the limit 0. Never above what holds already.
int SetLimit(__rlimit_resource resource, int64_t limit) {
  if (limit == 0) return 0;
  rlimit old{};
  if (getrlimit(resource, &old) != 0) return errno;
  const rlim_t value = std::min(static_cast<rlim_t>(limit), old.rlim_max);
  const rlimit both{value, value};
  return setrlimit(resource, &both) == 0 ? 0 : errno;
}

// The system calls themselves: the library's functions change all threads of a
// process, and the child shares the memory of its parent.
int BecomeUser(int64_t uid, int64_t gid) {
  if (uid < 0) return 0;
  if (syscall(SYS_setgroups, 0, nullptr) != 0) return errno;
  if (syscall(SYS_setresgid, gid, gid, gid) != 0) return errno;
  if (syscall(SYS_setresuid, uid, uid, uid) != 0) return errno;
  return 0;
}

}  // namespace

Confiner::~Confiner() {
  if (rules_ >= 0) close(rules_);
}

int Confiner::Prepare() {
  if (confinement_.writable.empty()) return 0;
  return MakeRules(confinement_.writable, confinement_.readable, &rules_);
}

int Confiner::TakeLimits() const {
  // The 0 is the process that writes it.
  if (cgroup_file_ >= 0 && write(cgroup_file_, "0", 1) != 1) return errno;
  const rlimit none{0, 0};
  if (setrlimit(RLIMIT_CORE, &none) != 0) return errno;
  // A write beyond it fails with EFBIG, which the trainer reports.
  if (confinement_.file_bytes > 0) signal(SIGXFSZ, SIG_IGN);
  int error = SetLimit(RLIMIT_FSIZE, confinement_.file_bytes);
  if (error == 0) error = SetLimit(RLIMIT_AS, confinement_.address_space_bytes);
  if (error == 0) error = SetLimit(RLIMIT_NOFILE, confinement_.open_files);
  if (error == 0) error = SetLimit(RLIMIT_DATA, confinement_.data_bytes);
  // It counts all of the user's and holds for this process alone: supervisor
  // and worker go on to start what they must.
  if (error == 0 && cgroup_file_ < 0 &&
      (confinement_.uid > 0 || geteuid() != 0)) {
    error = SetLimit(RLIMIT_NPROC, confinement_.processes);
  }
  if (error == 0) error = BecomeUser(confinement_.uid, confinement_.gid);
  return error;
}

int Confiner::TakeRules() const {
  if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) != 0) return errno;
  return rules_ < 0 ? 0 : TakeOnRules(rules_);
}

}  // namespace ordo::worker::supervisor
