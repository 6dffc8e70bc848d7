#include "base/files/testing/no_locks.h"

#include <cerrno>
#include <cstddef>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <thread>

#include <linux/filter.h>
#include <linux/seccomp.h>

namespace ordo::base::testing {
namespace {

// For this thread, for good.
bool TakeLocksAway() {
  sock_filter filter[] = {
      BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(seccomp_data, nr)),
      BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_flock, 0, 1),
      BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | ENOLCK),
      BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
  };
  sock_fprog program = {};
  program.len = sizeof(filter) / sizeof(filter[0]);
  program.filter = filter;
  return prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) == 0 &&
         prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program) == 0;
}

}  // namespace

bool RunWithoutLocks(const std::function<void()>& body) {
  bool ran = false;
  std::thread thread([&] {
    ran = TakeLocksAway();
    if (ran) body();
  });
  thread.join();
  return ran;
}

}  // namespace ordo::base::testing
