#include "gtest/gtest.h"
#include "model/catalog/catalog.h"

namespace ordo::model::catalog {
namespace {

using ordo::training::v1::Component;

int64_t Count(const std::string& without = "") {
  Component tape;
  tape.set_name("tape");
  if (!without.empty()) {
    (*tape.mutable_params())[without].set_bool_value(false);
  }
  std::vector<base::FieldViolation> violations;
  ResolveComponent(Kind::kEncoding, "encoding", &tape, &violations);
  EXPECT_TRUE(violations.empty());
  return CountParameters(tape, {12, 768, 12});
}

// The paper's sizes: 38160 a layer, in all but the last of twelve.
TEST(EntriesStateTest, TapeCountsAsThePaperDoes) {
  EXPECT_EQ(Count(), 11 * 38160);
  EXPECT_EQ(Count("attention_update"), 11 * (38160 - 144));
  EXPECT_EQ(Count("mlp_update"), 11 * 144);
}

}  // namespace
}  // namespace ordo::model::catalog
