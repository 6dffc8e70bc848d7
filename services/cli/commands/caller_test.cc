#include "services/cli/commands/caller.h"

#include <string>

#include "base/digest/digest.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "services/cli/testing/cli_test_base.h"
#include "services/testing/loopback.h"

namespace ordo::services::cli {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::Not;

services::AllServicesOptions Guarded() {
  services::AllServicesOptions options;
  options.auth.emplace();
  options.auth->admin_token_sha256 = base::Sha256Hex("first");
  return options;
}

class CallerTest : public testing::CliTest {
 protected:
  void PutJob(const std::string& id, const std::string& owner) {
    jobs::v1::Job job;
    job.set_name("jobs/" + id);
    job.set_state(jobs::v1::Job::QUEUED);
    job.mutable_owner()->set_user(owner);
    loopback_.scheduler().PutJob(job);
  }

  services::testing::Loopback loopback_{Guarded()};
};

TEST_F(CallerTest, WhatIsOwnIsOfTheTokensUserAndNotOfTheLogin) {
  PutJob("mine", "admin");
  PutJob("of-the-login", "ada");
  client_.user = "ada";
  environment_["ORDO_SERVER"] = loopback_.server().address();
  environment_["ORDO_TOKEN_FILE"] = WriteFile("token", "first");
  ASSERT_EQ(Run({"list", "jobs"}), 0) << err();
  EXPECT_THAT(out(), AllOf(HasSubstr("mine"), Not(HasSubstr("of-the-login"))));
  environment_["ORDO_TOKEN_FILE"] = WriteFile("other", "second");
  EXPECT_EQ(Run({"list", "jobs"}), 2);
  EXPECT_THAT(err(), HasSubstr("is not known"));
}

TEST_F(CallerTest, ANameMayHoldWhatAFilterIsMadeOf) {
  PutJob("mine", "cn=ada(\"x\")");
  environment_["ORDO_SERVER"] = loopback_.server().address();
  environment_["ORDO_TOKEN_FILE"] = WriteFile("token", "first");
  ASSERT_EQ(Run({"admin", "token", "create", "ada", "--user", "cn=ada(\"x\")",
                 "--out", folder_.Path("ada")}),
            0)
      << err();
  environment_["ORDO_TOKEN_FILE"] = folder_.Path("ada");
  ASSERT_EQ(Run({"list", "jobs"}), 0) << err();
  EXPECT_THAT(out(), HasSubstr("mine"));
}

}  // namespace
}  // namespace ordo::services::cli
