#include "services/cli/exit_code.h"

#include "gtest/gtest.h"

namespace ordo::services::cli {
namespace {

int CodeOf(const absl::Status& status) {
  return static_cast<int>(ExitCodeOf(status));
}

TEST(ExitCodeTest, ErrorsAreToldApart) {
  EXPECT_EQ(CodeOf(absl::OkStatus()), 0);
  EXPECT_EQ(CodeOf(absl::InvalidArgumentError("")), 2);
  EXPECT_EQ(CodeOf(absl::NotFoundError("")), 2);
  EXPECT_EQ(CodeOf(absl::AlreadyExistsError("")), 2);
  EXPECT_EQ(CodeOf(absl::FailedPreconditionError("")), 2);
  EXPECT_EQ(CodeOf(absl::PermissionDeniedError("")), 2);
  EXPECT_EQ(CodeOf(absl::ResourceExhaustedError("")), 8);
  EXPECT_EQ(CodeOf(absl::AbortedError("")), 8);
  EXPECT_EQ(CodeOf(absl::DataLossError("")), 9);
  EXPECT_EQ(CodeOf(absl::UnavailableError("")), 4);
  EXPECT_EQ(CodeOf(absl::DeadlineExceededError("")), 5);
  EXPECT_EQ(CodeOf(absl::InternalError("")), 70);
  EXPECT_EQ(CodeOf(absl::UnknownError("")), 70);
}

TEST(ExitCodeTest, WhatAProgramOfOursEndedWithIsPassedOn) {
  for (const int code : {2, 8, 9}) {
    EXPECT_EQ(CodeOf(ErrorOfExit(code, "why")), code);
    EXPECT_EQ(ErrorOfExit(code, "why").message(), "why");
  }
  // Of the others, and of a signal, that it did not start.
  for (const int code : {0, 1, 70, 127}) {
    EXPECT_EQ(CodeOf(ErrorOfExit(code, "why")), 2);
  }
}

TEST(ExitCodeTest, EndsOfJobsAreToldApart) {
  EXPECT_EQ(ExitCodeOf(jobs::v1::Job::SUCCEEDED), ExitCode::kOk);
  EXPECT_EQ(ExitCodeOf(jobs::v1::Job::FAILED), ExitCode::kJobFailed);
  EXPECT_EQ(ExitCodeOf(jobs::v1::Job::CANCELLED), ExitCode::kCancelled);
  EXPECT_EQ(ExitCodeOf(jobs::v1::Job::RUNNING), ExitCode::kOk);
}

TEST(ExitCodeTest, FailedOutweighsCancelledOutweighsOk) {
  EXPECT_EQ(Worse(ExitCode::kOk, ExitCode::kCancelled), ExitCode::kCancelled);
  EXPECT_EQ(Worse(ExitCode::kJobFailed, ExitCode::kCancelled),
            ExitCode::kJobFailed);
  EXPECT_EQ(Worse(ExitCode::kCancelled, ExitCode::kJobFailed),
            ExitCode::kJobFailed);
  EXPECT_EQ(Worse(ExitCode::kOk, ExitCode::kOk), ExitCode::kOk);
}

}  // namespace
}  // namespace ordo::services::cli
