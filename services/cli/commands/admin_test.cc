#include <string>
#include <vector>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "services/cli/testing/cli_test_base.h"

namespace ordo::services::cli {
namespace {

using ::testing::HasSubstr;
using AdminTest = testing::CliTest;

TEST_F(AdminTest, WhatIsNoCommandNamesTheNearest) {
  EXPECT_EQ(Run({"admin", "cert", "init", "x"}), 2);
  EXPECT_THAT(err(), HasSubstr("did you mean 'certs'?"));
  EXPECT_EQ(Run({"admin", "certs", "ini", "x"}), 2);
  EXPECT_THAT(err(), HasSubstr("did you mean 'init'?"));
  EXPECT_EQ(Run({"admin", "certs"}), 2);
  EXPECT_THAT(err(), HasSubstr("'ordo admin certs ' is no command"));
}

TEST_F(AdminTest, AFolderIsNamed) {
  EXPECT_EQ(Run({"admin", "certs", "init"}), 2);
  EXPECT_THAT(err(), HasSubstr("usage: ordo admin certs init DIR"));
  EXPECT_EQ(Run({"admin", "certs", "add", "x", "y"}), 2);
  EXPECT_EQ(Run({"admin", "certs", "renew"}), 2);
  EXPECT_THAT(err(), HasSubstr("renew DIR [FILE...]"));
}

}  // namespace
}  // namespace ordo::services::cli
