#include "services/spec/parts.h"

#include <string>
#include <vector>

#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace ordo::services::spec {
namespace {

using ::testing::ElementsAre;
using Violations = std::vector<base::FieldViolation>;

Part PartOf(const std::string& label) {
  Part part;
  part.label = label;
  part.origin = "compare.run";
  return part;
}

TEST(PartsTest, AFieldIsFromTheNarrowestSourceOrTheTemplate) {
  Part part = PartOf("a");
  part.sources = {{"encoding", "compare.arms[0].set.encoding"},
                  {"encoding.params.base", "compare.arms[0].set.base"}};
  EXPECT_EQ(SourceOf(part, "encoding.name"),
            "compare.arms[0].set.encoding.name");
  EXPECT_EQ(SourceOf(part, "encoding.params.base"), "compare.arms[0].set.base");
  EXPECT_EQ(SourceOf(part, "training.steps"), "compare.run.training.steps");
  EXPECT_EQ(OwnSourceOf(part, "training.steps"), "");
}

TEST(PartsTest, WhatAllPartsHaveIsToldOnceAndWhatSomeHaveNamesThem) {
  const std::vector<Part> parts = {PartOf("a"), PartOf("b")};
  PartViolations found;
  for (const Part& part : parts) found.Add(part, {{"queue", "is bad"}});
  found.Add(parts[1], {{"labels", "are bad"}});
  Violations violations;
  found.MoveTo(parts, &violations);
  EXPECT_THAT(violations,
              ElementsAre(base::FieldViolation{"compare.run.queue", "is bad"},
                          base::FieldViolation{"compare.run.labels",
                                               "are bad (in b)"}));
}

}  // namespace
}  // namespace ordo::services::spec
