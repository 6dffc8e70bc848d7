#include "services/spec/data_paths.h"

#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "base/status/testing/status_matchers.h"
#include "base/yaml/text_form.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace ordo::services::spec {
namespace {

using ordo::jobs::v1::JobSpec;

JobSpec Spec(const std::string& yaml) {
  JobSpec spec;
  ORDO_EXPECT_OK(base::ReadMessage(yaml, base::TextForm::kYaml, &spec));
  return spec;
}

constexpr char kEverything[] = R"(
kind: train
data: {task: text, params: {data: [books, /srv/text], tokenizer: mine/t.model}}
evaluations:
- {task: text, params: {data: [papers@0123456789abcdef], tokenizer: bytes}}
- task: questions
  params: {path: asked/q.jsonl, format: arc, few_shot: 1, examples: books/e}
- {task: addition_grid}
)";

TEST(DataPathsTest, EveryPathOfDataIsVisitedAndMayBeChanged) {
  JobSpec spec = Spec(kEverything);
  std::vector<std::string> visited;
  VisitDataPaths(&spec, [&](const DataPath& where, std::string* path) {
    visited.push_back(absl::StrCat(where.field, " ", *path));
    EXPECT_EQ(&where.param,
              model::catalog::FindParam(where.task, where.param.name));
    EXPECT_EQ(where.params.count(where.param.name), 1u);
    *path += "!";
  });
  EXPECT_THAT(visited,
              ::testing::UnorderedElementsAre(
                  "data.params.data[0] books", "data.params.data[1] /srv/text",
                  "data.params.tokenizer mine/t.model",
                  "evaluations[0].params.data[0] papers@0123456789abcdef",
                  "evaluations[1].params.path asked/q.jsonl",
                  "evaluations[1].params.examples books/e"));
  EXPECT_EQ(
      spec.data().params().at("data").list_value().values(0).string_value(),
      "books!");
}

TEST(DataPathsTest, WhatIsOfAnotherTypeIsLeftToWhoResolves) {
  JobSpec spec =
      Spec("data: {task: text, params: {data: [3, [books]], tokenizer: true}}");
  int num_visited = 0;
  VisitDataPaths(&spec, [&](const DataPath&, std::string*) { ++num_visited; });
  EXPECT_EQ(num_visited, 0);
}

TEST(DataPathsTest, TasksThatMakeTheirRowsNameNoData) {
  EXPECT_TRUE(NamesData(Spec(kEverything)));
  EXPECT_FALSE(NamesData(
      Spec("{data: {task: addition}, evaluations: [{task: addition_grid}]}")));
  EXPECT_FALSE(NamesData(Spec("{data: {task: nothing}}")));
  EXPECT_FALSE(NamesData(JobSpec()));
}

}  // namespace
}  // namespace ordo::services::spec
