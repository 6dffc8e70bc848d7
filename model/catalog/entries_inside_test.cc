#include <string>
#include <vector>

#include "base/status/details.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "model/catalog/catalog.h"
#include "model/catalog/resolve_evaluations.h"

namespace ordo::model::catalog {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using Violations = std::vector<base::FieldViolation>;

const char* const kNames[] = {"attention_map", "position_similarity",
                              "stability"};

const Entry& Of(const std::string& name) {
  return *Find(Kind::kEvaluationTask, name);
}

ParamMap Resolved(const std::string& name, ParamMap params = {}) {
  Violations violations;
  ResolveParams(Of(name), "evaluations[0]", &params, &violations);
  EXPECT_THAT(violations, IsEmpty());
  return params;
}

void SetNumbers(const std::string& name, const std::vector<double>& values,
                ParamMap* params) {
  auto* list = (*params)[name].mutable_list_value();
  list->clear_values();
  for (const double x : values) list->add_values()->set_number_value(x);
}

ordo::training::v1::Data Sums(int max_digits) {
  ordo::training::v1::Data data;
  data.set_task("addition");
  (*data.mutable_params())["max_digits"].set_number_value(max_digits);
  return data;
}

TEST(EntriesInsideTest, WithoutATrainingTheLongestRowIsThatOfThePapers) {
  EXPECT_EQ(Of("attention_map").row_length(Resolved("attention_map")), 96);
  EXPECT_EQ(
      Of("position_similarity").row_length(Resolved("position_similarity")),
      1024);
  // Three more positions than tokens.
  EXPECT_EQ(Of("stability").row_length(Resolved("stability")), 1027);
}

TEST(EntriesInsideTest, RowsAreAsLongAsInTrainingUnlessTheyAreSaidToBeLonger) {
  const auto data = Sums(3);
  const int64_t trained =
      Find(Kind::kTrainingTask, "addition")->row_length(data.params());
  for (const char* name : kNames) {
    ParamMap params;
    Violations violations;
    Of(name).from_training("evaluations[0]", data, &params, &violations);
    EXPECT_EQ(params.at("max_length").number_value(), trained) << name;
    params["max_length"].set_number_value(7);
    Of(name).from_training("evaluations[0]", data, &params, &violations);
    EXPECT_EQ(params.at("max_length").number_value(), 7) << name;
    // Of another type: it is complained about, not replaced.
    params["max_length"].set_string_value("7");
    Of(name).from_training("evaluations[0]", data, &params, &violations);
    EXPECT_EQ(params.at("max_length").string_value(), "7") << name;
    EXPECT_THAT(violations, IsEmpty());
  }
  ParamMap params;
  Violations violations;
  Of("attention_map")
      .from_training("evaluations[0]", Sums(100), &params, &violations);
  EXPECT_EQ(params.at("max_length").number_value(), 96);
}

TEST(EntriesInsideTest, TextIsThatOfTheTraining) {
  ordo::training::v1::Data data;
  data.set_task("text");
  auto& trained = *data.mutable_params();
  trained["data"].mutable_list_value()->add_values()->set_string_value("books");
  Violations none;
  ResolveParams(*Find(Kind::kTrainingTask, "text"), "data", &trained, &none);
  EXPECT_THAT(none, IsEmpty());
  for (const char* name : kNames) {
    ParamMap params;
    Violations violations;
    Of(name).from_training("evaluations[0]", data, &params, &violations);
    EXPECT_EQ(params.at("data").list_value().values(0).string_value(), "books");
    EXPECT_EQ(params.at("tokenizer").string_value(), "bytes");
    EXPECT_EQ(params.at("held_out").number_value(), 0.01);
    EXPECT_EQ(params.at("max_length").number_value(),
              std::string(name) == "attention_map" ? 96 : 255);
    params["format"].set_string_value("lines");
    params.erase("data");
    Of(name).from_training("evaluations[0]", data, &params, &violations);
    ASSERT_EQ(violations.size(), 2u) << name;
    EXPECT_EQ(violations[0].field, "evaluations[0].params.format");
  }
}

TEST(EntriesInsideTest, LayersAndHeadsAreWholeNumbersOnce) {
  ParamMap params;
  SetNumbers("layers", {1, 2.5, 1}, &params);
  SetNumbers("heads", {3, 3}, &params);
  Violations violations;
  ResolveParams(Of("attention_map"), "evaluations[0]", &params, &violations);
  std::vector<std::string> fields;
  for (const auto& violation : violations) fields.push_back(violation.field);
  EXPECT_THAT(fields, ElementsAre("evaluations[0].params.layers[1]",
                                  "evaluations[0].params.layers[2]",
                                  "evaluations[0].params.heads[1]"));
}

// Its rows are read whole, so that tokens may see what comes later.
TEST(EntriesInsideTest, AModelWithoutTheCausalMaskIsLookedIntoToo) {
  google::protobuf::RepeatedPtrField<ordo::training::v1::Evaluation> list;
  list.Add()->set_task("stability");
  const auto data = Sums(3);
  EvaluationsContext context;
  context.causal = false;
  context.trained_on = &data;
  Violations violations;
  ResolveEvaluations(context, &list, &violations);
  EXPECT_THAT(violations, IsEmpty());
  // An encoding with as many positions as the training needs has none for a
  // shift.
  list.Clear();
  list.Add()->set_task("stability");
  context.max_length =
      Find(Kind::kTrainingTask, "addition")->row_length(data.params());
  ResolveEvaluations(context, &list, &violations);
  ASSERT_EQ(violations.size(), 1u);
  EXPECT_EQ(violations[0].field, "evaluations[0].params.max_length");
}

}  // namespace
}  // namespace ordo::model::catalog
