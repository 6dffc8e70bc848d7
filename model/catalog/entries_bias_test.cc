#include <algorithm>

#include "base/yaml/text_form.h"
#include "gtest/gtest.h"
#include "model/catalog/catalog.h"
#include "model/catalog/entries.h"

namespace ordo::model::catalog {
namespace {

int64_t Count(const std::string& yaml, const ModelShape& shape) {
  ordo::training::v1::Component component;
  EXPECT_TRUE(base::ReadMessage(yaml, base::TextForm::kYaml, &component).ok());
  std::vector<base::FieldViolation> violations;
  ResolveComponent(Kind::kEncoding, "encoding", &component, &violations);
  EXPECT_TRUE(violations.empty()) << violations[0].description;
  return CountParameters(component, shape);
}

// 12 layers of 12 heads: the TAPE paper's baselines.
TEST(EntriesBiasTest, CountsAreThoseOfThePapers) {
  const ModelShape shape = {12, 768, 12};
  EXPECT_EQ(Count("{name: alibi}", shape), 0);
  EXPECT_EQ(Count("{name: t5}", shape), 384);
  EXPECT_EQ(Count("{name: t5, params: {per_layer: true}}", shape), 4608);
  EXPECT_EQ(Count("{name: kerple_log}", shape), 24);
  EXPECT_EQ(Count("{name: fire}", shape), 12 * 462);
  EXPECT_EQ(
      Count("{name: window_bias_2d, params: {rows: 7, columns: 7}}", shape),
      13 * 13 * 12);
}

TEST(EntriesBiasTest, NamesOfBiasesAreSortedAndExist) {
  EXPECT_TRUE(std::is_sorted(BiasNames().begin(), BiasNames().end()));
  for (const std::string& name : BiasNames()) {
    EXPECT_NE(Find(Kind::kEncoding, name), nullptr) << name;
  }
}

}  // namespace
}  // namespace ordo::model::catalog
