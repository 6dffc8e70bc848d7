#include "base/digest/digest.h"

#include <string>

#include "base/files/file_util.h"
#include "base/files/testing/temporary_folder.h"
#include "base/status/testing/status_matchers.h"
#include "gtest/gtest.h"

namespace ordo::base {
namespace {

using ::ordo::base::testing::IsOkAndHolds;
using ::ordo::base::testing::StatusIs;
using ::ordo::base::testing::TemporaryFolder;

// FIPS 180-2, appendix B.
constexpr char kDigestOfAbc[] =
    "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad";
constexpr char kDigestOfMillionA[] =
    "cdc76e5c9914fb9281a1c7e284d73e67f1809a48a497200e046d39ccc7112cd0";

TEST(Sha256Test, GivesThePublishedAnswers) {
  EXPECT_EQ(Sha256Hex("abc"), kDigestOfAbc);
  EXPECT_EQ(Sha256Hex(std::string(1'000'000, 'a')), kDigestOfMillionA);
}

TEST(Sha256Test, PartsGiveTheDigestOfTheWhole) {
  Sha256 digest;
  digest.Update("a");
  digest.Update("");
  digest.Update("bc");
  EXPECT_EQ(digest.FinishHex(), kDigestOfAbc);
}

TEST(Sha256Test, OfAFileThatIsLongerThanOnePart) {
  PosixFilesystem files;
  TemporaryFolder folder;
  const std::string content = std::string((1 << 20) + 17, 'x');
  ORDO_ASSERT_OK(AtomicWrite(files, folder.Path("a"), content));
  EXPECT_THAT(Sha256HexOfFile(files, folder.Path("a")),
              IsOkAndHolds(Sha256Hex(content)));
  EXPECT_THAT(Sha256HexOfFile(files, folder.Path("b")),
              StatusIs(absl::StatusCode::kNotFound));
}

TEST(ToHexTest, WritesTwoDigitsPerByte) {
  EXPECT_EQ(ToHex(std::string("\x00\x0f\xff", 3)), "000fff");
}

}  // namespace
}  // namespace ordo::base
