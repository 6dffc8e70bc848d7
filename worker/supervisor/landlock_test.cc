#include "worker/supervisor/landlock.h"

#include <cerrno>
#include <fcntl.h>
#include <filesystem>
#include <fstream>
#include <functional>
#include <signal.h>
#include <stdlib.h>
#include <string>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>
#include <vector>

#include "gtest/gtest.h"

namespace ordo::worker::supervisor {
namespace {

constexpr int kVersionWithSignals = 6;

class LandlockTest : public ::testing::Test {
 protected:
  LandlockTest() {
    std::string pattern = ::testing::TempDir() + "landlockXXXXXX";
    folder_ = mkdtemp(pattern.data());
    for (const char* name : {"/in", "/out"}) {
      std::filesystem::create_directory(folder_ + name);
      std::ofstream(folder_ + name + "/file") << "text";
    }
  }
  ~LandlockTest() override { std::filesystem::remove_all(folder_); }
  void SetUp() override {
    if (LandlockVersion() == 0) GTEST_SKIP() << "the kernel has no Landlock";
  }

  // The errno with which `act`, which returns less than 0 on failure, ends in a
  // process that is bound by rules; 0: it succeeds.
  int Bound(const std::vector<std::string>& writable,
            const std::vector<std::string>& readable,
            const std::function<int()>& act) {
    int rules = -1;
    EXPECT_EQ(MakeRules(writable, readable, &rules), 0);
    EXPECT_GE(rules, 0);
    const pid_t child = fork();
    if (child == 0) {
      if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) != 0) _exit(255);
      if (TakeOnRules(rules) != 0) _exit(254);
      _exit(act() < 0 ? errno : 0);
    }
    close(rules);
    int status = 0;
    EXPECT_EQ(waitpid(child, &status, 0), child);
    return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
  }
  int Open(const std::string& name, int flags) const {
    return open((folder_ + name).c_str(), flags, 0644);
  }

  std::string folder_;
};

TEST_F(LandlockTest, OnlyWhatIsNamedIsWritten) {
  const std::vector<std::string> writable = {folder_ + "/in"};
  const auto written = [&](const char* name, int flags) {
    return Bound(writable, {}, [&] { return Open(name, O_WRONLY | flags); });
  };
  EXPECT_EQ(written("/in/new", O_CREAT), 0);
  EXPECT_EQ(written("/in/file", O_TRUNC), 0);
  EXPECT_EQ(written("/out/new", O_CREAT), EACCES);
  EXPECT_EQ(written("/out/file", O_TRUNC), EACCES);
  EXPECT_EQ(written("/in/../out/file", O_APPEND), EACCES);
  EXPECT_EQ(Bound(writable, {},
                  [&] { return unlink((folder_ + "/out/file").c_str()); }),
            EACCES);
  EXPECT_EQ(Bound(writable, {},
                  [&] {
                    return rename((folder_ + "/in/file").c_str(),
                                  (folder_ + "/out/file").c_str());
                  }),
            EACCES);
  // What is not named is still read.
  EXPECT_EQ(Bound(writable, {}, [&] { return Open("/out/file", O_RDONLY); }),
            0);
}

TEST_F(LandlockTest, LinksLeadNowhereElse) {
  std::filesystem::create_symlink(folder_ + "/out", folder_ + "/in/link");
  EXPECT_EQ(Bound({folder_ + "/in"}, {},
                  [&] { return Open("/in/link/file", O_WRONLY); }),
            EACCES);
}

TEST_F(LandlockTest, FilesMoveBetweenFoldersThatAreNamed) {
  const auto move = [&] {
    return rename((folder_ + "/in/file").c_str(),
                  (folder_ + "/out/moved").c_str());
  };
  EXPECT_EQ(Bound({folder_ + "/in", folder_ + "/out"}, {}, move), 0);
}

TEST_F(LandlockTest, WhereReadingIsBoundOnlyWhatIsNamedIsRead) {
  const auto read = [&](const std::vector<std::string>& readable) {
    return Bound({folder_ + "/in"}, readable,
                 [&] { return Open("/out/file", O_RDONLY); });
  };
  EXPECT_EQ(read({"/usr"}), EACCES);
  EXPECT_EQ(read({"/usr", folder_ + "/out"}), 0);
  // A file, too, may be named.
  EXPECT_EQ(read({folder_ + "/out/file"}), 0);
  EXPECT_EQ(Bound({folder_ + "/in"}, {"/usr"},
                  [&] { return Open("/in/file", O_RDWR); }),
            0);
  EXPECT_EQ(Bound({folder_ + "/in"}, {folder_ + "/out"},
                  [&] { return Open("/out/file", O_WRONLY); }),
            EACCES);
}

TEST_F(LandlockTest, WhatIsNotThereIsLeftOut) {
  EXPECT_EQ(Bound({folder_ + "/none", folder_ + "/in"}, {},
                  [&] { return Open("/in/file", O_WRONLY); }),
            0);
}

TEST_F(LandlockTest, OthersAreNotSignalled) {
  if (LandlockVersion() < kVersionWithSignals) {
    GTEST_SKIP() << "the kernel's Landlock knows no signals";
  }
  const pid_t other = getpid();
  EXPECT_EQ(Bound({folder_}, {}, [&] { return kill(other, 0); }), EPERM);
  EXPECT_EQ(Bound({folder_}, {}, [&] { return kill(getpid(), 0); }), 0);
}

}  // namespace
}  // namespace ordo::worker::supervisor
