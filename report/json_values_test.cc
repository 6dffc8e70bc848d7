#include "report/json_values.h"

#include <limits>
#include <string>
#include <utility>
#include <vector>

#include "base/yaml/text_form.h"
#include "gtest/gtest.h"

namespace ordo::report {
namespace {

using google::protobuf::Struct;

std::string Json(const google::protobuf::Value& value) {
  Struct fields;
  (*fields.mutable_fields())["x"] = value;
  return base::WriteMessage(fields, base::TextForm::kJson);
}

TEST(JsonValuesTest, ANumberThatIsNotFiniteIsNull) {
  EXPECT_EQ(Json(NumberOrNull(0.5)), "{\"x\":0.5}");
  EXPECT_EQ(Json(NumberOrNull(std::numeric_limits<double>::infinity())),
            "{\"x\":null}");
  EXPECT_EQ(Json(NumberOrNull(std::numeric_limits<double>::quiet_NaN())),
            "{\"x\":null}");
}

TEST(JsonValuesTest, AFieldThatIsNotThereIsOfNoKind) {
  Struct fields;
  (*fields.mutable_fields())["x"] = TextValue("y");
  EXPECT_EQ(JsonField(fields, "x").string_value(), "y");
  EXPECT_EQ(JsonField(fields, "z").kind_case(),
            google::protobuf::Value::KIND_NOT_SET);
}

TEST(JsonValuesTest, ListsHoldWhatTheirEntriesBecome) {
  Struct inner;
  (*inner.mutable_fields())["a"] = BoolValue(true);
  EXPECT_EQ(Json(ListOf(std::vector<std::string>{"b", "c"}, TextValue)),
            "{\"x\":[\"b\",\"c\"]}");
  EXPECT_EQ(Json(StructValue(std::move(inner))), "{\"x\":{\"a\":true}}");
}

}  // namespace
}  // namespace ordo::report
