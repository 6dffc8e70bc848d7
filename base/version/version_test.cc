#include "base/version/version.h"

#include "base/digest/digest.h"
#include "base/files/file_util.h"
#include "base/files/files.h"
#include "base/files/testing/temporary_folder.h"
#include "base/status/testing/status_matchers.h"
#include "gtest/gtest.h"

namespace ordo::base {
namespace {

using ::ordo::base::testing::IsOkAndHolds;
using ::ordo::base::testing::StatusIs;
using ::ordo::base::testing::TemporaryFolder;

TEST(BuildIdTest, IsTheDigestOfThisProgram) {
  PosixFilesystem files;
  ORDO_ASSERT_OK_AND_ASSIGN(const std::string id, BuildId());
  EXPECT_THAT(Sha256HexOfFile(files, "/proc/self/exe"), IsOkAndHolds(id));
  EXPECT_THAT(BuildId(), IsOkAndHolds(id));
}

TEST(BuildIdTest, OfAnotherProgramFollowsItsContent) {
  PosixFilesystem files;
  TemporaryFolder folder;
  ORDO_ASSERT_OK(AtomicWrite(files, folder.Path("program"), "abc"));
  EXPECT_THAT(BuildIdOf(folder.Path("program")),
              IsOkAndHolds(Sha256Hex("abc")));
  EXPECT_THAT(BuildIdOf(folder.Path("none")),
              StatusIs(absl::StatusCode::kNotFound));
}

}  // namespace
}  // namespace ordo::base
