#include "model/catalog/pattern.h"

#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace ordo::model::catalog {
namespace {

using ::ordo::training::v1::Component;
using ::testing::ElementsAre;

Component PerLayer(const std::vector<std::pair<std::string, double>>& with) {
  Component component;
  component.set_name("per_layer");
  for (const auto& [name, base] : with) {
    Component* other = component.add_with();
    other->set_name(name);
    (*other->mutable_params())["base"].set_number_value(base);
    (*other->mutable_params())["partial"].set_number_value(1);
  }
  return component;
}

TEST(PatternTest, EqualComponentsAreOneMemberAndThePatternRepeats) {
  const Component component =
      PerLayer({{"rope", 10}, {"rope", 10}, {"rope", 20}, {"none", 10}});
  const Pattern pattern = PatternOf(component, 7);
  ASSERT_EQ(pattern.members.size(), 3u);
  EXPECT_EQ(pattern.members[0], &component.with(0));
  EXPECT_EQ(pattern.members[1], &component.with(2));
  EXPECT_EQ(pattern.members[2], &component.with(3));
  EXPECT_THAT(pattern.member_of_layer, ElementsAre(0, 0, 1, 2, 0, 0, 1));
  EXPECT_THAT(pattern.LayersOf(0), ElementsAre(0, 1, 4, 5));
  EXPECT_THAT(pattern.LayersOf(2), ElementsAre(3));
}

TEST(PatternTest, LayersThatThereAreNotHaveNoMember) {
  const Component component = PerLayer({{"rope", 10}, {"none", 10}});
  EXPECT_EQ(PatternOf(component, 1).members.size(), 1u);
}

}  // namespace
}  // namespace ordo::model::catalog
