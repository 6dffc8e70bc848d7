#include "base/files/testing/no_locks.h"

#include <cerrno>
#include <fcntl.h>
#include <sys/file.h>
#include <unistd.h>

#include "base/files/testing/temporary_folder.h"
#include "gtest/gtest.h"

namespace ordo::base::testing {
namespace {

TEST(NoLocksTest, FlockFailsOnThatThreadAlone) {
  TemporaryFolder folder;
  const int fd = open(folder.Path("file").c_str(), O_RDWR | O_CREAT, 0600);
  ASSERT_GE(fd, 0);
  int error = 0;
  const bool ran = RunWithoutLocks(
      [&] { error = flock(fd, LOCK_EX | LOCK_NB) == 0 ? 0 : errno; });
  EXPECT_EQ(flock(fd, LOCK_EX | LOCK_NB), 0);
  close(fd);
  if (!ran) GTEST_SKIP() << "system calls cannot be filtered here";
  EXPECT_EQ(error, ENOLCK);
}

}  // namespace
}  // namespace ordo::base::testing
