#include "base/yaml/message_reader.h"

#include <string>
#include <vector>

#include "base/status/testing/status_matchers.h"
#include "base/yaml/sample.pb.h"
#include "base/yaml/yaml_node.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace ordo::base {
namespace {

using ::ordo::base::sample::Sample;
using ::testing::ElementsAre;
using ::testing::IsEmpty;
using ::testing::SizeIs;

// Reads a text that is valid YAML; gives what is wrong with it as "field: why".
std::vector<std::string> Read(std::string_view text, Sample* sample) {
  const auto documents = ParseYaml(text);
  EXPECT_TRUE(documents.ok()) << documents.status();
  MessageReader reader;
  reader.ReadMessage(documents->at(0), sample);
  std::vector<std::string> wrong;
  for (const FieldViolation& violation : reader.violations()) {
    wrong.push_back(violation.field + ": " + violation.description);
  }
  return wrong;
}

std::vector<std::string> Violations(std::string_view text) {
  Sample sample;
  return Read(text, &sample);
}

TEST(MessageReaderTest, ReadsEverySortOfField) {
  Sample sample;
  EXPECT_THAT(Read("name: 123\n"
                   "kind: train\n"
                   "training: {steps: 1e3, learningRate: 1e-3, exact: true}\n"
                   "more: [{steps: 1}, {}]\n"
                   "labels: {team: a}\n"
                   "by_rank: {3: {steps: 4}}\n"
                   "timeout: 90s\n"
                   "create_time: 2026-11-20T21:30:00Z\n"
                   "sizes: [1, 2]\n"
                   "words: [a, 'b c']\n"
                   "every_steps: \"18446744073709551615\"\n"
                   "data: aGk=\n"
                   "ratio: 0.5\n"
                   "port: 7420\n"
                   "kinds: [EVALUATE, kind_train]\n"
                   "flags: [true, false]\n"
                   "inner: {name: b}\n",
                   &sample),
              IsEmpty());
  EXPECT_EQ(sample.name(), "123");
  EXPECT_EQ(sample.kind(), Sample::KIND_TRAIN);
  EXPECT_EQ(sample.training().steps(), 1000);
  EXPECT_EQ(sample.training().learning_rate(), 1e-3);
  EXPECT_TRUE(sample.training().exact());
  EXPECT_EQ(sample.more_size(), 2);
  EXPECT_EQ(sample.labels().at("team"), "a");
  EXPECT_EQ(sample.by_rank().at(3).steps(), 4);
  EXPECT_EQ(sample.timeout().seconds(), 90);
  EXPECT_EQ(sample.create_time().seconds(), 1795210200);
  EXPECT_THAT(sample.sizes(), ElementsAre(1, 2));
  EXPECT_THAT(sample.words(), ElementsAre("a", "b c"));
  EXPECT_EQ(sample.every_steps(), ~uint64_t{0});
  EXPECT_EQ(sample.data(), "hi");
  EXPECT_EQ(sample.ratio(), 0.5F);
  EXPECT_EQ(sample.port(), 7420u);
  EXPECT_THAT(sample.kinds(),
              ElementsAre(Sample::EVALUATE, Sample::KIND_TRAIN));
  EXPECT_THAT(sample.flags(), ElementsAre(true, false));
  EXPECT_EQ(sample.inner().name(), "b");
}

TEST(MessageReaderTest, ReadsValuesByTheirForm) {
  Sample sample;
  EXPECT_THAT(Read("params: {a: 1e3, b: '1', c: true, d: word, e: [1, x], "
                   "f: {g: 2}, h: null}\n"
                   "extra: {a: 1}\n"
                   "list: [1, b]\n",
                   &sample),
              IsEmpty());
  const auto& params = sample.params();
  EXPECT_EQ(params.at("a").number_value(), 1000);
  EXPECT_EQ(params.at("b").string_value(), "1");
  EXPECT_TRUE(params.at("c").bool_value());
  EXPECT_EQ(params.at("d").string_value(), "word");
  EXPECT_EQ(params.at("e").list_value().values_size(), 2);
  EXPECT_EQ(params.at("f").struct_value().fields().at("g").number_value(), 2);
  EXPECT_TRUE(params.at("h").has_null_value());
  EXPECT_EQ(sample.extra().fields().at("a").number_value(), 1);
  EXPECT_EQ(sample.list().values(1).string_value(), "b");
}

TEST(MessageReaderTest, NothingAfterANameLeavesTheFieldUnset) {
  Sample sample;
  EXPECT_THAT(Read("name:\ntraining:\nmore:\nlabels:\n", &sample), IsEmpty());
  EXPECT_FALSE(sample.has_training());
}

TEST(MessageReaderTest, NamesUnknownFieldsWithPathLineAndNearestName) {
  EXPECT_THAT(
      Violations("traning: {}\nmore:\n  - {steps: 1}\n  - {stepz: 1}\n"),
      ElementsAre("traning: is no field of Sample; did you mean 'training'? "
                  "(line 1)",
                  "more[1].stepz: is no field of Recipe; did you mean "
                  "'steps'? (line 4)"));
}

TEST(MessageReaderTest, NamesWrongTypes) {
  EXPECT_THAT(
      Violations("name: [a]\n"
                 "training: 5\n"
                 "more: {}\n"
                 "labels: [a]\n"
                 "timeout: 30\n"
                 "sizes: [1, x, {}]\n"
                 "port: -1\n"
                 "data: '%'\n"),
      ElementsAre(
          "name: must be a single value, not a list (line 1)",
          "training: must be Recipe, written as a map of its fields, not a "
          "single value (line 2)",
          "more: must be a list, not a map (line 3)",
          "labels: must be a map, not a list (line 4)",
          "timeout: must be a duration such as 30s, 1h30m or 2d, not '30' "
          "(line 5)",
          "sizes[1]: must be a whole number, not 'x' (line 6)",
          "sizes[2]: must be a single value, not a map (line 6)",
          "port: must be between 0 and 4294967295, not '-1' (line 7)",
          "data: must be base64 (line 8)"));
}

TEST(MessageReaderTest, NamesTheFormOfWhatWasMeant) {
  EXPECT_THAT(
      Violations("inner: rope\nwith: [{name: a, with: [b]}]\n"),
      ElementsAre(
          "inner: must be Sample, written as a map of its fields, not a "
          "single value; write {name: rope} (line 1)",
          "with[0].with[0]: must be Sample, written as a map of its "
          "fields, not a single value; write {name: b} (line 2)"));
  EXPECT_THAT(
      Violations("inner: [rope, none]\n"),
      ElementsAre(
          "inner: must be Sample, written as a map of its fields, not a "
          "list; write {name: ..., with: [{name: rope}, {name: none}]}, "
          "by the name of what combines them (line 1)"));
}

TEST(MessageReaderTest, NamesWrongTypesOfWellKnownMessages) {
  EXPECT_THAT(Violations("timeout: {seconds: 3}\nlist: 3\nextra: 4\n"),
              ElementsAre("timeout: must be Duration, written as a text such "
                          "as 30s, not a map (line 1)",
                          "list: must be ListValue, written as a list, not a "
                          "single value (line 2)",
                          "extra: must be Struct, written as a map of its "
                          "fields, not a single value (line 3)"));
}

TEST(MessageReaderTest, NamesBadKeysOfMaps) {
  EXPECT_THAT(Violations("by_rank: {x: {}}\n"),
              ElementsAre("by_rank.x: must be a whole number, not 'x' "
                          "(line 1)"));
}

TEST(MessageReaderTest, OffersTheNamesOfAnEnum) {
  EXPECT_THAT(Violations("kind: trian\n"),
              ElementsAre("kind: has no value 'trian'; did you mean 'train'? "
                          "(line 1)"));
  EXPECT_THAT(Violations("kind: 1\n"),
              ElementsAre("kind: has no value '1'; valid: train, evaluate "
                          "(line 1)"));
}

TEST(MessageReaderTest, RefusesAFieldUnderBothItsNames) {
  EXPECT_THAT(Violations("by_rank: {}\nbyRank: {}\n"),
              ElementsAre("by_rank: is there twice (line 2)"));
}

TEST(MessageReaderTest, RefusesTwoFieldsOfWhichOnlyOneMayBeSet) {
  EXPECT_THAT(Violations("at_end: true\nevery_steps: 3\n"),
              ElementsAre("every_steps: excludes another field of 'when' that "
                          "is set too; keep one (line 2)"));
}

TEST(MessageReaderTest, ReadsOnAfterABadField) {
  Sample sample;
  EXPECT_THAT(Read("stepz: 1\n"
                   "training: {steps: x, exact: true}\n"
                   "sizes: [x, 2]\n"
                   "words: [{}, b]\n"
                   "kinds: [trian, train]\n"
                   "flags: [1, true]\n"
                   "more: [3, {steps: 4}]\n"
                   "labels: {a: [], b: c}\n"
                   "port: 5\n",
                   &sample),
              SizeIs(8));
  EXPECT_FALSE(sample.training().has_steps());
  EXPECT_TRUE(sample.training().exact());
  // What could not be read keeps its place.
  EXPECT_THAT(sample.sizes(), ElementsAre(0, 2));
  EXPECT_THAT(sample.words(), ElementsAre("", "b"));
  EXPECT_THAT(sample.kinds(),
              ElementsAre(Sample::KIND_UNSPECIFIED, Sample::KIND_TRAIN));
  EXPECT_THAT(sample.flags(), ElementsAre(false, true));
  ASSERT_EQ(sample.more_size(), 2);
  EXPECT_EQ(sample.more(1).steps(), 4);
  EXPECT_EQ(sample.labels().at("b"), "c");
  EXPECT_EQ(sample.port(), 5u);
}

TEST(MessageReaderTest, NamesAFieldByOnePathInBothSpellings) {
  EXPECT_THAT(Violations("training: {learningRate: x}\n"),
              ElementsAre("training.learning_rate: must be a number, not 'x' "
                          "(line 1)"));
}

}  // namespace
}  // namespace ordo::base
