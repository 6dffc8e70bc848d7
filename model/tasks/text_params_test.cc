#include "model/tasks/text_params.h"

#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "base/files/file_util.h"
#include "base/files/files.h"
#include "base/files/testing/temporary_folder.h"
#include "base/status/details.h"
#include "base/status/testing/status_matchers.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace ordo::model::tasks {
namespace {

using ::ordo::base::testing::StatusIs;
using ::testing::AllOf;
using ::testing::HasSubstr;

class TextParamsTest : public ::testing::Test {
 protected:
  TextParamsTest() {
    access_.files = &files_;
    access_.data_folder = folder_.Path("data");
    access_.store_folder = folder_.Path("stores");
    access_.work_folder = folder_.Path("work");
    std::string lines;
    for (int i = 0; i < 20; ++i) {
      absl::StrAppend(&lines, "{\"body\": \"line ", 10 + i, "\"}\n");
    }
    ORDO_EXPECT_OK(files_.MakeFolders(access_.data_folder));
    ORDO_EXPECT_OK(
        base::AtomicWrite(files_, folder_.Path("data/twenty.jsonl"), lines));
    params_["data"].mutable_list_value()->add_values()->set_string_value(
        "twenty.jsonl");
    params_["format"].set_string_value("json_lines");
    params_["field"].set_string_value("body");
    params_["tokenizer"].set_string_value("bytes");
  }

  // With the defaults of the catalogue.
  catalog::ParamMap Resolved(catalog::Kind kind) {
    catalog::ParamMap params = params_;
    std::vector<base::FieldViolation> violations;
    catalog::ResolveParams(*catalog::Find(kind, "text"), "", &params,
                           &violations);
    EXPECT_TRUE(violations.empty()) << violations[0].description;
    return params;
  }
  std::string FirstRow() {
    const auto map = Resolved(catalog::Kind::kTrainingTask);
    const auto task = TextOf(catalog::Params(map), access_);
    EXPECT_TRUE(task.ok()) << task.status();
    const auto tokens = (*task)->Generate(1, 0)->tokens;
    std::string text;
    for (const int64_t token : tokens) {
      if (token == kBegin) text += "<";
      if (token == kEnd) text += ">";
      text += (*task)->tokenizer().Decode({token});
    }
    return text;
  }

  base::PosixFilesystem files_;
  base::testing::TemporaryFolder folder_;
  DataAccess access_;
  catalog::ParamMap params_;
};

TEST_F(TextParamsTest, MarksStandWhereTheyAreAskedFor) {
  params_["held_out"].set_number_value(0);
  // The whole text is one row.
  const struct {
    const char* marks;
    int length;
    const char* begins;
  } cases[] = {{"none", 140, "line 10line 11"},
               {"begin", 160, "<line 10<line 11<"},
               {"end", 160, "line 10>line 11>"},
               {"both", 180, "<line 10><line 11>"}};
  for (const auto& [marks, length, begins] : cases) {
    params_["marks"].set_string_value(marks);
    params_["length"].set_number_value(length);
    EXPECT_EQ(FirstRow().find(begins), 0u) << marks;
  }
}

TEST_F(TextParamsTest, AProtocolDecidesWhatIsScored) {
  params_["split"].set_string_value("all");
  params_["lengths"].mutable_list_value()->add_values()->set_number_value(32);
  params_["step"].set_number_value(4);
  const struct {
    const char* protocol;
    int64_t size;
    size_t scored;
  } cases[] = {{"blocks", 5, 31}, {"overlap", 32, 31}, {"stride", 32, 4}};
  for (const auto& [protocol, size, scored] : cases) {
    params_["protocol"].set_string_value(protocol);
    const auto map = Resolved(catalog::Kind::kEvaluationTask);
    const auto task = PerplexityOf(catalog::Params(map), nullptr, access_);
    ASSERT_TRUE(task.ok()) << task.status();
    EXPECT_EQ((*task)->size(), size) << protocol;
    EXPECT_EQ((*task)->Generate(1, 0)->answer.size(), scored) << protocol;
  }
}

TEST_F(TextParamsTest, WindowsAreCutFromGroupsOfDocuments) {
  params_["split"].set_string_value("all");
  params_["lengths"].mutable_list_value()->add_values()->set_number_value(16);
  params_["documents_per_group"].set_number_value(3);
  const auto map = Resolved(catalog::Kind::kEvaluationTask);
  const auto task = PerplexityOf(catalog::Params(map), nullptr, access_);
  ASSERT_TRUE(task.ok()) << task.status();
  EXPECT_EQ((*task)->size(), 7);
}

TEST_F(TextParamsTest, WhatTheTrainingDoesNotSayIsAskedFor) {
  params_.clear();
  const auto map = Resolved(catalog::Kind::kEvaluationTask);
  EXPECT_THAT(
      PerplexityOf(catalog::Params(map), nullptr, access_),
      StatusIs(absl::StatusCode::kInvalidArgument,
               AllOf(HasSubstr("params.data"), HasSubstr("params.tokenizer"),
                     HasSubstr("params.lengths"))));
}

}  // namespace
}  // namespace ordo::model::tasks
