#include "worker/supervisor/confinement.h"

#include <cerrno>
#include <functional>
#include <grp.h>
#include <signal.h>
#include <string>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace ordo::worker::supervisor {
namespace {

constexpr int kNobody = 65534;

constexpr int kDoesNotHold = 255;

// Whether this process may have another become `kNobody`: in a user namespace
// of its own root may not.
bool MayBecomeNobody() {
  const pid_t child = fork();
  if (child == 0) {
    _exit(setgroups(0, nullptr) == 0 &&
                  setresgid(kNobody, kNobody, kNobody) == 0 &&
                  setresuid(kNobody, kNobody, kNobody) == 0
              ? 0
              : 1);
  }
  int status = -1;
  return waitpid(child, &status, 0) == child && status == 0;
}

// Takes it on in a child, and asks there: 0 when `holds`, kDoesNotHold when
// not, else the errno of what could not be taken on.
int Ask(const Confinement& confinement, const std::function<bool()>& holds) {
  Confiner confiner(confinement, -1);
  EXPECT_EQ(confiner.Prepare(), 0);
  const pid_t child = fork();
  if (child == 0) {
    int error = confiner.TakeLimits();
    if (error == 0) error = confiner.TakeRules();
    if (error != 0) _exit(error);
    _exit(holds() ? 0 : kDoesNotHold);
  }
  int status = 0;
  EXPECT_EQ(waitpid(child, &status, 0), child);
  return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

bool IsLimited(__rlimit_resource resource, rlim_t limit) {
  rlimit both{};
  return getrlimit(resource, &both) == 0 && both.rlim_cur == limit &&
         both.rlim_max == limit;
}

TEST(ConfinementTest, NobodyGainsPrivilegesOrLeavesCores) {
  EXPECT_EQ(Ask({},
                [] {
                  return prctl(PR_GET_NO_NEW_PRIVS, 0, 0, 0, 0) == 1 &&
                         IsLimited(RLIMIT_CORE, 0);
                }),
            0);
}

TEST(ConfinementTest, LimitsAreThoseGiven) {
  Confinement confinement;
  confinement.file_bytes = 1 << 20;
  confinement.address_space_bytes = int64_t{1} << 40;
  confinement.data_bytes = int64_t{1} << 39;
  confinement.open_files = 99;
  EXPECT_EQ(Ask(confinement,
                [] {
                  struct sigaction action {};
                  sigaction(SIGXFSZ, nullptr, &action);
                  return IsLimited(RLIMIT_FSIZE, 1 << 20) &&
                         IsLimited(RLIMIT_AS, rlim_t{1} << 40) &&
                         IsLimited(RLIMIT_DATA, rlim_t{1} << 39) &&
                         IsLimited(RLIMIT_NOFILE, 99) &&
                         action.sa_handler == SIG_IGN;
                }),
            0);
}

TEST(ConfinementTest, NoLimitIsWidened) {
  rlimit old{};
  ASSERT_EQ(getrlimit(RLIMIT_NOFILE, &old), 0);
  Confinement confinement;
  confinement.open_files = int64_t{1} << 40;
  EXPECT_EQ(
      Ask(confinement, [&] { return IsLimited(RLIMIT_NOFILE, old.rlim_max); }),
      0);
}

TEST(ConfinementTest, AnotherUserIsNobodyElseBesides) {
  if (!MayBecomeNobody()) GTEST_SKIP() << "only root becomes another user";
  Confinement confinement;
  confinement.uid = kNobody;
  confinement.gid = kNobody;
  confinement.processes = 321;
  EXPECT_EQ(Ask(confinement,
                [] {
                  uid_t uids[3];
                  gid_t gids[3];
                  if (getresuid(&uids[0], &uids[1], &uids[2]) != 0 ||
                      getresgid(&gids[0], &gids[1], &gids[2]) != 0) {
                    return false;
                  }
                  for (int i = 0; i < 3; ++i) {
                    if (uids[i] != kNobody || gids[i] != kNobody) return false;
                  }
                  return getgroups(0, nullptr) == 0 && setuid(0) != 0 &&
                         IsLimited(RLIMIT_NPROC, 321);
                }),
            0);
}

// Where root runs the test, as nobody.
TEST(ConfinementTest, WhoIsNotRootHasItsProcessesBound) {
  if (geteuid() == 0 && !MayBecomeNobody()) {
    GTEST_SKIP() << "root of a user namespace of its own is nobody else";
  }
  const pid_t child = fork();
  if (child == 0) {
    if (geteuid() == 0 && (setgroups(0, nullptr) != 0 ||
                           setresgid(kNobody, kNobody, kNobody) != 0 ||
                           setresuid(kNobody, kNobody, kNobody) != 0)) {
      _exit(1);
    }
    Confinement confinement;
    confinement.processes = 321;
    Confiner confiner(confinement, -1);
    _exit(confiner.TakeLimits() == 0 && IsLimited(RLIMIT_NPROC, 321) ? 0 : 2);
  }
  int status = -1;
  ASSERT_EQ(waitpid(child, &status, 0), child);
  EXPECT_EQ(status, 0);
}

TEST(ConfinementTest, WhatIsMappedBeyondTheBoundIsRefused) {
  Confinement confinement;
  confinement.data_bytes = 64 << 20;
  EXPECT_EQ(
      Ask(confinement,
          [] {
            // What is not written to counts for nothing.
            return mmap(nullptr, size_t{1} << 30, PROT_READ,
                        MAP_PRIVATE | MAP_ANONYMOUS, -1, 0) != MAP_FAILED &&
                   mmap(nullptr, size_t{1} << 30, PROT_READ | PROT_WRITE,
                        MAP_PRIVATE | MAP_ANONYMOUS, -1, 0) == MAP_FAILED &&
                   errno == ENOMEM;
          }),
      0);
}

TEST(ConfinementTest, WhoIsNotRootBecomesNobodyElse) {
  if (MayBecomeNobody()) GTEST_SKIP() << "this is root";
  Confinement confinement;
  confinement.uid = kNobody;
  confinement.gid = kNobody;
  EXPECT_THAT(Ask(confinement, [] { return true; }),
              ::testing::AnyOf(EPERM, EINVAL));
}

}  // namespace
}  // namespace ordo::worker::supervisor
