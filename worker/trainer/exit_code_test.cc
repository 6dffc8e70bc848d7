#include "worker/trainer/exit_code.h"

#include "base/status/details.h"
#include "gmock/gmock.h"
#include "google/protobuf/descriptor.h"
#include "gtest/gtest.h"
#include "model/training/collective.h"

namespace ordo::worker::trainer {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

TEST(ExitCodeOf, FollowsTheMark) {
  const absl::Status marked =
      WithExitCode(absl::ResourceExhaustedError("disk full"),
                   ordo::training::v1::STORAGE_ERROR);
  EXPECT_EQ(ExitCodeOf(marked), ordo::training::v1::STORAGE_ERROR);
  EXPECT_EQ(marked.code(), absl::StatusCode::kResourceExhausted);
}

TEST(ExitCodeOf, KeepsTheFirstMark) {
  const absl::Status marked = WithExitCode(
      WithExitCode(absl::InternalError("x"), ordo::training::v1::DATA_MISSING),
      ordo::training::v1::STORAGE_ERROR);
  EXPECT_EQ(ExitCodeOf(marked), ordo::training::v1::DATA_MISSING);
}

TEST(ExitCodeOf, JudgesUnmarkedErrorsByTheirCode) {
  EXPECT_EQ(ExitCodeOf(absl::OkStatus()), ordo::training::v1::FINISHED);
  EXPECT_EQ(ExitCodeOf(absl::InvalidArgumentError("x")),
            ordo::training::v1::BAD_SPEC);
  EXPECT_EQ(ExitCodeOf(absl::ResourceExhaustedError("x")),
            ordo::training::v1::OUT_OF_MEMORY);
  EXPECT_EQ(ExitCodeOf(absl::UnavailableError("x")),
            ordo::training::v1::DEVICE_ERROR);
  EXPECT_EQ(ExitCodeOf(absl::InternalError("x")),
            ordo::training::v1::INTERNAL_ERROR);
}

TEST(ExitCodeOf, UnderstandsTheReasonOfANonFiniteLoss) {
  base::ErrorInfo info;
  info.reason = "NON_FINITE";
  EXPECT_EQ(ExitCodeOf(base::WithErrorInfo(
                absl::FailedPreconditionError("loss is nan"), info)),
            ordo::training::v1::NON_FINITE);
}

TEST(ExitCodeOf, UnderstandsTheReasonsOfRanksThatAddUp) {
  const auto code_of = [](const char* reason) {
    base::ErrorInfo info;
    info.reason = reason;
    return ExitCodeOf(
        base::WithErrorInfo(absl::UnavailableError("broken"), info));
  };
  EXPECT_EQ(code_of(model::training::kNcclErrorReason),
            ordo::training::v1::NCCL_ERROR);
  EXPECT_EQ(code_of(model::training::kPeerLostReason),
            ordo::training::v1::PEER_LOST);
}

TEST(WithExitCode, LeavesOkAlone) {
  EXPECT_TRUE(
      WithExitCode(absl::OkStatus(), ordo::training::v1::BAD_SPEC).ok());
}

TEST(MessageForPeople, EndsInTheFixUnlessItIsThere) {
  EXPECT_THAT(MessageForPeople(absl::ResourceExhaustedError("no memory")),
              "no memory; lower training.micro_batch_size");
  EXPECT_THAT(MessageForPeople(absl::ResourceExhaustedError(
                  "no memory; lower training.micro_batch_size")),
              "no memory; lower training.micro_batch_size");
}

TEST(MessageForPeople, SaysNothingOfJobsToWhoHasNone) {
  const auto* codes = ordo::training::v1::ExitCode_descriptor();
  for (int i = 0; i < codes->value_count(); ++i) {
    const std::string message = MessageForPeople(
        WithExitCode(absl::InternalError("x"),
                     static_cast<ExitCode>(codes->value(i)->number())));
    for (const char* word : {"ordo ", "submit", "job", "JOB"}) {
      EXPECT_THAT(message, Not(HasSubstr(word)));
    }
  }
  EXPECT_EQ(MessageForPeople(absl::InvalidArgumentError("--out: is missing")),
            "--out: is missing");
}

TEST(ExitCodes, EachHasAMeaningAndARetryDecision) {
  const auto* codes = ordo::training::v1::ExitCode_descriptor();
  for (int i = 0; i < codes->value_count(); ++i) {
    const auto& info =
        codes->value(i)->options().GetExtension(ordo::training::v1::exit_code);
    EXPECT_FALSE(info.meaning().empty()) << codes->value(i)->name();
    EXPECT_NE(info.retry(), ordo::training::v1::RETRY_DECISION_UNSPECIFIED)
        << codes->value(i)->name();
  }
}

}  // namespace
}  // namespace ordo::worker::trainer
