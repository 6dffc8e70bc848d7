#include "model/formats/tensor_names.h"

#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace ordo::model::formats {
namespace {

using ::testing::ElementsAre;

TEST(TensorNamesTest, AModuleHasARuleForItsWeightAndItsBias) {
  std::vector<TensorRule> rules;
  AddRules("h.#.attn", {"q", "k"}, Layout::kJoinedTransposed, &rules);
  ASSERT_EQ(rules.size(), 2u);
  EXPECT_EQ(rules[0].theirs, "h.#.attn.weight");
  EXPECT_THAT(rules[0].ours, ElementsAre("q.weight", "k.weight"));
  EXPECT_EQ(rules[0].layout, Layout::kJoinedTransposed);
  EXPECT_EQ(rules[1].theirs, "h.#.attn.bias");
  EXPECT_THAT(rules[1].ours, ElementsAre("q.bias", "k.bias"));
}

TEST(TensorNamesTest, ABiasIsNeverTransposed) {
  std::vector<TensorRule> rules;
  AddRules("a", {"b"}, Layout::kTransposed, &rules);
  AddRules("c", {"d", "e", "f"}, Layout::kJoinedTransposed, &rules);
  EXPECT_EQ(rules[1].layout, Layout::kSame);
  EXPECT_EQ(rules[3].layout, Layout::kJoined);
}

}  // namespace
}  // namespace ordo::model::formats
