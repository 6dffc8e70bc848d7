#include "services/cli/download.h"

#include <sstream>

#include "base/clock/clock.h"
#include "base/digest/digest.h"
#include "base/files/file_util.h"
#include "base/files/testing/temporary_folder.h"
#include "base/status/testing/status_matchers.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "services/cli/testing/fake_scheduler.h"

namespace ordo::services::cli {
namespace {

using base::testing::IsOkAndHolds;
using base::testing::StatusIs;
using ::testing::ElementsAre;
using ::testing::HasSubstr;

constexpr char kName[] = "jobs/a/checkpoints/20-1";
constexpr char kContent[] = "the quick brown fox jumps";

class DownloadTest : public ::testing::Test {
 protected:
  DownloadTest() : client_(Options(scheduler_), interrupt_) {
    file_.resource = *ParseResourceName(kName);
    file_.info.set_path("model.safetensors");
    file_.info.set_size_bytes(sizeof(kContent) - 1);
    file_.info.set_sha256(base::Sha256Hex(kContent));
    scheduler_.SetFile(kName, "model.safetensors", kContent);
    path_ = folder_.Path("sub/model");
  }

  static ClientOptions Options(const testing::FakeScheduler& scheduler) {
    ClientOptions options;
    options.address = scheduler.address();
    return options;
  }

  std::string Read(const std::string& path) {
    return base::ReadFile(files_, path, 1000).value_or("(nothing)");
  }

  testing::FakeScheduler scheduler_;
  Interrupt interrupt_;
  Client client_;
  std::istringstream in_;
  std::ostringstream out_;
  base::PosixFilesystem files_;
  base::RealClock clock_;
  base::testing::TemporaryFolder folder_;
  Context context_{in_,     out_,       out_,   Terminal(), OutputForm::kTable,
                   client_, interrupt_, files_, clock_,     nullptr};
  RemoteFile file_;
  std::string path_;
};

TEST_F(DownloadTest, FetchesAFileWhole) {
  EXPECT_THAT(Download(context_, file_, path_),
              IsOkAndHolds(DownloadEnd::kDone));
  EXPECT_EQ(Read(path_), kContent);
  EXPECT_THAT(*files_.List(folder_.Path("sub")), ElementsAre("model"));
}

TEST_F(DownloadTest, GoesOnAfterABrokenStream) {
  scheduler_.SetFile(kName, "model.safetensors", kContent, 10);
  EXPECT_THAT(Download(context_, file_, path_),
              IsOkAndHolds(DownloadEnd::kDone));
  EXPECT_EQ(Read(path_), kContent);
  EXPECT_THAT(scheduler_.offsets(), ElementsAre(0, 10));
}

TEST_F(DownloadTest, GoesOnWhereAnEarlierOneStopped) {
  ORDO_ASSERT_OK(files_.MakeFolders(folder_.Path("sub")));
  ORDO_ASSERT_OK(base::AtomicWrite(files_, path_ + ".part", "the quick"));
  EXPECT_THAT(Download(context_, file_, path_),
              IsOkAndHolds(DownloadEnd::kDone));
  EXPECT_EQ(Read(path_), kContent);
  EXPECT_THAT(scheduler_.offsets(), ElementsAre(9));
}

TEST_F(DownloadTest, StartsOverWhenThePartIsOfAnotherFile) {
  ORDO_ASSERT_OK(files_.MakeFolders(folder_.Path("sub")));
  ORDO_ASSERT_OK(base::AtomicWrite(files_, path_ + ".part", "THE QUICK"));
  EXPECT_THAT(Download(context_, file_, path_),
              IsOkAndHolds(DownloadEnd::kDone));
  EXPECT_EQ(Read(path_), kContent);
  EXPECT_THAT(scheduler_.offsets(), ElementsAre(9, 0));
}

TEST_F(DownloadTest, DamagedFileIsRefusedAndNotLeft) {
  scheduler_.SetFile(kName, "model.safetensors", "the quick brown fox jumpS");
  EXPECT_THAT(Download(context_, file_, path_),
              StatusIs(absl::StatusCode::kDataLoss,
                       HasSubstr("jobs/a/checkpoints/20-1:model.safetensors")));
  EXPECT_THAT(*files_.List(folder_.Path("sub")), ElementsAre());
}

TEST_F(DownloadTest, FetchesNothingThatIsThere) {
  ORDO_ASSERT_OK(files_.MakeFolders(folder_.Path("sub")));
  ORDO_ASSERT_OK(base::AtomicWrite(files_, path_, kContent));
  EXPECT_THAT(Download(context_, file_, path_),
              IsOkAndHolds(DownloadEnd::kWasThere));
  EXPECT_THAT(scheduler_.offsets(), ElementsAre());
}

TEST_F(DownloadTest, OverwritesNothing) {
  ORDO_ASSERT_OK(files_.MakeFolders(folder_.Path("sub")));
  ORDO_ASSERT_OK(base::AtomicWrite(files_, path_, "mine"));
  EXPECT_THAT(Download(context_, file_, path_),
              StatusIs(absl::StatusCode::kAlreadyExists, HasSubstr("--out")));
  EXPECT_EQ(Read(path_), "mine");
}

TEST_F(DownloadTest, InterruptSaysHowToGoOn) {
  interrupt_.Trigger();
  EXPECT_THAT(
      Download(context_, file_, path_),
      StatusIs(absl::StatusCode::kCancelled, HasSubstr("same command")));
}

TEST_F(DownloadTest, ToMemoryIsVerifiedAndBounded) {
  EXPECT_THAT(DownloadToMemory(context_, file_, 100),
              IsOkAndHolds(std::string(kContent)));
  EXPECT_THAT(DownloadToMemory(context_, file_, 10),
              StatusIs(absl::StatusCode::kResourceExhausted));
  file_.info.set_sha256("0");
  EXPECT_THAT(DownloadToMemory(context_, file_, 100),
              StatusIs(absl::StatusCode::kDataLoss));
}

}  // namespace
}  // namespace ordo::services::cli
