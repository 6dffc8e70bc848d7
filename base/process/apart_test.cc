#include "base/process/apart.h"

#include <csignal>
#include <string>
#include <unistd.h>

#include "base/status/testing/status_matchers.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace ordo::base {
namespace {

using ::testing::HasSubstr;

constexpr absl::Duration kLong = absl::Seconds(60);

TEST(RunApartTest, WhatWorkGivesComesBackAndWhatItChangesDoesNot) {
  int changed = 0;
  // More than a pipe takes at once.
  const std::string text(300000, 'x');
  const auto result = RunApart(
      [&] {
        changed = 1;
        return text + std::to_string(getpid());
      },
      kLong);
  ASSERT_TRUE(result.ok()) << result.status();
  EXPECT_EQ(result->substr(0, text.size()), text);
  EXPECT_NE(result->substr(text.size()), std::to_string(getpid()));
  EXPECT_EQ(changed, 0);
}

TEST(RunApartTest, ASignalIsNamed) {
  const absl::Status status = RunApart(
                                  [] {
                                    std::raise(SIGILL);
                                    return std::string("never");
                                  },
                                  kLong)
                                  .status();
  EXPECT_EQ(status.code(), absl::StatusCode::kAborted);
  EXPECT_THAT(std::string(status.message()), HasSubstr("Illegal instruction"));
}

TEST(RunApartTest, AnExitWithoutAnAnswerIsNoAnswer) {
  const absl::Status status = RunApart(
                                  [] {
                                    ::_exit(0);
                                    return std::string();
                                  },
                                  kLong)
                                  .status();
  EXPECT_EQ(status.code(), absl::StatusCode::kAborted);
  EXPECT_THAT(std::string(status.message()), HasSubstr("exit code 0"));
}

TEST(RunApartTest, WhatDoesNotEndIsKilled) {
  const absl::Status status = RunApart(
                                  [] {
                                    while (true) pause();
                                    return std::string();
                                  },
                                  absl::Milliseconds(1))
                                  .status();
  EXPECT_EQ(status.code(), absl::StatusCode::kDeadlineExceeded);
}

}  // namespace
}  // namespace ordo::base
