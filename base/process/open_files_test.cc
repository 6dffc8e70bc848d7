#include "base/process/open_files.h"

#include <cstdint>
#include <sys/resource.h>

#include "gtest/gtest.h"

namespace ordo::base {
namespace {

rlimit Limit() {
  rlimit limit = {};
  ::getrlimit(RLIMIT_NOFILE, &limit);
  return limit;
}

TEST(RaiseOpenFileLimitTest, RaisesUpToWhatThereMayBeAndNeverLowers) {
  rlimit few = Limit();
  few.rlim_cur = 128;
  ASSERT_EQ(::setrlimit(RLIMIT_NOFILE, &few), 0);
  EXPECT_EQ(RaiseOpenFileLimit(256), 256U);
  EXPECT_EQ(Limit().rlim_cur, 256U);
  EXPECT_EQ(RaiseOpenFileLimit(200), 256U);
  EXPECT_EQ(RaiseOpenFileLimit(UINT64_MAX), few.rlim_max);
  EXPECT_EQ(Limit().rlim_cur, few.rlim_max);
}

}  // namespace
}  // namespace ordo::base
