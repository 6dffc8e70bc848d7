#include "base/process/use.h"

#include <fcntl.h>
#include <unistd.h>
#include <vector>

#include "base/status/testing/status_matchers.h"
#include "gtest/gtest.h"

namespace ordo::base {
namespace {

using ::ordo::base::testing::StatusIs;

TEST(UseOfTest, GrowsWithWhatAProcessDoes) {
  ORDO_ASSERT_OK_AND_ASSIGN(const ProcessUse before, UseOf(getpid()));
  EXPECT_GE(before.age_seconds, 0);
  EXPECT_LT(before.age_seconds, 3600);
  EXPECT_GE(before.num_threads, 1);
  const std::vector<char> touched(size_t{32} << 20, 1);
  ORDO_ASSERT_OK_AND_ASSIGN(ProcessUse now, UseOf(getpid()));
  EXPECT_GE(now.resident_bytes, before.resident_bytes + (int64_t{16} << 20));
  EXPECT_EQ(touched.back(), 1);
  while (now.cpu_seconds == before.cpu_seconds) {
    ORDO_ASSERT_OK_AND_ASSIGN(now, UseOf(getpid()));
  }
  EXPECT_GT(now.cpu_seconds, before.cpu_seconds);
  EXPECT_GT(now.age_seconds, before.age_seconds);
}

TEST(UseOfTest, ThereIsNoneOfNobody) {
  EXPECT_THAT(UseOf(-1), StatusIs(absl::StatusCode::kNotFound));
  EXPECT_THAT(CountOpenFiles(-1), StatusIs(absl::StatusCode::kNotFound));
}

TEST(CountOpenFilesTest, CountsWhatIsOpened) {
  ORDO_ASSERT_OK_AND_ASSIGN(const int64_t before, CountOpenFiles(getpid()));
  const int file = open("/dev/null", O_RDONLY);
  ORDO_ASSERT_OK_AND_ASSIGN(const int64_t now, CountOpenFiles(getpid()));
  close(file);
  EXPECT_EQ(now, before + 1);
}

}  // namespace
}  // namespace ordo::base
