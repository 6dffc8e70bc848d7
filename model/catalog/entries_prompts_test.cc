#include <string>
#include <vector>

#include "base/status/details.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "model/catalog/catalog.h"
#include "model/catalog/entries.h"
#include "model/catalog/resolve_evaluations.h"

namespace ordo::model::catalog {
namespace {

using ordo::training::v1::Data;
using ordo::training::v1::Evaluation;
using ::testing::ElementsAre;
using ::testing::IsEmpty;

const char* const kNames[] = {"needle", "passkey", "ruler"};

// Text in the tokens of t.model.
Data TextData(const std::string& marks) {
  Data data;
  data.set_task("text");
  auto& params = *data.mutable_params();
  params["data"].mutable_list_value()->add_values()->set_string_value("books");
  params["tokenizer"].set_string_value("t.model");
  params["marks"].set_string_value(marks);
  Violations violations;
  ResolveParams(*Find(Kind::kTrainingTask, "text"), "data", &params,
                &violations);
  EXPECT_THAT(violations, IsEmpty());
  return data;
}

// The parameters of one evaluation, resolved, and the fields that are wrong.
struct Resolved {
  ParamMap params;
  std::vector<std::string> fields;
};

Resolved ResolveOne(const std::string& task, const ParamMap& params,
                    const Data* trained_on, int64_t max_length = 0) {
  google::protobuf::RepeatedPtrField<Evaluation> evaluations;
  evaluations.Add()->set_task(task);
  *evaluations[0].mutable_params() = params;
  EvaluationsContext context;
  context.trained_on = trained_on;
  context.max_length = max_length;
  Violations violations;
  ResolveEvaluations(context, &evaluations, &violations);
  Resolved resolved = {evaluations[0].params(), {}};
  for (const auto& violation : violations) {
    resolved.fields.push_back(violation.field);
  }
  return resolved;
}

// As specs of releases that asked by byte alone.
TEST(EntriesPromptsTest, ByByteNothingIsFilledIn) {
  Data bytes;
  bytes.set_task("text");
  (*bytes.mutable_params())["tokenizer"].set_string_value("bytes");
  for (const char* name : kNames) {
    for (const Data* trained_on : {static_cast<const Data*>(nullptr),
                                   static_cast<const Data*>(&bytes)}) {
      const Resolved resolved = ResolveOne(name, {}, trained_on);
      EXPECT_THAT(resolved.fields, IsEmpty()) << name;
      EXPECT_EQ(resolved.params.count("tokenizer"), 0u) << name;
      EXPECT_EQ(resolved.params.count("begin"), 0u) << name;
      // That of the needle is as old as the task.
      EXPECT_EQ(resolved.params.count("depths"),
                name == std::string("needle") ? 1u : 0u)
          << name;
      EXPECT_EQ(
          VocabularyOf(*Find(Kind::kEvaluationTask, name), resolved.params),
          260)
          << name;
    }
  }
}

TEST(EntriesPromptsTest, TheTokensAreThoseOfTheTraining) {
  for (const char* name : kNames) {
    const Data marked = TextData("both");
    Resolved resolved = ResolveOne(name, {}, &marked);
    EXPECT_THAT(resolved.fields, IsEmpty()) << name;
    EXPECT_EQ(resolved.params.at("tokenizer").string_value(), "t.model");
    EXPECT_EQ(resolved.params.at("begin").string_value(), "always");
    // Only the file says how many there are.
    EXPECT_EQ(VocabularyOf(*Find(Kind::kEvaluationTask, name), resolved.params),
              0);
    const Data plain = TextData("none");
    resolved = ResolveOne(name, {}, &plain);
    EXPECT_EQ(resolved.params.at("begin").string_value(), "never");
    ParamMap params;
    params["begin"].set_string_value("as_trained");
    resolved = ResolveOne(name, params, &plain);
    EXPECT_EQ(resolved.params.at("begin").string_value(), "never");
    params["begin"].set_string_value("always");
    resolved = ResolveOne(name, params, &plain);
    EXPECT_EQ(resolved.params.at("begin").string_value(), "always");
    params["tokenizer"].set_string_value("bytes");
    params.erase("begin");
    EXPECT_THAT(ResolveOne(name, params, &plain).fields,
                ElementsAre("evaluations[0].params.tokenizer"));
  }
}

TEST(EntriesPromptsTest, ATrainingOnAnswersSaysItsTokensToo) {
  for (const char* begin : {"always", "never"}) {
    Data answers;
    answers.set_task("scrolls");
    auto& params = *answers.mutable_params();
    params["path"].set_string_value("train.jsonl");
    params["tokenizer"].set_string_value("t.model");
    params["begin"].set_string_value(begin);
    Violations violations;
    ResolveParams(*Find(Kind::kTrainingTask, "scrolls"), "data", &params,
                  &violations);
    EXPECT_THAT(violations, IsEmpty());
    for (const char* name : kNames) {
      const Resolved resolved = ResolveOne(name, {}, &answers);
      EXPECT_THAT(resolved.fields, IsEmpty()) << name;
      EXPECT_EQ(resolved.params.at("tokenizer").string_value(), "t.model");
      EXPECT_EQ(resolved.params.at("begin").string_value(), begin) << name;
      ParamMap bytes;
      bytes["tokenizer"].set_string_value("bytes");
      EXPECT_THAT(ResolveOne(name, bytes, &answers).fields,
                  ElementsAre("evaluations[0].params.tokenizer"));
    }
  }
}

TEST(EntriesPromptsTest, ATokenizerIsAFileAndOnlyItHasABeginning) {
  for (const char* name : kNames) {
    ParamMap params;
    params["tokenizer"].set_string_value("gpt2");
    EXPECT_THAT(ResolveOne(name, params, nullptr).fields,
                ElementsAre("evaluations[0].params.tokenizer"))
        << name;
    params["tokenizer"].set_string_value("bytes");
    params["begin"].set_string_value("as_trained");
    EXPECT_THAT(ResolveOne(name, params, nullptr).fields, IsEmpty()) << name;
    params["begin"].set_string_value("never");
    EXPECT_THAT(ResolveOne(name, params, nullptr).fields,
                ElementsAre("evaluations[0].params.begin"))
        << name;
  }
}

// 3072 characters, of which 89 and a blank have 24 words and full stops.
TEST(EntriesPromptsTest, WhatSurelyIsTooLongIsRefusedBeforeItIsRead) {
  ParamMap params;
  params["max_length"].set_number_value(1);
  EXPECT_THAT(ResolveOne("passkey", params, nullptr, 3000).fields,
              ElementsAre("evaluations[0].params.filler"));
  params["tokenizer"].set_string_value("t.json");
  EXPECT_THAT(ResolveOne("passkey", params, nullptr, 819).fields, IsEmpty());
  EXPECT_THAT(ResolveOne("passkey", params, nullptr, 818).fields,
              ElementsAre("evaluations[0].params.filler"));
}

TEST(EntriesPromptsTest, DepthsAreAskedAtEachLength) {
  ParamMap params;
  params["max_length"].set_number_value(3);
  params["depths"].set_number_value(10);
  const Resolved resolved = ResolveOne("passkey", params, nullptr);
  EXPECT_THAT(resolved.fields, IsEmpty());
  EXPECT_EQ(Find(Kind::kEvaluationTask, "passkey")
                ->evaluation.items_per_sample(resolved.params),
            30);
}

}  // namespace
}  // namespace ordo::model::catalog
