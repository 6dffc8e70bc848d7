#include "report/gate/json.h"

#include <limits>
#include <string>

#include "base/status/testing/status_matchers.h"
#include "base/yaml/text_form.h"
#include "google/protobuf/struct.pb.h"
#include "gtest/gtest.h"
#include "report/gate/testing/accounts.h"
#include "report/gate/testing/comparisons.h"

namespace ordo::report::gate {
namespace {

using google::protobuf::Struct;
using google::protobuf::Value;
using testing::Answers;
using testing::Margin;
using testing::OneOfEach;

Struct Parsed(const Account& account) {
  Struct json;
  ORDO_EXPECT_OK(
      base::ReadMessage(ToJson(account), base::TextForm::kJson, &json));
  return json;
}

const Struct& ComparisonAt(const Struct& json, int index) {
  return json.fields()
      .at("comparisons")
      .list_value()
      .values(index)
      .struct_value();
}

TEST(ToJsonTest, HasVerdictOutcomeAndOptions) {
  const Struct json = Parsed(OneOfEach(OnInconclusive::kPass));
  EXPECT_EQ(json.fields().at("verdict").string_value(), "fail");
  EXPECT_EQ(json.fields().at("outcome").string_value(), "fail");
  EXPECT_EQ(json.fields().at("on_inconclusive").string_value(), "pass");
  EXPECT_EQ(json.fields().at("fail_below").string_value(), "zero");
  EXPECT_EQ(json.fields().at("level").number_value(), 0.95);
  EXPECT_EQ(json.fields().at("comparisons").list_value().values_size(), 4);
  EXPECT_EQ(json.fields().at("checkpoints").list_value().values_size(), 3);
}

TEST(ToJsonTest, AComparisonHasAllItsNumbers) {
  const Account account = OneOfEach(OnInconclusive::kInconclusive);
  const Struct json = Parsed(account);
  const auto& fields = ComparisonAt(json, 2).fields();
  const Result& result = account.decision.results[2];
  EXPECT_EQ(fields.at("task").string_value(), "lists");
  EXPECT_EQ(fields.at("reference").string_value(), "baseline");
  EXPECT_EQ(fields.at("verdict").string_value(), "fail");
  EXPECT_DOUBLE_EQ(fields.at("difference").number_value(), -0.1);
  EXPECT_DOUBLE_EQ(fields.at("interval").list_value().values(0).number_value(),
                   result.gate.interval.low);
  EXPECT_DOUBLE_EQ(fields.at("discordance").number_value(), 0.1);
  EXPECT_DOUBLE_EQ(fields.at("power").number_value(),
                   *account.powers[2].equal_passes);
  EXPECT_EQ(fields.at("needed_items").number_value(),
            static_cast<double>(*account.powers[2].needed_items));
  EXPECT_EQ(fields.at("num_worse").number_value(), 100);
}

TEST(ToJsonTest, WorseItemsHavePromptAndBothOutputsAsTheyAre) {
  const Struct json = Parsed(OneOfEach(OnInconclusive::kInconclusive));
  const auto& worse = ComparisonAt(json, 2).fields().at("worse").list_value();
  ASSERT_EQ(worse.values_size(), 100);
  const auto& item = worse.values(0).struct_value().fields();
  EXPECT_EQ(item.at("id").string_value(), "i0");
  EXPECT_EQ(item.at("prompt").string_value(),
            "sort: <b>&\"x\"</b> | a\n`code`");
  EXPECT_EQ(item.at("reference_output").string_value(), "right");
  EXPECT_EQ(item.at("candidate_output").string_value(),
            "wrong\x01\x1b[31m ]]> \xC3\xA9");
}

TEST(ToJsonTest, WhatIsNotKnownIsNull) {
  Comparison unbounded = Answers("a", {10, 1, 1});
  unbounded.score_range = std::numeric_limits<double>::infinity();
  unbounded.items[0].candidate = 0.5;
  const Struct json =
      Parsed(MakeAccount(Decide(Margin(0.05), {unbounded}).value()));
  const auto& fields = ComparisonAt(json, 0).fields();
  EXPECT_EQ(fields.at("power").kind_case(), Value::kNullValue);
  EXPECT_NE(fields.at("why_no_power").string_value(), "");
  EXPECT_EQ(fields.at("interval").list_value().values(0).kind_case(),
            Value::kNullValue);
}

}  // namespace
}  // namespace ordo::report::gate
