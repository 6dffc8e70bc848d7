#include "worker/agent/task_texts.h"

#include "base/status/testing/status_matchers.h"
#include "gmock/gmock.h"
#include "google/protobuf/util/json_util.h"
#include "google/protobuf/util/message_differencer.h"
#include "gtest/gtest.h"

namespace ordo::worker::agent {
namespace {

using ::google::protobuf::util::JsonStringToMessage;
using ::google::protobuf::util::MessageDifferencer;
using ::ordo::agent::v1::DesiredAttempt;
using ::ordo::base::testing::IsOkAndHolds;
using ::ordo::training::v1::BenchmarkSpec;
using ::ordo::training::v1::EvaluateSpec;
using ::ordo::training::v1::GateSpec;
using ::ordo::training::v1::SummarizeSpec;
using ::ordo::training::v1::TrainSpec;

DesiredAttempt Training(const std::string& job, int attempt) {
  DesiredAttempt desired;
  desired.set_job(job);
  desired.set_attempt(attempt);
  TrainSpec& train = *desired.mutable_train();
  train.mutable_training()->set_steps(20);
  train.mutable_encoding()->set_name("rope");
  (*train.mutable_data()->mutable_params())["digits"].set_number_value(3);
  return desired;
}

// What a text says.
template <typename Task>
Task Read(const absl::StatusOr<std::string>& text) {
  Task task;
  EXPECT_TRUE(text.ok() && JsonStringToMessage(*text, &task).ok())
      << text.value_or(text.status().ToString());
  return task;
}

TEST(TaskTextsTest, EachAttemptHasItsOwnJobAttemptAndRank) {
  TaskTexts texts;
  for (const char* job : {"a", "b-2"}) {
    for (const int attempt : {1, 12}) {
      for (const int rank : {0, 1}) {
        DesiredAttempt desired = Training(job, attempt);
        desired.set_rank(rank);
        TrainSpec wanted = desired.train();
        wanted.set_job(job);
        wanted.set_attempt(attempt);
        wanted.set_rank(rank);
        const auto seen = Read<TrainSpec>(texts.OfAttempt(desired, "h"));
        EXPECT_TRUE(MessageDifferencer::Equals(seen, wanted))
            << seen.DebugString();
      }
    }
  }
}

TEST(TaskTextsTest, OnlyOneOfSeveralRanksIsToldAHost) {
  TaskTexts texts;
  DesiredAttempt desired = Training("a", 1);
  EXPECT_EQ(Read<TrainSpec>(texts.OfAttempt(desired, "h")).host(), "");
  desired.mutable_train()->mutable_resources()->set_ranks(2);
  EXPECT_EQ(Read<TrainSpec>(texts.OfAttempt(desired, "h")).host(), "h");
}

TEST(TaskTextsTest, JobsThatDifferInTheirNamesShareOneText) {
  TaskTexts texts;
  for (int i = 0; i < 10; ++i) {
    const DesiredAttempt desired = Training("job-" + std::to_string(i), 1);
    ORDO_EXPECT_OK(texts.OfAttempt(desired, "h").status());
    ORDO_EXPECT_OK(texts.OfJob(desired).status());
  }
  EXPECT_EQ(texts.size(), 1u);
}

TEST(TaskTextsTest, TasksThatDifferInMoreHaveTextsOfTheirOwn) {
  TaskTexts texts;
  DesiredAttempt desired = Training("a", 1);
  for (int steps = 1; steps <= 3; ++steps) {
    desired.mutable_train()->mutable_training()->set_steps(steps);
    EXPECT_EQ(Read<TrainSpec>(texts.OfAttempt(desired, "h")).training().steps(),
              steps);
  }
  EXPECT_EQ(texts.size(), 3u);
}

TEST(TaskTextsTest, TheJobsTextLeavesOutWhatIsOfAnAttempt) {
  TaskTexts texts;
  DesiredAttempt desired = Training("a", 2);
  TrainSpec wanted = desired.train();
  wanted.set_job("a");
  desired.mutable_train()->set_attempt(2);
  desired.mutable_train()->add_finished_reports("x-1");
  desired.mutable_train()->add_resume()->set_step(7);
  desired.mutable_train()->add_own_attempts(2);
  EXPECT_TRUE(MessageDifferencer::Equals(Read<TrainSpec>(texts.OfJob(desired)),
                                         wanted));
}

TEST(TaskTextsTest, TheJobsTextLeavesOutWhatWasAnsweredBefore) {
  TaskTexts texts;
  DesiredAttempt desired;
  desired.set_job("a");
  desired.set_attempt(2);
  desired.mutable_evaluate()->add_known_results()->set_key("k");
  EXPECT_EQ(
      Read<EvaluateSpec>(texts.OfAttempt(desired, "h")).known_results(0).key(),
      "k");
  EXPECT_EQ(Read<EvaluateSpec>(texts.OfJob(desired)).known_results_size(), 0);
  desired.mutable_gate()->add_known_results()->set_key("k");
  EXPECT_EQ(Read<GateSpec>(texts.OfAttempt(desired, "h")).known_results_size(),
            1);
  EXPECT_EQ(Read<GateSpec>(texts.OfJob(desired)).known_results_size(), 0);
}

TEST(TaskTextsTest, TasksOfAllKindsAreTakenForNoOther) {
  TaskTexts texts;
  // Empty ones, whose bytes are the same.
  DesiredAttempt evaluate, benchmark, summarize, gate;
  for (DesiredAttempt* desired : {&evaluate, &benchmark, &summarize, &gate}) {
    desired->set_job("a");
    desired->set_attempt(1);
  }
  evaluate.mutable_evaluate();
  benchmark.mutable_benchmark();
  summarize.mutable_summarize();
  gate.mutable_gate();
  const std::string text = "{\"job\":\"a\",\"attempt\":1}\n";
  EXPECT_THAT(texts.OfAttempt(evaluate, "h"), IsOkAndHolds(text));
  EXPECT_THAT(texts.OfAttempt(benchmark, "h"), IsOkAndHolds(text));
  EXPECT_THAT(texts.OfAttempt(summarize, "h"), IsOkAndHolds(text));
  EXPECT_THAT(texts.OfAttempt(gate, "h"), IsOkAndHolds(text));
  EXPECT_EQ(texts.size(), 4u);
  evaluate.mutable_evaluate()->add_finished_reports("x-1");
  benchmark.mutable_benchmark()->add_finished_reports("x-2");
  summarize.mutable_summarize()->add_finished_reports("sweep");
  (*gate.mutable_gate()->mutable_finished_reports())["gate"] = "jobs/a/x";
  EXPECT_EQ(
      Read<EvaluateSpec>(texts.OfAttempt(evaluate, "h")).finished_reports(0),
      "x-1");
  EXPECT_EQ(
      Read<BenchmarkSpec>(texts.OfAttempt(benchmark, "h")).finished_reports(0),
      "x-2");
  EXPECT_EQ(
      Read<SummarizeSpec>(texts.OfAttempt(summarize, "h")).finished_reports(0),
      "sweep");
  EXPECT_EQ(Read<EvaluateSpec>(texts.OfJob(evaluate)).finished_reports_size(),
            0);
  EXPECT_EQ(Read<SummarizeSpec>(texts.OfJob(summarize)).finished_reports_size(),
            0);
  EXPECT_EQ(
      Read<GateSpec>(texts.OfAttempt(gate, "h")).finished_reports().at("gate"),
      "jobs/a/x");
  EXPECT_EQ(Read<GateSpec>(texts.OfJob(gate)).finished_reports_size(), 0);
}

TEST(TaskTextsTest, ASummaryOfAThousandPartsComesWhole) {
  TaskTexts texts;
  DesiredAttempt desired;
  desired.set_job("a");
  desired.set_attempt(2);
  SummarizeSpec& summary = *desired.mutable_summarize();
  summary.set_kind("sweep");
  for (int i = 0; i < 1000; ++i) {
    auto* part = summary.add_parts();
    part->set_job("a-" + std::to_string(i));
    part->set_seed(~uint64_t{0} - i);
    part->set_message(std::string(1100, 'x'));
    (*part->add_reports()->mutable_metrics())["loss"] = 1.0 / (i + 3);
  }
  ASSERT_GT(desired.ByteSizeLong(), size_t{1} << 20);
  SummarizeSpec wanted = summary;
  wanted.set_job("a");
  EXPECT_TRUE(MessageDifferencer::Equals(
      Read<SummarizeSpec>(texts.OfJob(desired)), wanted));
  wanted.set_attempt(2);
  EXPECT_TRUE(MessageDifferencer::Equals(
      Read<SummarizeSpec>(texts.OfAttempt(desired, "h")), wanted));
}

TEST(TaskTextsTest, AsManyAreRememberedAsThereIsRoomFor) {
  TaskTexts texts;
  DesiredAttempt desired = Training("a", 1);
  for (size_t i = 0; i < 2 * TaskTexts::kMaxTexts + 1; ++i) {
    desired.mutable_train()->mutable_training()->set_steps(
        static_cast<int64_t>(i));
    ORDO_EXPECT_OK(texts.OfAttempt(desired, "h").status());
    EXPECT_LE(texts.size(), TaskTexts::kMaxTexts);
  }
  const size_t before = texts.size();
  desired.mutable_train()->mutable_encoding()->set_name(
      std::string(TaskTexts::kMaxBytes, 'x'));
  ORDO_EXPECT_OK(texts.OfAttempt(desired, "h").status());
  EXPECT_EQ(texts.size(), before);
}

}  // namespace
}  // namespace ordo::worker::agent
