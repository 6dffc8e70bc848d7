#include "base/yaml/field_path.h"

#include <string>

#include "base/status/testing/status_matchers.h"
#include "base/yaml/sample.pb.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace ordo::base {
namespace {

using ::google::protobuf::Value;
using ::ordo::base::sample::Sample;
using ::ordo::base::testing::StatusIs;
using ::testing::HasSubstr;

auto IsInvalid(const std::string& what) {
  return StatusIs(absl::StatusCode::kInvalidArgument, HasSubstr(what));
}

TEST(SetFieldTest, SetsFieldsEntriesAndElements) {
  Sample sample;
  sample.mutable_training()->set_learning_rate(0.5);
  ORDO_ASSERT_OK(SetField("training.steps", "500", &sample));
  ORDO_ASSERT_OK(SetField("params.position_size", "16", &sample));
  ORDO_ASSERT_OK(SetField("more[0].exact", "true", &sample));
  ORDO_ASSERT_OK(SetField("more[1]", "{steps: 2}", &sample));
  ORDO_ASSERT_OK(SetField("more.1.exact", "true", &sample));
  ORDO_ASSERT_OK(SetField("sizes", "[1, 2]", &sample));
  ORDO_ASSERT_OK(SetField("sizes[1]", "3", &sample));
  ORDO_ASSERT_OK(SetField("by_rank.7.steps", "1", &sample));
  ORDO_ASSERT_OK(SetField("kind", "train", &sample));
  EXPECT_EQ(sample.training().learning_rate(), 0.5);
  EXPECT_EQ(sample.training().steps(), 500);
  EXPECT_EQ(sample.params().at("position_size").number_value(), 16);
  ASSERT_EQ(sample.more_size(), 2);
  EXPECT_TRUE(sample.more(0).exact());
  EXPECT_EQ(sample.more(1).steps(), 2);
  EXPECT_TRUE(sample.more(1).exact());
  EXPECT_THAT(sample.sizes(), ::testing::ElementsAre(1, 3));
  EXPECT_EQ(sample.by_rank().at(7).steps(), 1);
  EXPECT_EQ(sample.kind(), Sample::KIND_TRAIN);
}

TEST(SetFieldTest, TakesTextsAsTheyStand) {
  Sample sample;
  for (const char* text : {"", "a b", "#1", "12", "null", "*x", "é"}) {
    ORDO_ASSERT_OK(SetField("name", text, &sample));
    EXPECT_EQ(sample.name(), text);
  }
  ORDO_ASSERT_OK(SetField("name", "'quoted'", &sample));
  EXPECT_EQ(sample.name(), "quoted");
}

TEST(SetFieldTest, GivesTheErrorsOfAFileWithoutALine) {
  Sample sample;
  sample.set_name("kept");
  EXPECT_THAT(SetField("training.stepz", "5", &sample),
              StatusIs(absl::StatusCode::kInvalidArgument,
                       "training.stepz: is no field of Recipe; did you mean "
                       "'steps'?"));
  EXPECT_THAT(SetField("training.steps", "five", &sample),
              StatusIs(absl::StatusCode::kInvalidArgument,
                       "training.steps: must be a whole number, not 'five'"));
  EXPECT_THAT(SetField("name.x", "5", &sample),
              IsInvalid("name: must be a single value, not a map"));
  EXPECT_THAT(SetField("more[1].steps", "5", &sample),
              IsInvalid("'1' is no index of this list; valid: 0 to 0"));
  EXPECT_THAT(SetField("more[-1].steps", "5", &sample), IsInvalid("'-1'"));
  EXPECT_THAT(SetField("name[0]", "5", &sample), IsInvalid("no index"));
  for (const char* path : {"", ".", "a..b", "a.", "[0]"}) {
    EXPECT_THAT(SetField(path, "5", &sample), IsInvalid("")) << path;
  }
  EXPECT_EQ(sample.name(), "kept");
}

TEST(SetFieldTest, TakesValuesThatWereRead) {
  Sample sample;
  Value value;
  value.set_number_value(0.003);
  ORDO_ASSERT_OK(SetField("training.learning_rate", value, &sample));
  EXPECT_EQ(sample.training().learning_rate(), 0.003);
  (*value.mutable_struct_value()->mutable_fields())["steps"].set_number_value(
      7);
  ORDO_ASSERT_OK(SetField("training", value, &sample));
  EXPECT_EQ(sample.training().steps(), 7);
  EXPECT_EQ(sample.training().learning_rate(), 0);
  value.set_null_value(google::protobuf::NULL_VALUE);
  ORDO_ASSERT_OK(SetField("training", value, &sample));
  EXPECT_FALSE(sample.has_training());
  value.set_string_value("five");
  EXPECT_THAT(SetField("training.steps", value, &sample),
              IsInvalid("training.steps: must be a whole number"));
}

TEST(CheckFieldPathTest, NamesTheNearestFieldOrTheStepThatIsNone) {
  const auto check = [](const char* path) {
    return CheckFieldPath(path, *Sample::descriptor());
  };
  for (const char* path :
       {"training", "training.steps", "more[3].steps", "more.3.steps", "with",
        "params.a.b[1]", "by_rank.7.steps", "value.x", "timeout"}) {
    ORDO_EXPECT_OK(check(path));
  }
  EXPECT_THAT(check("training.stepz"), IsInvalid("did you mean 'steps'?"));
  EXPECT_THAT(check("more.steps"), IsInvalid("'steps' is no index"));
  EXPECT_THAT(check("name.x"), IsInvalid("goes on below a single value"));
  EXPECT_THAT(check("timeout.seconds"), IsInvalid("below a single value"));
  EXPECT_THAT(check("training[0]"), IsInvalid("[0] is no field of Recipe"));
  EXPECT_THAT(check("a..b"), IsInvalid("no path of a field"));
}

TEST(IsPartOfTest, GoesByWholeSteps) {
  EXPECT_TRUE(IsPartOf("a.b", "a"));
  EXPECT_TRUE(IsPartOf("a[0]", "a"));
  EXPECT_TRUE(IsPartOf("a", "a"));
  EXPECT_FALSE(IsPartOf("ab", "a"));
  EXPECT_FALSE(IsPartOf("a", "a.b"));
}

}  // namespace
}  // namespace ordo::base
