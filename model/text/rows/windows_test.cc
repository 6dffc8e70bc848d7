#include "model/text/rows/windows.h"

#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "base/status/testing/status_matchers.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace ordo::model::text::rows {
namespace {

using ::ordo::base::testing::StatusIs;
using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

Windows Make(uint64_t num_tokens, const WindowOptions& options) {
  auto windows = Windows::Create({0, num_tokens}, options);
  EXPECT_TRUE(windows.ok()) << windows.status();
  return *std::move(windows);
}

std::vector<uint64_t> Begins(const Windows& windows) {
  std::vector<uint64_t> begins;
  for (uint64_t i = 0; i < windows.size(); ++i) {
    begins.push_back(windows.Get(i).begin);
  }
  return begins;
}

TEST(Windows, BlocksLieOneBehindTheOther) {
  const Windows windows = Make(35, {Protocol::kBlocks, 10});
  EXPECT_THAT(Begins(windows), ElementsAre(0, 10, 20));
  EXPECT_EQ(windows.Get(2).length, 10);
  EXPECT_EQ(windows.Get(2).first_scored, 1);
  EXPECT_EQ(windows.num_scored(), 27);
}

TEST(Windows, TheLastBlockMayBeLeftOutToo) {
  const WindowOptions options = {Protocol::kBlocks, 10, 256, true};
  EXPECT_THAT(Begins(Make(35, options)), ElementsAre(0, 10));
  EXPECT_THAT(Begins(Make(30, options)), ElementsAre(0, 10));
  EXPECT_THAT(Begins(Make(9, options)), IsEmpty());
}

TEST(Windows, OverlappingOnesBeginWhileMoreThanALengthIsLeft) {
  const WindowOptions options = {Protocol::kOverlap, 10, 4};
  // start < 19 - 10, so not 12; start < 18 - 10, so not 8.
  EXPECT_THAT(Begins(Make(19, options)), ElementsAre(0, 4, 8));
  EXPECT_THAT(Begins(Make(18, options)), ElementsAre(0, 4));
  EXPECT_THAT(Begins(Make(11, options)), ElementsAre(0));
  EXPECT_THAT(Begins(Make(10, options)), IsEmpty());
  EXPECT_EQ(Make(19, options).num_scored(), 27);
}

TEST(Windows, OfAStrideTheLastTokensAreScored) {
  const Windows windows = Make(19, {Protocol::kStride, 10, 4});
  EXPECT_THAT(Begins(windows), ElementsAre(0, 4, 8));
  EXPECT_EQ(windows.Get(1).first_scored, 6);
  EXPECT_EQ(windows.num_scored(), 12);
}

TEST(Windows, EveryKthMayBeEnough) {
  EXPECT_THAT(Begins(Make(30, {Protocol::kOverlap, 10, 4, false, 2})),
              ElementsAre(0, 8, 16));
  EXPECT_THAT(Begins(Make(50, {Protocol::kBlocks, 10, 256, false, 3})),
              ElementsAre(0, 30));
}

// Of 35, 9 and 21 tokens.
TEST(Windows, OfEachGroupWhatIsLeftIsLeftOut) {
  const std::vector<uint64_t> groups = {0, 35, 44, 65};
  const auto begins = [&](const WindowOptions& options) {
    return Begins(Windows::Create(groups, options).value());
  };
  EXPECT_THAT(begins({Protocol::kBlocks, 10}), ElementsAre(0, 10, 20, 44, 54));
  EXPECT_THAT(begins({Protocol::kBlocks, 10, 256, true}),
              ElementsAre(0, 10, 44));
  EXPECT_THAT(begins({Protocol::kBlocks, 10, 256, false, 2}),
              ElementsAre(0, 20, 54));
  EXPECT_THAT(begins({Protocol::kOverlap, 10, 10}),
              ElementsAre(0, 10, 20, 44, 54));
}

TEST(Windows, RefusesOptionsOutOfBounds) {
  EXPECT_THAT(
      Windows::Create({0, 100}, {Protocol::kBlocks, 1, 0, false, 0}).status(),
      StatusIs(
          absl::StatusCode::kInvalidArgument,
          AllOf(HasSubstr("length: must be 2"), HasSubstr("step: must be 1"),
                HasSubstr("every: must be 1"))));
  EXPECT_THAT(Windows::Create({0, 100}, {Protocol::kStride, 10, 10}).status(),
              StatusIs(absl::StatusCode::kInvalidArgument,
                       HasSubstr("step: must be less than length")));
}

}  // namespace
}  // namespace ordo::model::text::rows
