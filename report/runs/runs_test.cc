#include "report/runs/runs.h"

#include "base/status/testing/status_matchers.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "report/summary/testing/drawing_test.h"

namespace ordo::report::runs {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Not;
using ::testing::SizeIs;
using RunsTest = summary::testing::DrawingTest;

constexpr char kGrid[] = R"({"task": "addition_grid", "job": "a",
  "max_digits": 2, "trained_digits": 1, "samples": 20,
  "cells": [[1, 0.5], [0.5, 0]]})";
constexpr char kShares[] = R"({"task": "nope", "trained_length": 8, "shares": [
  {"length": 8, "exact_match": 1, "count": 4, "total": 4},
  {"length": 16, "exact_match": 0.25, "count": 1, "total": 4}]})";
constexpr char kPerplexity[] = R"({"task": "text", "trained_length": 64,
  "lengths": [{"length": 64, "perplexity": 20}, {"length": 128,
               "perplexity": 25}]})";

Evaluated Of(const std::string& model, const std::string& task,
             const InsideFiles& files) {
  Evaluated evaluated;
  evaluated.metrics = {model, 100, task, task, {{"score", 0.5}}};
  evaluated.source = {model, {{model, "c0ffee"}}, "ordo report a b"};
  ORDO_EXPECT_OK(ReadFiles(files, &evaluated));
  return evaluated;
}

Evaluated Of(const std::string& model, const std::string& task,
             const char* result) {
  return Of(model, task, InsideFiles{result, "", ""});
}

TEST_F(RunsTest, SumsHaveHeatMapsEqualLengthsAndAllTheirCells) {
  Runs runs;
  runs.evaluations = {Of("a", "addition_grid", kGrid),
                      Of("b", "addition_grid", kGrid)};
  runs.evaluations[0].encoding = "tape (size=16)";
  const Page page = MakePage(runs);
  EXPECT_EQ(page.title, "Results of a, b");
  ASSERT_THAT(page.figures, SizeIs(3));
  EXPECT_EQ(page.figures[0].name, "a");
  EXPECT_EQ(page.figures[0].caption,
            "a: share of sums that are right in every digit, 20 per cell. "
            "Trained on up to 1 digits: the outlined square.");
  EXPECT_EQ(page.figures[0].figure.source,
            "job a; checkpoint: a c0ffee; again: ordo report a b");
  EXPECT_EQ(page.figures[2].name, "equal-lengths");
  EXPECT_THAT(page.figures[2].caption, HasSubstr("Right of the dashed line"));
  for (Evaluated& each : runs.evaluations) each.grid->trained_digits = 2;
  EXPECT_EQ(MakePage(runs).figures[2].caption,
            "A and B with the same number of digits; bars are 95 % "
            "intervals.");
  EXPECT_EQ(page.figures[2].figure.source,
            "job a b; checkpoints: a c0ffee, b c0ffee; again: ordo report a b");
  ASSERT_THAT(page.tables, SizeIs(4));
  EXPECT_THAT(page.tables[0].rows[0],
              ElementsAre("a", "tape (size=16)", "100", "50.0 % [39.3, 60.7]",
                          "100.0 % [83.9, 100.0]", "33.3 % [22.7, 45.9]",
                          "50.0 % [35.2, 64.8]", "1", "80"));
  EXPECT_EQ(page.tables[1].title, "Scores");
  EXPECT_TRUE(page.tables[2].is_folded);
  EXPECT_THAT(page.tables[2].rows[0], ElementsAre("1", "100", "50"));
  EXPECT_THAT(page.method, HasSubstr("Each model was trained once: "));
  EXPECT_THAT(page.method, HasSubstr("Wilson"));
  EXPECT_THAT(page.method, HasSubstr("is 0 where each cell is all right"));
}

TEST_F(RunsTest, ModelsOfOneEvaluationStandInOneFigureByLength) {
  Runs runs;
  runs.evaluations = {Of("a", "nope", kShares), Of("b", "nope", kShares),
                      Of("c", "text", kPerplexity)};
  const Page page = MakePage(runs);
  ASSERT_THAT(page.figures, SizeIs(2));
  EXPECT_EQ(page.figures[0].name, "lengths-1");
  EXPECT_EQ(page.figures[0].caption,
            "nope: error against length, of one run of each model. Trained on "
            "up to 8: the dashed line.");
  const std::string& script = page.figures[0].figure.script;
  EXPECT_THAT(script, HasSubstr("$arm0 << EOD\n7.92 0 0 0\n"
                                "15.92 0.75 0.75 0.75\nEOD\n"));
  EXPECT_THAT(script, HasSubstr("title \"b\""));
  EXPECT_THAT(script, HasSubstr("from first 8,graph 0"));
  EXPECT_EQ(page.figures[1].caption,
            "text: perplexity against length, of one run of each model. "
            "Trained on up to 64: the dashed line.");
  EXPECT_THAT(page.figures[1].figure.script, Not(HasSubstr("filledcurves")));
  EXPECT_THAT(Svg(page.figures[1].figure), HasSubstr("perplexity"));
  ASSERT_THAT(page.tables, SizeIs(1));
  EXPECT_THAT(page.tables[0].rows, SizeIs(3));
  EXPECT_THAT(page.method, Not(HasSubstr("sum")));
}

TEST_F(RunsTest, AcrossTokenizersTextIsDrawnInBitsPerByte) {
  Runs runs;
  runs.evaluations = {
      Of("a", "text", R"({"tokenizer": "bytes", "vocabulary_size": 260,
          "lengths": [{"length": 8, "perplexity": 11,
                       "bits_per_byte": 3.5}]})"),
      Of("b", "text", R"({"tokenizer": "x.model", "vocabulary_size": 400,
          "lengths": [{"length": 8, "perplexity": 35,
                       "bits_per_byte": 3.25}]})")};
  runs.trained = {{"a", {}, {{1, 3.0}}, "bytes"},
                  {"b", {}, {{1, 5.0}}, "x.model"}};
  const Page page = MakePage(runs);
  ASSERT_THAT(page.figures, SizeIs(3));
  EXPECT_EQ(page.figures[0].caption,
            "text: bits per byte against length, of one run of each model. "
            "Tokenizer: bytes with 260 tokens (a), x.model with 400 tokens "
            "(b).");
  EXPECT_THAT(page.figures[0].figure.script, HasSubstr(" 3.25 "));
  EXPECT_THAT(page.figures[0].figure.script,
              HasSubstr("set ylabel \"bits per byte\"\n"));
  EXPECT_THAT(page.figures[0].figure.script, Not(HasSubstr(" 35 ")));
  EXPECT_EQ(page.figures[1].name, "learning-curves");
  EXPECT_EQ(page.figures[1].caption, "Training loss, by token of bytes.");
  EXPECT_THAT(page.figures[1].figure.script, Not(HasSubstr("curve1")));
  EXPECT_EQ(page.figures[2].name, "learning-curves-2");
  EXPECT_EQ(page.tables[0].header.back(), "tokenizer");
  EXPECT_EQ(page.tables[0].rows[0].back(), "bytes with 260 tokens");
  EXPECT_EQ(page.tables[1].rows[1].back(), "x.model");
  // With one tokenizer they stand together, by token.
  runs.evaluations[1].lengths.tokenizer = "bytes with 260 tokens";
  runs.trained[1].tokenizer = "bytes";
  const Page one = MakePage(runs);
  ASSERT_THAT(one.figures, SizeIs(2));
  EXPECT_THAT(one.figures[0].caption, HasSubstr("text: perplexity against"));
}

TEST_F(RunsTest, ScoresThatTellTheirErrorHaveBars) {
  Runs runs;
  runs.evaluations = {Of("a", "nope", R"({"standard_errors": {"score": 0.25},
      "sampled": {"score": {"units": 4, "items": 4}},
      "shares": [{"length": 8, "exact_match": 0.25, "count": 1, "total": 4,
                  "units": 4, "standard_error": 0.25}]})")};
  const Page page = MakePage(runs);
  ASSERT_THAT(page.figures, SizeIs(1));
  EXPECT_EQ(page.figures[0].caption,
            "nope: error against length, of one run of each model. Bars are "
            "95 % intervals.");
  const std::string& script = page.figures[0].figure.script;
  // Newcombe's interval of 1 of 4 is 0.0456 to 0.6994.
  EXPECT_THAT(script, HasSubstr("$arm0 << EOD\n8 0.75 0.3006"));
  EXPECT_THAT(script, HasSubstr("$arm0 using 1:2:3:4 with yerrorlines"));
  EXPECT_THAT(Svg(page.figures[0].figure), HasSubstr(">a<"));
  ASSERT_THAT(page.tables, SizeIs(1));
  EXPECT_THAT(page.tables[0].rows[0], ElementsAre("a", "100", "nope", "nope",
                                                  "score", "0.5", "0.25", "4"));
}

TEST_F(RunsTest, ModelsThatDifferInWhatTheyWereTrainedOnHaveNoMark) {
  Runs runs;
  runs.evaluations = {Of("a", "nope", kShares), Of("b", "nope", kShares)};
  runs.evaluations[1].lengths.trained = 16;
  const Page page = MakePage(runs);
  ASSERT_THAT(page.figures, SizeIs(1));
  EXPECT_THAT(page.figures[0].figure.script, Not(HasSubstr("set arrow")));
  // Of other lengths they do not stand together.
  runs.evaluations[1].lengths.values.erase(16);
  EXPECT_THAT(MakePage(runs).figures, SizeIs(2));
}

TEST_F(RunsTest, ATrainedLengthBesideTheAxisHasNoLineInTheCaption) {
  Runs runs;
  runs.evaluations = {Of("a", "nope", kShares)};
  runs.evaluations[0].lengths.trained = 4;
  const Page page = MakePage(runs);
  ASSERT_THAT(page.figures, SizeIs(1));
  EXPECT_EQ(page.figures[0].caption,
            "nope: error against length, of one run of each model. Trained on "
            "up to 4.");
}

TEST_F(RunsTest, CellsHaveAMapBesideTheirLengths) {
  Runs runs;
  runs.evaluations = {Of("a", "bitwise_or_grid",
                         R"({"max_bits": 2, "trained_bits": 1,
                             "cells": [[1, 0.5], [0.25, 0]]})")};
  const Page page = MakePage(runs);
  ASSERT_THAT(page.figures, SizeIs(2));
  EXPECT_EQ(page.figures[0].name, "lengths-1");
  EXPECT_EQ(page.figures[1].name, "a-bitwise-or-grid-cells");
  EXPECT_EQ(page.figures[1].caption,
            "a bitwise_or_grid: share that is right by bits of A and bits of "
            "B. Trained on what is outlined.");
}

TEST_F(RunsTest, QuestionsHaveTheirGroups) {
  Runs runs;
  const char* result = R"({"metric": "acc", "groups": {
      "law": {"value": 0.5, "standard_error": 0.1}}})";
  runs.evaluations = {Of("a", "questions", result)};
  const Page page = MakePage(runs);
  ASSERT_THAT(page.figures, SizeIs(1));
  EXPECT_EQ(page.figures[0].name, "a-questions-groups");
  EXPECT_EQ(page.figures[0].caption,
            "a questions: acc of each group of questions.");
}

TEST_F(RunsTest, WhatWasSeenInsideIsDrawn) {
  Runs runs;
  runs.evaluations = {
      Of("a", "attention_map",
         InsideFiles{
             "{}", "source,layer,head,query,key,value\nfull,1,0,1,1,1\n", ""})};
  const Page page = MakePage(runs);
  ASSERT_THAT(page.figures, SizeIs(1));
  EXPECT_EQ(page.figures[0].name, "a-attention-map-map-1");
  EXPECT_THAT(page.figures[0].figure.source, HasSubstr("a c0ffee; again"));
}

TEST_F(RunsTest, FiguresOfOneTitleHaveNamesOfTheirOwn) {
  const InsideFiles files{
      "{}", "source,layer,head,query,key,value\nfull,1,0,1,1,1\n", ""};
  Runs runs;
  runs.evaluations = {Of("a", "attention_map", files),
                      Of("a", "attention_map", files)};
  const Page page = MakePage(runs);
  ASSERT_THAT(page.figures, SizeIs(2));
  EXPECT_EQ(page.figures[0].name, "a-attention-map-map-1");
  EXPECT_EQ(page.figures[1].name, "a-attention-map-map-1-2");
}

TEST_F(RunsTest, TrainingLossesAreALineForEachModel) {
  Runs runs;
  runs.evaluations = {Of("a", "flip_flop", "{}")};
  EXPECT_THAT(MakePage(runs).figures, IsEmpty());
  runs.trained = {{"a", {"a", {}, "ordo report a b"}, {{1, 3.0}, {2, 2.5}}},
                  {"b", {"b", {}, "ordo report a b"}, {}}};
  const Page page = MakePage(runs);
  ASSERT_THAT(page.figures, SizeIs(1));
  EXPECT_EQ(page.figures[0].name, "learning-curves");
  EXPECT_THAT(page.figures[0].figure.script,
              HasSubstr("$curve0 << EOD\n1 3\n2 2.5\nEOD\n"));
  EXPECT_THAT(page.figures[0].figure.script, Not(HasSubstr("curve1")));
  EXPECT_EQ(page.figures[0].figure.source, "job a; again: ordo report a b");
  EXPECT_THAT(Svg(page.figures[0].figure), HasSubstr("training loss"));
  ASSERT_THAT(page.tables, SizeIs(2));
  EXPECT_EQ(page.tables[1].title, "Training");
  EXPECT_THAT(page.tables[1].rows,
              ElementsAre(ElementsAre("a", "2", "2.5", "2.5")));
}

TEST_F(RunsTest, TrainingWithoutEvaluationsHasAPageAllTheSame) {
  Runs runs;
  runs.trained = {{"a", {"a", {}, "ordo report a"}, {{1, 3.0}, {2, 2.5}}}};
  const Page page = MakePage(runs);
  EXPECT_EQ(page.title, "Results of a");
  EXPECT_THAT(page.figures, SizeIs(1));
  ASSERT_THAT(page.tables, SizeIs(1));
  EXPECT_EQ(page.tables[0].title, "Training");
}

TEST_F(RunsTest, ScoresHaveTheErrorsThatTheItemsTell) {
  Runs runs;
  runs.evaluations = {Of(
      "a", "flip_flop",
      InsideFiles{"{}", "", "",
                  "{\"id\":\"x\",\"score\":1}\n{\"id\":\"y\",\"score\":0}\n"})};
  const Page page = MakePage(runs);
  EXPECT_THAT(page.tables[0].rows[0],
              ElementsAre("a", "100", "flip_flop", "flip_flop", "score", "0.5",
                          "0.5", ""));
}

TEST(ReadFilesTest, WithoutAResultThereIsNothing) {
  const Evaluated evaluated = Of("a", "addition_grid", "");
  EXPECT_FALSE(evaluated.grid.has_value());
}

TEST(ReadFilesTest, AGridIsCalledAsItsModelIs) {
  Evaluated evaluated;
  evaluated.metrics = {"a", 7, "long", kGridTask, {}};
  ORDO_ASSERT_OK(ReadFiles({kGrid, "", ""}, &evaluated));
  EXPECT_EQ(evaluated.grid->name, "a");
  EXPECT_EQ(evaluated.grid->step, 7);
}

TEST(ReadFilesTest, ADamagedResultIsAnError) {
  Evaluated evaluated;
  evaluated.metrics.task = "nope";
  EXPECT_FALSE(
      ReadFiles({"{\"shares\": [{\"length\": 1}]}", "", ""}, &evaluated).ok());
}

TEST(FileStemTest, OnlyLettersDigitsAndDashesAreLeft) {
  EXPECT_EQ(FileStem("b at step 5 (x=0.5)"), "b-at-step-5--x-0-5-");
}

}  // namespace
}  // namespace ordo::report::runs
