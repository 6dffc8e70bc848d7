#include "base/status/status.h"

#include <cerrno>
#include <memory>
#include <string>

#include "absl/strings/cord.h"
#include "base/status/testing/status_matchers.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace ordo::base {
namespace {

using ::ordo::base::testing::IsOk;
using ::ordo::base::testing::IsOkAndHolds;
using ::ordo::base::testing::StatusIs;

absl::Status PassOn(const absl::Status& status, bool* reached_end) {
  ORDO_RETURN_IF_ERROR(status);
  *reached_end = true;
  return absl::OkStatus();
}

absl::StatusOr<int> Length(absl::StatusOr<std::string> text) {
  ORDO_ASSIGN_OR_RETURN(const std::string value, text);
  return static_cast<int>(value.size());
}

absl::StatusOr<std::unique_ptr<int>> MakeUnique(int value) {
  if (value < 0) return absl::OutOfRangeError("negative");
  return std::make_unique<int>(value);
}

absl::Status UseUnique(int value) {
  ORDO_RETURN_IF_ERROR(MakeUnique(value));
  ORDO_ASSIGN_OR_RETURN(const std::unique_ptr<int> owned, MakeUnique(value));
  return *owned == value ? absl::OkStatus() : absl::InternalError("changed");
}

TEST(ReturnIfErrorTest, ReturnsTheErrorAndStops) {
  bool reached_end = false;
  EXPECT_THAT(PassOn(absl::AbortedError("lost"), &reached_end),
              StatusIs(absl::StatusCode::kAborted, "lost"));
  EXPECT_FALSE(reached_end);
}

TEST(ReturnIfErrorTest, GoesOnWhenOk) {
  bool reached_end = false;
  EXPECT_THAT(PassOn(absl::OkStatus(), &reached_end), IsOk());
  EXPECT_TRUE(reached_end);
}

TEST(AssignOrReturnTest, AssignsTheValueOrReturnsTheError) {
  EXPECT_THAT(Length("abc"), IsOkAndHolds(3));
  EXPECT_THAT(Length(absl::NotFoundError("none")),
              StatusIs(absl::StatusCode::kNotFound, "none"));
}

TEST(AssignOrReturnTest, MovesValuesThatCannotBeCopied) {
  EXPECT_THAT(UseUnique(7), IsOk());
  EXPECT_THAT(UseUnique(-1),
              StatusIs(absl::StatusCode::kOutOfRange, "negative"));
}

TEST(AddContextTest, KeepsCodeAndPayloads) {
  absl::Status status = absl::NotFoundError("no such file");
  status.SetPayload("type", absl::Cord("detail"));
  const absl::Status longer = AddContext(status, "read job file a.yaml");
  EXPECT_THAT(longer, StatusIs(absl::StatusCode::kNotFound,
                               "read job file a.yaml: no such file"));
  EXPECT_EQ(longer.GetPayload("type"), absl::Cord("detail"));
}

TEST(AddContextTest, LeavesSuccessAlone) {
  EXPECT_THAT(AddContext(absl::OkStatus(), "read"), IsOk());
  EXPECT_THAT(AddContext(absl::StatusOr<int>(4), "count"), IsOkAndHolds(4));
}

TEST(SystemErrorTest, NamesWhatWasAttemptedAndFitsTheCode) {
  EXPECT_THAT(SystemError(ENOENT, "open a"),
              StatusIs(absl::StatusCode::kNotFound,
                       "open a: No such file or directory"));
  EXPECT_THAT(SystemError(ENOSPC, "write a"),
              StatusIs(absl::StatusCode::kResourceExhausted));
  EXPECT_THAT(SystemError(EFBIG, "write a"),
              StatusIs(absl::StatusCode::kResourceExhausted));
  EXPECT_THAT(SystemError(EIO, "read a"),
              StatusIs(absl::StatusCode::kDataLoss));
}

}  // namespace
}  // namespace ordo::base
