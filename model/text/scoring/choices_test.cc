#include "model/text/scoring/choices.h"

#include <limits>

#include "gtest/gtest.h"

namespace ordo::model::text::scoring {
namespace {

TEST(ChoicesTest, TheLikeliestIsByTheSum) {
  EXPECT_EQ(Likeliest({{-4, 1}, {-3, 1}, {-5, 100}}), 1u);
}

TEST(ChoicesTest, LengthCountsByCharacter) {
  // -1.5, -1, -0.5 by character.
  EXPECT_EQ(LikeliestPerCharacter({{-3, 2}, {-4, 4}, {-5, 10}}), 2u);
}

TEST(ChoicesTest, TiesGoToTheFirst) {
  EXPECT_EQ(Likeliest({{-2, 1}, {-1, 1}, {-1, 1}}), 1u);
  EXPECT_EQ(LikeliestPerCharacter({{-2, 1}, {-2, 2}, {-4, 4}}), 1u);
}

TEST(ChoicesTest, AChoiceWithoutCharactersIsNotTakenByTheirNumber) {
  EXPECT_EQ(LikeliestPerCharacter({{-1, 0}, {-700, 1}}), 1u);
  EXPECT_EQ(Likeliest({{-1, 0}, {-700, 1}}), 0u);
}

TEST(ChoicesTest, ImpossibleChoicesAreNotTaken) {
  const double never = -std::numeric_limits<double>::infinity();
  EXPECT_EQ(Likeliest({{never, 1}, {-700, 1}}), 1u);
  EXPECT_EQ(LikeliestPerCharacter({{never, 9}, {never, 1}}), 0u);
}

}  // namespace
}  // namespace ordo::model::text::scoring
