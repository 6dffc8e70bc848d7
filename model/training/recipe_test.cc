#include "model/training/recipe.h"

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "model/training/testing/tiny_spec.h"

namespace ordo::model::training {
namespace {

using ::ordo::training::v1::TrainSpec;
using ::testing::ElementsAre;
using ::testing::IsEmpty;
using testing::TinySpec;

TEST(Recipe, LeavesOutWhatDecidesNoNumbers) {
  TrainSpec other = TinySpec("tape");
  other.set_attempt(7);
  other.mutable_training()->set_log_every_steps(9);
  other.mutable_checkpoint()->set_every_steps(3);
  other.clear_evaluations();
  other.mutable_resources()->set_devices(2);
  other.mutable_resources()->set_exclusive(true);
  EXPECT_EQ(RecipeText(other), RecipeText(TinySpec("tape")));
  EXPECT_THAT(RecipeDifferences(TinySpec("tape"), other), IsEmpty());
}

TEST(Recipe, NamesEveryFieldThatDiffers) {
  TrainSpec other = TinySpec("tape");
  other.mutable_model()->set_dropout(0.5);
  (*other.mutable_encoding()->mutable_params())["position_size"]
      .set_number_value(5);
  other.mutable_data()->set_seed(2);
  other.mutable_training()->set_steps(21);
  EXPECT_NE(RecipeText(other), RecipeText(TinySpec("tape")));
  EXPECT_THAT(RecipeDifferences(TinySpec("tape"), other),
              ElementsAre("data.seed was 1 and is 2",
                          "encoding.params.position_size was 4 and is 5",
                          "model.dropout was 0 and is 0.5",
                          "training.steps was 20 and is 21"));
}

}  // namespace
}  // namespace ordo::model::training
