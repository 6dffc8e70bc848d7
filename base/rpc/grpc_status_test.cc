#include "base/rpc/grpc_status.h"

#include <string>
#include <vector>

#include "absl/strings/cord.h"
#include "base/status/details.h"
#include "base/status/testing/status_matchers.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace ordo::base {
namespace {

using ::ordo::base::testing::IsOk;
using ::ordo::base::testing::StatusIs;
using ::testing::EndsWith;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

TEST(GrpcStatusTest, CodeMessageAndDetailsGoThereAndBack) {
  const absl::Status sent = WithErrorInfo(InvalidField("a.b", "is bad"),
                                          {"BAD_SPEC", "ordo", {{"k", "v"}}});
  const grpc::Status wire = ToGrpcStatus(sent);
  EXPECT_EQ(wire.error_code(), grpc::StatusCode::INVALID_ARGUMENT);
  EXPECT_EQ(wire.error_message(), "a.b: is bad");
  EXPECT_EQ(FromGrpcStatus(wire), sent);
}

TEST(GrpcStatusTest, SuccessStaysSuccess) {
  EXPECT_TRUE(ToGrpcStatus(absl::OkStatus()).ok());
  EXPECT_THAT(FromGrpcStatus(grpc::Status::OK), IsOk());
}

TEST(GrpcStatusTest, AnErrorWithoutDetailsHasNone) {
  const grpc::Status wire = ToGrpcStatus(absl::NotFoundError("no job"));
  EXPECT_EQ(wire.error_details(), "");
  EXPECT_THAT(FieldViolations(FromGrpcStatus(wire)), IsEmpty());
}

TEST(GrpcStatusTest, DetailsOfAnotherKindDoNoHarm) {
  const grpc::Status wire(grpc::StatusCode::ABORTED, "lost", "\xff\xff");
  EXPECT_THAT(FromGrpcStatus(wire),
              StatusIs(absl::StatusCode::kAborted, "lost"));
}

TEST(GrpcStatusTest, ALongMessageIsCutBetweenCharacters) {
  std::string message = "x";
  while (message.size() <= kMaxStatusMessageBytes) message += "é";
  const grpc::Status wire = ToGrpcStatus(absl::InternalError(message));
  EXPECT_LE(wire.error_message().size(), kMaxStatusMessageBytes);
  EXPECT_GT(wire.error_message().size(), kMaxStatusMessageBytes - 8);
  EXPECT_THAT(wire.error_message(), EndsWith("é ..."));
}

TEST(GrpcStatusTest, ViolationsThatDoNotFitAreCounted) {
  std::vector<FieldViolation> violations;
  violations.reserve(90);
  for (int i = 0; i < 90; ++i) {
    violations.push_back({"field" + std::to_string(i), std::string(60, 'x')});
  }
  const grpc::Status wire = ToGrpcStatus(
      WithErrorInfo(InvalidFields(violations), {"BAD_SPEC", "ordo", {}}));
  EXPECT_LE(wire.error_details().size(), kMaxStatusDetailsBytes);
  const absl::Status received = FromGrpcStatus(wire);
  const auto kept = FieldViolations(received);
  ASSERT_GT(kept.size(), 20u);
  EXPECT_EQ(kept[0], violations[0]);
  EXPECT_EQ(kept.back().description,
            std::to_string(90 - (kept.size() - 1)) + " more");
  EXPECT_EQ(GetErrorInfo(received)->reason, "BAD_SPEC");
}

TEST(GrpcStatusTest, AnotherPayloadThatDoesNotFitIsLeftOut) {
  absl::Status status = InvalidField("a", "is bad");
  status.SetPayload("type.googleapis.com/zzz",
                    absl::Cord(std::string(kMaxStatusDetailsBytes, 'x')));
  const grpc::Status wire = ToGrpcStatus(status);
  EXPECT_LE(wire.error_details().size(), kMaxStatusDetailsBytes);
  EXPECT_THAT(FromGrpcStatus(wire),
              StatusIs(absl::StatusCode::kInvalidArgument, HasSubstr("a:")));
}

}  // namespace
}  // namespace ordo::base
