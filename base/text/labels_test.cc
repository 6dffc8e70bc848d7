#include "base/text/labels.h"

#include <string>
#include <vector>

#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace ordo::base {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;
using ::testing::Pair;

std::vector<std::string> FieldsOf(const Labels& labels) {
  std::vector<FieldViolation> violations;
  CheckLabels(labels, {"labels", 3}, &violations);
  std::vector<std::string> fields;
  for (const FieldViolation& each : violations) fields.push_back(each.field);
  return fields;
}

std::vector<std::string> FieldsOf(const std::string& name,
                                  const std::string& value) {
  Labels labels;
  labels[name] = value;
  return FieldsOf(labels);
}

TEST(LabelsTest, NamesAndValuesUpToTheirLimitsAreTaken) {
  EXPECT_THAT(FieldsOf("team/unit.a_b-c", "Größe: 3"), IsEmpty());
  EXPECT_THAT(FieldsOf(std::string(kMaxLabelBytes, 'k'),
                       std::string(kMaxLabelBytes, 'v')),
              IsEmpty());
  EXPECT_THAT(FieldsOf("k", ""), IsEmpty());
}

TEST(LabelsTest, ANameThatIsNoneIsOfTheField) {
  for (const std::string& name :
       {std::string(), std::string("a b"), std::string("a\n"),
        std::string("gr\xC3\xB6\xC3\x9F"),
        std::string(kMaxLabelBytes + 1, 'k')}) {
    EXPECT_THAT(FieldsOf(name, "v"), ElementsAre("labels")) << name;
  }
}

TEST(LabelsTest, AValueThatIsNoneIsOfItsName) {
  EXPECT_THAT(FieldsOf("k", std::string(kMaxLabelBytes + 1, 'v')),
              ElementsAre("labels.k"));
  EXPECT_THAT(FieldsOf("k", "a\nb"), ElementsAre("labels.k"));
}

TEST(LabelsTest, TooManyAreOneViolation) {
  Labels labels;
  for (const char* name : {"a", "b", "c"}) labels[name] = "\n";
  EXPECT_THAT(FieldsOf(labels),
              ElementsAre("labels.a", "labels.b", "labels.c"));
  labels["d"] = "\n";
  EXPECT_THAT(FieldsOf(labels), ElementsAre("labels"));
}

TEST(LabelsTest, OnlyBadOnesAreTakenOut) {
  Labels labels;
  for (const char* name : {"a", "b", "c d"}) labels[name] = "v";
  labels["b"] = "\n";
  const std::vector<FieldViolation> violations =
      TakeOutBadLabels("labels", &labels);
  ASSERT_EQ(violations.size(), 2u);
  EXPECT_EQ(violations[0].field, "labels.b");
  EXPECT_EQ(violations[1].field, "labels");
  EXPECT_THAT(labels, ElementsAre(Pair("a", "v")));
}

}  // namespace
}  // namespace ordo::base
