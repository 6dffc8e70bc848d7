#include <string>
#include <vector>

#include "base/yaml/text_form.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "model/catalog/catalog.h"

namespace ordo::model::catalog {
namespace {

using ordo::training::v1::Component;
using ::testing::ElementsAre;
using ::testing::IsEmpty;

// Fields that a component violates in a model.
std::vector<std::string> Wrong(const std::string& yaml,
                               const ModelShape& shape) {
  Component component;
  EXPECT_TRUE(base::ReadMessage(yaml, base::TextForm::kYaml, &component).ok());
  std::vector<base::FieldViolation> violations;
  ResolveComponent(Kind::kEncoding, "encoding", &component, &violations);
  if (violations.empty()) {
    CheckShape("encoding", component, shape, &violations);
  }
  std::vector<std::string> fields;
  for (const auto& violation : violations) fields.push_back(violation.field);
  return fields;
}

constexpr ModelShape kSmall{2, 16, 2};

TEST(EntriesContentTest, TenerNeedsTwoFrequenciesAndItsOwnKeys) {
  EXPECT_THAT(Wrong("{name: tener}", kSmall), IsEmpty());
  EXPECT_THAT(Wrong("{name: tener}", {2, 16, 8}), ElementsAre("encoding.name"));
  ModelShape grouped = kSmall;
  grouped.key_heads = 1;
  EXPECT_THAT(Wrong("{name: tener}", grouped), IsEmpty());
  EXPECT_THAT(Wrong("{name: tener, params: {project_keys: false}}", grouped),
              ElementsAre("encoding.params.project_keys"));
}

// Heads of 8 channels, two of them, of 20 channels or 21.
TEST(EntriesContentTest, AHeadWidthOfItsOwnIsRefusedOnlyWhereNothingProjects) {
  ModelShape shape{2, 20, 2};
  shape.own_head_width = 8;
  EXPECT_THAT(Wrong("{name: tener}", shape), IsEmpty());
  EXPECT_THAT(Wrong("{name: tener, params: {project_keys: false}}", shape),
              ElementsAre("encoding.params.project_keys"));
  EXPECT_THAT(Wrong("{name: transformer_xl}", shape), IsEmpty());
  shape.width = 21;
  EXPECT_THAT(Wrong("{name: tener}", shape), IsEmpty());
  EXPECT_THAT(Wrong("{name: deberta}", shape), IsEmpty());
  EXPECT_THAT(Wrong("{name: transformer_xl}", shape),
              ElementsAre("encoding.name"));
}

TEST(EntriesContentTest, AMemoryNeedsSegments) {
  EXPECT_THAT(
      Wrong("{name: transformer_xl, params: {memory_length: 4}}", kSmall),
      ElementsAre("encoding.params.memory_length"));
  EXPECT_THAT(Wrong("{name: transformer_xl, params: {memory_length: 4, "
                    "segment_length: 8}}",
                    kSmall),
              IsEmpty());
}

TEST(EntriesContentTest, SegmentsAndGatesNeedTheCausalMask) {
  ModelShape open = kSmall;
  open.causal = false;
  EXPECT_THAT(
      Wrong("{name: transformer_xl, params: {segment_length: 8}}", open),
      ElementsAre("encoding.params.segment_length"));
  EXPECT_THAT(Wrong("{name: cope}", open), ElementsAre("encoding.name"));
}

TEST(EntriesContentTest, AnMlpInOneLayerCannotBeShared) {
  EXPECT_THAT(Wrong("{name: cope, params: {form: mlp, mlp_layers: first, "
                    "share: model}}",
                    kSmall),
              ElementsAre("encoding.params.share"));
}

TEST(EntriesContentTest, CopeMayStandBesideShawOrARotation) {
  EXPECT_THAT(Wrong("{name: cope, with: [{name: shaw}]}", kSmall), IsEmpty());
  EXPECT_THAT(Wrong("{name: cope, with: [{name: yarn}]}", kSmall), IsEmpty());
  EXPECT_THAT(Wrong("{name: cope, with: [{name: huang1}]}", kSmall),
              ElementsAre("encoding.with[0].name"));
  EXPECT_THAT(Wrong("{name: shaw, with: [{name: cope}]}", kSmall),
              ElementsAre("encoding.with"));
}

// COPE's experiments: one table, distances 0..511.
TEST(EntriesContentTest, ShawCountsItsTables) {
  Component shaw;
  ASSERT_TRUE(base::ReadMessage(
                  "{name: shaw, params: {max_distance: 511, share: model}}",
                  base::TextForm::kYaml, &shaw)
                  .ok());
  std::vector<base::FieldViolation> violations;
  ResolveComponent(Kind::kEncoding, "encoding", &shaw, &violations);
  EXPECT_EQ(CountParameters(shaw, {12, 768, 12}), 512 * 64);
}

}  // namespace
}  // namespace ordo::model::catalog
