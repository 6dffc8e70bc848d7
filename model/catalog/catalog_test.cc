#include "model/catalog/catalog.h"

#include <algorithm>
#include <limits>

#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace ordo::model::catalog {
namespace {

using ::ordo::training::v1::Component;
using ::testing::ContainsRegex;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::IsSupersetOf;
using Violations = std::vector<base::FieldViolation>;

Entry NumbersEntry() {
  Entry entry;
  entry.kind = Kind::kEncoding;
  entry.name = "scaled";
  entry.params = {
      {"factors",
       ParamType::kNumbers,
       std::vector<double>{1.0, 2.0},
       0.0,
       {},
       {},
       "1",
       "Factors."},
      {"label", ParamType::kString, std::string("x"), {}, {}, {}, "", "Label."},
  };
  return entry;
}

std::vector<std::string> Fields(const Violations& violations) {
  std::vector<std::string> fields;
  for (const auto& violation : violations) fields.push_back(violation.field);
  return fields;
}

void SetNumber(ParamMap* params, const std::string& name, double value) {
  (*params)[name].set_number_value(value);
}

TEST(CatalogTest, EntriesAreSortedByKindThenName) {
  std::vector<std::string> names;
  for (const Entry* entry : EntriesOf(Kind::kEncoding)) {
    names.push_back(entry->name);
  }
  EXPECT_TRUE(std::is_sorted(names.begin(), names.end()));
  EXPECT_THAT(names, IsSupersetOf({"none", "rope", "tape"}));
}

TEST(CatalogTest, ATaskSaysWhatItsItemsScore) {
  const auto scores = [](const char* task) {
    return Find(Kind::kEvaluationTask, task)->evaluation.item_scores;
  };
  EXPECT_EQ(ItemScoresText(scores("addition_grid")), "right or wrong, 1 or 0");
  EXPECT_EQ(ScoreRange(scores("flip_flop")), 1);
  EXPECT_EQ(ScoreRange(scores("text")),
            std::numeric_limits<double>::infinity());
}

TEST(CatalogTest, ATaskIsNotFoundAsAnEncoding) {
  EXPECT_NE(Find(Kind::kTrainingTask, "addition"), nullptr);
  EXPECT_EQ(Find(Kind::kEncoding, "addition"), nullptr);
}

TEST(CatalogTest, ParamsLeftOutTakeTheirDefaults) {
  Component component;
  component.set_name("tape");
  Violations violations;
  ResolveComponent(Kind::kEncoding, "encoding", &component, &violations);
  EXPECT_THAT(violations, IsEmpty());
  const Params params(component.params());
  EXPECT_EQ(params.Integer("position_size"), 48);
  EXPECT_EQ(params.String("reading"), "canonical");
  EXPECT_TRUE(params.Bool("mlp_update"));
}

TEST(CatalogTest, GivenParamsStay) {
  Component component;
  component.set_name("rope");
  SetNumber(component.mutable_params(), "base", 500.5);
  Violations violations;
  ResolveComponent(Kind::kEncoding, "encoding", &component, &violations);
  EXPECT_THAT(violations, IsEmpty());
  EXPECT_EQ(Params(component.params()).Number("base"), 500.5);
}

TEST(CatalogTest, ResolvingTwiceChangesNothing) {
  Component once;
  once.set_name("tape");
  once.add_with()->set_name("rope");
  Violations violations;
  ResolveComponent(Kind::kEncoding, "encoding", &once, &violations);
  Component twice = once;
  ResolveComponent(Kind::kEncoding, "encoding", &twice, &violations);
  EXPECT_THAT(violations, IsEmpty());
  EXPECT_EQ(once.DebugString(), twice.DebugString());
}

TEST(CatalogTest, AllViolationsAreReportedWithTheirPaths) {
  Component component;
  component.set_name("tape");
  ParamMap* params = component.mutable_params();
  SetNumber(params, "position_size", 0);
  SetNumber(params, "mlp_update", 1);
  SetNumber(params, "positon_size", 3);
  (*params)["reading"].set_string_value("cannonical");
  Component* with = component.add_with();
  with->set_name("rope");
  SetNumber(with->mutable_params(), "partial", 2);
  Violations violations;
  ResolveComponent(Kind::kEncoding, "encoding", &component, &violations);
  EXPECT_THAT(
      Fields(violations),
      ElementsAre("encoding.params.mlp_update", "encoding.params.position_size",
                  "encoding.params.positon_size", "encoding.params.reading",
                  "encoding.with[0].params.partial"));
  EXPECT_THAT(violations[1].description, HasSubstr("1..65536"));
  EXPECT_THAT(violations[2].description, HasSubstr("position_size"));
  EXPECT_THAT(violations[3].description, HasSubstr("canonical"));
}

TEST(CatalogTest, AnUnknownNameOffersTheNearest) {
  Component component;
  component.set_name("taep");
  Violations violations;
  ResolveComponent(Kind::kEncoding, "encoding", &component, &violations);
  ASSERT_EQ(violations.size(), 1u);
  EXPECT_EQ(violations[0].field, "encoding.name");
  EXPECT_THAT(violations[0].description, HasSubstr("tape"));
}

TEST(CatalogTest, AnEmptyNameListsWhatThereIs) {
  Violations violations;
  EXPECT_EQ(ResolveName(Kind::kEncoding, "encoding.name", "", &violations),
            nullptr);
  ASSERT_EQ(violations.size(), 1u);
  EXPECT_THAT(violations[0].description, ContainsRegex("none,.* rope,.* tape"));
}

TEST(CatalogTest, AComponentThatTakesNoneRefusesWith) {
  Component component;
  component.set_name("none");
  component.add_with()->set_name("tape");
  Violations violations;
  ResolveComponent(Kind::kEncoding, "encoding", &component, &violations);
  EXPECT_THAT(Fields(violations), ElementsAre("encoding.with"));
}

TEST(CatalogTest, ACombinationThatDoesNotExistNamesBoth) {
  Component component;
  component.set_name("tape");
  component.add_with()->set_name("none");
  Violations violations;
  ResolveComponent(Kind::kEncoding, "encoding", &component, &violations);
  ASSERT_THAT(Fields(violations), ElementsAre("encoding.with[0].name"));
  EXPECT_THAT(violations[0].description, HasSubstr("tape"));
  EXPECT_THAT(violations[0].description, HasSubstr("none"));
}

TEST(CatalogTest, AnIntegerMustBeWholeAndFinite) {
  const Entry& entry = *Find(Kind::kTrainingTask, "addition");
  for (double value : {2.5, std::numeric_limits<double>::infinity(),
                       std::numeric_limits<double>::quiet_NaN()}) {
    ParamMap params;
    SetNumber(&params, "max_digits", value);
    Violations violations;
    ResolveParams(entry, "data", &params, &violations);
    EXPECT_THAT(Fields(violations), ElementsAre("data.params.max_digits"))
        << value;
  }
}

TEST(CatalogTest, WhatIsNoChoiceListsThemOnce) {
  const Entry& rope = *Find(Kind::kEncoding, "rope");
  const auto wrong = [&rope](const std::string& layout) {
    ParamMap params;
    params["layout"].set_string_value(layout);
    Violations violations;
    ResolveParams(rope, "encoding", &params, &violations);
    return violations.empty() ? "" : violations.front().description;
  };
  EXPECT_EQ(wrong("neox"), "'neox' is not one of half_split, interleaved");
  EXPECT_EQ(wrong("half_splits"),
            "'half_splits' is not one of half_split, interleaved; did you mean "
            "'half_split'?");
}

TEST(CatalogTest, AListIsCheckedElementByElement) {
  const Entry entry = NumbersEntry();
  ParamMap params;
  auto* list = params["factors"].mutable_list_value();
  list->add_values()->set_number_value(1);
  list->add_values()->set_number_value(-1);
  Violations violations;
  ResolveParams(entry, "", &params, &violations);
  ASSERT_THAT(Fields(violations), ElementsAre("params.factors"));
  EXPECT_THAT(violations[0].description, HasSubstr("element 1"));
}

TEST(CatalogTest, AListHasADefaultAndAnyStringWillDoWithoutChoices) {
  const Entry entry = NumbersEntry();
  ParamMap params;
  params["label"].set_string_value("anything");
  Violations violations;
  ResolveParams(entry, "", &params, &violations);
  EXPECT_THAT(violations, IsEmpty());
  EXPECT_THAT(Params(params).Numbers("factors"), ElementsAre(1.0, 2.0));
}

TEST(CatalogTest, TooManyParamsAreRefusedAsAWhole) {
  ParamMap params;
  for (int i = 0; i < 65; ++i) SetNumber(&params, std::to_string(i), 0);
  Violations violations;
  ResolveParams(NumbersEntry(), "encoding", &params, &violations);
  EXPECT_THAT(Fields(violations), ElementsAre("encoding.params"));
}

TEST(CatalogTest, RangesReadLikeWords) {
  const Entry& rope = *Find(Kind::kEncoding, "rope");
  EXPECT_EQ(RangeText(*FindParam(rope, "partial")), "0..1");
  EXPECT_EQ(RangeText(*FindParam(rope, "layout")), "half_split | interleaved");
  EXPECT_EQ(RangeText(NumbersEntry().params[0]), ">= 0");
}

}  // namespace
}  // namespace ordo::model::catalog
