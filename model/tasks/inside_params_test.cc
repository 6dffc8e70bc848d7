#include "model/tasks/inside_params.h"

#include <string>
#include <utility>
#include <vector>

#include "base/files/file_util.h"
#include "base/files/files.h"
#include "base/files/testing/temporary_folder.h"
#include "base/status/details.h"
#include "base/status/testing/status_matchers.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "model/tasks/addition.h"
#include "model/tasks/pairs.h"

namespace ordo::model::tasks {
namespace {

using ::ordo::base::testing::StatusIs;
using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using Kind = InsideQuery::Kind;

catalog::ParamMap Resolved(const std::string& name, catalog::ParamMap params) {
  std::vector<base::FieldViolation> violations;
  catalog::ResolveParams(*catalog::Find(catalog::Kind::kEvaluationTask, name),
                         "", &params, &violations);
  EXPECT_TRUE(violations.empty()) << violations[0].description;
  return params;
}

std::unique_ptr<TrainingTask> Sums() {
  PairsOptions options;
  options.max_first = options.max_second = 2;
  return MakePairs(Addition(), options);
}

TEST(InsideParamsTest, TheQueryIsAsTheParametersSay) {
  catalog::ParamMap map;
  auto* layers = map["layers"].mutable_list_value();
  for (const int layer : {2, 5}) layers->add_values()->set_number_value(layer);
  map["heads"].mutable_list_value()->add_values()->set_number_value(3);
  map["precision"].set_string_value("bf16");
  map["samples"].set_number_value(4);
  map["max_length"].set_number_value(3);
  map = Resolved("attention_map", map);
  const DataAccess access;
  ORDO_ASSERT_OK_AND_ASSIGN(
      const auto task,
      InsideOf(Kind::kAttention, catalog::Params(map), {Sums(), access}));
  const InsideQuery& query = *task->inside();
  EXPECT_EQ(query.kind, Kind::kAttention);
  EXPECT_THAT(query.layers, ElementsAre(2, 5));
  EXPECT_THAT(query.heads, ElementsAre(3));
  EXPECT_EQ(query.precision, "bf16");
  EXPECT_EQ(task->size(), 4);
  EXPECT_EQ(task->Generate(1, 0).value().prompt.size(), 3u);
}

TEST(InsideParamsTest, DataOfItsOwnIsReadInThePlaceOfTheTrainings) {
  const base::testing::TemporaryFolder folder;
  base::PosixFilesystem files;
  DataAccess access;
  access.files = &files;
  access.data_folder = folder.Path("data");
  access.store_folder = folder.Path("data/.stores");
  access.work_folder = folder.Path("work");
  ORDO_ASSERT_OK(files.MakeFolders(access.data_folder));
  ORDO_ASSERT_OK(
      base::AtomicWrite(files, folder.Path("data/a.txt"), "some text"));
  catalog::ParamMap map;
  map["data"].mutable_list_value()->add_values()->set_string_value("a.txt");
  map["split"].set_string_value("all");
  map["tokenizer"].set_string_value("bytes");
  map["shift"].set_number_value(7);
  // Less than min_length.
  map["max_length"].set_number_value(5);
  map = Resolved("stability", map);
  ORDO_ASSERT_OK_AND_ASSIGN(
      const auto task,
      InsideOf(Kind::kShifts, catalog::Params(map), {Sums(), access}));
  EXPECT_EQ(task->inside()->shift, 7);
  EXPECT_EQ(task->size(), 2);
  EXPECT_EQ(task->tokenizer().Decode(task->Generate(1, 0).value().prompt),
            "some");
}

TEST(InsideParamsTest, WhatTheTrainingDoesNotSayIsAskedFor) {
  const auto map = Resolved("position_similarity", {});
  const DataAccess access;
  EXPECT_THAT(
      InsideOf(Kind::kPositions, catalog::Params(map), {nullptr, access}),
      StatusIs(absl::StatusCode::kInvalidArgument,
               AllOf(HasSubstr("params.data"), HasSubstr("params.tokenizer"))));
}

}  // namespace
}  // namespace ordo::model::tasks
