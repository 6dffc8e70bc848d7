#include "model/catalog/pairs.h"

#include <string>

#include "base/yaml/text_form.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace ordo::model::catalog {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

std::vector<std::string> Wrong(const std::string& yaml) {
  ordo::training::v1::Component component;
  EXPECT_TRUE(base::ReadMessage(yaml, base::TextForm::kYaml, &component).ok())
      << yaml;
  std::vector<base::FieldViolation> violations;
  CheckPairs("encoding", component, &violations);
  std::vector<std::string> texts;
  for (const auto& violation : violations) {
    texts.push_back(violation.field + ": " + violation.description);
  }
  return texts;
}

TEST(PairsTest, TwoMayActTogether) {
  EXPECT_THAT(Wrong("{name: none}"), IsEmpty());
  EXPECT_THAT(Wrong("{name: rope, with: [{name: alibi}]}"), IsEmpty());
}

TEST(PairsTest, AThirdIsRefusedByName) {
  EXPECT_THAT(Wrong("{name: rope, with: [{name: cope, with: [{name: shaw}]}]}"),
              ElementsAre("encoding.with[0].with[0].name: shaw cannot be "
                          "combined with 'rope' and 'cope': two act together "
                          "at most; leave out one of them"));
  EXPECT_THAT(Wrong("{name: rope, with: [{name: alibi}, {name: t5}]}"),
              ElementsAre("encoding.with[1].name: t5 cannot be combined with "
                          "'rope' and 'alibi': two act together at most; leave "
                          "out one of them"));
}

TEST(PairsTest, EncodingsOfDifferentLayersNeverMeet) {
  EXPECT_THAT(Wrong("{name: per_layer, with: [{name: rope, with: [{name: "
                    "cope}]}, {name: shaw}, {name: t5}, {name: alibi}]}"),
              IsEmpty());
  EXPECT_THAT(
      Wrong("{name: random_positions, with: [{name: per_layer, with: [{name: "
            "rope}, {name: yarn, with: [{name: rope_bias, with: [{name: t5}]}]"
            "}]}]}"),
      ElementsAre("encoding.with[0].with[1].with[0].with[0].name: t5 cannot be "
                  "combined with 'yarn' and 'rope_bias': two act together at "
                  "most; leave out one of them"));
}

}  // namespace
}  // namespace ordo::model::catalog
