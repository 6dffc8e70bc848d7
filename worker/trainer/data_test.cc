#include "worker/trainer/data.h"

#include "absl/status/status.h"
#include "absl/time/time.h"
#include "base/clock/testing/fake_clock.h"
#include "base/files/files.h"
#include "base/files/testing/temporary_folder.h"
#include "base/records/records.h"
#include "base/status/testing/status_matchers.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace ordo::worker::trainer {
namespace {

using ::ordo::base::testing::IsOkAndHolds;
using ::ordo::base::testing::StatusIs;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

TEST(AtEvaluationTest, AParameterIsAFieldOfItsEvaluation) {
  const std::string path = "evaluations[1]";
  EXPECT_THAT(
      AtEvaluation(absl::NotFoundError("params.path: it is not there"), path),
      StatusIs(absl::StatusCode::kNotFound,
               "evaluations[1].params.path: it is not there"));
  const absl::StatusOr<int> none =
      absl::InvalidArgumentError("params: few_shot: 5 are too many");
  EXPECT_THAT(AtEvaluation(none, path),
              StatusIs(absl::StatusCode::kInvalidArgument,
                       "evaluations[1].params: few_shot: 5 are too many"));
  EXPECT_THAT(
      AtEvaluation(absl::InternalError("the model has 19 tokens"), path),
      StatusIs(absl::StatusCode::kInternal,
               "evaluations[1]: the model has 19 tokens"));
  ORDO_EXPECT_OK(AtEvaluation(absl::OkStatus(), path));
}

class DataTest : public ::testing::Test {
 protected:
  DataTest() {
    context_.job_folder = folder_.Path("root/jobs/a");
    auto progress = Progress::Open(files_, clock_, AttemptFolder(context_, 2));
    ORDO_EXPECT_OK(progress);
    progress_ = *std::move(progress);
  }

  int NumRecords() {
    base::RecordReader reader(
        files_, folder_.Path("root/jobs/a/attempts/2/progress.records"));
    int count = 0;
    while (true) {
      const auto payload = reader.Next();
      if (!payload.ok() || !payload->has_value()) return count;
      ++count;
    }
  }

  base::PosixFilesystem files_;
  base::testing::FakeClock clock_;
  base::testing::TemporaryFolder folder_;
  TrainerContext context_{files_, clock_};
  std::unique_ptr<Progress> progress_;
};

TEST_F(DataTest, IsUnderTheStorageRootAndKeptThere) {
  context_.storage_root = folder_.Path("root");
  const auto access = DataOf(context_, {2, 1, 0}, progress_.get());
  EXPECT_EQ(access.data_folder, folder_.Path("root/data"));
  EXPECT_EQ(access.store_folder, folder_.Path("root/data/.stores"));
  EXPECT_EQ(access.work_folder, folder_.Path("root/jobs/a/attempts/2/data-1"));
}

TEST_F(DataTest, WithoutAStorageRootTokensAreKeptWithTheJob) {
  const auto access = DataOf(context_, {2, 0, 0}, progress_.get());
  EXPECT_EQ(access.data_folder, "");
  EXPECT_EQ(access.store_folder, folder_.Path("root/jobs/a/data"));
}

TEST_F(DataTest, ReadingEndsOnARequestToStop) {
  bool stop = false;
  context_.stop_requested = [&] { return stop; };
  const auto access = DataOf(context_, {2, 0, 0}, progress_.get());
  ORDO_EXPECT_OK(access.keep_going());
  stop = true;
  EXPECT_THAT(access.keep_going(), StatusIs(absl::StatusCode::kCancelled));
}

TEST_F(DataTest, ReadingThatTakesLongIsTold) {
  const auto access = DataOf(context_, {2, 0, 0}, progress_.get());
  ORDO_EXPECT_OK(access.keep_going());
  EXPECT_EQ(NumRecords(), 0);
  clock_.Advance(absl::Hours(1));
  ORDO_EXPECT_OK(access.keep_going());
  ORDO_EXPECT_OK(access.keep_going());
  EXPECT_EQ(NumRecords(), 1);
}

TEST(ParseDataRootsTest, FoldersHaveColonsBetweenThem) {
  EXPECT_THAT(ParseDataRoots(""), IsOkAndHolds(IsEmpty()));
  EXPECT_THAT(ParseDataRoots("/a:/b/c"),
              IsOkAndHolds(ElementsAre("/a", "/b/c")));
  EXPECT_THAT(ParseDataRoots("/a:b"),
              StatusIs(absl::StatusCode::kInvalidArgument, HasSubstr("'b'")));
}

}  // namespace
}  // namespace ordo::worker::trainer
