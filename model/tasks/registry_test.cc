#include "model/tasks/registry.h"

#include <algorithm>
#include <map>
#include <set>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "base/files/file_util.h"
#include "base/files/files.h"
#include "base/files/testing/temporary_folder.h"
#include "base/random/random.h"
#include "base/status/details.h"
#include "base/status/testing/status_matchers.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "model/catalog/catalog.h"
#include "model/catalog/metric_names.h"
#include "model/catalog/tokens.h"
#include "model/text/tokenizers/testing/bpe_json.h"

namespace ordo::model::tasks {
namespace {

using ::ordo::base::testing::StatusIs;
using ::testing::HasSubstr;

training::v1::Data AdditionData(int max_digits) {
  ordo::training::v1::Data data;
  data.set_task("addition");
  (*data.mutable_params())["max_digits"].set_number_value(max_digits);
  return data;
}

TEST(Registry, MakesATrainingTaskWithItsParameters) {
  ORDO_ASSERT_OK_AND_ASSIGN(const auto task, MakeTrainingTask(AdditionData(7)));
  EXPECT_EQ(task->row_length(), 25);
}

TEST(Registry, TellsTheGridWhatTheModelWasTrainedOn) {
  ordo::training::v1::Evaluation evaluation;
  evaluation.set_task("addition_grid");
  (*evaluation.mutable_params())["max_digits"].set_number_value(4);
  (*evaluation.mutable_params())["samples"].set_number_value(2);
  const ordo::training::v1::Data data = AdditionData(3);
  ORDO_ASSERT_OK_AND_ASSIGN(const auto task,
                            MakeEvaluationTask(evaluation, &data));
  ASSERT_EQ(task->size(), 32);
  const Scores scores = task->Score({1, std::vector<Marks>(32, Marks{1})});
  EXPECT_EQ(scores.details["trained_digits"], 3);
}

TEST(Registry, SeveralLengthsAreOneTask) {
  ordo::training::v1::Data trained_on;
  trained_on.set_task("flip_flop");
  (*trained_on.mutable_params())["pairs"].set_number_value(8);
  ordo::training::v1::Evaluation evaluation;
  evaluation.set_task("flip_flop");
  (*evaluation.mutable_params())["samples"].set_number_value(3);
  auto& lengths =
      *(*evaluation.mutable_params())["lengths"].mutable_list_value();
  lengths.add_values()->set_string_value("2x");
  lengths.add_values()->set_number_value(4);
  ORDO_ASSERT_OK_AND_ASSIGN(const auto task,
                            MakeEvaluationTask(evaluation, &trained_on));
  EXPECT_EQ(task->size(), 6);
  // From the shortest on.
  EXPECT_EQ(task->PromptLength(0), 7);
  EXPECT_EQ(task->PromptLength(3), 31);
  EXPECT_EQ(task->ItemId(1, 3), "16/1-0");
  EXPECT_THAT(MakeEvaluationTask(evaluation, nullptr),
              StatusIs(absl::StatusCode::kInvalidArgument,
                       HasSubstr("give the length itself")));
}

TEST(Registry, NamesTheNearestTask) {
  ordo::training::v1::Data data;
  data.set_task("additon");
  EXPECT_THAT(
      MakeTrainingTask(data),
      StatusIs(absl::StatusCode::kInvalidArgument, HasSubstr("'addition'")));
  ordo::training::v1::Evaluation evaluation;
  evaluation.set_task("addition_gird");
  EXPECT_THAT(MakeEvaluationTask(evaluation, nullptr),
              StatusIs(absl::StatusCode::kInvalidArgument,
                       HasSubstr("'addition_grid'")));
}

std::vector<std::string> NamesInCatalog(catalog::Kind kind) {
  std::vector<std::string> names;
  for (const catalog::Entry* entry : catalog::EntriesOf(kind)) {
    names.push_back(entry->name);
  }
  return names;
}

TEST(Registry, HoldsExactlyTheTasksOfTheCatalogue) {
  EXPECT_EQ(TrainingTaskNames(), NamesInCatalog(catalog::Kind::kTrainingTask));
  EXPECT_EQ(EvaluationTaskNames(),
            NamesInCatalog(catalog::Kind::kEvaluationTask));
}

// Twenty questions with two choices, of which the first, right one has more
// tokens.
std::string TwentyQuestions() {
  std::string lines =
      "{\"prompt\": \"Is number {id} less than ten?\", \"metric\": \"acc\", "
      "\"choices\": [\"maybe {id}\", \"no\"], \"answer\": \"{right}\"}\n";
  for (int i = 0; i < 20; ++i) {
    absl::StrAppend(&lines, "{\"id\": ", i, ", \"right\": 0}\n");
  }
  return lines;
}

// Twenty lines of SCROLLS.
std::string TwentyAnswers() {
  std::string lines;
  for (int i = 0; i < 20; ++i) {
    absl::StrAppend(&lines, "{\"id\": \"q", i, "\", \"input\": \"Which? ", i,
                    "\", \"output\": \"number ", i, "\"}\n");
  }
  return lines;
}

// Twenty lines of text, twenty questions and twenty answers, under the data
// folder of a storage root.
const DataAccess& Examples() {
  static auto* const folder = new base::testing::TemporaryFolder;
  static auto* const files = new base::PosixFilesystem;
  static const auto* const access = [] {
    auto* const made = new DataAccess;
    made->files = files;
    made->data_folder = folder->Path("data");
    made->store_folder = folder->Path("data/.stores");
    made->work_folder = folder->Path("work");
    std::string lines;
    for (int i = 0; i < 20; ++i) {
      absl::StrAppend(&lines, "Line ", i, " is one of twenty.\n");
    }
    EXPECT_TRUE(files->MakeFolders(made->data_folder).ok());
    EXPECT_TRUE(
        base::AtomicWrite(
            *files, base::JoinPath(made->data_folder, "twenty.txt"), lines)
            .ok());
    EXPECT_TRUE(base::AtomicWrite(
                    *files, base::JoinPath(made->data_folder, "twenty.jsonl"),
                    TwentyQuestions())
                    .ok());
    EXPECT_TRUE(base::AtomicWrite(
                    *files, base::JoinPath(made->data_folder, "t.json"),
                    text::tokenizers::testing::BpeJson({"t h", "th e"}).dump())
                    .ok());
    EXPECT_TRUE(base::AtomicWrite(
                    *files, base::JoinPath(made->data_folder, "answers.jsonl"),
                    TwentyAnswers())
                    .ok());
    return made;
  }();
  return *access;
}

// What is read there is put to no question.
bool LooksInside(const std::string& name) {
  return name == "attention_map" || name == "position_similarity" ||
         name == "stability";
}

TEST(Registry, MakesEveryTaskWithItsDefaultsAndTheCataloguesVocabulary) {
  for (const std::string& name : TrainingTaskNames()) {
    // They have no data by default.
    if (name == "text" || name == "scrolls") continue;
    ordo::training::v1::Data data;
    data.set_task(name);
    ORDO_ASSERT_OK_AND_ASSIGN(const auto task, MakeTrainingTask(data));
    EXPECT_EQ(
        task->tokenizer().vocabulary_size(),
        catalog::Find(catalog::Kind::kTrainingTask, name)->vocabulary_size);
  }
  for (const std::string& name : EvaluationTaskNames()) {
    // They have no data by default either.
    if (name == "text" || name == "questions" || LooksInside(name)) continue;
    ordo::training::v1::Evaluation evaluation;
    evaluation.set_task(name);
    ORDO_ASSERT_OK_AND_ASSIGN(const auto task,
                              MakeEvaluationTask(evaluation, nullptr));
    EXPECT_EQ(
        task->tokenizer().vocabulary_size(),
        catalog::Find(catalog::Kind::kEvaluationTask, name)->vocabulary_size);
  }
}

// Other sizes than the defaults, small ones, for every task.
struct Case {
  std::string name;
  std::map<std::string, double> numbers;
  std::map<std::string, std::string> texts;
  std::map<std::string, std::vector<std::string>> lists = {};
  std::map<std::string, std::vector<double>> number_lists = {};
};

catalog::ParamMap Resolved(catalog::Kind kind, const Case& of_task) {
  catalog::ParamMap params;
  for (const auto& [name, number] : of_task.numbers) {
    params[name].set_number_value(number);
  }
  for (const auto& [name, text] : of_task.texts) {
    params[name].set_string_value(text);
  }
  for (const auto& [name, texts] : of_task.lists) {
    auto* list = params[name].mutable_list_value();
    for (const auto& text : texts) list->add_values()->set_string_value(text);
  }
  for (const auto& [name, numbers] : of_task.number_lists) {
    auto* list = params[name].mutable_list_value();
    for (const double x : numbers) list->add_values()->set_number_value(x);
  }
  std::vector<base::FieldViolation> violations;
  catalog::ResolveParams(*catalog::Find(kind, of_task.name), "", &params,
                         &violations);
  EXPECT_TRUE(violations.empty()) << violations[0].description;
  return params;
}

std::vector<Case> SmallTrainingTasks() {
  std::vector<Case> cases = {
      {"addition", {{"max_digits", 1}}, {}},
      {"addition", {{"max_digits", 100}}, {}},
      {"addition", {{"max_digits", 4}}, {}},
      {"multiplication", {{"max_digits", 4}, {"rows", 70}}, {}},
      {"bitwise_or", {{"max_bits", 3}}, {}},
      {"multiplication", {{"max_digits", 3}}, {}},
      {"sorting", {{"max_digits", 3}, {"max_numbers", 4}}, {}},
      {"counting", {{"max_tokens", 30}}, {}},
      {"counting", {{"max_operations", 4}, {"pass", 0}}, {}},
      {"flip_flop", {{"pairs", 9}}, {}},
      {"passkey", {{"max_length", 12}, {"filler", 10}}, {}},
      {"pcfg", {{"max_length", 12}}, {}},
      {"needle", {{"min_length", 512}, {"max_length", 700}}, {}},
      {"ruler", {{"min_length", 2048}, {"max_length", 2100}}, {}},
      {"ruler",
       {{"min_length", 1024}, {"max_length", 2500}},
       {{"task", "niah_multikey_3"}}},
      {"scan", {{"min_actions", 9}, {"max_actions", 14}}, {}},
      {"scrolls",
       {{"max_tokens", 30}, {"answer_tokens", 9}},
       {{"path", "answers.jsonl"}}},
      {"selective_copy", {{"symbols", 3}, {"blanks", 5}}, {}},
      {"selective_copy",
       {{"symbols", 3}, {"blanks", 5}},
       {{"layout", "separated"}}},
      {"selective_copy",
       {{"symbols", 3}, {"blanks", 5}},
       {{"layout", "markers"}}},
      {"text",
       {{"length", 24}},
       {{"format", "lines"}},
       {{"data", {"twenty.txt"}}}},
  };
  for (const std::string name : {"nope", "ruoss"}) {
    const auto& entry = *catalog::Find(catalog::Kind::kTrainingTask, name);
    for (const auto& choice : catalog::FindParam(entry, "task")->choices) {
      cases.push_back({name, {{"max_length", 12}}, {{"task", choice}}});
    }
  }
  return cases;
}

std::vector<Case> SmallEvaluationTasks() {
  std::vector<Case> cases;
  for (Case of_task : SmallTrainingTasks()) {
    // Its questions are asked by another task.
    if (of_task.name == "scrolls") continue;
    if (catalog::Find(catalog::Kind::kEvaluationTask, of_task.name) ==
        nullptr) {
      of_task.name += "_grid";
    }
    const auto digits = of_task.numbers.find("max_digits");
    // A hundred by a hundred cells are many.
    if (digits != of_task.numbers.end() && digits->second == 100) continue;
    of_task.numbers.erase("rows");
    if (of_task.name == "text") {
      of_task.numbers.clear();
      of_task.texts["split"] = "all";
      of_task.texts["tokenizer"] = "bytes";
      of_task.number_lists["lengths"] = {24, 96};
      cases.push_back(of_task);
      continue;
    }
    of_task.numbers["samples"] = 20;
    if (of_task.name == "needle") {
      of_task.numbers["lengths"] = 3;
      of_task.numbers["depths"] = 2;
    }
    if (of_task.numbers.count("max_length") != 0 &&
        of_task.numbers.count("min_length") == 0) {
      of_task.numbers["min_length"] = 9;
      if (of_task.name == "ruoss") of_task.numbers["length_step"] = 2;
    }
    cases.push_back(of_task);
  }
  // Prompts are cut to what there is room for.
  cases.push_back({"questions",
                   {{"max_tokens", 33}},
                   {{"path", "twenty.jsonl"}, {"tokenizer", "bytes"}}});
  for (const char* name :
       {"attention_map", "position_similarity", "stability"}) {
    cases.push_back(
        {name,
         {{"samples", 20}, {"min_length", 2}, {"max_length", 24}},
         {{"format", "lines"}, {"split", "all"}, {"tokenizer", "bytes"}},
         {{"data", {"twenty.txt"}}}});
  }
  return cases;
}

TEST(Registry, ThereIsASmallCaseOfEveryTask) {
  std::set<std::string> names;
  for (const Case& of_task : SmallTrainingTasks()) names.insert(of_task.name);
  EXPECT_EQ(std::vector<std::string>(names.begin(), names.end()),
            TrainingTaskNames());
  names.clear();
  for (const Case& of_task : SmallEvaluationTasks()) names.insert(of_task.name);
  EXPECT_EQ(std::vector<std::string>(names.begin(), names.end()),
            EvaluationTaskNames());
}

// The model sees all of a row but its last token.
TEST(Registry, RowsAreAsLongAsTheCatalogueSays) {
  for (const Case& of_task : SmallTrainingTasks()) {
    ordo::training::v1::Data data;
    data.set_task(of_task.name);
    *data.mutable_params() = Resolved(catalog::Kind::kTrainingTask, of_task);
    ORDO_ASSERT_OK_AND_ASSIGN(const auto task,
                              MakeTrainingTask(data, Examples()));
    const catalog::Entry& entry =
        *catalog::Find(catalog::Kind::kTrainingTask, data.task());
    EXPECT_EQ(entry.row_length(data.params()), task->row_length() - 1)
        << of_task.name;
  }
}

TEST(Registry, RowsAreShortEnoughAndOfTheVocabulary) {
  for (const Case& of_task : SmallTrainingTasks()) {
    ordo::training::v1::Data data;
    data.set_task(of_task.name);
    *data.mutable_params() = Resolved(catalog::Kind::kTrainingTask, of_task);
    ORDO_ASSERT_OK_AND_ASSIGN(const auto task,
                              MakeTrainingTask(data, Examples()));
    const int vocabulary_size = task->tokenizer().vocabulary_size();
    for (uint64_t index = 0; index < 50; ++index) {
      const Sample sample = task->Generate(1, index).value();
      const int length = static_cast<int>(sample.tokens.size());
      EXPECT_LE(length, task->row_length()) << of_task.name;
      EXPECT_GE(length, 2) << of_task.name;
      EXPECT_EQ(sample.scored.size(), sample.tokens.size()) << of_task.name;
      if (!sample.targets.empty()) {
        EXPECT_EQ(sample.targets.size(), sample.tokens.size());
      }
      for (const auto& ids : {sample.tokens, sample.targets}) {
        for (const int64_t id : ids) {
          EXPECT_GE(id, 0) << of_task.name;
          EXPECT_LT(id, vocabulary_size) << of_task.name;
        }
      }
      EXPECT_TRUE(std::any_of(sample.scored.begin() + 1, sample.scored.end(),
                              [](uint8_t scored) { return scored != 0; }))
          << of_task.name;
    }
  }
}

TEST(Registry, QuestionsAreAsManyAndAsLongAsTheCatalogueSays) {
  for (const Case& of_task : SmallEvaluationTasks()) {
    ordo::training::v1::Evaluation evaluation;
    evaluation.set_task(of_task.name);
    *evaluation.mutable_params() =
        Resolved(catalog::Kind::kEvaluationTask, of_task);
    ORDO_ASSERT_OK_AND_ASSIGN(
        const auto task, MakeEvaluationTask(evaluation, nullptr, Examples()));
    const catalog::Entry& entry =
        *catalog::Find(catalog::Kind::kEvaluationTask, of_task.name);
    const catalog::ItemCount items = entry.evaluation.items_per_sample;
    // How many windows a text has is known once it is read.
    if (of_task.numbers.count("samples") != 0) {
      EXPECT_EQ(20 * (items == nullptr ? 1 : items(evaluation.params())),
                task->size())
          << of_task.name;
    }
    int64_t longest = 0;
    for (int64_t i = 0; i < task->size(); ++i) {
      const Question question = task->Generate(1, i).value();
      const auto length = static_cast<int64_t>(question.prompt.size());
      if (LooksInside(of_task.name)) {
        EXPECT_LE(length, task->PromptLength(i)) << of_task.name;
        longest = entry.row_length(evaluation.params());
        EXPECT_LE(task->PromptLength(i), longest) << of_task.name;
        continue;
      }
      EXPECT_EQ(length, task->PromptLength(i)) << of_task.name;
      // What is decoded is fed too, but for the last token.
      const bool decoded = question.places.empty();
      const int answer_length = task->AnswerLength(i);
      longest = std::max(longest, length + (decoded ? answer_length - 1 : 0));
      EXPECT_EQ(answer_length > 0, decoded) << of_task.name;
      if (decoded) {
        EXPECT_LE(question.answer.size(), answer_length) << of_task.name;
        continue;
      }
      ASSERT_EQ(question.places.size(), question.answer.size());
      EXPECT_LT(question.places.back(), length) << of_task.name;
      EXPECT_TRUE(
          std::is_sorted(question.places.begin(), question.places.end()));
    }
    EXPECT_EQ(entry.row_length(evaluation.params()), longest) << of_task.name;
  }
}

// Results of two models are compared by these.
TEST(Registry, ItemsHaveNamesOfTheirOwnInEverySeed) {
  for (const Case& of_task : SmallEvaluationTasks()) {
    ordo::training::v1::Evaluation evaluation;
    evaluation.set_task(of_task.name);
    *evaluation.mutable_params() =
        Resolved(catalog::Kind::kEvaluationTask, of_task);
    ORDO_ASSERT_OK_AND_ASSIGN(
        const auto task, MakeEvaluationTask(evaluation, nullptr, Examples()));
    std::set<std::string> ids;
    for (const uint64_t seed : {1, 11}) {
      // What is read is the same for every seed.
      if (!task->data_fingerprint().empty()) ids.clear();
      for (int64_t i = 0; i < task->size(); ++i) {
        const std::string id = task->ItemId(seed, i);
        EXPECT_TRUE(ids.insert(id).second) << of_task.name << " " << id;
        EXPECT_FALSE(task->UnitId(seed, i).empty()) << of_task.name;
      }
    }
  }
}

// A gate goes by what the catalogue says of scores and units.
TEST(Registry, ItemsScoreAndStandTogetherAsTheCatalogueSays) {
  for (const Case& of_task : SmallEvaluationTasks()) {
    ordo::training::v1::Evaluation evaluation;
    evaluation.set_task(of_task.name);
    *evaluation.mutable_params() =
        Resolved(catalog::Kind::kEvaluationTask, of_task);
    ORDO_ASSERT_OK_AND_ASSIGN(
        const auto task, MakeEvaluationTask(evaluation, nullptr, Examples()));
    const catalog::EvaluationTraits& traits =
        catalog::Find(catalog::Kind::kEvaluationTask, of_task.name)->evaluation;
    if (task->measure() == Measure::kRight) {
      const double half = task->ItemScore({1, 0});
      EXPECT_EQ(half,
                traits.item_scores == catalog::ItemScores::kShares ? 0.5 : 0)
          << of_task.name;
    } else {
      EXPECT_NE(traits.item_scores, catalog::ItemScores::kRightOrWrong)
          << of_task.name;
    }
    const bool is_made = task->data_fingerprint().empty();
    for (int64_t i = 0; is_made && i < task->size(); ++i) {
      EXPECT_EQ(task->UnitId(1, i) != task->ItemId(1, i), traits.shares_units)
          << of_task.name;
    }
  }
}

// The same of an evaluation of two lengths.
TEST(Registry, UnitsAreSharedByLengthsOnlyWhereTheCatalogueSaysSo) {
  for (const Case& of_task : SmallEvaluationTasks()) {
    const catalog::Entry& entry =
        *catalog::Find(catalog::Kind::kEvaluationTask, of_task.name);
    const std::vector<std::string>& sizes = entry.evaluation.length.params;
    if (sizes.empty()) continue;
    Case of_two = of_task;
    const auto length = static_cast<double>(
        catalog::Params(Resolved(catalog::Kind::kEvaluationTask, of_task))
            .Integer(sizes.back()));
    of_two.number_lists["lengths"] = {length, length + 2};
    ordo::training::v1::Evaluation evaluation;
    evaluation.set_task(of_task.name);
    *evaluation.mutable_params() =
        Resolved(catalog::Kind::kEvaluationTask, of_two);
    ORDO_ASSERT_OK_AND_ASSIGN(const auto task,
                              MakeEvaluationTask(evaluation, nullptr));
    const int64_t half = task->size() / 2;
    ASSERT_EQ(task->size(), 2 * half) << of_task.name;
    for (int64_t i = 0; i < half; ++i) {
      EXPECT_NE(task->ItemId(1, i), task->ItemId(1, half + i)) << of_task.name;
      EXPECT_EQ(task->UnitId(1, i) == task->UnitId(1, half + i),
                entry.evaluation.shares_units)
          << of_task.name;
    }
  }
}

// A model that was trained on one of them may be asked the others.
TEST(Registry, TasksOfOneVocabularyHaveTheSameTokens) {
  std::map<std::string, std::vector<std::string>> words;
  const auto check = [&words](const catalog::Entry& entry,
                              const catalog::ParamMap& params,
                              const Tokenizer& tokenizer) {
    std::vector<std::string> own;
    for (int64_t id = 0; id < tokenizer.vocabulary_size(); ++id) {
      own.push_back(tokenizer.Decode({id}));
    }
    const auto [known, added] =
        words.emplace(catalog::TokensOf(entry, params), own);
    EXPECT_EQ(known->second, own) << entry.name;
  };
  for (const Case& of_task : SmallTrainingTasks()) {
    ordo::training::v1::Data data;
    data.set_task(of_task.name);
    *data.mutable_params() = Resolved(catalog::Kind::kTrainingTask, of_task);
    ORDO_ASSERT_OK_AND_ASSIGN(const auto task,
                              MakeTrainingTask(data, Examples()));
    check(*catalog::Find(catalog::Kind::kTrainingTask, of_task.name),
          data.params(), task->tokenizer());
  }
  for (const Case& of_task : SmallEvaluationTasks()) {
    ordo::training::v1::Evaluation evaluation;
    evaluation.set_task(of_task.name);
    *evaluation.mutable_params() =
        Resolved(catalog::Kind::kEvaluationTask, of_task);
    ORDO_ASSERT_OK_AND_ASSIGN(
        const auto task, MakeEvaluationTask(evaluation, nullptr, Examples()));
    check(*catalog::Find(catalog::Kind::kEvaluationTask, of_task.name),
          evaluation.params(), task->tokenizer());
  }
  EXPECT_EQ(words.size(), 10u);
}

// A perfect model, and one that is always wrong.
TEST(Registry, EveryEvaluationScoresWhatIsMarked) {
  for (const Case& of_task : SmallEvaluationTasks()) {
    if (LooksInside(of_task.name)) continue;
    ordo::training::v1::Evaluation evaluation;
    evaluation.set_task(of_task.name);
    *evaluation.mutable_params() =
        Resolved(catalog::Kind::kEvaluationTask, of_task);
    ORDO_ASSERT_OK_AND_ASSIGN(
        const auto task, MakeEvaluationTask(evaluation, nullptr, Examples()));
    Marked right, wrong;
    for (int64_t i = 0; i < task->size(); ++i) {
      const Question question = task->Generate(1, i).value();
      const size_t marks = question.places.empty() ? 1 : question.places.size();
      right.answers.emplace_back(marks, 1);
      wrong.answers.emplace_back(marks, 0);
      right.nats.push_back(0);
      wrong.nats.push_back(static_cast<double>(2 * marks));
    }
    const Scores best = task->Score(right);
    const Scores worst = task->Score(wrong);
    EXPECT_EQ(best.metrics.size(), worst.metrics.size());
    EXPECT_NE(best.metrics, worst.metrics) << of_task.name;
    EXPECT_NE(best.csv, worst.csv) << of_task.name;
    EXPECT_FALSE(best.markdown.empty()) << of_task.name;
    if (best.metrics.count("error") != 0) {
      EXPECT_DOUBLE_EQ(best.metrics.at("error"), 0) << of_task.name;
      EXPECT_DOUBLE_EQ(worst.metrics.at("error"), 1) << of_task.name;
    }
  }
}

// Each score that a task has, by the catalogue's name for it.
std::set<std::string> NamesOfMetrics(const Scores& scores,
                                     const std::vector<std::string>& known) {
  std::set<std::string> names;
  for (const auto& [name, value] : scores.metrics) {
    EXPECT_TRUE(catalog::IsMetricName(known, name)) << name;
    names.insert(name);
  }
  return names;
}

// By this a sweep or comparison is refused that goes by a score that no
// evaluation of its has.
TEST(Registry, ScoresAreCalledAsTheCatalogueSays) {
  for (const Case& of_task : SmallEvaluationTasks()) {
    if (LooksInside(of_task.name)) continue;
    ordo::training::v1::Evaluation evaluation;
    evaluation.set_task(of_task.name);
    *evaluation.mutable_params() =
        Resolved(catalog::Kind::kEvaluationTask, of_task);
    ORDO_ASSERT_OK_AND_ASSIGN(
        const auto task, MakeEvaluationTask(evaluation, nullptr, Examples()));
    Marked marked;
    for (int64_t i = 0; i < task->size(); ++i) {
      const size_t places = task->Generate(1, i).value().places.size();
      marked.answers.emplace_back(std::max<size_t>(places, 1), 1);
      marked.nats.push_back(1);
    }
    const std::vector<std::string> known = catalog::MetricNames(
        *catalog::Find(catalog::Kind::kEvaluationTask, of_task.name),
        evaluation.params());
    const auto names = NamesOfMetrics(task->Score(marked), known);
    // A task file says which of them it has.
    if (of_task.name == "questions") continue;
    for (const std::string& name : known) {
      // Nothing says what was trained.
      if (name == "trained_mean" || name == "outside_mean") continue;
      EXPECT_EQ(names.count(name), 1u) << of_task.name << " " << name;
    }
  }
}

TEST(Registry, ScoresOfMmluAreCalledAsTheCatalogueSays) {
  std::string lines;
  for (const char* subject :
       {"anatomy", "virology", "sociology", "world_religions"}) {
    absl::StrAppend(&lines, "{\"question\": \"Which?\", \"subject\": \"",
                    subject,
                    "\", \"choices\": [\"1\", \"2\", \"3\", \"4\"], "
                    "\"answer\": 0}\n");
  }
  const DataAccess& access = Examples();
  ORDO_ASSERT_OK(base::AtomicWrite(
      *access.files, base::JoinPath(access.data_folder, "mmlu.jsonl"), lines));
  ordo::training::v1::Evaluation evaluation;
  evaluation.set_task("questions");
  *evaluation.mutable_params() = Resolved(
      catalog::Kind::kEvaluationTask,
      {"questions",
       {},
       {{"path", "mmlu.jsonl"}, {"format", "mmlu"}, {"tokenizer", "bytes"}}});
  ORDO_ASSERT_OK_AND_ASSIGN(const auto task,
                            MakeEvaluationTask(evaluation, nullptr, access));
  Marked marked;
  marked.nats.resize(static_cast<size_t>(task->size()), 1);
  const std::vector<std::string> known = catalog::MetricNames(
      *catalog::Find(catalog::Kind::kEvaluationTask, "questions"),
      evaluation.params());
  EXPECT_EQ(NamesOfMetrics(task->Score(marked), known),
            std::set<std::string>(known.begin(), known.end()));
}

TEST(Registry, ScoresOfSeveralLengthsAreCalledAsTheCatalogueSays) {
  for (const std::string name :
       {"counting", "flip_flop", "passkey", "pcfg", "ruoss"}) {
    const catalog::Entry& entry =
        *catalog::Find(catalog::Kind::kEvaluationTask, name);
    ordo::training::v1::Data trained_on;
    trained_on.set_task(name);
    (*trained_on.mutable_params())[entry.evaluation.length.trained_param]
        .set_number_value(8);
    ordo::training::v1::Evaluation evaluation;
    evaluation.set_task(name);
    auto& params = *evaluation.mutable_params();
    params["samples"].set_number_value(3);
    if (name == "passkey") params["filler"].set_number_value(10);
    auto& lengths = *params["lengths"].mutable_list_value();
    for (const double number : {4, 16}) {
      lengths.add_values()->set_number_value(number);
    }
    ORDO_ASSERT_OK_AND_ASSIGN(const auto task,
                              MakeEvaluationTask(evaluation, &trained_on));
    Marked marked;
    for (int64_t i = 0; i < task->size(); ++i) {
      const size_t places = task->Generate(1, i).value().places.size();
      marked.answers.emplace_back(std::max<size_t>(places, 1), 1);
    }
    const std::vector<std::string> known = catalog::MetricNames(entry, params);
    EXPECT_EQ(NamesOfMetrics(task->Score(marked), known),
              std::set<std::string>(known.begin(), known.end()))
        << name;
  }
}

// The metric that a task is known by, and whether it counts what is wrong.
struct Headline {
  std::string metric;
  bool is_error = false;
};

const std::map<std::string, Headline>& Headlines() {
  static const auto* const headlines = new std::map<std::string, Headline>{
      {"addition_grid", {"grid_mean"}},
      {"bitwise_or_grid", {"grid_mean"}},
      {"counting", {"error", true}},
      {"flip_flop", {"error", true}},
      {"multiplication_grid", {"grid_mean"}},
      {"needle", {"score"}},
      {"nope", {"score"}},
      {"passkey", {"score"}},
      {"pcfg", {"score"}},
      {"ruler", {"score"}},
      {"ruoss", {"score"}},
      {"scan", {"score"}},
      {"selective_copy", {"error", true}},
      {"sorting_grid", {"grid_mean"}},
  };
  return *headlines;
}

// What a model gets right that knows half of the answers, and of the others
// nine tokens in ten.
Marked MarkedBySomeModel(const EvaluationTask& task) {
  base::RandomSequence random(1, "model");
  Marked marked;
  for (int64_t i = 0; i < task.size(); ++i) {
    const size_t places = task.Generate(1, i).value().places.size();
    const bool knows = random.Int(2) == 0;
    Marks& marks = marked.answers.emplace_back();
    while (marks.size() < std::max<size_t>(places, 1)) {
      marks.push_back(knows || random.Int(10) < 9 ? 1 : 0);
    }
  }
  return marked;
}

// Results of two models are compared by the items' scores, and should come out
// as the metric does. Where a task counts places a row weighs as many as it
// has, among those of its length if the metric is a mean over lengths.
TEST(Registry, TheMeanOfItemScoresIsTheHeadline) {
  for (const Case& of_task : SmallEvaluationTasks()) {
    // Items are scored by likelihood, and are not their rows.
    if (of_task.name == "text" || of_task.name == "questions") continue;
    if (LooksInside(of_task.name)) continue;
    ordo::training::v1::Evaluation evaluation;
    evaluation.set_task(of_task.name);
    *evaluation.mutable_params() =
        Resolved(catalog::Kind::kEvaluationTask, of_task);
    ORDO_ASSERT_OK_AND_ASSIGN(const auto task,
                              MakeEvaluationTask(evaluation, nullptr));
    const bool counts_places =
        of_task.name == "flip_flop" || of_task.name == "ruoss";
    const auto samples = static_cast<int64_t>(of_task.numbers.at("samples"));
    const Marked marked = MarkedBySomeModel(*task);
    double mean = 0;
    for (int64_t first = 0; first < task->size(); first += samples) {
      double sum = 0, weights = 0;
      for (int64_t i = first; i < first + samples; ++i) {
        const Marks& marks = marked.answers[i];
        const double weight =
            counts_places ? static_cast<double>(marks.size()) : 1;
        sum += weight * task->ItemScore(marks);
        weights += weight;
      }
      mean += sum / weights * static_cast<double>(samples) /
              static_cast<double>(task->size());
    }
    const Headline& headline = Headlines().at(of_task.name);
    const double metric = task->Score(marked).metrics.at(headline.metric);
    EXPECT_NEAR(mean, headline.is_error ? 1 - metric : metric, 1e-12)
        << of_task.name;
    EXPECT_GT(mean, 0) << of_task.name;
    EXPECT_LT(mean, 1) << of_task.name;
  }
}

// Rows of what it was trained on, where that is not text.
TEST(Registry, TheInsideOfAModelIsLookedAtOnWhatItWasTrainedOn) {
  ordo::training::v1::Evaluation evaluation;
  evaluation.set_task("stability");
  (*evaluation.mutable_params())["samples"].set_number_value(3);
  const ordo::training::v1::Data sums = AdditionData(3);
  ORDO_ASSERT_OK_AND_ASSIGN(const auto task,
                            MakeEvaluationTask(evaluation, &sums));
  EXPECT_EQ(task->size(), 3);
  EXPECT_EQ(task->measure(), Measure::kInside);
  EXPECT_EQ(task->inside()->begin, kBegin);
  EXPECT_EQ(task->inside()->shift, 3);
  ORDO_ASSERT_OK_AND_ASSIGN(const auto training, MakeTrainingTask(sums));
  std::vector<int64_t> row = training->Generate(9, 2).value().tokens;
  row.pop_back();
  EXPECT_EQ(task->Generate(9, 2).value().prompt, row);
  // Nothing says what to read.
  EXPECT_THAT(
      MakeEvaluationTask(evaluation, nullptr),
      StatusIs(absl::StatusCode::kInvalidArgument, HasSubstr("params.data")));
}

ordo::training::v1::Data TextData() {
  ordo::training::v1::Data data;
  data.set_task("text");
  auto& params = *data.mutable_params();
  params["data"].mutable_list_value()->add_values()->set_string_value(
      "twenty.txt");
  params["format"].set_string_value("lines");
  params["length"].set_number_value(8);
  params["held_out"].set_number_value(0.5);
  return data;
}

TEST(Registry, AnEvaluationOfTextTakesItsDataFromTheTraining) {
  ordo::training::v1::Evaluation evaluation;
  evaluation.set_task("text");
  const auto data = TextData();
  ORDO_ASSERT_OK_AND_ASSIGN(const auto task,
                            MakeEvaluationTask(evaluation, &data, Examples()));
  ORDO_ASSERT_OK_AND_ASSIGN(const auto training,
                            MakeTrainingTask(data, Examples()));
  EXPECT_EQ(task->data_fingerprint(), training->data_fingerprint());
  std::set<int> lengths;
  for (int64_t i = 0; i < task->size(); ++i) {
    lengths.insert(task->PromptLength(i) + 1);
  }
  EXPECT_EQ(lengths, (std::set<int>{8, 16, 32}));
  // A stranger's model says nothing of the kind.
  EXPECT_THAT(MakeEvaluationTask(evaluation, nullptr, Examples()),
              StatusIs(absl::StatusCode::kInvalidArgument,
                       HasSubstr("params.lengths: is needed")));
}

// 258 of them, and a mark.
TEST(Registry, PromptsAreInTheTokensOfTheTraining) {
  auto data = TextData();
  (*data.mutable_params())["tokenizer"].set_string_value("t.json");
  for (const char* name : {"needle", "ruler"}) {
    ordo::training::v1::Evaluation evaluation;
    evaluation.set_task(name);
    (*evaluation.mutable_params())["min_length"].set_number_value(2500);
    (*evaluation.mutable_params())["max_length"].set_number_value(2500);
    (*evaluation.mutable_params())["samples"].set_number_value(1);
    ORDO_ASSERT_OK_AND_ASSIGN(
        const auto task, MakeEvaluationTask(evaluation, &data, Examples()));
    EXPECT_EQ(task->tokenizer().vocabulary_size(), 259) << name;
    EXPECT_EQ(task->end_token(), 258) << name;
    EXPECT_FALSE(task->data_fingerprint().empty()) << name;
    EXPECT_EQ(task->PromptLength(0) + task->AnswerLength(0), 2500) << name;
    ORDO_ASSERT_OK_AND_ASSIGN(const Question question, task->Generate(1, 0));
    EXPECT_EQ(static_cast<int>(question.prompt.size()), task->PromptLength(0));
    EXPECT_EQ(question.prompt[0], 258) << name;
  }
}

TEST(Registry, TextsOfSeveralLengthsAreScoredToo) {
  ordo::training::v1::Evaluation evaluation;
  evaluation.set_task("passkey");
  auto& params = *evaluation.mutable_params();
  params["tokenizer"].set_string_value("t.json");
  params["filler"].set_number_value(40);
  params["depths"].set_number_value(2);
  params["samples"].set_number_value(2);
  for (const int length : {1, 3}) {
    params["lengths"].mutable_list_value()->add_values()->set_number_value(
        length);
  }
  ORDO_ASSERT_OK_AND_ASSIGN(
      const auto task, MakeEvaluationTask(evaluation, nullptr, Examples()));
  ASSERT_EQ(task->measure(), Measure::kText);
  Marked marked;
  for (int64_t i = 0; i < task->size(); ++i) {
    const std::string prompt =
        task->tokenizer().Decode(task->Generate(1, i).value().prompt);
    const size_t begin = prompt.find("The pass key is ") + 16;
    const std::string key =
        prompt.substr(begin, prompt.find('.', begin) - begin);
    marked.texts.push_back(i == 1 ? "none" : key);
  }
  const Scores scores = task->Score(marked);
  EXPECT_DOUBLE_EQ(scores.metrics.at("error_1"), 0.25);
  EXPECT_DOUBLE_EQ(scores.metrics.at("error_3"), 0);
  EXPECT_DOUBLE_EQ(scores.metrics.at("error"), 0.125);
  // Of two tests, one of which is right once of twice at the first length.
  EXPECT_NEAR(scores.standard_errors.at("error_1"), 0.25, 1e-12);
  EXPECT_NEAR(scores.standard_errors.at("error"), 0.125, 1e-12);
  EXPECT_EQ(scores.details["by_length"][0]["items"], 4);
  EXPECT_EQ(scores.details["by_length"][0]["units"], 2);
  ASSERT_EQ(scores.items.size(), 8u);
  EXPECT_EQ(scores.items[1].id, "1/1-1");
  EXPECT_EQ(scores.items[1].score, 0);
  EXPECT_EQ(scores.items[1].unit, scores.items[3].unit);
  EXPECT_EQ(scores.items[1].unit, scores.items[5].unit);
  EXPECT_NE(scores.items[1].unit, scores.items[2].unit);
  ASSERT_EQ(scores.details["cells"].size(), 4u);
  EXPECT_EQ(scores.details["cells"][3]["depth"], "50");
  EXPECT_EQ(scores.details["cells"][3]["length"], 3);
  ASSERT_EQ(scores.details["prompt_tokens"].size(), 2u);
  EXPECT_EQ(scores.details["prompt_tokens"][1]["length"], 3);
}

TEST(Registry, DataThatIsNotThereHasTheReason) {
  auto data = TextData();
  data.mutable_params()
      ->at("data")
      .mutable_list_value()
      ->mutable_values(0)
      ->set_string_value("thirty.txt");
  const absl::Status status = MakeTrainingTask(data, Examples()).status();
  EXPECT_THAT(status, StatusIs(absl::StatusCode::kNotFound,
                               HasSubstr("data.params.data[0]: there is no")));
  ASSERT_TRUE(base::GetErrorInfo(status).has_value());
  EXPECT_EQ(base::GetErrorInfo(status)->reason, kDataMissingReason);
}

TEST(Registry, TheTokenizerOfTextNeedsNoData) {
  auto data = TextData();
  ORDO_ASSERT_OK_AND_ASSIGN(const auto bytes, MakeTokenizer(data));
  EXPECT_EQ(bytes->Encode("a").value(), (std::vector<int64_t>{4 + 'a'}));
  ordo::training::v1::Data answers;
  answers.set_task("scrolls");
  (*answers.mutable_params())["path"].set_string_value("none.jsonl");
  ORDO_ASSERT_OK_AND_ASSIGN(const auto same, MakeTokenizer(answers));
  EXPECT_EQ(same->Encode("a").value(), (std::vector<int64_t>{4 + 'a'}));
  ORDO_ASSERT_OK_AND_ASSIGN(const auto digits, MakeTokenizer(AdditionData(3)));
  EXPECT_EQ(digits->Decode(digits->Encode("21+43=").value()), "21+43=");
}

}  // namespace
}  // namespace ordo::model::tasks
