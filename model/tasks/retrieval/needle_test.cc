#include <string>

#include "absl/strings/str_cat.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "model/tasks/retrieval/items.h"

namespace ordo::model::tasks::retrieval {
namespace {

using ::testing::EndsWith;
using ::testing::HasSubstr;

Item Draw(int64_t bytes, int depth, uint64_t index) {
  base::RandomSequence random(1, absl::StrCat("data/", index));
  return DrawNeedle(bytes, depth, &random);
}

// Made by this code.
TEST(Needle, AnItemOfSeedOneIsFrozen) {
  const Item item = Draw(kNeedleMinLength - kNeedleOutputTokens, 50, 0);
  EXPECT_EQ(
      item.prompt,
      absl::StrCat(
          "Read this text; a question about it follows.\n"
          "The curious harbor watched the baker above the green mountain. "
          "The lively bridge drew the needle below the mellow lantern. "
          "The best pie of Zuliti is made of olives, vanilla and cheese. "
          "The gentle kettle crossed the mountain below the humble "
          "meadow. The warm tower remembered the anchor near the simple "
          "curtain.",
          std::string(21, ' '),
          "\nQuestion: What is the best pie of Zuliti made of? Answer: It "
          "is made of"));
  EXPECT_EQ(item.answer, " olives, vanilla and cheese");
}

TEST(Needle, TheFactSaysWhatIsAskedFor) {
  for (uint64_t index = 0; index < 30; ++index) {
    const Item item = Draw(1500, 40, index);
    EXPECT_EQ(item.prompt.size(), 1500u);
    EXPECT_LE(static_cast<int>(item.answer.size()), kNeedleAnswerBytes);
    ASSERT_EQ(item.references.size(), 3u);
    for (const std::string& word : item.references) {
      EXPECT_THAT(item.answer, HasSubstr(word));
    }
    const size_t town = item.prompt.find("The best pie of ") + 16;
    EXPECT_THAT(
        item.prompt,
        HasSubstr(absl::StrCat("The best pie of ", item.prompt.substr(town, 6),
                               " is made of", item.answer, ".")));
    EXPECT_THAT(item.prompt,
                EndsWith(absl::StrCat("What is the best pie of ",
                                      item.prompt.substr(town, 6),
                                      " made of? Answer: It is made of")));
  }
}

// Sentences have 50 to 90 bytes; the text begins behind a line of 44.
TEST(Needle, StandsBackAtTheEndOfASentence) {
  for (const int depth : {0, 10, 50, 99, 100}) {
    for (uint64_t index = 0; index < 20; ++index) {
      const Item item = Draw(4000, depth, index);
      const size_t begin = item.prompt.find('\n') + 1;
      const size_t fact = item.prompt.find("The best pie of ");
      const size_t end = item.prompt.rfind("\nQuestion");
      const double at =
          static_cast<double>(fact - begin) / static_cast<double>(end - begin);
      EXPECT_LE(at, depth / 100.0) << item.prompt;
      EXPECT_GE(at, depth / 100.0 - 0.07);
      if (depth == 0) {
        EXPECT_EQ(fact, begin);
      } else {
        EXPECT_EQ(item.prompt.substr(fact - 2, 2), ". ");
      }
    }
  }
}

}  // namespace
}  // namespace ordo::model::tasks::retrieval
