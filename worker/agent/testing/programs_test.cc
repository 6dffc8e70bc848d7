#include "worker/agent/testing/programs.h"

#include <unistd.h>

#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace ordo::worker::agent::testing {
namespace {

using ::testing::Contains;

TEST(ProgramsTest, ProgramsAreThere) {
  const TaskOptions options = FakeTaskOptions("/d", "*:step_ms=1");
  EXPECT_EQ(access(options.supervisor.c_str(), X_OK), 0) << options.supervisor;
  EXPECT_EQ(access(options.trainer.c_str(), X_OK), 0) << options.trainer;
  EXPECT_THAT(options.environment, Contains("ORDO_FAKE=*:step_ms=1"));
}

}  // namespace
}  // namespace ordo::worker::agent::testing
