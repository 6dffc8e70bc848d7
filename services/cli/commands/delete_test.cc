#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "services/cli/testing/loopback_cli_test.h"

namespace ordo::services::cli {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;
using DeleteTest = testing::LoopbackCliTest;

TEST_F(DeleteTest, WhatCannotBeDeletedIsNamedAndKeepsNothingElseFromIt) {
  EXPECT_EQ(Run({"push", "data", WriteFile("book.txt", "one")}), 0) << err();
  EXPECT_EQ(Run({"delete", "book", "data/book", "data/a b"}), 2);
  EXPECT_THAT(out(), AllOf(HasSubstr("book@"), HasSubstr(" deleted\n")));
  EXPECT_THAT(err(), AllOf(HasSubstr("'book' cannot be deleted"),
                           HasSubstr("data/{data}@{version}")));
}

}  // namespace
}  // namespace ordo::services::cli
