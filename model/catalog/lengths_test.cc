#include "model/catalog/lengths.h"

#include <string>
#include <vector>

#include "base/status/details.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "model/catalog/resolve_data.h"
#include "model/catalog/resolve_evaluations.h"

namespace ordo::model::catalog {
namespace {

namespace v1 = ::ordo::training::v1;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

class LengthsTest : public ::testing::Test {
 protected:
  LengthsTest() {
    trained_on_.set_task("flip_flop");
    (*trained_on_.mutable_params())["pairs"].set_number_value(16);
    std::vector<base::FieldViolation> violations;
    ResolveData("data", &trained_on_, &violations);
    EXPECT_THAT(violations, IsEmpty());
  }

  static const Entry& Task(const std::string& name) {
    return *Find(Kind::kEvaluationTask, name);
  }

  // Numbers, and texts of multiples.
  static void Set(const std::vector<std::string>& lengths, ParamMap* params) {
    auto& list = *(*params)[kLengths].mutable_list_value();
    list.clear_values();
    for (const std::string& text : lengths) {
      if (text.find_first_not_of("0123456789.") == std::string::npos) {
        list.add_values()->set_number_value(std::stod(text));
      } else {
        list.add_values()->set_string_value(text);
      }
    }
  }

  // What is wrong, as "field: description".
  std::vector<std::string> Resolve(const std::vector<std::string>& lengths,
                                   const v1::Data* trained_on) {
    params_.clear();
    Set(lengths, &params_);
    std::vector<base::FieldViolation> violations;
    ResolveLengths({Task("flip_flop"), "evaluations[0]", trained_on}, &params_,
                   &violations);
    ResolveParams(Task("flip_flop"), "evaluations[0]", &params_, &violations);
    std::vector<std::string> texts;
    for (const auto& each : violations) {
      texts.push_back(each.field + ": " + each.description);
    }
    return texts;
  }

  v1::Data trained_on_;
  ParamMap params_;
};

TEST_F(LengthsTest, MultiplesAreOfTheTrainedLength) {
  EXPECT_THAT(Resolve({"1x", "2x", "100", "4x"}, &trained_on_), IsEmpty());
  EXPECT_THAT(LengthsOf(Task("flip_flop"), params_),
              ElementsAre(16, 32, 64, 100));
  EXPECT_EQ(TrainedLength(Task("flip_flop"), &trained_on_), 16);
}

TEST_F(LengthsTest, MultiplesStayWhereTheTrainingIsNotKnown) {
  EXPECT_THAT(Resolve({"1x", "20"}, nullptr), IsEmpty());
  EXPECT_THAT(LengthsOf(Task("flip_flop"), params_), ElementsAre(20));
  std::vector<base::FieldViolation> violations;
  RefuseMultiples(Task("flip_flop"), "evaluations[0]", params_, &violations);
  ASSERT_EQ(violations.size(), 1u);
  EXPECT_EQ(violations[0].field, "evaluations[0].params.lengths[0]");
  EXPECT_THAT(violations[0].description, HasSubstr("give the length itself"));
}

TEST_F(LengthsTest, AModelOfAnotherTaskHasNoTrainedLength) {
  trained_on_.set_task("counting");
  EXPECT_EQ(TrainedLength(Task("flip_flop"), &trained_on_), 0);
  EXPECT_THAT(Resolve({"20", "2x"}, &trained_on_),
              ElementsAre(HasSubstr(
                  "evaluations[0].params.lengths[1]: '2x' is of the trained "
                  "length, and the model was trained on counting")));
  EXPECT_THAT(Resolve({"20"}, &trained_on_), IsEmpty());
}

TEST_F(LengthsTest, WhatIsNoLengthIsRefused) {
  EXPECT_THAT(Resolve({"20.5"}, nullptr),
              ElementsAre(HasSubstr("must be an integer, is 20.5")));
  EXPECT_THAT(Resolve({"2x", "32"}, &trained_on_),
              ElementsAre(HasSubstr("32 is there twice")));
  EXPECT_THAT(Resolve({"40000"}, nullptr),
              ElementsAre(HasSubstr("must be 2..32768, as pairs, is 40000")));
  for (const char* text : {"x", "0x", "02x", "2y", "-1x", "1.5x"}) {
    EXPECT_THAT(Resolve({text}, &trained_on_),
                ElementsAre(HasSubstr("a multiple of the trained length such "
                                      "as 2x")))
        << text;
  }
  EXPECT_THAT(Resolve(std::vector<std::string>(kMaxLengths + 1, "9"), nullptr),
              ElementsAre(HasSubstr("has 65 lengths; at most 64")));
}

TEST_F(LengthsTest, ATaskWithoutALengthHasNoLengths) {
  std::vector<base::FieldViolation> violations;
  Set({"20"}, &params_);
  ResolveLengths({Task("scan"), "evaluations[0]", nullptr}, &params_,
                 &violations);
  ResolveParams(Task("scan"), "evaluations[0]", &params_, &violations);
  ASSERT_EQ(violations.size(), 1u);
  EXPECT_EQ(violations[0].field, "evaluations[0].params.lengths");
  EXPECT_THAT(violations[0].description,
              HasSubstr("leave it out, or take one of counting, flip_flop"));
  EXPECT_THAT(LengthsOf(Task("scan"), params_), IsEmpty());
}

TEST_F(LengthsTest, AGridHasItsLengthsAsCells) {
  const auto told = [this](const std::string& task) {
    params_.clear();
    Set({"20"}, &params_);
    std::vector<base::FieldViolation> violations;
    ResolveParams(Task(task), "evaluations[0]", &params_, &violations);
    return violations.size() == 1 ? violations[0].description : "";
  };
  EXPECT_THAT(told("addition_grid"),
              HasSubstr("the cells of its grid, each asked apart: leave it "
                        "out, and set max_digits to how far they go"));
  EXPECT_THAT(told("sorting_grid"),
              HasSubstr("and set max_digits and max_numbers to how"));
}

TEST_F(LengthsTest, ASingleOneIsToldHowAListIsWritten) {
  params_[kLengths].set_string_value("2x");
  std::vector<base::FieldViolation> violations;
  ResolveParams(Task("flip_flop"), "evaluations[0]", &params_, &violations);
  ASSERT_EQ(violations.size(), 1u);
  EXPECT_EQ(violations[0].description,
            "must be of type list of lengths, such as [1x, 2x] or [20, 40], is "
            "a string");
}

TEST_F(LengthsTest, LeftOutTheyAreNotFilledIn) {
  std::vector<base::FieldViolation> violations;
  ResolveParams(Task("flip_flop"), "", &params_, &violations);
  EXPECT_EQ(params_.count(kLengths), 0u);
  EXPECT_THAT(LengthsOf(Task("flip_flop"), params_), IsEmpty());
}

TEST_F(LengthsTest, RowsAndItemsAreThoseOfAllLengths) {
  EXPECT_THAT(Resolve({"8", "64"}, nullptr), IsEmpty());
  EXPECT_EQ(LongestRow(Task("flip_flop"), params_), 127);
  EXPECT_EQ(ItemsPerSample(Task("flip_flop"), params_), 2);
  ParamMap nope;
  Set({"4", "8", "50"}, &nope);
  std::vector<base::FieldViolation> violations;
  ResolveParams(Task("nope"), "", &nope, &violations);
  EXPECT_EQ(ItemsPerSample(Task("nope"), nope), 3);
  EXPECT_EQ(Params(AtLength(Task("nope"), nope, 8)).Integer("min_length"), 8);
  EXPECT_EQ(Params(AtLength(Task("nope"), nope, 8)).Integer("max_length"), 8);
}

TEST_F(LengthsTest, RowsOfGreaterLengthsAreCutInProportion) {
  const auto cut_at = [this](double operations, double tokens, int64_t length) {
    params_["max_operations"].set_number_value(operations);
    params_["max_tokens"].set_number_value(tokens);
    return Params(AtLength(Task("counting"), params_, length))
        .Integer("max_tokens");
  };
  EXPECT_EQ(cut_at(512, 512, 512), 512);
  EXPECT_EQ(cut_at(512, 512, 2048), 2048);
  EXPECT_EQ(cut_at(48, 128, 100), 267);
  EXPECT_EQ(cut_at(512, 512, 64), 512);
  EXPECT_EQ(cut_at(3, 1e6, 65536), 1'000'000);
  Set({"512", "1024"}, &params_);
  params_["max_operations"].set_number_value(512);
  params_["max_tokens"].set_number_value(512);
  EXPECT_EQ(LongestRow(Task("counting"), params_), 1023);
}

TEST_F(LengthsTest, ItemsOfASampleAreThoseOfItsParameters) {
  ParamMap params;
  params["max_digits"].set_number_value(3);
  EXPECT_EQ(ItemsPerSample(Task("addition_grid"), params), 9);
  EXPECT_EQ(ItemsPerSample(Task("counting"), {}), 1);
  // It has as many as its text has windows.
  EXPECT_EQ(ItemsPerSample(Task("text"), {}), 0);
}

TEST_F(LengthsTest, EachTaskThatHasOneIsTrainedOnIt) {
  int num_tasks = 0;
  for (const Entry* entry : EntriesOf(Kind::kEvaluationTask)) {
    const LengthAxis& axis = entry->evaluation.length;
    EXPECT_EQ(axis.trained_task.empty(),
              FindParam(*entry, kLengths) == nullptr || entry->name == "needle")
        << entry->name;
    if (axis.trained_task.empty()) continue;
    ++num_tasks;
    const Entry* training = Find(Kind::kTrainingTask, axis.trained_task);
    ASSERT_NE(training, nullptr) << entry->name;
    EXPECT_NE(FindParam(*training, axis.trained_param), nullptr) << entry->name;
    for (const std::string& name : axis.params) {
      EXPECT_NE(FindParam(*entry, name), nullptr) << entry->name;
    }
    if (axis.limit_param.empty()) continue;
    const Param* limit = FindParam(*entry, axis.limit_param);
    ASSERT_NE(limit, nullptr) << entry->name;
    EXPECT_TRUE(limit->max.has_value()) << entry->name;
  }
  EXPECT_EQ(num_tasks, 9);
}

TEST_F(LengthsTest, ALengthThatAnEncodingCannotServeIsRefused) {
  EvaluationsContext context;
  context.in_training = false;
  context.max_length = 64;
  context.trained_on = &trained_on_;
  google::protobuf::RepeatedPtrField<v1::Evaluation> evaluations;
  evaluations.Add()->set_task("flip_flop");
  Set({"1x", "2x"}, evaluations[0].mutable_params());
  std::vector<base::FieldViolation> violations;
  auto short_ones = evaluations;
  ResolveEvaluations(context, &short_ones, &violations);
  EXPECT_THAT(violations, IsEmpty());
  EXPECT_EQ(LengthsOf(Task("flip_flop"), short_ones[0].params()).back(), 32);
  Set({"1x", "4x"}, evaluations[0].mutable_params());
  ResolveEvaluations(context, &evaluations, &violations);
  ASSERT_EQ(violations.size(), 1u);
  EXPECT_EQ(violations[0].field, "evaluations[0].params.lengths[1]");
  EXPECT_THAT(violations[0].description,
              HasSubstr("rows have up to 127 tokens"));
}

}  // namespace
}  // namespace ordo::model::catalog
