#include "base/yaml/text_form.h"

#include <cmath>
#include <string>

#include "base/status/details.h"
#include "base/status/testing/status_matchers.h"
#include "base/yaml/limits.h"
#include "base/yaml/sample.pb.h"
#include "gmock/gmock.h"
#include "google/protobuf/util/message_differencer.h"
#include "gtest/gtest.h"

namespace ordo::base {
namespace {

using ::ordo::base::sample::Sample;
using ::ordo::base::testing::IsOkAndHolds;
using ::ordo::base::testing::StatusIs;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::SizeIs;

auto IsInvalid(const std::string& what) {
  return StatusIs(absl::StatusCode::kInvalidArgument, HasSubstr(what));
}

// A sample with every field set, texts that need care among them.
Sample FullSample() {
  Sample sample;
  sample.set_name("true: \"a\"\n\t#\\é");
  sample.set_kind(Sample::EVALUATE);
  sample.mutable_training()->set_steps(-9223372036854775807);
  sample.mutable_training()->set_learning_rate(1.0 / 3);
  sample.add_more()->set_exact(true);
  sample.add_more();
  auto& params = *sample.mutable_params();
  params["n"].set_number_value(0.1);
  params["s"].set_string_value("0.1");
  params["b"].set_bool_value(true);
  params["l"].mutable_list_value()->add_values()->set_string_value("");
  params["m"].mutable_struct_value();
  params["z"].set_null_value(google::protobuf::NULL_VALUE);
  (*sample.mutable_labels())["a b: c"] = "no";
  (*sample.mutable_by_rank())[-3].set_steps(0);
  sample.mutable_timeout()->set_seconds(-1);
  sample.mutable_timeout()->set_nanos(-500'000'000);
  sample.mutable_create_time()->set_seconds(1'700'000'000);
  sample.mutable_create_time()->set_nanos(123'456'789);
  sample.add_sizes(-1);
  sample.add_words("");
  sample.add_words("- x");
  sample.set_every_steps(~uint64_t{0});
  sample.set_data(std::string("\0\xff", 2));
  sample.set_ratio(0.1F);
  sample.set_port(4'294'967'295);
  (*sample.mutable_extra()->mutable_fields())["k"].set_number_value(-1e300);
  sample.mutable_list()->add_values()->set_bool_value(false);
  sample.add_kinds(Sample::KIND_TRAIN);
  sample.mutable_inner()->mutable_inner()->set_name("deep");
  sample.mutable_value()->set_string_value("null");
  sample.add_flags(false);
  return sample;
}

class EveryFormTest : public ::testing::TestWithParam<TextForm> {};

TEST_P(EveryFormTest, AMessageComesBackAsItWas) {
  const Sample sample = FullSample();
  const std::string text = WriteMessage(sample, GetParam());
  Sample read;
  ORDO_ASSERT_OK(ReadMessage(text, GetParam(), &read));
  EXPECT_TRUE(google::protobuf::util::MessageDifferencer::Equals(sample, read))
      << text;
}

TEST_P(EveryFormTest, InfinitiesComeBack) {
  Sample sample;
  sample.set_ratio(-INFINITY);
  Sample read;
  ORDO_ASSERT_OK(
      ReadMessage(WriteMessage(sample, GetParam()), GetParam(), &read));
  EXPECT_EQ(read.ratio(), -INFINITY);
}

TEST_P(EveryFormTest, AnErrorLeavesTheMessageAlone) {
  Sample sample;
  sample.set_name("kept");
  EXPECT_THAT(ReadMessage("{[", GetParam(), &sample),
              StatusIs(absl::StatusCode::kInvalidArgument));
  EXPECT_EQ(sample.name(), "kept");
}

TEST_P(EveryFormTest, ALongTextIsRefused) {
  Sample sample;
  EXPECT_THAT(
      ReadMessage(std::string(kMaxTextBytes + 1, ' '), GetParam(), &sample),
      IsInvalid("has 1048577 bytes; at most 1048576 are accepted: divide it "
                "among several files"));
}

INSTANTIATE_TEST_SUITE_P(Forms, EveryFormTest,
                         ::testing::Values(TextForm::kYaml, TextForm::kJson,
                                           TextForm::kTextproto));

TEST(TextFormOfFileTest, GoesByExtension) {
  EXPECT_THAT(TextFormOfFile("a/b.yaml"), IsOkAndHolds(TextForm::kYaml));
  EXPECT_THAT(TextFormOfFile("b.yml"), IsOkAndHolds(TextForm::kYaml));
  EXPECT_THAT(TextFormOfFile("b.json"), IsOkAndHolds(TextForm::kJson));
  EXPECT_THAT(TextFormOfFile("b.textproto"),
              IsOkAndHolds(TextForm::kTextproto));
  EXPECT_THAT(TextFormOfFile("a.yaml/b"), IsInvalid("must end in"));
  EXPECT_THAT(TextFormOfFile("b.toml"), IsInvalid("b.toml"));
}

TEST(ReadMessagesTest, GivesOneForEachYamlDocument) {
  ORDO_ASSERT_OK_AND_ASSIGN(
      const std::vector<PartialMessage<Sample>> samples,
      ReadMessagesOf<Sample>("name: a\n---\nname: b\n", TextForm::kYaml));
  ASSERT_THAT(samples, SizeIs(2));
  EXPECT_EQ(samples[1].message.name(), "b");
  EXPECT_THAT(samples[1].violations, IsEmpty());
}

TEST(ReadMessagesTest, GivesWhatCanBeReadBesideWhatCannot) {
  ORDO_ASSERT_OK_AND_ASSIGN(
      const auto samples,
      ReadMessagesOf<Sample>("nam: a\n---\nname: b\nsizes: 3\nport: x\n",
                             TextForm::kYaml));
  ASSERT_THAT(samples, SizeIs(2));
  ASSERT_THAT(samples[0].violations, SizeIs(1));
  EXPECT_EQ(samples[0].violations[0].field, "nam");
  EXPECT_EQ(samples[1].message.name(), "b");
  ASSERT_THAT(samples[1].violations, SizeIs(2));
  EXPECT_EQ(samples[1].violations[1].field, "port");
}

TEST(ReadMessagesTest, ReadsATextprotoBesideItsUnknownFields) {
  ORDO_ASSERT_OK_AND_ASSIGN(
      const auto samples,
      ReadMessagesOf<Sample>("nam: 'a' port: 1", TextForm::kTextproto));
  ASSERT_THAT(samples, SizeIs(1));
  EXPECT_EQ(samples[0].message.port(), 1u);
  EXPECT_THAT(samples[0].violations, SizeIs(1));
}

TEST(WithoutUnreadTest, LeavesOutWhatFollowsFromAnUnreadField) {
  const std::vector<FieldViolation> unread = {
      {"steps", "no number"}, {"list[1]", "no map"}, {"", "bad line"}};
  const FieldViolation more = {"steps_more", "required"};
  const FieldViolation element = {"list[10].a", "required"};
  const FieldViolation list = {"list", "too long"};
  EXPECT_THAT(WithoutUnread({{"steps", "required"},
                             more,
                             {"list[1].a", "required"},
                             element,
                             list},
                            unread),
              ElementsAre(more, element, list));
}

TEST(ReadMessageTest, WantsExactlyOneDocument) {
  Sample sample;
  EXPECT_THAT(ReadMessage("", TextForm::kYaml, &sample),
              IsInvalid("must hold one Sample, not 0"));
  EXPECT_THAT(ReadMessage("name: a\n---\nname: b\n", TextForm::kYaml, &sample),
              IsInvalid("must hold one Sample, not 2"));
}

TEST(ReadMessageTest, ReportsEveryUnknownFieldOfATextproto) {
  Sample sample;
  const absl::Status status =
      ReadMessage("nam: 'a'\ntraining { stepz: 3 }\nport: 1\n",
                  TextForm::kTextproto, &sample);
  EXPECT_THAT(status, IsInvalid("'nam' is no field of Sample; did you mean "
                                "'name'? (line 1)"));
  EXPECT_THAT(status, IsInvalid("'stepz' is no field of Recipe; did you mean "
                                "'steps'? (line 2)"));
  EXPECT_THAT(FieldViolations(status), SizeIs(2));
}

TEST(ReadMessageTest, NamesTheLineOfABadTextproto) {
  Sample sample;
  EXPECT_THAT(
      ReadMessage("port: 1\nport: 'x'\n", TextForm::kTextproto, &sample),
      IsInvalid("(line 2)"));
}

TEST(WriteMessageTest, JsonFollowsProtobufsMapping) {
  Sample sample;
  sample.mutable_training()->set_steps(5);
  sample.mutable_timeout()->set_seconds(3);
  sample.set_kind(Sample::KIND_TRAIN);
  EXPECT_EQ(WriteMessage(sample, TextForm::kJson),
            R"({"kind":"KIND_TRAIN","training":{"steps":"5"},)"
            R"("timeout":"3s"})");
}

}  // namespace
}  // namespace ordo::base
