#include "base/yaml/text_form.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "model/catalog/catalog.h"
#include "model/catalog/entries.h"

namespace ordo::model::catalog {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

ordo::training::v1::Component Resolved(const std::string& yaml) {
  ordo::training::v1::Component component;
  EXPECT_TRUE(base::ReadMessage(yaml, base::TextForm::kYaml, &component).ok());
  std::vector<base::FieldViolation> violations;
  ResolveComponent(Kind::kEncoding, "encoding", &component, &violations);
  EXPECT_TRUE(violations.empty()) << violations[0].description;
  return component;
}

TEST(EntriesInputTest, TablesCountTheirRowsAndLimitTheLength) {
  const ModelShape shape = {12, 768, 12};
  const auto learned = Resolved("{name: learned, params: {max_length: 500}}");
  EXPECT_EQ(CountParameters(learned, shape), 500 * 768);
  EXPECT_EQ(MaxLength(learned), 500);
  const auto axial = Resolved(
      "{name: axial, params: {first_size: 64, second_size: 16, first_width: "
      "256}}");
  EXPECT_EQ(CountParameters(axial, shape), 64 * 256 + 16 * 512);
  EXPECT_EQ(MaxLength(axial), 1024);
  const auto grid =
      Resolved("{name: grid_learned, params: {rows: 3, columns: 5}}");
  EXPECT_EQ(CountParameters(grid, shape), 15 * 768);
  EXPECT_EQ(MaxLength(grid), 15);
}

TEST(EntriesInputTest, AbacusKnowsTheDigitsOfTheArithmeticTasks) {
  const auto abacus = Resolved("{name: abacus}");
  EXPECT_THAT(Params(abacus.params()).Numbers("digits"),
              ElementsAre(4, 5, 6, 7, 8, 9, 10, 11, 12, 13));
  EXPECT_EQ(CountParameters(abacus, {2, 8, 2}), 1024 * 8);
  EXPECT_EQ(MaxLength(abacus), 0);
}

TEST(EntriesInputTest, SinusoidsNeedAnEvenWidth) {
  for (const std::string name : {"sinusoidal", "random_sinusoidal"}) {
    const auto component = Resolved("{name: " + name + "}");
    std::vector<base::FieldViolation> violations;
    CheckShape("encoding", component, {2, 130, 4, 0, true, 32}, &violations);
    EXPECT_THAT(violations, IsEmpty());
    CheckShape("encoding", component, {2, 129, 4, 0, true, 32}, &violations);
    ASSERT_EQ(violations.size(), 1u);
    EXPECT_EQ(violations[0].field, "encoding.name");
    EXPECT_EQ(violations[0].description,
              name +
                  " has as many sines as cosines: model.width must be "
                  "even, is 129");
  }
}

TEST(EntriesInputTest, AnAxialWidthOfZeroIsHalf) {
  EXPECT_EQ(FirstAxialWidth(Resolved("{name: axial}").params(), 768), 384);
}

}  // namespace
}  // namespace ordo::model::catalog
