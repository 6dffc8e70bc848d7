#include "worker/trainer/control.h"

#include <memory>
#include <string>

#include "base/clock/clock.h"
#include "base/files/file_util.h"
#include "base/files/files.h"
#include "base/files/testing/temporary_folder.h"
#include "base/status/testing/status_matchers.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "model/training/testing/tiny_spec.h"

namespace ordo::worker::trainer {
namespace {

using ::ordo::model::training::CombinedDigest;
using ::ordo::model::training::ConfigureNumerics;
using ::ordo::model::training::Environment;
using ::ordo::model::training::InitialValues;
using ::ordo::model::training::Run;
using ::ordo::model::training::testing::TinySpec;
using ::ordo::training::v1::RunControl;
using ::ordo::training::v1::TrainSpec;
using ::testing::Pair;
using ::testing::UnorderedElementsAre;

RunControl ControlOf(const TrainSpec& spec) {
  ConfigureNumerics(1);
  const auto run = Run::Create(spec);
  ORDO_EXPECT_OK(run);
  Environment environment;
  environment.cpu_capability = "AVX2+fma Some 6/1";
  return trainer::ControlOf(**run, environment,
                            model::training::DigestValues((*run)->model()));
}

TEST(RunControl, TellsWhatTheRunComputesOnAndHow) {
  TrainSpec spec = TinySpec("rope");
  spec.mutable_training()->set_precision("bf16");
  const RunControl control = ControlOf(spec);
  EXPECT_EQ(control.device(), "cpu AVX2+fma Some 6/1");
  EXPECT_EQ(control.precision(), "bf16");
  EXPECT_TRUE(control.deterministic());
}

TEST(RunControl, NamesTheGpu) {
  const auto run = Run::Create(TinySpec("rope"));
  ORDO_ASSERT_OK(run);
  Environment environment;
  environment.cpu_capability = "AVX2";
  environment.gpu = "NVIDIA H200, sm_90, 132 processors, driver 13.0";
  EXPECT_EQ(trainer::ControlOf(**run, environment, {}).device(), "NVIDIA H200");
}

TEST(RunControl, TellsWhatElseItComputesIn) {
  ConfigureNumerics(1);
  const auto run = Run::Create(TinySpec("rope"));
  ORDO_ASSERT_OK(run);
  Environment environment;
  environment.threads = 2;
  environment.torch_version = "2.11.0 0f3a";
  environment.kernels = "cpu_tiled";
  environment.gpu = "NVIDIA H200, sm_90, 132 processors, driver 13.0";
  const RunControl control = trainer::ControlOf(**run, environment, {});
  EXPECT_THAT(
      control.environment(),
      UnorderedElementsAre(Pair("threads", "2"), Pair("ranks", "1"),
                           Pair("libraries", "2.11.0 0f3a"),
                           Pair("kernels", "cpu_tiled"),
                           Pair("gpu",
                                "NVIDIA H200, sm_90, 132 processors, driver "
                                "13.0")));
}

TEST(RunControl, CountsTheEncodingsParametersApart) {
  const RunControl rope = ControlOf(TinySpec("rope"));
  const RunControl tape = ControlOf(TinySpec("tape"));
  EXPECT_GT(rope.num_parameters(), 0);
  EXPECT_EQ(rope.num_encoding_parameters(), 0);
  EXPECT_GT(tape.num_encoding_parameters(), 0);
  EXPECT_EQ(tape.num_parameters() - tape.num_encoding_parameters(),
            rope.num_parameters());
  EXPECT_EQ(tape.initial_digest(), rope.initial_digest());
}

TEST(RunControl, CountsWhatTrainsAlone) {
  TrainSpec spec = TinySpec("tape");
  const int64_t of_encoding = ControlOf(spec).num_encoding_parameters();
  spec.mutable_training()->add_trainable("encoding");
  EXPECT_EQ(ControlOf(spec).num_parameters(), of_encoding);
  EXPECT_EQ(ControlOf(spec).num_encoding_parameters(), of_encoding);
}

TEST(RunControl, CountsTheWorkOfAWholeStep) {
  TrainSpec spec = TinySpec("rope");
  const double flops = ControlOf(spec).step_flops();
  // Two for a multiplication and addition, forward once and backward twice; of
  // a row 8 tokens at least are read. What is embedded is looked up.
  const double at_least =
      3.0 * 2 * 8 * spec.training().batch_size() * (2 * 12 * 16 * 16 / 2);
  EXPECT_GT(flops, at_least);
  EXPECT_LT(flops, 100 * at_least);
  spec.mutable_training()->set_batch_size(2 * spec.training().batch_size());
  EXPECT_EQ(ControlOf(spec).step_flops(), 2 * flops);
}

TEST(WriteInitialValues, WritesTheDigestsOfEachAndOfAll) {
  base::testing::TemporaryFolder temporary;
  base::PosixFilesystem files;
  base::RealClock clock;
  TrainerContext context(files, clock);
  context.job_folder = temporary.path();
  const std::string folder = AttemptFolder(context, 2);
  ORDO_ASSERT_OK(files.MakeFolders(folder));
  ORDO_ASSERT_OK(WriteInitialValues(context, 2, {}));
  EXPECT_FALSE(base::Exists(files, folder + "/initial.json"));
  const InitialValues values = {{"a.weight", {{2, 3}, "00ff"}}};
  ORDO_ASSERT_OK(WriteInitialValues(context, 2, values));
  ORDO_ASSERT_OK_AND_ASSIGN(
      const std::string text,
      base::ReadFile(files, folder + "/initial.json", 1 << 20));
  const auto json = nlohmann::json::parse(text);
  EXPECT_EQ(json["digest"], CombinedDigest(values));
  EXPECT_EQ(json["parameters"]["a.weight"].dump(),
            R"({"sha256":"00ff","shape":[2,3]})");
}

}  // namespace
}  // namespace ordo::worker::trainer
