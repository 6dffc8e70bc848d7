#include "model/text/questions/task_file.h"

#include <map>
#include <string>

#include "absl/status/status.h"
#include "base/digest/digest.h"
#include "base/files/file_util.h"
#include "base/files/testing/temporary_folder.h"
#include "base/status/details.h"
#include "base/status/testing/status_matchers.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "nlohmann/json.hpp"

namespace ordo::model::text::questions {
namespace {

using ::ordo::base::testing::StatusIs;
using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Pair;

constexpr auto kInvalid = absl::StatusCode::kInvalidArgument;

constexpr char kWords[] =
    R"({"prompt": "Q: {q}\nA:", "target": "{a}", "metric": "f1"})"
    "\n";
constexpr char kChoices[] =
    R"({"prompt": "{q}", "choices": "{c}", "answer": "{a}", "metric": "acc"})"
    "\n";

class TaskFileTest : public ::testing::Test {
 protected:
  absl::StatusOr<TextQuestions> Read(const std::string& text) {
    const std::string path = folder_.Path("own.jsonl");
    EXPECT_TRUE(base::ReplaceFile(files_, path, text).ok());
    return ReadTaskFile(files_, path);
  }
  // The error of a file with this first line and item.
  absl::Status Refused(const std::string& header, const std::string& item) {
    return Read(header + item + "\n").status();
  }

  base::PosixFilesystem files_;
  base::testing::TemporaryFolder folder_;
};

// Twenty capitals, of which two share a page each, and two examples.
std::string Capitals() {
  std::string text =
      R"({"description": "Name the capital.\n\n",)"
      R"( "prompt": "Country: {country}\nCapital:", "target": "{capital}",)"
      R"( "metric": "exact_match", "id": "{country}", "unit": "p{page}",)"
      R"( "group": "{continent}", "stop": ["\n"], "max_answer_tokens": 8,)"
      R"( "few_shot": 1, "examples": [)"
      R"({"country": "Japan", "capital": ["Tokyo", "T\u014dky\u014d"]},)"
      R"({"country": "Kenya", "capital": "Nairobi"}]})"
      "\n";
  const char* const names[][3] = {
      {"Austria", "Vienna", "Europe"}, {"Belgium", "Brussels", "Europe"},
      {"Chad", "N'Djamena", "Africa"}, {"Chile", "Santiago", "America"},
      {"China", "Beijing", "Asia"},    {"Cuba", "Havana", "America"},
      {"Egypt", "Cairo", "Africa"},    {"France", "Paris", "Europe"},
      {"Ghana", "Accra", "Africa"},    {"India", "New Delhi", "Asia"},
      {"Iran", "Tehran", "Asia"},      {"Iraq", "Baghdad", "Asia"},
      {"Italy", "Rome", "Europe"},     {"Mali", "Bamako", "Africa"},
      {"Nepal", "Kathmandu", "Asia"},  {"Norway", "Oslo", "Europe"},
      {"Peru", "Lima", "America"},     {"Poland", "Warsaw", "Europe"},
      {"Spain", "Madrid", "Europe"},   {"Togo", "Lom\u00e9", "Africa"},
  };
  int line = 0;
  for (const auto& name : names) {
    text += nlohmann::json{{"country", name[0]},
                           {"capital", name[1]},
                           {"continent", name[2]},
                           {"page", line++ / 2}}
                .dump() +
            "\n";
  }
  return text;
}

TEST_F(TaskFileTest, ItemsAreAskedAsTheFirstLineSays) {
  ORDO_ASSERT_OK_AND_ASSIGN(const TextQuestions read, Read(Capitals()));
  EXPECT_EQ(read.metric, Metric::kExactMatch);
  EXPECT_THAT(read.stops, ElementsAre("\n"));
  EXPECT_EQ(read.limits.answer_tokens, 8u);
  ASSERT_EQ(read.items.size(), 20u);
  const TextQuestion& last = read.items[19];
  EXPECT_EQ(last.id, "Togo");
  EXPECT_EQ(last.unit, "p9");
  EXPECT_EQ(last.group, "Africa");
  EXPECT_THAT(last.references, ElementsAre("Lom\u00e9"));
  EXPECT_EQ(last.prompt,
            "Name the capital.\n\nCountry: Japan\nCapital: Tokyo\n\n"
            "Country: Togo\nCapital:");
}

TEST_F(TaskFileTest, TheVersionIsTheDigestOfTheFile) {
  ORDO_ASSERT_OK_AND_ASSIGN(const TextQuestions read, Read(Capitals()));
  EXPECT_EQ(read.version, base::Sha256Hex(Capitals()));
}

TEST_F(TaskFileTest, WithoutMoreAnItemStandsAlone) {
  ORDO_ASSERT_OK_AND_ASSIGN(
      const TextQuestions read,
      Read(std::string(kWords) + R"({"id": 7, "q": "x", "a": ["y", "z"]})"));
  ASSERT_EQ(read.items.size(), 1u);
  EXPECT_EQ(read.items[0].id, "7");
  EXPECT_EQ(read.items[0].unit, "7");
  EXPECT_EQ(read.items[0].group, "");
  EXPECT_EQ(read.items[0].prompt, "Q: x\nA:");
  EXPECT_THAT(read.items[0].references, ElementsAre("y", "z"));
  EXPECT_THAT(read.stops, IsEmpty());
}

TEST_F(TaskFileTest, TheRightChoiceIsANumberOrAText) {
  ORDO_ASSERT_OK_AND_ASSIGN(
      const TextQuestions read,
      Read(std::string(kChoices) +
           R"({"id": 1, "q": "x", "c": ["n", "y"], "a": 1})"
           "\n"
           R"({"id": 2, "q": "x", "c": ["n", "y"], "a": "n"})"));
  EXPECT_THAT(read.items[0].choices, ElementsAre("n", "y"));
  EXPECT_EQ(read.items[0].right_choice, 1u);
  EXPECT_EQ(read.items[1].right_choice, 0u);
}

TEST_F(TaskFileTest, ChoicesMayBeTemplatesAndExamplesShowTheRightOne) {
  ORDO_ASSERT_OK_AND_ASSIGN(
      const TextQuestions read,
      Read(R"({"prompt": "{q}", "choices": ["A", "{b}"], "answer": "{a}",)"
           R"( "metric": "acc_norm", "delimiter": "=", "separator": ";",)"
           R"( "examples": [{"q": "1", "b": "B", "a": "B"}]})"
           "\n"
           R"({"id": "i", "q": "2", "b": "C", "a": "A"})"));
  EXPECT_EQ(read.metric, Metric::kAccuracyPerCharacter);
  EXPECT_EQ(read.delimiter, "=");
  EXPECT_EQ(read.items[0].prompt, "1=B;2");
  EXPECT_THAT(read.items[0].choices, ElementsAre("A", "C"));
}

TEST_F(TaskFileTest, TheFirstLineIsRefusedWithFieldAndFix) {
  const std::pair<const char*, const char*> kCases[] = {
      {R"({"id": 1, "q": "x"})", "line 1: prompt: is missing: the first line"},
      {R"({"prompt": "{q}", "metric": "f2"})",
       "line 1: metric: 'f2' is no metric; did you mean 'f1'?"},
      {R"({"prompt": "{q}", "metric": "bleu"})",
       "line 1: metric: 'bleu' is no metric; valid: exact_match, f1"},
      {R"({"prompt": "{q}", "metric": "f1", "targt": "{a}"})",
       "targt: is no field of the first line of a task file; did you mean "
       "'target'?"},
      {R"({"prompt": "{q}", "metric": "f1"})", "target: it has no field"},
      {R"({"prompt": "{q}", "metric": "f1", "target": "{a}", "answer": "b"})",
       "answer: does not go with metric 'f1'"},
      {R"({"prompt": "{q}", "metric": "acc", "target": "{a}"})",
       "target: does not go with metric 'acc'"},
      {R"({"prompt": "{q", "metric": "f1", "target": "{a}"})",
       "prompt: the '{' at byte 0 has no other half"},
      {R"({"prompt": "{q}", "metric": "f1", "target": "{a}", "few_shot": 1})",
       "few_shot: 1 is more than the 0"},
      {R"({"prompt": "{q}", "metric": "f1", "target": "{a}",)"
       R"( "examples": [{"a": "b"}]})",
       "line 1: examples[0]: q: it has no field 'q'"},
      {R"({"prompt": "{q}", "metric": "f1", "target": "{a}", "stop": [""]})",
       "stop: an empty text would end every answer"},
      {R"({"prompt": "{q}", "metric": "f1", "target": "{a}",)"
       R"( "max_answer_tokens": 0})",
       "max_answer_tokens: must be 1 to"},
  };
  for (const auto& [header, error] : kCases) {
    EXPECT_THAT(Refused(std::string(header) + "\n", R"({"id": 1})"),
                StatusIs(kInvalid, HasSubstr(error)))
        << header;
  }
}

TEST_F(TaskFileTest, ItemsAreRefusedWithLineFieldAndFix) {
  EXPECT_THAT(Refused(kWords, R"({"id": 1, "q": "x", "b": "y"})"),
              StatusIs(kInvalid, AllOf(HasSubstr("own.jsonl, line 2: a:"),
                                       HasSubstr("it has no field 'a'"))));
  EXPECT_THAT(Refused(kWords, R"({"q": "x", "a": "y"})"),
              StatusIs(kInvalid, HasSubstr("line 2: id: it has no field")));
  EXPECT_THAT(Refused(kWords, R"({"id": 1, "q": "x", "a": []})"),
              StatusIs(kInvalid, HasSubstr("target: the field that it names")));
  EXPECT_THAT(
      Refused(kChoices, R"({"id": 1, "q": "x", "c": ["n", "y"], "a": 2})"),
      StatusIs(kInvalid, HasSubstr("answer: 2 is not the number of a choice")));
  EXPECT_THAT(
      Refused(kChoices, R"({"id": 1, "q": "x", "c": ["n", "y"], "a": "N"})"),
      StatusIs(kInvalid, HasSubstr("answer: 'N' is none of the choices")));
  EXPECT_THAT(
      Refused(kChoices, R"({"id": 1, "q": "x", "c": ["n", "n"], "a": 0})"),
      StatusIs(kInvalid, HasSubstr("choices: 'n' is there twice")));
  EXPECT_THAT(Refused(kChoices, R"({"id": 1, "q": "x", "c": "n", "a": 0})"),
              StatusIs(kInvalid, HasSubstr("choices: must name a field")));
}

TEST_F(TaskFileTest, TheExampleHasGroups) {
  ORDO_ASSERT_OK_AND_ASSIGN(
      const TextQuestions read,
      ReadTaskFile(files_, "examples/my-questions.jsonl"));
  std::map<std::string, int> num_items;
  for (const TextQuestion& question : read.items) ++num_items[question.group];
  EXPECT_THAT(num_items, ElementsAre(Pair("letters missing", 8),
                                     Pair("letters swapped", 8),
                                     Pair("order of words", 8)));
}

TEST_F(TaskFileTest, IdsAreOfTheirOwn) {
  const auto refused = Refused(kWords, R"({"id": 1, "q": "x", "a": "y"})"
                                       "\n"
                                       R"({"id": "1", "q": "z", "a": "y"})");
  EXPECT_THAT(refused, StatusIs(kInvalid, AllOf(HasSubstr("line 3: id: '1'"),
                                                HasSubstr("line 2"))));
  EXPECT_EQ(base::FieldViolations(refused).at(0).field, "id");
}

TEST_F(TaskFileTest, FilesWithoutItemsAreRefused) {
  EXPECT_THAT(Read(""), StatusIs(kInvalid, HasSubstr("it is empty")));
  EXPECT_THAT(Read(kWords), StatusIs(kInvalid, HasSubstr("it has no items")));
}

}  // namespace
}  // namespace ordo::model::text::questions
