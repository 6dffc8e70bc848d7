#include "worker/trainer/context.h"

#include "base/clock/testing/fake_clock.h"
#include "base/status/testing/status_matchers.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "worker/trainer/exit_code.h"

namespace ordo::worker::trainer {
namespace {

using ::ordo::base::testing::IsOkAndHolds;
using ::ordo::base::testing::StatusIs;

class ContextTest : public ::testing::Test {
 protected:
  ordo::training::v1::CheckpointSource Source(const std::string& path) {
    ordo::training::v1::CheckpointSource source;
    source.set_path(path);
    return source;
  }

  base::PosixFilesystem files_;
  base::testing::FakeClock clock_;
  TrainerContext context_{files_, clock_};
};

TEST_F(ContextTest, FoldersLieBelowTheJob) {
  context_.job_folder = "/root/jobs/a";
  EXPECT_EQ(AttemptFolder(context_, 3), "/root/jobs/a/attempts/3");
  EXPECT_EQ(CheckpointsFolder(context_), "/root/jobs/a/checkpoints");
}

TEST_F(ContextTest, AnNcclThatCannotBeLoadedIsNoFaultOfADevice) {
  for (const char* path : {"nccl/none.so", "/proc/self/cmdline"}) {
    context_.nccl_library = path;
    const absl::Status status = OpenNccl(context_).status();
    EXPECT_EQ(ExitCodeOf(status), ordo::training::v1::NCCL_ERROR);
    EXPECT_THAT(std::string(status.message()), ::testing::HasSubstr(path));
  }
}

TEST_F(ContextTest, RelativeSourcesAreUnderTheStorageRoot) {
  context_.storage_root = "/root";
  EXPECT_THAT(FolderOfSource(context_, Source("jobs/a/checkpoints/1-1")),
              IsOkAndHolds("/root/jobs/a/checkpoints/1-1"));
  EXPECT_THAT(FolderOfSource(context_, Source("/x/1-1")),
              IsOkAndHolds("/x/1-1"));
  EXPECT_THAT(FolderOfSource(context_, Source("../x")),
              StatusIs(absl::StatusCode::kInvalidArgument));
}

TEST_F(ContextTest, WithoutAStorageRootTheyAreUnderTheCurrentFolder) {
  EXPECT_THAT(FolderOfSource(context_, Source(".")), IsOkAndHolds("."));
  EXPECT_THAT(FolderOfSource(context_, Source("no/1-1")),
              StatusIs(absl::StatusCode::kInvalidArgument,
                       ::testing::HasSubstr("--storage-root")));
}

TEST_F(ContextTest, SourcesAreNamedByTheirResourceName) {
  auto source = Source("/x/1-1");
  EXPECT_EQ(NameOfSource(source), "/x/1-1");
  source.set_name("jobs/a/checkpoints/1-1");
  EXPECT_EQ(NameOfSource(source), "jobs/a/checkpoints/1-1");
}

}  // namespace
}  // namespace ordo::worker::trainer
