#include "model/catalog/entries.h"

#include <algorithm>
#include <cctype>
#include <set>

#include "gtest/gtest.h"

namespace ordo::model::catalog {
namespace {

bool IsSnakeCase(const std::string& name) {
  return !name.empty() && std::islower(name[0]) &&
         std::all_of(name.begin(), name.end(), [](unsigned char c) {
           return std::islower(c) || std::isdigit(c) || c == '_';
         });
}

bool IsSentence(const std::string& text) {
  return !text.empty() && std::isupper(text.front()) && text.back() == '.';
}

TEST(EntriesTest, NamesAreSnakeCaseAndUniqueInTheirKind) {
  std::set<std::pair<Kind, std::string>> seen;
  for (const Entry& entry : AllEntries()) {
    EXPECT_TRUE(IsSnakeCase(entry.name)) << entry.name;
    EXPECT_TRUE(seen.insert({entry.kind, entry.name}).second) << entry.name;
    std::set<std::string> params;
    for (const Param& param : entry.params) {
      EXPECT_TRUE(IsSnakeCase(param.name)) << param.name;
      EXPECT_TRUE(params.insert(param.name).second) << param.name;
    }
  }
}

TEST(EntriesTest, EverythingIsExplainedInASentence) {
  for (const Entry& entry : AllEntries()) {
    EXPECT_TRUE(IsSentence(entry.text)) << entry.name;
    EXPECT_FALSE(entry.source.empty()) << entry.name;
    for (const Param& param : entry.params) {
      EXPECT_TRUE(IsSentence(param.text)) << entry.name << "." << param.name;
    }
  }
}

TEST(EntriesTest, NumbersHaveAUnitAndNothingElseHas) {
  for (const Entry& entry : AllEntries()) {
    for (const Param& param : entry.params) {
      EXPECT_EQ(param.unit.empty(), param.type == ParamType::kBool ||
                                        param.type == ParamType::kString ||
                                        param.type == ParamType::kStrings)
          << entry.name << "." << param.name;
    }
  }
}

TEST(EntriesTest, DefaultsAreValid) {
  for (const Entry& entry : AllEntries()) {
    ParamMap params;
    for (const Param& param : entry.params) {
      params[param.name] = DefaultValue(param);
    }
    // What it is trained on, or asked, a person must say.
    if (entry.kind == Kind::kTrainingTask && entry.name == "text") {
      params["data"].mutable_list_value()->add_values()->set_string_value("a");
    }
    if (entry.name == "questions" || entry.name == "scrolls") {
      params["path"].set_string_value("a.jsonl");
    }
    std::vector<base::FieldViolation> violations;
    ResolveParams(entry, "", &params, &violations);
    EXPECT_TRUE(violations.empty()) << entry.name << " " << violations[0].field
                                    << " " << violations[0].description;
  }
}

TEST(EntriesTest, EncodingsSayTheirFormulaAndWhatHappensBeyond) {
  for (const Entry& entry : AllEntries()) {
    if (entry.kind != Kind::kEncoding) continue;
    EXPECT_FALSE(entry.encoding.formula.empty()) << entry.name;
    EXPECT_FALSE(entry.encoding.beyond.empty()) << entry.name;
    EXPECT_FALSE(entry.encoding.kernels.empty()) << entry.name;
    EXPECT_NE(entry.encoding.count_cost, nullptr) << entry.name;
    EXPECT_EQ(entry.encoding.parameters.empty(), entry.encoding.initial.empty())
        << entry.name;
    EXPECT_EQ(entry.encoding.parameters.empty(),
              entry.encoding.count_parameters == nullptr)
        << entry.name;
  }
}

TEST(EntriesTest, TasksHaveAVocabularyAndEncodingsNone) {
  for (const Entry& entry : AllEntries()) {
    EXPECT_EQ(entry.vocabulary_size > 0 || entry.vocabulary_of != nullptr,
              entry.kind != Kind::kEncoding)
        << entry.name;
  }
}

TEST(EntriesTest, EvaluationTasksHaveAVersionAndPasses) {
  for (const Entry& entry : AllEntries()) {
    if (entry.kind != Kind::kEvaluationTask) continue;
    EXPECT_GE(entry.evaluation.version, 1) << entry.name;
    EXPECT_GE(MicroBatchRows(entry.evaluation.micro_batch, 1), 1) << entry.name;
  }
}

TEST(EntriesTest, WithNamesEncodingsThatExist) {
  for (const Entry& entry : AllEntries()) {
    EXPECT_EQ(entry.with.empty(), entry.max_with == 0) << entry.name;
    for (const std::string& other : entry.with) {
      EXPECT_NE(Find(Kind::kEncoding, other), nullptr) << other;
    }
  }
}

}  // namespace
}  // namespace ordo::model::catalog
