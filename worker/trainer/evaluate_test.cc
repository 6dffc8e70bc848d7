#include "worker/trainer/evaluate.h"

#include <map>
#include <string>
#include <vector>

#include "base/clock/clock.h"
#include "base/files/file_util.h"
#include "base/files/testing/temporary_folder.h"
#include "base/records/records.h"
#include "base/status/testing/status_matchers.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "model/catalog/result_key.h"
#include "model/evaluation/items.h"
#include "model/training/checkpoint.h"
#include "model/training/numerics.h"
#include "model/training/run.h"
#include "model/training/testing/tiny_spec.h"
#include "worker/trainer/exit_code.h"

namespace ordo::worker::trainer {
namespace {

using ::ordo::base::testing::IsOkAndHolds;
using ::ordo::model::training::testing::TinySpec;
using ::ordo::training::v1::ProgressRecord;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::MatchesRegex;
using ::testing::Not;

class EvaluateTest : public ::testing::Test {
 protected:
  EvaluateTest() : context_(files_, clock_) {
    context_.job_folder = folder_.Path("e");
    context_.storage_root = folder_.path();
    const auto train = TinySpec("rope");
    const auto run = *model::training::Run::Create(train);
    for (const char* job : {"a", "b"}) {
      const auto written = model::training::WriteCheckpoint(
          files_, folder_.Path(job), {run->State(), train, {}, true});
      ORDO_EXPECT_OK(written);
      auto* source = spec_.add_checkpoints();
      source->set_name(std::string("jobs/") + job + "/checkpoints/0-1");
      source->set_path(folder_.Path(std::string(job) + "/0-1"));
      source->set_manifest_sha256(written->manifest_sha256());
      source->set_step(7);
    }
    spec_.set_job("e");
    spec_.set_attempt(1);
    *spec_.mutable_evaluations() = train.evaluations();
    spec_.mutable_resources()->set_threads(2);
  }

  absl::StatusOr<ordo::training::v1::ExitCode> Run() {
    const auto progress =
        Progress::Open(files_, clock_, AttemptFolder(context_, 1));
    ORDO_EXPECT_OK(progress);
    return EvaluateCheckpoints(context_, spec_, progress->get());
  }

  std::vector<ProgressRecord> Records() {
    base::RecordReader reader(
        files_, context_.job_folder + "/attempts/1/progress.records");
    std::vector<ProgressRecord> records;
    while (true) {
      const auto payload = reader.Next();
      if (!payload.ok() || !payload->has_value()) return records;
      EXPECT_TRUE(records.emplace_back().ParseFromString(**payload));
    }
  }

  // A job of its own, of the same storage root, does what follows.
  void BeginJob(const std::string& job) {
    context_.job_folder = folder_.Path(job);
    spec_.set_job(job);
  }

  ordo::training::v1::ReportWritten NewestReport() {
    ordo::training::v1::ReportWritten newest;
    for (const auto& record : Records()) {
      if (record.has_report()) newest = record.report();
    }
    return newest;
  }

  std::vector<std::string> ReportsTold() {
    std::vector<std::string> ids;
    for (const auto& record : Records()) {
      if (!record.has_report()) continue;
      ids.push_back(record.report().id() + " of " +
                    record.report().checkpoint());
    }
    return ids;
  }

  base::PosixFilesystem files_;
  base::RealClock clock_;
  base::testing::TemporaryFolder folder_;
  TrainerContext context_;
  ordo::training::v1::EvaluateSpec spec_;
};

TEST_F(EvaluateTest, ReportsEveryCheckpointUnderAnIdOfItsOwn) {
  EXPECT_THAT(Run(), IsOkAndHolds(ordo::training::v1::FINISHED));
  EXPECT_THAT(ReportsTold(),
              ElementsAre("addition_grid-7 of jobs/a/checkpoints/0-1",
                          "addition_grid-7-2 of jobs/b/checkpoints/0-1"));
  EXPECT_EQ(Records().back().finished().code(), ordo::training::v1::FINISHED);
}

TEST_F(EvaluateTest, ReportsWhatBecameOfEachItem) {
  ORDO_ASSERT_OK(Run());
  for (const char* id : {"addition_grid-7", "addition_grid-7-2"}) {
    ORDO_ASSERT_OK_AND_ASSIGN(
        auto reader, model::evaluation::ItemReader::Open(
                         files_, folder_.Path(std::string("e/results/") + id +
                                              "-1/items.jsonl")));
    int num_items = 0;
    while (true) {
      ORDO_ASSERT_OK_AND_ASSIGN(const auto item, reader.Next());
      if (!item) break;
      EXPECT_EQ(item->id, "1-" + std::to_string(num_items));
      ++num_items;
    }
    EXPECT_EQ(num_items, 18);
  }
}

TEST_F(EvaluateTest, LooksIntoAModelInThePrecisionThatIsAskedFor) {
  spec_.mutable_checkpoints()->DeleteSubrange(1, 1);
  spec_.clear_evaluations();
  auto* evaluation = spec_.add_evaluations();
  evaluation->set_name("inside");
  evaluation->set_task("stability");
  evaluation->set_kernel("cpu_tiled");
  evaluation->set_seed(1);
  (*evaluation->mutable_params())["samples"].set_number_value(3);
  (*evaluation->mutable_params())["precision"].set_string_value("bf16");
  EXPECT_THAT(Run(), IsOkAndHolds(ordo::training::v1::FINISHED));
  ORDO_ASSERT_OK_AND_ASSIGN(
      const std::string result,
      base::ReadFile(files_, folder_.Path("e/results/inside-7-1/result.json"),
                     1 << 20));
  EXPECT_THAT(result, HasSubstr("\"precision\": \"bf16\""));
  EXPECT_THAT(result, HasSubstr("\"add_attention_l2\": "));
  EXPECT_THAT(result, HasSubstr("\"items\": 3,"));
  EXPECT_THAT(result, Not(HasSubstr("cpu_tiled")));
}

TEST_F(EvaluateTest, AnotherEncodingGivesReportsOfTheirOwn) {
  ORDO_ASSERT_OK(Run());
  spec_.mutable_encoding()->set_name("yarn");
  (*spec_.mutable_encoding()->mutable_params())["factor"].set_number_value(8);
  spec_.set_attempt(2);
  ORDO_ASSERT_OK(files_.RemoveTree(folder_.Path("e/attempts")));
  EXPECT_THAT(Run(), IsOkAndHolds(ordo::training::v1::FINISHED));
  std::vector<std::string> ids;
  for (const auto& record : Records()) {
    if (!record.has_report()) continue;
    const auto& report = record.report();
    ids.push_back(report.id());
    EXPECT_EQ(report.encoding().name(), "yarn");
    EXPECT_EQ(report.encoding().params().at("factor").number_value(), 8);
    // Resolved.
    EXPECT_EQ(report.encoding().params().count("beta_fast"), 1u);
  }
  EXPECT_THAT(ids,
              ElementsAre(MatchesRegex("addition_grid-7-yarn-[0-9a-f]{8}"),
                          MatchesRegex("addition_grid-7-yarn-[0-9a-f]{8}-2")));
}

TEST_F(EvaluateTest, AnEncodingThatTheModelCannotHaveIsNamed) {
  spec_.mutable_encoding()->set_name("yarn");
  (*spec_.mutable_encoding()->mutable_params())["fator"].set_number_value(8);
  EXPECT_THAT(std::string(Run().status().message()),
              HasSubstr("did you mean 'factor'?"));
}

TEST_F(EvaluateTest, LeavesOutReportsThatAreFinished) {
  spec_.add_finished_reports("addition_grid-7");
  EXPECT_THAT(Run(), IsOkAndHolds(ordo::training::v1::FINISHED));
  EXPECT_THAT(ReportsTold(),
              ElementsAre("addition_grid-7-2 of jobs/b/checkpoints/0-1"));
}

TEST_F(EvaluateTest, NeedsNoCheckpointWhoseReportsAreFinished) {
  spec_.add_finished_reports("addition_grid-7");
  ORDO_ASSERT_OK(files_.RemoveTree(folder_.Path("a")));
  EXPECT_THAT(Run(), IsOkAndHolds(ordo::training::v1::FINISHED));
  EXPECT_THAT(ReportsTold(),
              ElementsAre("addition_grid-7-2 of jobs/b/checkpoints/0-1"));
}

// Which rows go through a model together is the evaluation's own matter.
TEST_F(EvaluateTest, TheBatchSizeOfTheTrainingChangesNoBit) {
  auto train = TinySpec("rope");
  // Of bytes.
  train.mutable_model()->set_vocabulary_size(260);
  for (int i = 0; i < spec_.checkpoints_size(); ++i) {
    train.mutable_training()->set_batch_size(i == 0 ? 3 : 64);
    train.mutable_training()->set_micro_batch_size(i == 0 ? 1 : 32);
    const auto run = *model::training::Run::Create(train);
    const std::string folder = folder_.Path("batches-" + std::to_string(i));
    ORDO_ASSERT_OK_AND_ASSIGN(
        const auto written,
        model::training::WriteCheckpoint(files_, folder,
                                         {run->State(), train, {}, true}));
    spec_.mutable_checkpoints(i)->set_path(folder + "/0-1");
    spec_.mutable_checkpoints(i)->set_manifest_sha256(
        written.manifest_sha256());
  }
  ORDO_ASSERT_OK(files_.MakeFolders(folder_.Path("data")));
  ORDO_ASSERT_OK(
      base::AtomicWrite(files_, folder_.Path("data/asked.txt"),
                        std::string(300, 'a') + std::string(300, 'b')));
  spec_.clear_evaluations();
  auto* evaluation = spec_.add_evaluations();
  evaluation->set_name("text");
  evaluation->set_task("text");
  evaluation->set_seed(1);
  auto& params = *evaluation->mutable_params();
  params["data"].mutable_list_value()->add_values()->set_string_value(
      "asked.txt");
  params["tokenizer"].set_string_value("bytes");
  params["split"].set_string_value("all");
  params["lengths"].mutable_list_value()->add_values()->set_number_value(16);
  EXPECT_THAT(Run(), IsOkAndHolds(ordo::training::v1::FINISHED));
  std::vector<std::string> items;
  for (const char* id : {"text-7", "text-7-2"}) {
    ORDO_ASSERT_OK_AND_ASSIGN(
        items.emplace_back(),
        base::ReadFile(
            files_,
            folder_.Path(std::string("e/results/") + id + "-1/items.jsonl"),
            1 << 20));
  }
  // Log-likelihoods, with all their digits.
  EXPECT_THAT(items[0], HasSubstr("\"score\":-"));
  EXPECT_EQ(items[1], items[0]);
}

// A result of the task, as a scheduler tells it to the next one that asks.
ordo::training::v1::KnownResult KnownOf(
    const ordo::training::v1::ReportWritten& report) {
  ordo::training::v1::KnownResult known;
  known.set_key(model::catalog::KeyDigest(report.key()));
  known.set_report("jobs/e/reports/" + report.id());
  known.set_path("e/" + report.folder());
  known.set_files_sha256(model::catalog::FilesDigest(report.files()));
  return known;
}

TEST_F(EvaluateTest, AResultThatIsKnownIsTakenOver) {
  spec_.mutable_checkpoints()->RemoveLast();
  ORDO_ASSERT_OK(Run());
  const auto first = NewestReport();
  EXPECT_EQ(first.key().manifest_sha256(),
            spec_.checkpoints(0).manifest_sha256());
  EXPECT_EQ(first.key().precision(), "fp32");
  EXPECT_GT(first.key().task_version(), 0);
  *spec_.add_known_results() = KnownOf(first);
  BeginJob("f");
  // Nothing of the model is read but its configuration.
  ORDO_ASSERT_OK(files_.RemoveFile(folder_.Path("a/0-1/model.safetensors")));
  EXPECT_THAT(Run(), IsOkAndHolds(ordo::training::v1::FINISHED));
  const auto second = NewestReport();
  EXPECT_EQ(second.taken_from(), "jobs/e/reports/addition_grid-7");
  EXPECT_EQ(second.folder(), "results/addition_grid-7-1");
  EXPECT_EQ(second.metrics().at("grid_mean"), first.metrics().at("grid_mean"));
  EXPECT_TRUE(base::Exists(
      files_, folder_.Path("f/results/addition_grid-7-1/items.jsonl")));
}

TEST_F(EvaluateTest, AnotherKeyIsEvaluated) {
  spec_.mutable_checkpoints()->RemoveLast();
  ORDO_ASSERT_OK(Run());
  *spec_.add_known_results() = KnownOf(NewestReport());
  spec_.mutable_evaluations(0)->set_seed(99);
  BeginJob("f");
  ORDO_ASSERT_OK(Run());
  EXPECT_EQ(NewestReport().taken_from(), "");
}

TEST_F(EvaluateTest, AResultOfOtherKernelsIsNotThatOfTheseUnlessOneIsNamed) {
  spec_.mutable_checkpoints()->RemoveLast();
  ORDO_ASSERT_OK(Run());
  auto first = NewestReport();
  EXPECT_EQ(first.key().kernel(),
            model::catalog::BestOf(model::training::KernelsIn("fp32")));
  // As of a processor with other instructions.
  first.mutable_key()->set_kernel(model::catalog::BestOf("cpu_other"));
  *spec_.add_known_results() = KnownOf(first);
  BeginJob("f");
  ORDO_ASSERT_OK(Run());
  EXPECT_EQ(NewestReport().taken_from(), "");
  spec_.mutable_evaluations(0)->set_kernel("reference");
  BeginJob("g");
  ORDO_ASSERT_OK(Run());
  EXPECT_EQ(NewestReport().key().kernel(), "reference");
}

TEST_F(EvaluateTest, AResultWhoseFilesAreGoneIsEvaluatedAndThatIsTold) {
  spec_.mutable_checkpoints()->RemoveLast();
  ORDO_ASSERT_OK(Run());
  *spec_.add_known_results() = KnownOf(NewestReport());
  ORDO_ASSERT_OK(files_.RemoveTree(folder_.Path("e/results")));
  BeginJob("f");
  ORDO_ASSERT_OK(Run());
  EXPECT_EQ(NewestReport().taken_from(), "");
  std::vector<std::string> warnings;
  for (const auto& record : Records()) {
    if (record.has_warning()) warnings.push_back(record.warning().message());
  }
  EXPECT_THAT(warnings,
              ElementsAre(HasSubstr("is evaluated again, since "
                                    "jobs/e/reports/addition_grid-7")));
}

TEST_F(EvaluateTest, ResultsThatTheTaskHadNoRoomForAreTold) {
  spec_.set_num_results_left_out(3);
  ORDO_ASSERT_OK(Run());
  std::vector<std::string> warnings;
  for (const auto& record : Records()) {
    if (record.has_warning()) warnings.push_back(record.warning().message());
  }
  EXPECT_THAT(warnings, ElementsAre(HasSubstr("3 results that are known had no "
                                              "room in the task")));
}

TEST_F(EvaluateTest, TellsHowFarItIs) {
  ORDO_ASSERT_OK(Run());
  int64_t done = 0;
  for (const auto& record : Records()) {
    if (!record.has_evaluation()) continue;
    EXPECT_EQ(record.evaluation().total(), 18);
    done = record.evaluation().done();
  }
  EXPECT_EQ(done, 18);
}

TEST_F(EvaluateTest, StopsOnRequest) {
  context_.stop_requested = [] { return true; };
  EXPECT_THAT(Run(), IsOkAndHolds(ordo::training::v1::STOPPED));
  EXPECT_EQ(Records().back().finished().code(), ordo::training::v1::STOPPED);
}

TEST_F(EvaluateTest, AnInterruptedEvaluationGoesOnWhereItWas) {
  spec_.mutable_checkpoints()->RemoveLast();
  // It is asked whether to stop before each token.
  int asked = 0;
  context_.stop_requested = [&asked] { return ++asked < 0; };
  ORDO_ASSERT_OK(Run());
  const int in_all = asked;
  const std::string report = "/results/addition_grid-7-";
  ORDO_ASSERT_OK_AND_ASSIGN(
      const std::string whole,
      base::ReadFile(files_, context_.job_folder + report + "1/items.jsonl",
                     1 << 20));
  BeginJob("f");
  asked = 0;
  context_.stop_requested = [&] { return ++asked > in_all / 2; };
  EXPECT_THAT(Run(), IsOkAndHolds(ordo::training::v1::STOPPED));
  EXPECT_TRUE(base::Exists(
      files_, AttemptFolder(context_, 1) + "/addition_grid-7.answers"));
  spec_.set_attempt(2);
  asked = 0;
  context_.stop_requested = [&asked] { return ++asked < 0; };
  EXPECT_THAT(Run(), IsOkAndHolds(ordo::training::v1::FINISHED));
  EXPECT_LT(asked, in_all);
  EXPECT_THAT(
      base::ReadFile(files_, context_.job_folder + report + "2/items.jsonl",
                     1 << 20),
      IsOkAndHolds(whole));
  for (const int attempt : {1, 2}) {
    EXPECT_FALSE(base::Exists(
        files_, AttemptFolder(context_, attempt) + "/addition_grid-7.answers"));
  }
}

TEST_F(EvaluateTest, ErrorsOfAnEvaluationNameItsField) {
  auto& asked = *spec_.add_evaluations();
  asked.set_task("questions");
  asked.set_name("questions");
  (*asked.mutable_params())["path"].set_string_value("my.jsonl");
  (*asked.mutable_params())["tokenizer"].set_string_value("bytes");
  EXPECT_EQ(ExitCodeOf(Run().status()), ordo::training::v1::DATA_MISSING);
  EXPECT_THAT(Records().back().finished().message(),
              HasSubstr("evaluations[1].params.path: "));
  ORDO_ASSERT_OK(files_.MakeFolders(folder_.Path("data")));
  ORDO_ASSERT_OK(base::AtomicWrite(files_, folder_.Path("data/my.jsonl"),
                                   "{\"prompt\": \"{id}?\", \"target\": \"a\", "
                                   "\"metric\": \"f1\"}\n{\"id\": \"1\"}\n"));
  BeginJob("f");
  EXPECT_EQ(ExitCodeOf(Run().status()), ordo::training::v1::BAD_SPEC);
  // Both were trained on the 19 tokens of addition.
  EXPECT_THAT(Records().back().finished().message(),
              HasSubstr("evaluations[1]: the model has 19 tokens"));
}

TEST_F(EvaluateTest, NamesADamagedCheckpoint) {
  ORDO_ASSERT_OK(files_.Truncate(folder_.Path("b/0-1/config.json"), 10));
  const auto code = Run();
  EXPECT_EQ(ExitCodeOf(code.status()), ordo::training::v1::CHECKPOINT_DAMAGED);
  EXPECT_THAT(std::string(code.status().message()),
              HasSubstr("jobs/b/checkpoints/0-1"));
  EXPECT_THAT(Records().back().finished().message(),
              HasSubstr("config.json is damaged"));
}

}  // namespace
}  // namespace ordo::worker::trainer
