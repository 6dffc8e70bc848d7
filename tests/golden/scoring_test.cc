// Scores of text answers against public implementations: see
// tools/golden/scoring.py, which made the file.

#include <string>
#include <vector>

#include "base/files/file_util.h"
#include "base/files/files.h"
#include "base/status/testing/status_matchers.h"
#include "gtest/gtest.h"
#include "model/text/scoring/matches.h"
#include "model/text/scoring/rouge.h"
#include "nlohmann/json.hpp"

namespace ordo::tests::golden {
namespace {

namespace scoring = model::text::scoring;

TEST(GoldenScoringTest, ScoresEqualThoseOfPublicImplementations) {
  base::PosixFilesystem files;
  ORDO_ASSERT_OK_AND_ASSIGN(
      const std::string text,
      base::ReadFile(files, "tests/golden/scoring/cases.json",
                     /*max_bytes=*/1 << 20));
  const auto golden = nlohmann::json::parse(text, nullptr, false);
  ASSERT_FALSE(golden.is_discarded());
  EXPECT_GE(golden["cases"].size(), 20u);
  for (const auto& one : golden["cases"]) {
    const auto prediction = one["prediction"].get<std::string>();
    SCOPED_TRACE(prediction);
    const auto references = one["references"].get<std::vector<std::string>>();
    const auto expected = [&](const char* name) {
      return one["scores"][name].get<double>();
    };
    const scoring::Rouge rouge = scoring::BestRouge(prediction, references);
    EXPECT_NEAR(rouge.rouge1, expected("rouge1"), 1e-12);
    EXPECT_NEAR(rouge.rouge2, expected("rouge2"), 1e-12);
    EXPECT_NEAR(rouge.rouge_l, expected("rougeL"), 1e-12);
    EXPECT_NEAR(rouge.rouge_lsum, expected("rougeLsum"), 1e-12);
    EXPECT_EQ(scoring::IsExactMatch(prediction, references) ? 1 : 0,
              expected("exact_match"));
    EXPECT_NEAR(scoring::WordF1(prediction, references), expected("f1"), 1e-12);
  }
}

}  // namespace
}  // namespace ordo::tests::golden
