#include "report/metrics.h"

#include <map>
#include <string>

#include "base/status/details.h"
#include "base/status/testing/status_matchers.h"
#include "gtest/gtest.h"

namespace ordo::report {
namespace {

std::vector<Metrics> Two() {
  return {{"b at step 5 under yarn (factor=4, base=2)",
           5,
           "long",
           "ruoss",
           {{"score", 0.25}, {"trained_mean", 1}},
           {{"score", 0.0625}}},
          {"a|b", 7, "flip_flop", "flip_flop", {{"error", 1e-7}}}};
}

TEST(MetricsTest, CsvHasALineForEachMetricAndQuotesWhatHasCommas) {
  EXPECT_EQ(
      ToCsv(MetricsTable(Two())),
      "model,step,evaluation,task,metric,value,standard error\r\n"
      "\"b at step 5 under yarn (factor=4, base=2)\",5,long,ruoss,score,0.25,"
      "0.0625\r\n"
      "\"b at step 5 under yarn (factor=4, base=2)\",5,long,ruoss,"
      "trained_mean,1,\r\n"
      "a|b,7,flip_flop,flip_flop,error,1e-07,\r\n");
  EXPECT_EQ(ToCsv(MetricsTable({{"say \"a\"", 1, "e", "t", {{"m", 2}}}})),
            "model,step,evaluation,task,metric,value,standard error\r\n"
            "\"say \"\"a\"\"\",1,e,t,m,2,\r\n");
}

TEST(MetricsTest, MarkdownHasTheSameAndNoCellOfTwo) {
  EXPECT_EQ(ToMarkdown(MetricsTable(Two())),
            "| model | step | evaluation | task | metric | value | standard "
            "error |\n"
            "| --- | --- | --- | --- | --- | ---: | ---: |\n"
            "| b at step 5 under yarn (factor=4, base=2) | 5 | long | ruoss | "
            "score | 0.25 | 0.0625 |\n"
            "| b at step 5 under yarn (factor=4, base=2) | 5 | long | ruoss | "
            "trained_mean | 1 |  |\n"
            "| a\\|b | 7 | flip_flop | flip_flop | error | 1e-07 |  |\n\n");
}

TEST(ScoreTableTest, ValuesHaveTheDigitsOfTheirErrorsAndTheirItems) {
  Metrics metrics = {"a",
                     5,
                     "sums",
                     "ruoss",
                     {{"a", 0.340906058},
                      {"b", 1234567},
                      {"c", 0.123456789},
                      {"d", 12345.678},
                      {"e", 0}},
                     {{"a", 0.0098912}, {"d", 4321}, {"e", 0}}};
  EXPECT_EQ(ScoreTable({metrics}).note, "");
  metrics.sampled["a"] = {200, 600};
  EXPECT_EQ(ScoreTable({metrics}).note, kAboutItems);
  EXPECT_EQ(ToCsv(ScoreTable({metrics})),
            "model,step,evaluation,task,metric,value,standard error,items\r\n"
            "a,5,sums,ruoss,a,0.34091,0.00989,600\r\n"
            "a,5,sums,ruoss,b,1234567,,\r\n"
            "a,5,sums,ruoss,c,0.123457,,\r\n"
            "a,5,sums,ruoss,d,12346,4.32e+03,\r\n"
            "a,5,sums,ruoss,e,0,0,\r\n");
}

TEST(MetricsTest, WhereThereIsATokenizerItStandsBehindTheNumbers) {
  std::vector<Metrics> all = Two();
  all[1].tokenizer = "bytes with 260 tokens";
  const Table table = MetricsTable(all);
  EXPECT_EQ(table.header.back(), "tokenizer");
  EXPECT_EQ(table.rows.front().back(), "");
  EXPECT_EQ(table.rows.back().back(), "bytes with 260 tokens");
  EXPECT_EQ(table.rows.front().size(), table.header.size());
}

TEST(StandsBeforeTest, NumbersInNamesCountByTheirSize) {
  EXPECT_TRUE(StandsBefore("error", "error_16"));
  EXPECT_TRUE(StandsBefore("error_16", "error_100"));
  EXPECT_FALSE(StandsBefore("error_100", "error_16"));
  EXPECT_TRUE(StandsBefore("error_100", "error_longer"));
  EXPECT_FALSE(StandsBefore("error_longer", "error_100"));
  EXPECT_TRUE(StandsBefore("a_2_b_10", "a_10_b_2"));
  EXPECT_FALSE(StandsBefore("a_2", "a_2"));
  EXPECT_TRUE(StandsBefore("a_02", "a_2"));
  EXPECT_FALSE(StandsBefore("a_2", "a_02"));
  EXPECT_TRUE(StandsBefore("9", "a"));
}

TEST(MetricsTest, RowsStandByTheNumbersInTheirNames) {
  const Table table = MetricsTable(
      {{"a", 1, "e", "t", {{"e_128", 1}, {"e_256", 2}, {"e_64", 3}}}});
  ASSERT_EQ(table.rows.size(), 3u);
  EXPECT_EQ(table.rows[0][4], "e_64");
  EXPECT_EQ(table.rows[1][4], "e_128");
  EXPECT_EQ(table.rows[2][4], "e_256");
}

TEST(WithoutCopiesTest, TextSaysEachNumberOnceWithItsLength) {
  const Metrics all = {"a",
                       5,
                       "text",
                       "text",
                       {{"perplexity", 2.5},
                        {"perplexity_128", 2.5},
                        {"perplexity_256", 3},
                        {"perplexity_x", 3},
                        {"word_perplexity", 9}}};
  EXPECT_EQ(WithoutCopies(all).values,
            (std::map<std::string, double>{{"perplexity_128", 2.5},
                                           {"perplexity_256", 3},
                                           {"perplexity_x", 3},
                                           {"word_perplexity", 9}}));
  // What other tasks score alike says different things.
  Metrics sums = {"a", 5, "sums", "ruoss", {{"score", 1}, {"score_16", 1}}};
  EXPECT_EQ(WithoutCopies(sums).values, sums.values);
}

TEST(ParseStandardErrorsTest, ReadsThoseOfTheResult) {
  ORDO_ASSERT_OK_AND_ASSIGN(const auto errors,
                            ParseStandardErrors(R"({"metrics": {"error": 0.5},
                             "standard_errors": {"error": 0.125}})"));
  EXPECT_EQ(errors, (std::map<std::string, double>{{"error", 0.125}}));
  ORDO_ASSERT_OK_AND_ASSIGN(const auto none, ParseStandardErrors("{}"));
  EXPECT_TRUE(none.empty());
  const auto wrong =
      ParseStandardErrors(R"({"standard_errors": {"error": "x"}})");
  ASSERT_EQ(base::FieldViolations(wrong.status()).size(), 1u);
  EXPECT_EQ(base::FieldViolations(wrong.status())[0].field,
            "standard_errors.error");
}

TEST(ParseNumItemsTest, ReadsThatOfTheResult) {
  EXPECT_EQ(ParseNumItems(R"({"items": 2000})").value(), 2000);
  EXPECT_EQ(ParseNumItems("{}").value(), 0);
  EXPECT_EQ(
      base::FieldViolations(ParseNumItems(R"({"items": 0.5})").status()).size(),
      1u);
}

TEST(ParseSampledTest, ReadsThoseOfTheResult) {
  ORDO_ASSERT_OK_AND_ASSIGN(
      const auto sizes,
      ParseSampled(R"({"sampled": {"error": {"units": 20, "items": 80}}})"));
  ASSERT_EQ(sizes.count("error"), 1u);
  EXPECT_EQ(sizes.at("error").units, 20);
  EXPECT_EQ(sizes.at("error").items, 80);
  ORDO_ASSERT_OK_AND_ASSIGN(const auto none, ParseSampled("{}"));
  EXPECT_TRUE(none.empty());
  const auto wrong =
      ParseSampled(R"({"sampled": {"error": {"units": 20, "items": 8}}})");
  ASSERT_EQ(base::FieldViolations(wrong.status()).size(), 1u);
  EXPECT_EQ(base::FieldViolations(wrong.status())[0].field, "sampled.error");
}

}  // namespace
}  // namespace ordo::report
