#include "model/text/tokenizers/sentence_piece/load.h"

#include "absl/status/status.h"
#include "base/status/testing/status_matchers.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace ordo::model::text::tokenizers::sentence_piece {
namespace {

using ::ordo::base::testing::StatusIs;
using ::testing::HasSubstr;

constexpr char kPath[] =
    "model/text/tokenizers/sentence_piece/libordo_sentence_piece.so";

TEST(LoadLibrary, AMissingLibraryIsNotFoundByItsPath) {
  EXPECT_THAT(
      LoadLibrary("model/none.so").status(),
      StatusIs(absl::StatusCode::kNotFound, HasSubstr("model/none.so")));
}

TEST(LoadLibrary, AFileThatIsNoLibraryIsRefusedWithTheReason) {
  EXPECT_THAT(LoadLibrary("/proc/self/cmdline").status(),
              StatusIs(absl::StatusCode::kFailedPrecondition,
                       HasSubstr("cannot be loaded")));
}

TEST(LoadLibrary, ASecondTimeItIsTheSame) {
  const auto library = LoadLibrary(kPath);
  ASSERT_TRUE(library.ok()) << library.status();
  EXPECT_EQ(LoadLibrary(kPath).value(), *library);
}

}  // namespace
}  // namespace ordo::model::text::tokenizers::sentence_piece
