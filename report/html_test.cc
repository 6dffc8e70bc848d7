#include "report/html.h"

#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace ordo::report {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

TEST(HtmlTest, WhatIsMarkupIsEscaped) {
  EXPECT_EQ(EscapeHtml("<a href=\"x\">&'"),
            "&lt;a href=&quot;x&quot;&gt;&amp;&#39;");
}

TEST(HtmlTest, TheHeadNeedsNothingFromElsewhere) {
  const std::string head = HtmlHead("a < b", "2026-11-20");
  EXPECT_THAT(head, HasSubstr("<title>a &lt; b</title>"));
  EXPECT_THAT(head, HasSubstr("<h1>a &lt; b</h1>"));
  EXPECT_THAT(head, HasSubstr("prefers-color-scheme: dark"));
  EXPECT_THAT(head, Not(HasSubstr("http")));
}

TEST(InlineSvgTest, IdsAndReferencesHaveThePrefix) {
  EXPECT_EQ(InlineSvg("<?xml?>\n<svg><g id='a'/><use href='#a'/>"
                      "<g id=\"b\" clip-path=\"url(#a)\"/></svg>",
                      "x-"),
            "<svg><g id='x-a'/><use href='#x-a'/>"
            "<g id=\"x-b\" clip-path=\"url(#x-a)\"/></svg>");
}

TEST(InlineSvgTest, WithoutASvgThereIsNothing) {
  EXPECT_EQ(InlineSvg("gnuplot failed", "a-"), "");
}

}  // namespace
}  // namespace ordo::report
