#include "model/text/scoring/continuation.h"

#include "absl/status/status.h"
#include "base/status/testing/status_matchers.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace ordo::model::text::scoring {
namespace {

using ::ordo::base::testing::StatusIs;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

// Letters by their code, but that "ab" is token 1 and a blank with the letter
// after it one token: 1000 and the letter's code.
class Pairs : public tasks::Tokenizer {
 public:
  int vocabulary_size() const override { return 1256; }
  absl::StatusOr<std::vector<int64_t>> Encode(
      std::string_view text) const override {
    std::vector<int64_t> tokens;
    for (size_t i = 0; i < text.size(); ++i) {
      if (text.substr(i, 2) == "ab") {
        tokens.push_back(1);
        ++i;
      } else if (text[i] == ' ' && i + 1 < text.size()) {
        tokens.push_back(1000 + text[++i]);
      } else if (text[i] == '!') {
        return absl::InvalidArgumentError("no '!'");
      } else {
        tokens.push_back(text[i]);
      }
    }
    return tokens;
  }
  std::string Decode(const std::vector<int64_t>&) const override { return ""; }
};

TEST(ContinuationTest, BothAreTokenizedTogether) {
  ORDO_ASSERT_OK_AND_ASSIGN(const Continuation split,
                            SplitContinuation(Pairs(), "x:", " yz"));
  EXPECT_THAT(split.context, ElementsAre('x', ':'));
  EXPECT_THAT(split.continuation, ElementsAre(1000 + 'y', 'z'));
}

TEST(ContinuationTest, BlanksAtTheEndOfTheContextAreContinued) {
  ORDO_ASSERT_OK_AND_ASSIGN(const Continuation split,
                            SplitContinuation(Pairs(), "x: ", "yz"));
  EXPECT_THAT(split.context, ElementsAre('x', ':'));
  EXPECT_THAT(split.continuation, ElementsAre(1000 + 'y', 'z'));
}

TEST(ContinuationTest, TheBorderIsByTheNumberOfTheContextsTokens) {
  // Alone "xa" has two tokens; of 'x', "ab" and 'c' those are the context.
  ORDO_ASSERT_OK_AND_ASSIGN(const Continuation split,
                            SplitContinuation(Pairs(), "xa", "bc"));
  EXPECT_THAT(split.context, ElementsAre('x', 1));
  EXPECT_THAT(split.continuation, ElementsAre('c'));
}

TEST(ContinuationTest, AnEmptyContextIsFine) {
  ORDO_ASSERT_OK_AND_ASSIGN(const Continuation split,
                            SplitContinuation(Pairs(), "", "yz"));
  EXPECT_THAT(split.context, IsEmpty());
  EXPECT_THAT(split.continuation, ElementsAre('y', 'z'));
}

TEST(ContinuationTest, WhatAddsNoTokenIsRefused) {
  EXPECT_THAT(SplitContinuation(Pairs(), "xa", "b"),
              StatusIs(absl::StatusCode::kInvalidArgument,
                       HasSubstr("'b' adds no token to its context")));
  EXPECT_THAT(SplitContinuation(Pairs(), "x", "!"),
              StatusIs(absl::StatusCode::kInvalidArgument, HasSubstr("'!'")));
}

}  // namespace
}  // namespace ordo::model::text::scoring
