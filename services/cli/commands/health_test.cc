#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "services/cli/testing/loopback_cli_test.h"

namespace ordo::services::cli {
namespace {

using ::testing::HasSubstr;
using HealthTest = testing::LoopbackCliTest;

TEST_F(HealthTest, AServerThatServesIsOk) {
  EXPECT_EQ(Run({"health"}), 0) << err();
  EXPECT_EQ(out(), client_.address + " serves\n");
  EXPECT_EQ(Run({"health", "-o", "json"}), 0) << err();
  EXPECT_THAT(out(), HasSubstr("\"status\":\"SERVING\""));
}

TEST_F(HealthTest, OneOfItsServicesIsAskedForByName) {
  EXPECT_EQ(Run({"health", "ordo.jobs.v1.JobsService"}), 0) << err();
  EXPECT_EQ(Run({"health", "ordo.jobs.v9.JobsService"}), 2);
}

TEST_F(HealthTest, NobodyThereIsUnreachable) {
  client_.address = scheduler_.address();
  scheduler_.Leave();
  client_.retry_for = absl::ZeroDuration();
  EXPECT_EQ(Run({"health"}), 4);
  EXPECT_THAT(err(), HasSubstr(client_.address));
}

}  // namespace
}  // namespace ordo::services::cli
