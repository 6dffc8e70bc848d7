#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "services/cli/testing/cli_test_base.h"

namespace ordo::services::cli {
namespace {

using ::testing::HasSubstr;
using HelpTest = testing::CliTest;

TEST_F(HelpTest, WithoutACommandListsAll) {
  EXPECT_EQ(Run({"help"}), 0);
  EXPECT_THAT(out(), HasSubstr("  cancel      end jobs"));
}

TEST_F(HelpTest, UnknownCommandNamesTheNearest) {
  EXPECT_EQ(Run({"help", "cancle"}), 2);
  EXPECT_THAT(err(), HasSubstr("did you mean 'cancel'"));
}

}  // namespace
}  // namespace ordo::services::cli
