#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "services/cli/testing/cli_test_base.h"
#include "services/testing/loopback.h"

namespace ordo::services::cli {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;

class WhoamiTest : public testing::CliTest {
 protected:
  services::testing::Loopback loopback_;
};

TEST_F(WhoamiTest, WhereNothingIsGuardedTheNameIsBelieved) {
  environment_["ORDO_SERVER"] = loopback_.server().address();
  client_.user = "ada";
  ASSERT_EQ(Run({"whoami"}), 0) << err();
  EXPECT_THAT(out(), AllOf(HasSubstr("ada"), HasSubstr("admin"),
                           HasSubstr("claim"), HasSubstr("all")));
}

}  // namespace
}  // namespace ordo::services::cli
