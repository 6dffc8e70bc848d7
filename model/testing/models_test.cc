#include "model/testing/models.h"

#include "gtest/gtest.h"
#include "model/testing/tensors.h"

namespace ordo::model::testing {
namespace {

TEST(ModelsTest, RandomizeMovesEveryParameter) {
  const auto before = SmallTransformer(Encoding("tape"));
  const auto after = SmallTransformer(Encoding("tape"));
  Randomize(after->Parameters());
  for (size_t i = 0; i < before->Parameters().size(); ++i) {
    EXPECT_GT(MaxDifference(before->Parameters()[i].tensor,
                            after->Parameters()[i].tensor),
              0.0)
        << before->Parameters()[i].name;
  }
}

}  // namespace
}  // namespace ordo::model::testing
