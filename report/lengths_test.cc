#include "report/lengths.h"

#include <cmath>

#include "base/status/details.h"
#include "base/status/testing/status_matchers.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "report/statistics.h"

namespace ordo::report {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;
using ::testing::Pair;

TEST(ParseLengthsTest, SharesOfRightAnswersAreErrors) {
  ORDO_ASSERT_OK_AND_ASSIGN(const Lengths lengths, ParseLengths(R"({
      "task": "nope", "trained_length": 8, "shares": [
      {"length": 8, "exact_match": 0.75, "count": 3, "total": 4},
      {"length": 16, "exact_match": 0.25, "count": 1, "total": 4}]})"));
  EXPECT_EQ(lengths.by, "length");
  EXPECT_EQ(lengths.score, "error");
  EXPECT_EQ(lengths.trained, 8);
  EXPECT_THAT(lengths.values, ElementsAre(Pair(8, 0.25), Pair(16, 0.75)));
}

TEST(ParseLengthsTest, SharesOfErrorsAreAsTheyAre) {
  ORDO_ASSERT_OK_AND_ASSIGN(const Lengths lengths, ParseLengths(R"({"shares": [
      {"distance": 4, "error": 0.125, "count": 1, "total": 8}]})"));
  EXPECT_EQ(lengths.by, "distance");
  EXPECT_EQ(lengths.trained, 0);
  EXPECT_THAT(lengths.values, ElementsAre(Pair(4, 0.125)));
}

// As many independent questions as units, here two of a place in each row.
TEST(ParseLengthsTest, WhatTellsItsErrorHasIntervals) {
  ORDO_ASSERT_OK_AND_ASSIGN(const Lengths shares, ParseLengths(R"({"shares": [
      {"place": 4, "error": 0.5, "count": 5, "total": 10, "units": 5,
       "standard_error": 0.25},
      {"place": 8, "error": 0, "count": 0, "total": 10, "units": 5,
       "standard_error": 0},
      {"place": 16, "error": 1, "count": 1, "total": 1, "units": 1}]})"));
  EXPECT_THAT(shares.values,
              ElementsAre(Pair(4, 0.5), Pair(8, 0), Pair(16, 1)));
  ASSERT_EQ(shares.intervals.size(), 2u);
  // 0.25^2 4 / 5 is the variance of a half of five.
  EXPECT_NEAR(shares.intervals.at(4).low,
              SampledInterval({0.5, 0.25, 5, 5}).low, 1e-12);
  EXPECT_EQ(shares.intervals.at(8).low, 0);
  EXPECT_NEAR(shares.intervals.at(8).high, WilsonInterval(0, 5).high, 1e-12);
  ORDO_ASSERT_OK_AND_ASSIGN(const Lengths several, ParseLengths(R"({
      "by_length": [{"pairs": 16, "error": 0.5, "items": 5, "units": 5,
                     "standard_error": 0.25}]})"));
  EXPECT_EQ(several.by, "pairs");
  EXPECT_NEAR(several.intervals.at(16).low, shares.intervals.at(4).low, 1e-12);
}

TEST(ParseLengthsTest, CellsOfOneLengthShareAnInterval) {
  ORDO_ASSERT_OK_AND_ASSIGN(const Lengths lengths, ParseLengths(R"({"cells": [
      {"depth": "0", "length": 64, "recall": 1, "items": 2, "units": 2,
       "standard_error": 0},
      {"depth": "50", "length": 64, "recall": 0.5, "items": 2, "units": 2,
       "standard_error": 0.5},
      {"depth": "0", "length": 128, "recall": 1, "items": 1, "units": 1},
      {"depth": "50", "length": 128, "recall": 1, "items": 2, "units": 2,
       "standard_error": 0}]})"));
  EXPECT_THAT(lengths.values, ElementsAre(Pair(64, 0.25), Pair(128, 0)));
  ASSERT_EQ(lengths.intervals.size(), 1u);
  EXPECT_NEAR(lengths.intervals.at(64).high,
              SampledInterval({0.25, 0.25, 4, 4}).high, 1e-12);
}

TEST(ParseLengthsTest, SeveralLengthsOfOneEvaluationComeFirst) {
  ORDO_ASSERT_OK_AND_ASSIGN(const Lengths lengths, ParseLengths(R"({
      "trained_length": 16, "shares": [], "by_length": [
      {"pairs": 16, "error": 0.125, "items": 8},
      {"pairs": 32, "error": 0.5, "items": 8},
      {"pairs": 64, "error": null, "items": 8}]})"));
  EXPECT_EQ(lengths.by, "pairs");
  EXPECT_EQ(lengths.score, "error");
  EXPECT_EQ(lengths.trained, 16);
  EXPECT_THAT(lengths.values, ElementsAre(Pair(16, 0.125), Pair(32, 0.5)));
  EXPECT_THAT(lengths.left_out, ElementsAre(64));
}

TEST(ParseLengthsTest, PerplexitiesAreAsTheyAre) {
  ORDO_ASSERT_OK_AND_ASSIGN(const Lengths lengths, ParseLengths(R"({
      "trained_length": 256, "tokenizer": "sp.model", "vocabulary_size": 8000,
      "lengths": [
      {"length": 256, "windows": 4, "perplexity": 20.5},
      {"length": 512, "windows": 2, "perplexity": 80}]})"));
  EXPECT_EQ(lengths.tokenizer, "sp.model with 8000 tokens");
  EXPECT_EQ(lengths.score, "perplexity");
  EXPECT_EQ(lengths.trained, 256);
  EXPECT_THAT(lengths.values, ElementsAre(Pair(256, 20.5), Pair(512, 80)));
}

TEST(ParseLengthsTest, FilesOfTokenizersAreToldApartByTheirDigests) {
  ORDO_ASSERT_OK_AND_ASSIGN(const Lengths file, ParseLengths(R"({
      "tokenizer": "sp.model", "vocabulary_size": 8000,
      "tokenizer_sha256": "0123456789abcdef"})"));
  EXPECT_EQ(file.tokenizer, "sp.model 0123456789ab with 8000 tokens");
  EXPECT_TRUE(file.values.empty());
  ORDO_ASSERT_OK_AND_ASSIGN(const Lengths bytes, ParseLengths(R"({
      "tokenizer": "bytes", "vocabulary_size": 260,
      "tokenizer_sha256": "0123456789abcdef"})"));
  EXPECT_EQ(bytes.tokenizer, "bytes with 260 tokens");
}

TEST(ParseLengthsTest, EachLengthHasItsItems) {
  ORDO_ASSERT_OK_AND_ASSIGN(const Lengths several, ParseLengths(R"({
      "by_length": [{"digits": 16, "error": 0.5, "items": 200},
                    {"digits": 32, "error": 0.5}]})"));
  EXPECT_THAT(several.num_items, ElementsAre(Pair(16, 200)));
  ORDO_ASSERT_OK_AND_ASSIGN(const Lengths windows, ParseLengths(R"({
      "lengths": [{"length": 8, "windows": 4, "perplexity": 2}]})"));
  EXPECT_THAT(windows.num_items, ElementsAre(Pair(8, 4)));
}

TEST(InBitsPerByteTest, HasThemAtAllLengthsOrNone) {
  ORDO_ASSERT_OK_AND_ASSIGN(const Lengths lengths, ParseLengths(R"({"lengths": [
      {"length": 8, "perplexity": 20, "perplexity_standard_error": 1,
       "bits_per_byte": 3.5, "bits_per_byte_standard_error": 0.25},
      {"length": 16, "perplexity": 30, "bits_per_byte": 4}]})"));
  const Lengths by_byte = InBitsPerByte(lengths);
  EXPECT_EQ(by_byte.score, "bits_per_byte");
  EXPECT_THAT(by_byte.values, ElementsAre(Pair(8, 3.5), Pair(16, 4)));
  ASSERT_EQ(by_byte.intervals.size(), 1u);
  EXPECT_NEAR(by_byte.intervals.at(8).low, 3.5 - kNormal95 * 0.25, 1e-12);
  EXPECT_NEAR(by_byte.intervals.at(8).high, 3.5 + kNormal95 * 0.25, 1e-12);
  Lengths lacking = lengths;
  lacking.bits_per_byte.erase(16);
  EXPECT_TRUE(InBitsPerByte(lacking).values.empty());
}

TEST(ParseLengthsTest, ALengthWithoutAFiniteScoreIsLeftOut) {
  ORDO_ASSERT_OK_AND_ASSIGN(const Lengths perplexities, ParseLengths(R"({
      "lengths": [{"length": 256, "perplexity": 20.5},
                  {"length": 512, "perplexity": null}]})"));
  EXPECT_THAT(perplexities.values, ElementsAre(Pair(256, 20.5)));
  EXPECT_THAT(perplexities.left_out, ElementsAre(512));
  EXPECT_TRUE(perplexities.intervals.empty());
  ORDO_ASSERT_OK_AND_ASSIGN(const Lengths with_errors, ParseLengths(R"({
      "lengths": [{"length": 256, "perplexity": 20,
                   "perplexity_standard_error": 2}]})"));
  const Share& interval = with_errors.intervals.at(256);
  EXPECT_EQ(interval.value, 20);
  EXPECT_NEAR(interval.low, 20 / std::exp(kNormal95 * 0.1), 1e-12);
  EXPECT_NEAR(interval.high, 20 * std::exp(kNormal95 * 0.1), 1e-12);
  ORDO_ASSERT_OK_AND_ASSIGN(const Lengths shares, ParseLengths(R"({"shares": [
      {"distance": 4, "error": 0.125, "count": 1, "total": 8},
      {"distance": 8, "error": null, "count": 0, "total": 0}]})"));
  EXPECT_THAT(shares.values, ElementsAre(Pair(4, 0.125)));
  EXPECT_THAT(shares.left_out, ElementsAre(8));
}

TEST(ParseLengthsTest, OfTwoOperandsThoseOfEqualLengthCount) {
  ORDO_ASSERT_OK_AND_ASSIGN(const Lengths addition, ParseLengths(R"({
      "max_digits": 2, "trained_digits": 1, "samples": 4,
      "cells": [[1, 0.5], [0.5, 0.25]]})"));
  EXPECT_EQ(addition.by, "digits");
  EXPECT_EQ(addition.trained, 1);
  EXPECT_THAT(addition.values, ElementsAre(Pair(1, 0), Pair(2, 0.75)));
  EXPECT_EQ(addition.intervals.at(1).high, WilsonInterval(0, 4).high);
  EXPECT_EQ(addition.intervals.at(2).low, WilsonInterval(3, 4).low);
  ORDO_ASSERT_OK_AND_ASSIGN(const Lengths sorting, ParseLengths(R"({
      "max_digits": 2, "trained_digits": 2, "max_numbers": 1,
      "trained_numbers": 1, "cells": [[0.5], [0.25]]})"));
  EXPECT_EQ(sorting.by, "digits and numbers");
  EXPECT_EQ(sorting.trained, 1);
  EXPECT_THAT(sorting.values, ElementsAre(Pair(1, 0.5)));
}

TEST(ParseLengthsTest, RecallIsTheMeanOverItems) {
  ORDO_ASSERT_OK_AND_ASSIGN(const Lengths lengths, ParseLengths(R"({
      "trained_length": 64, "cells": [
      {"depth": "0", "length": 64, "recall": 1, "items": 3},
      {"depth": "50", "length": 64, "recall": 0, "items": 1},
      {"depth": "50", "length": 128, "recall": 0, "items": 0}]})"));
  EXPECT_THAT(lengths.values, ElementsAre(Pair(64, 0.25)));
}

TEST(ParseLengthsTest, WhatScoresNoLengthsApartHasNone) {
  ORDO_ASSERT_OK_AND_ASSIGN(const Lengths lengths,
                            ParseLengths(R"({"metrics": {"error": 0.5}})"));
  EXPECT_THAT(lengths.values, IsEmpty());
}

TEST(ParseLengthsTest, WhatIsNotWholeIsRefusedByName) {
  const auto field_of = [](const char* json) {
    const auto violations = base::FieldViolations(ParseLengths(json).status());
    return violations.empty() ? "" : violations.front().field;
  };
  EXPECT_EQ(field_of(R"({"shares": [{"length": 8, "count": 1}]})"),
            "shares[0]");
  EXPECT_EQ(field_of(R"({"shares": [{"length": 0.5, "error": 0, "count": 0,
                                     "total": 1}]})"),
            "shares[0].length");
  EXPECT_EQ(field_of(R"({"shares": [{"length": 8, "error": 0, "count": 0,
                          "total": 1, "units": 2, "standard_error": 0}]})"),
            "shares[0]");
  EXPECT_EQ(field_of(R"({"lengths": [{"length": 8, "perplexity": "x"}]})"),
            "lengths[0].perplexity");
  EXPECT_EQ(field_of(R"({"cells": [[1, 2], ["x", "y"]], "max_digits": 2})"),
            "cells[1][1]");
}

}  // namespace
}  // namespace ordo::report
