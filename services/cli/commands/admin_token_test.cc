#include "services/cli/commands/admin_token.h"

#include <string>

#include "base/digest/digest.h"
#include "base/files/file_util.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "services/cli/testing/cli_test_base.h"
#include "services/testing/loopback.h"

namespace ordo::services::cli {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::Not;
using ::testing::StartsWith;

services::AllServicesOptions Guarded() {
  services::AllServicesOptions options;
  options.auth.emplace();
  options.auth->admin_token_sha256 = base::Sha256Hex("first");
  return options;
}

class AdminTokenTest : public testing::CliTest {
 protected:
  AdminTokenTest() {
    environment_["ORDO_SERVER"] = loopback_.server().address();
    environment_["ORDO_TOKEN_FILE"] = WriteFile("first", "first\n");
  }

  services::testing::Loopback loopback_{Guarded()};
};

TEST_F(AdminTokenTest, ATokenLetsItsBearerInUntilItIsRevoked) {
  ASSERT_EQ(Run({"admin", "token", "create", "ci", "--role", "viewer"}), 0)
      << err();
  EXPECT_THAT(out(), StartsWith("ordo_"));
  EXPECT_EQ(out().size(), 49u);
  EXPECT_THAT(err(), HasSubstr("shown this once"));
  const std::string secret = out();
  const std::string file = WriteFile("ci", secret);
  EXPECT_EQ(Run({"whoami", "--token-file", file}), 0) << err();
  EXPECT_THAT(out(), AllOf(HasSubstr("ci"), HasSubstr("viewer"),
                           HasSubstr("token ci"), Not(HasSubstr(secret))));
  EXPECT_EQ(Run({"list", "jobs", "--token-file", file}), 0) << err();
  EXPECT_EQ(Run({"admin", "token", "list", "--token-file", file}), 2);
  EXPECT_THAT(err(), HasSubstr("needs the right ADMINISTER"));

  EXPECT_EQ(Run({"admin", "token", "list"}), 0) << err();
  EXPECT_THAT(out(), AllOf(HasSubstr("ci"), HasSubstr("holds"),
                           HasSubstr("admin"), Not(HasSubstr(secret))));
  EXPECT_EQ(Run({"admin", "token", "revoke", "ci"}), 0) << err();
  EXPECT_EQ(Run({"list", "jobs", "--token-file", file}), 2);
  EXPECT_THAT(err(), HasSubstr("token ci was revoked"));
  EXPECT_EQ(Run({"admin", "token", "list"}), 0);
  EXPECT_THAT(out(), HasSubstr("revoked by admin"));
}

TEST_F(AdminTokenTest, ASecretMayGoToAFileAndIsNotShown) {
  const std::string file = folder_.Path("secret");
  ASSERT_EQ(Run({"admin", "token", "create", "node", "--role", "worker",
                 "--worker", "w", "--out", file}),
            0)
      << err();
  EXPECT_EQ(out(), "");
  EXPECT_THAT(base::ReadFile(files_, file, 100).value(), StartsWith("ordo_"));
}

TEST_F(AdminTokenTest, WhatIsWrongIsSaid) {
  EXPECT_EQ(Run({"admin", "token", "creat", "a"}), 2);
  EXPECT_THAT(err(), HasSubstr("did you mean 'create'?"));
  EXPECT_EQ(Run({"admin", "token", "create"}), 2);
  EXPECT_THAT(err(), HasSubstr("usage: ordo admin token create NAME"));
  EXPECT_EQ(Run({"admin", "token", "list", "--ttl", "1h"}), 2);
  EXPECT_THAT(err(), HasSubstr("--ttl has no meaning"));
  EXPECT_EQ(Run({"admin", "token", "create", "a", "--ttl", "1s"}), 2);
  EXPECT_THAT(err(), HasSubstr("ttl: must be"));
  EXPECT_EQ(Run({"admin", "token", "create", "a", "--queue", "night"}), 2);
  EXPECT_THAT(err(), HasSubstr("there is no queue night"));
}

TEST_F(AdminTokenTest, WithoutATokenNobodyIsLetIn) {
  environment_.erase("ORDO_TOKEN_FILE");
  EXPECT_EQ(Run({"list", "jobs"}), 2);
  EXPECT_THAT(err(), HasSubstr("ORDO_TOKEN_FILE"));
  EXPECT_EQ(Run({"whoami"}), 0) << err();
  EXPECT_THAT(out(), HasSubstr("nobody"));
  EXPECT_EQ(Run({"whoami", "--token-file", folder_.Path("none")}), 2);
  EXPECT_THAT(err(), HasSubstr("--token-file"));
}

}  // namespace
}  // namespace ordo::services::cli
