#include "services/data/spec_data.h"

#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "base/files/file_util.h"
#include "base/files/testing/temporary_folder.h"
#include "base/status/testing/status_matchers.h"
#include "base/yaml/text_form.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace ordo::services::data {
namespace {

using ordo::jobs::v1::JobSpec;
using ::testing::AllOf;
using ::testing::HasSubstr;

JobSpec Spec(const std::string& yaml) {
  JobSpec spec;
  ORDO_EXPECT_OK(base::ReadMessage(yaml, base::TextForm::kYaml, &spec));
  return spec;
}

constexpr char kBooksAndPapers[] = R"(
kind: train
data: {task: text, params: {data: [books], tokenizer: mine/t.model}}
evaluations:
- {task: text, params: {data: [papers@0123456789abcdef]}}
)";

TEST(SpecDataTest, AVersionIsNamedInFullOrByTheNameThatStandsForIt) {
  const JobSpec spec = Spec(kBooksAndPapers);
  EXPECT_TRUE(NamesVersion(spec, "papers@0123456789abcdef", false));
  EXPECT_FALSE(NamesVersion(spec, "papers@ffffffffffffffff", true));
  EXPECT_FALSE(NamesVersion(spec, "books@0123456789abcdef", false));
  EXPECT_TRUE(NamesVersion(spec, "books@0123456789abcdef", true));
  EXPECT_FALSE(NamesVersion(spec, "mine-too@0123456789abcdef", true));
}

// `books` was pushed twice, and `papers` put there by hand.
class DataVersionsTest : public ::testing::Test {
 protected:
  DataVersionsTest() {
    for (const char* path :
         {"data/books@00000000aaaaaaaa/a.txt",
          "data/books@00000000bbbbbbbb/b.txt", "data/papers/p.txt"}) {
      ORDO_EXPECT_OK(files_.MakeFolders(base::FolderOf(folder_.Path(path))));
      ORDO_EXPECT_OK(base::AtomicWrite(files_, folder_.Path(path), "text"));
    }
    Point("books@00000000bbbbbbbb");
  }
  void Point(const std::string& version) {
    ORDO_EXPECT_OK(files_.ReplaceLink(version, folder_.Path("data/books")));
  }
  // What becomes of a path, or what is wrong with it.
  std::string Pinned(const std::string& path, DataVersions* versions) {
    JobSpec spec;
    spec.mutable_data()->set_task("text");
    (*spec.mutable_data()->mutable_params())["data"]
        .mutable_list_value()
        ->add_values()
        ->set_string_value(path);
    std::vector<base::FieldViolation> violations;
    versions->Pin(&spec, &violations);
    if (!violations.empty()) {
      EXPECT_EQ(violations[0].field, "data.params.data[0]");
      return violations[0].description;
    }
    return spec.data()
        .params()
        .at("data")
        .list_value()
        .values(0)
        .string_value();
  }
  std::string Pinned(const std::string& path) {
    DataVersions versions({files_, folder_.path()});
    return Pinned(path, &versions);
  }

  base::PosixFilesystem files_;
  base::testing::TemporaryFolder folder_;
};

TEST_F(DataVersionsTest, NamesBecomeTheVersionThatTheyStandFor) {
  EXPECT_EQ(Pinned("books"), "books@00000000bbbbbbbb");
  EXPECT_EQ(Pinned("books/b.txt"), "books@00000000bbbbbbbb/b.txt");
  EXPECT_EQ(Pinned("books@00000000aaaaaaaa/a.txt"),
            "books@00000000aaaaaaaa/a.txt");
}

TEST_F(DataVersionsTest, WhatWasNotPushedStaysAsItIs) {
  for (const char* path : {"papers", "papers/p.txt", "/srv/text/none"}) {
    EXPECT_EQ(Pinned(path), path);
  }
  // It is said elsewhere what is wrong with these.
  for (const char* path : {"../books", "books/../x", ".stores/x", "a//b"}) {
    EXPECT_EQ(Pinned(path), path);
  }
}

TEST_F(DataVersionsTest, WhatIsNotThereIsToldWithTheLayout) {
  EXPECT_THAT(Pinned("journals"), AllOf(HasSubstr("no data/journals below"),
                                        HasSubstr("ordo push data PATH"),
                                        HasSubstr("UTF-8 text, JSON lines")));
  EXPECT_THAT(Pinned("books/c.txt"),
              HasSubstr("no data/books@00000000bbbbbbbb/c.txt below"));
  EXPECT_THAT(Pinned("books@00000000cccccccc"), HasSubstr("there is no data/"));
}

TEST_F(DataVersionsTest, AFileOfAnEarlierVersionIsToldByThatOne) {
  EXPECT_THAT(Pinned("books/a.txt"),
              AllOf(HasSubstr("there is no data/books@00000000bbbbbbbb/a.txt"),
                    HasSubstr("name that: books@00000000aaaaaaaa/a.txt;"),
                    HasSubstr("--name NAME")));
}

TEST_F(DataVersionsTest, AWholePathLiesBelowARootWhereRootsAreKnown) {
  int num_calls = 0;
  DataVersions known({files_, folder_.path()}, [&num_calls] {
    ++num_calls;
    return DataRoots({"/srv/text", "/srv/more"});
  });
  for (const char* path : {"/srv/text", "/srv/text/a/b.txt", "/srv/more/x"}) {
    EXPECT_EQ(Pinned(path, &known), path);
  }
  for (const char* path : {"/srv/texts/a.txt", "/srv", "/etc/passwd"}) {
    EXPECT_THAT(Pinned(path, &known),
                AllOf(HasSubstr("is outside of what any worker may read "
                                "(/srv/text, /srv/more): push it"),
                      HasSubstr("data_roots of a worker")));
  }
  EXPECT_EQ(num_calls, 1);
  DataVersions all({files_, folder_.path()}, [] { return DataRoots({"/"}); });
  EXPECT_EQ(Pinned("/etc/x", &all), "/etc/x");
  DataVersions none({files_, folder_.path()},
                    [] { return DataRoots(std::vector<std::string>()); });
  EXPECT_THAT(Pinned("/etc/x", &none), HasSubstr("may read (nothing)"));
  DataVersions unknown({files_, folder_.path()},
                       [] { return DataRoots(std::nullopt); });
  EXPECT_EQ(Pinned("/etc/x", &unknown), "/etc/x");
}

// What is wrong with each field of questions of that format.
std::vector<std::string> WrongQuestions(const std::string& format,
                                        DataVersions versions) {
  JobSpec spec = Spec(
      "kind: evaluate\nevaluations:\n- task: questions\n  params: {path: "
      "q.jsonl, examples: e.jsonl, tokenizer: t.model" +
      format + "}\n");
  std::vector<base::FieldViolation> violations;
  versions.Pin(&spec, &violations);
  std::vector<std::string> texts;
  for (const auto& violation : violations) {
    texts.push_back(violation.field + ": " + violation.description);
  }
  return texts;
}

TEST_F(DataVersionsTest, QuestionsThatAreNotThereAreToldWithTheirLines) {
  const std::pair<const char*, const char*> layouts[] = {
      {"", "each line of which is an item, and the first {\"prompt\""},
      {", format: own", "an item, and the first {\"prompt\""},
      {", format: mmlu", "{\"question\": \"...\", \"subject\""},
      {", format: arc", "\"answerKey\""},
      {", format: qasper", "\"input\": \"...\", \"output\""}};
  for (const auto& [format, layout] : layouts) {
    EXPECT_THAT(
        WrongQuestions(format, DataVersions({files_, folder_.path()})),
        ::testing::UnorderedElementsAre(
            AllOf(HasSubstr("evaluations[0].params.path: there is no "),
                  HasSubstr("`ordo push data PATH`"), HasSubstr(layout)),
            AllOf(HasSubstr("params.examples: "), HasSubstr(layout)),
            AllOf(HasSubstr("params.tokenizer: "),
                  HasSubstr("put it there: a tokenizer.json"))))
        << format;
  }
}

TEST_F(DataVersionsTest, QuestionsOfOtherFieldsAreRefusedByTheirFirstLine) {
  for (const char* name : {"e.jsonl", "t.model"}) {
    ORDO_ASSERT_OK(base::AtomicWrite(
        files_, folder_.Path(std::string("data/") + name), "\x1f\x8b{"));
  }
  const auto wrong = [this](const std::string& format,
                            const std::string& lines) {
    ORDO_EXPECT_OK(
        base::AtomicWrite(files_, folder_.Path("data/q.jsonl"), lines));
    return WrongQuestions(format, DataVersions({files_, folder_.path()}));
  };
  const std::string own = R"({"prompt": "{q}", "metric": "f1", "target": "a"})";
  EXPECT_THAT(wrong("", "\n" + own + "\n{\"q\": 1}\n"), ::testing::IsEmpty());
  EXPECT_THAT(
      wrong("", "{\"q\": \"1 + 1?\"}\n"),
      ::testing::ElementsAre(AllOf(
          HasSubstr("evaluations[0].params.path: data/q.jsonl: its first line "
                    "has no field 'prompt'; it must be a file of JSON lines"),
          HasSubstr("an item, and the first {\"prompt\""))));
  EXPECT_THAT(wrong("", R"({"prompt": "", "metric": "f1", "targets": ""})"),
              ::testing::ElementsAre(HasSubstr(
                  "must not have a field 'targets'; did you mean 'target'?")));
  EXPECT_THAT(wrong("", R"({"prompt": "", "metric": "exact_mtch"})"),
              ::testing::ElementsAre(HasSubstr(
                  "evaluations[0].params.path: data/q.jsonl: its first line "
                  "has 'exact_mtch', which is no metric; did you mean "
                  "'exact_match'?")));
  EXPECT_THAT(wrong(", format: mmlu", own),
              ::testing::ElementsAre(HasSubstr("has no field 'subject'")));
  EXPECT_THAT(wrong(", format: arc", own),
              ::testing::ElementsAre(HasSubstr("has no field 'id'")));
  EXPECT_THAT(wrong(", format: qasper", R"({"id": "a", "input": "b"})"),
              ::testing::ElementsAre(HasSubstr("has no field 'output'")));
  // What is no object the trainer sees, as what is compressed.
  EXPECT_THAT(wrong("", "text\n"), ::testing::IsEmpty());
  EXPECT_THAT(wrong("", "{\"q\": "), ::testing::IsEmpty());
}

TEST_F(DataVersionsTest, AnswersToTrainOnAreToldWithTheirLines) {
  for (const char* set : {"", ", set: qmsum"}) {
    JobSpec spec =
        Spec(std::string("kind: train\ndata: {task: scrolls, params: {path: "
                         "t.jsonl") +
             set + "}}\n");
    std::vector<base::FieldViolation> violations;
    DataVersions({files_, folder_.path()}).Pin(&spec, &violations);
    ASSERT_EQ(violations.size(), 1u) << set;
    EXPECT_EQ(violations[0].field, "data.params.path");
    EXPECT_THAT(violations[0].description,
                HasSubstr("\"input\": \"...\", \"output\""));
  }
}

TEST_F(DataVersionsTest, ANameIsOneVersionThroughoutACall) {
  DataVersions versions({files_, folder_.path()});
  EXPECT_EQ(Pinned("books", &versions), "books@00000000bbbbbbbb");
  Point("books@00000000aaaaaaaa");
  EXPECT_EQ(Pinned("books", &versions), "books@00000000bbbbbbbb");
  EXPECT_EQ(Pinned("books"), "books@00000000aaaaaaaa");
}

}  // namespace
}  // namespace ordo::services::data
