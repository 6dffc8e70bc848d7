#include <string>
#include <vector>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "model/tasks/retrieval/items.h"

namespace ordo::model::tasks::retrieval {
namespace {

using ::testing::ElementsAre;

std::string Four(base::RandomSequence* /*random*/) { return "four"; }

TEST(Frame, BlanksStandBehindTheText) {
  EXPECT_EQ(Framed({"a\n", "\nb"}, "text", 11), "a\ntext   \nb");
  EXPECT_EQ(Framed({"a\n", "\nb"}, "text", 8), "a\ntext\nb");
}

TEST(Frame, TheQuestionBeginsBehindTheBlanks) {
  Item item;
  SetPrompt({"a\n", "\nb"}, "text", 11, &item);
  EXPECT_EQ(item.prompt, "a\ntext   \nb");
  EXPECT_EQ(item.prompt.substr(item.question_begin), "\nb");
}

TEST(Frame, UnitsFitWithACharacterBehindEach) {
  base::RandomSequence random(1, "data/0");
  EXPECT_THAT(UnitsFor(14, Four, &random), ElementsAre("four", "four"));
  EXPECT_EQ(UnitsFor(15, Four, &random).size(), 3u);
  EXPECT_EQ(UnitsFor(-3, Four, &random).size(), 0u);
}

}  // namespace
}  // namespace ordo::model::tasks::retrieval
