#include "model/tasks/prompt_tokens.h"

#include "base/status/testing/status_matchers.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "model/text/tokenizers/byte_tokenizer.h"

namespace ordo::model::tasks {
namespace {

using ::ordo::base::testing::IsOkAndHolds;
using ::ordo::base::testing::StatusIs;
using ::testing::ElementsAre;
using ::testing::HasSubstr;

// Bytes begin at 4, behind the marks.
TEST(PromptTokensTest, AMarkStandsAtTheBeginningOnlyAndIfAskedFor) {
  const PromptTokens marked(text::tokenizers::MakeByteTokenizer(), true);
  EXPECT_THAT(marked.Begin("a"), IsOkAndHolds(ElementsAre(kBegin, 101)));
  EXPECT_THAT(marked.Encode("a"), IsOkAndHolds(ElementsAre(101)));
  const PromptTokens plain(text::tokenizers::MakeByteTokenizer(), false);
  EXPECT_THAT(plain.Begin("a"), IsOkAndHolds(ElementsAre(101)));
}

TEST(PromptTokensTest, WhatIsNoTextIsRefused) {
  const PromptTokens tokens(text::tokenizers::MakeByteTokenizer(), true);
  EXPECT_THAT(tokens.Begin("\xff"), StatusIs(absl::StatusCode::kInvalidArgument,
                                             HasSubstr("a prompt as tokens")));
}

}  // namespace
}  // namespace ordo::model::tasks
