#include "report/metrics.h"

#include "gtest/gtest.h"

namespace ordo::report {
namespace {

std::vector<Metrics> Two() {
  return {{"b at step 5 under yarn (factor=4, base=2)",
           5,
           "long",
           "ruoss",
           {{"score", 0.25}, {"trained_mean", 1}}},
          {"a|b", 7, "flip_flop", "flip_flop", {{"error", 1e-7}}}};
}

TEST(MetricsTest, CsvHasALineForEachMetricAndQuotesWhatHasCommas) {
  EXPECT_EQ(
      ToCsv(MetricsTable(Two())),
      "model,step,evaluation,task,metric,value\r\n"
      "\"b at step 5 under yarn (factor=4, base=2)\",5,long,ruoss,score,0.25"
      "\r\n"
      "\"b at step 5 under yarn (factor=4, base=2)\",5,long,ruoss,"
      "trained_mean,1\r\n"
      "a|b,7,flip_flop,flip_flop,error,1e-07\r\n");
  EXPECT_EQ(ToCsv(MetricsTable({{"say \"a\"", 1, "e", "t", {{"m", 2}}}})),
            "model,step,evaluation,task,metric,value\r\n"
            "\"say \"\"a\"\"\",1,e,t,m,2\r\n");
}

TEST(MetricsTest, MarkdownHasTheSameAndNoCellOfTwo) {
  EXPECT_EQ(ToMarkdown(MetricsTable(Two())),
            "| model | step | evaluation | task | metric | value |\n"
            "| --- | --- | --- | --- | --- | ---: |\n"
            "| b at step 5 under yarn (factor=4, base=2) | 5 | long | ruoss | "
            "score | 0.25 |\n"
            "| b at step 5 under yarn (factor=4, base=2) | 5 | long | ruoss | "
            "trained_mean | 1 |\n"
            "| a\\|b | 7 | flip_flop | flip_flop | error | 1e-07 |\n\n");
}

}  // namespace
}  // namespace ordo::report
