#include "report/gate/junit.h"

#include <string>
#include <string_view>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "report/gate/testing/accounts.h"

namespace ordo::report::gate {
namespace {

using ::testing::ContainsRegex;
using ::testing::HasSubstr;
using ::testing::Not;
using testing::OneOfEach;

constexpr char kReplacement[] = "\xEF\xBF\xBD";

// The text of the case of one comparison.
std::string CaseOf(const std::string& xml, const std::string& name) {
  const size_t begin = xml.find("name=\"" + name + "\"");
  return xml.substr(begin, xml.find("</testcase>", begin) - begin);
}

int CountOf(const std::string& text, const std::string& part) {
  int count = 0;
  for (size_t at = text.find(part); at != std::string::npos;
       at = text.find(part, at + part.size())) {
    ++count;
  }
  return count;
}

TEST(ToJunitTest, HasACaseForEachComparisonAsItEnded) {
  const std::string xml = ToJunit(OneOfEach(OnInconclusive::kInconclusive));
  EXPECT_THAT(xml, HasSubstr("<testsuite name=\"gate nightly\" tests=\"4\" "
                             "failures=\"1\" errors=\"0\" skipped=\"1\">"));
  EXPECT_EQ(CountOf(xml, "<testcase "), 4);
  EXPECT_EQ(CountOf(xml, "</testcase>"), 4);
  EXPECT_THAT(CaseOf(xml, "sums against the baseline"),
              Not(ContainsRegex("<failure|<skipped")));
  EXPECT_THAT(CaseOf(xml, "sums against the anchor"),
              Not(ContainsRegex("<failure|<skipped")));
  EXPECT_THAT(CaseOf(xml, "lists against the baseline"),
              HasSubstr("<failure type=\"fail\" message=\"fail: it got worse"));
  EXPECT_THAT(CaseOf(xml, "recall against the baseline"),
              HasSubstr("<skipped message=\"inconclusive: "));
}

TEST(ToJunitTest, WhatIsInconclusiveCountsAsWasAsked) {
  const std::string failed = ToJunit(OneOfEach(OnInconclusive::kFail));
  EXPECT_THAT(failed, HasSubstr("failures=\"2\" errors=\"0\" skipped=\"0\""));
  EXPECT_THAT(CaseOf(failed, "recall against the baseline"),
              HasSubstr("<failure type=\"inconclusive\""));
  const std::string passed = ToJunit(OneOfEach(OnInconclusive::kPass));
  EXPECT_THAT(passed, HasSubstr("failures=\"1\" errors=\"0\" skipped=\"0\""));
  // It still says what it was.
  EXPECT_THAT(CaseOf(passed, "recall against the baseline"),
              HasSubstr("<system-out>inconclusive: "));
}

TEST(ToJunitTest, AFailureListsWhatGotWorseAndHowManyMore) {
  const std::string text =
      CaseOf(ToJunit(OneOfEach(OnInconclusive::kInconclusive)),
             "lists against the baseline");
  EXPECT_THAT(text, HasSubstr("i0: 0, was 1&#10;"));
  EXPECT_THAT(text, HasSubstr("reference: right"));
  EXPECT_THAT(text, HasSubstr("20 of 100 items that got worse."));
  EXPECT_THAT(text, HasSubstr("Note: the candidate was evaluated in bf16."));
  EXPECT_THAT(text, HasSubstr("Note: in questions and answers numbers are "
                              "reversed."));
}

TEST(ToJunitTest, TextOfModelsIsNoMarkup) {
  const std::string text =
      CaseOf(ToJunit(OneOfEach(OnInconclusive::kInconclusive)),
             "lists against the baseline");
  EXPECT_THAT(text, HasSubstr("sort: &lt;b&gt;&amp;&quot;x&quot;&lt;/b&gt;"));
  EXPECT_THAT(text, HasSubstr("]]&gt; \xC3\xA9"));
  for (const char c : text) {
    EXPECT_TRUE(c == '\n' || static_cast<unsigned char>(c) >= 0x20);
  }
}

TEST(ToJunitTest, NamesTheCheckpoints) {
  EXPECT_THAT(ToJunit(OneOfEach(OnInconclusive::kInconclusive)),
              HasSubstr("<property name=\"candidate\" "
                        "value=\"jobs/c/checkpoints/200-1 c0ffee\"/>"));
}

TEST(EscapeXmlTest, ReplacesWhatXmlCannotHold) {
  EXPECT_EQ(EscapeXml("a<b>&\"c\""), "a&lt;b&gt;&amp;&quot;c&quot;");
  EXPECT_EQ(EscapeXml("a\tb\nc\rd"), "a&#9;b&#10;c&#13;d");
  EXPECT_EQ(EscapeXml(std::string_view("\0\x1f", 2)),
            std::string(kReplacement) + kReplacement);
  EXPECT_EQ(EscapeXml("\xEF\xBF\xBE|\xEF\xBF\xBF"),
            std::string(kReplacement) + "|" + kReplacement);
  EXPECT_EQ(EscapeXml("\xEF\xBB\xBF\xC3\xA9\xF0\x9F\x99\x82"),
            "\xEF\xBB\xBF\xC3\xA9\xF0\x9F\x99\x82");
}

}  // namespace
}  // namespace ordo::report::gate
