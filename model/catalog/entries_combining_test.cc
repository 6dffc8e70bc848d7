#include <algorithm>

#include "base/yaml/text_form.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "model/catalog/catalog.h"

namespace ordo::model::catalog {
namespace {

using ::ordo::training::v1::Component;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::IsSupersetOf;
using Violations = std::vector<base::FieldViolation>;

Component Resolved(const std::string& yaml) {
  Component component;
  EXPECT_TRUE(base::ReadMessage(yaml, base::TextForm::kYaml, &component).ok());
  Violations violations;
  ResolveComponent(Kind::kEncoding, "encoding", &component, &violations);
  EXPECT_TRUE(violations.empty()) << violations[0].description;
  return component;
}

TEST(EntriesCombiningTest, NoneHasNoParametersAndNoLimit) {
  const Component none = Resolved("{name: none}");
  EXPECT_EQ(CountParameters(none, {2, 16, 2}), 0);
  EXPECT_EQ(MaxLength(none), 0);
}

TEST(EntriesCombiningTest, APatternCountsTheLayersWhereEachActs) {
  // Of 5 layers 2 have FIRE and 3 share a table.
  const Component pattern =
      Resolved("{name: per_layer, with: [{name: t5}, {name: fire}]}");
  const ModelShape shape = {5, 16, 2};
  const int64_t fire = 2 * 32 + 33 * 2 + 2;
  EXPECT_EQ(CountParameters(pattern, shape), 32 * 2 + 2 * fire);
  const Component own = Resolved(
      "{name: per_layer, with: [{name: t5, params: {per_layer: true}}, {name: "
      "none}]}");
  EXPECT_EQ(CountParameters(own, shape), 3 * 32 * 2);
}

TEST(EntriesCombiningTest, APatternHasTheLeastLimitOfItsEncodings) {
  EXPECT_EQ(MaxLength(Resolved("{name: per_layer, with: [{name: rope}, {name: "
                               "window_bias_2d, params: {rows: 2, columns: "
                               "3}}]}")),
            6);
}

TEST(EntriesCombiningTest, RandomPositionsCountAndLimitWhatIsUnderThem) {
  const ModelShape shape = {5, 16, 2};
  EXPECT_EQ(
      CountParameters(Resolved("{name: random_positions, with: [{name: t5}]}"),
                      shape),
      64);
  const Component learned =
      Resolved("{name: random_learned, params: {max_position: 70}}");
  EXPECT_EQ(CountParameters(learned, shape), 70 * 16);
  EXPECT_EQ(MaxLength(learned), 70);
}

TEST(EntriesCombiningTest, WithListsFollowFromTraits) {
  const Entry& random = *Find(Kind::kEncoding, "random_positions");
  EXPECT_THAT(random.with,
              IsSupersetOf({"alibi", "learned", "per_layer", "rope", "tape"}));
  for (const char* none : {"abacus", "none", "random_positions"}) {
    EXPECT_EQ(std::count(random.with.begin(), random.with.end(), none), 0);
  }
  const Entry& pattern = *Find(Kind::kEncoding, "per_layer");
  EXPECT_THAT(pattern.with, IsSupersetOf({"alibi", "none", "rope", "t5"}));
  for (const char* none : {"learned", "per_layer", "random_rope", "tape"}) {
    EXPECT_EQ(std::count(pattern.with.begin(), pattern.with.end(), none), 0);
  }
}

TEST(EntriesCombiningTest, SegmentsAreOfAllLayersOrNone) {
  const Component component = Resolved(
      "{name: per_layer, with: [{name: rope}, {name: transformer_xl, params: "
      "{segment_length: 4, memory_length: 4}}]}");
  Violations violations;
  CheckShape("encoding", component, {2, 16, 2}, &violations);
  ASSERT_EQ(violations.size(), 1u);
  EXPECT_EQ(violations[0].field, "encoding.with[1].name");
  EXPECT_THAT(violations[0].description,
              HasSubstr("per_layer cannot be combined with transformer_xl"));
}

}  // namespace
}  // namespace ordo::model::catalog
