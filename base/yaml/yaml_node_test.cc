#include "base/yaml/yaml_node.h"

#include <string>

#include "base/status/details.h"
#include "base/status/testing/status_matchers.h"
#include "base/yaml/limits.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace ordo::base {
namespace {

using ::ordo::base::testing::StatusIs;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::SizeIs;

auto IsInvalid(const std::string& what) {
  return StatusIs(absl::StatusCode::kInvalidArgument, HasSubstr(what));
}

// The text printed again, of a text with one document.
std::string Reprint(std::string_view text) {
  const auto documents = ParseYaml(text);
  if (!documents.ok()) return documents.status().ToString();
  if (documents->size() != 1) return "not one document";
  return PrintYaml(documents->front());
}

TEST(ParseYamlTest, KeepsOrderLinesAndQuotes) {
  ORDO_ASSERT_OK_AND_ASSIGN(const auto documents,
                            ParseYaml("b: 1\na:\n  - '1'\n  -\n"));
  ASSERT_THAT(documents, SizeIs(1));
  const YamlNode& map = documents[0];
  EXPECT_THAT(map.keys, ElementsAre("b", "a"));
  EXPECT_EQ(map.items[0].text, "1");
  EXPECT_FALSE(map.items[0].quoted);
  const YamlNode& list = map.items[1];
  ASSERT_THAT(list.items, SizeIs(2));
  EXPECT_TRUE(list.items[0].quoted);
  EXPECT_EQ(list.items[0].line, 3);
  EXPECT_EQ(list.items[1].kind, YamlNode::Kind::kNull);
}

TEST(ParseYamlTest, ReadsJson) {
  EXPECT_EQ(Reprint(R"({"a":1,"b":[true,null,"x\"\/é\u00e9"],
	"c":{},"d":[],"e":"https://x"})"),
            "a: 1\nb:\n  - true\n  - null\n  - \"x\\\"/éé\"\nc: {}\nd: []\n"
            "e: \"https://x\"\n");
}

TEST(ParseYamlTest, GivesEachDocumentAndSkipsEmptyOnes) {
  ORDO_ASSERT_OK_AND_ASSIGN(const auto documents,
                            ParseYaml("---\na: 1\n---\n---\nb: 2\n"));
  EXPECT_THAT(documents, SizeIs(2));
  ORDO_ASSERT_OK_AND_ASSIGN(const auto none, ParseYaml(""));
  EXPECT_THAT(none, IsEmpty());
}

TEST(ParseYamlTest, WhatBeginsNothingEndsTheReading) {
  for (const char* text :
       {", a: 1}\nb: {c: 1}\n", ", a: 1\n", "}\n", "]", "a: 1\n---\n]\n"}) {
    EXPECT_THAT(ParseYaml(text), IsInvalid("bad syntax")) << text;
  }
}

TEST(ParseYamlTest, NamesTheLineOfBadSyntax) {
  EXPECT_THAT(ParseYaml("a: 1\nb: [1,\n"), IsInvalid("bad syntax"));
  EXPECT_THAT(ParseYaml("a: 1\n b: 2: 3\n"), IsInvalid("(line 2, column"));
  EXPECT_THAT(ParseYaml("{\"a\": 1"), IsInvalid("bad syntax"));
}

TEST(ParseYamlTest, RefusesEveryRepeatedKey) {
  const auto documents = ParseYaml("a: 1\nb: 2\na: 3\nb: 4\n");
  EXPECT_THAT(documents, IsInvalid("'a' is there twice (line 3)"));
  EXPECT_THAT(FieldViolations(documents.status()), SizeIs(2));
}

TEST(ParseYamlTest, RefusesAnchorsAliasesAndTags) {
  EXPECT_THAT(ParseYaml("a: &x 1\nb: *x\n"), IsInvalid("aliases"));
  EXPECT_THAT(ParseYaml("a: &x [1]\n"), IsInvalid("anchors"));
  EXPECT_THAT(ParseYaml("a: !!int 1\n"), IsInvalid("tags"));
}

TEST(ParseYamlTest, RefusesKeysThatAreNoWords) {
  EXPECT_THAT(ParseYaml("? [1, 2]\n: 3\n"), IsInvalid("a key must be"));
}

TEST(ParseYamlTest, RefusesDeepNesting) {
  const auto nested = [](int depth) {
    return std::string(depth, '[') + std::string(depth, ']');
  };
  ORDO_EXPECT_OK(ParseYaml(nested(kMaxTextDepth)));
  EXPECT_THAT(ParseYaml(nested(kMaxTextDepth + 1)), IsInvalid("deeper"));
  EXPECT_THAT(ParseYaml(nested(100'000)), IsInvalid(""));
}

TEST(ParseYamlTest, RefusesALongText) {
  ORDO_EXPECT_OK(ParseYaml(std::string(kMaxTextBytes, '\n')));
  EXPECT_THAT(ParseYaml(std::string(kMaxTextBytes + 1, '\n')),
              IsInvalid("1048577 bytes"));
}

TEST(PrintYamlTest, IndentsListsAndMaps) {
  const std::string text =
      "a:\n"
      "  b: 1\n"
      "  c:\n"
      "    - x: 1\n"
      "      z:\n"
      "        - 2\n"
      "    - - 3\n"
      "      - 4\n"
      "d: null\n";
  EXPECT_EQ(Reprint(text), text);
}

TEST(PrintYamlTest, QuotesTextsThatYamlReadsAsSomethingElse) {
  for (const char* word : {"true", "No", "null", "1", "1e3", "", "a: b", "- a",
                           "a #b", "*a", "a\nb", ".5", "~", "2026-11-20"}) {
    YamlNode node;
    node.kind = YamlNode::Kind::kScalar;
    node.text = word;
    node.quoted = true;
    EXPECT_EQ(PrintYaml(node)[0], '"') << word;
    ORDO_ASSERT_OK_AND_ASSIGN(const auto documents, ParseYaml(PrintYaml(node)));
    EXPECT_EQ(documents[0].text, word);
  }
}

TEST(PrintJsonTest, IsOneLineThatIsReadBack) {
  ORDO_ASSERT_OK_AND_ASSIGN(
      const auto documents,
      ParseYaml("a: 1\n\"b\\t\\\"\":\n  - 'x\ny'\n  - {}\n  - []\n  - null\n"));
  const std::string json = PrintJson(documents[0]);
  EXPECT_EQ(json, R"({"a":1,"b\t\"":["x y",{},[],null]})");
  ORDO_ASSERT_OK_AND_ASSIGN(const auto again, ParseYaml(json));
  EXPECT_EQ(PrintJson(again[0]), json);
}

}  // namespace
}  // namespace ordo::base
