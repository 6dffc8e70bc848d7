// The real program, started and killed.

#include <csignal>
#include <fstream>
#include <iterator>
#include <string>
#include <sys/stat.h>
#include <unistd.h>
#include <vector>

#include <ATen/ATen.h>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "base/digest/digest.h"
#include "base/files/file_util.h"
#include "base/files/testing/temporary_folder.h"
#include "base/process/process.h"
#include "base/records/records.h"
#include "base/status/testing/status_matchers.h"
#include "base/yaml/text_form.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "model/training/safetensors.h"
#include "model/training/testing/tiny_spec.h"
#include "proto/ordo/training/v1/progress.pb.h"
#include "worker/trainer/exit_code.h"

namespace ordo::worker::trainer {
namespace {

using ::ordo::model::training::ReadSafetensors;
using ::ordo::model::training::WriteSafetensors;
using ::ordo::model::training::testing::TinySpec;
using ::ordo::training::v1::ProgressRecord;
using ::ordo::training::v1::TrainSpec;
using ::testing::HasSubstr;

constexpr absl::Duration kDeadline = absl::Minutes(5);

class TrainerTest : public ::testing::Test {
 protected:
  base::ProcessId Start(const std::vector<std::string>& arguments) {
    base::SpawnOptions options;
    options.argv = {"./ordo-trainer"};
    options.argv.insert(options.argv.end(), arguments.begin(), arguments.end());
    options.stdout_file = folder_.Path("out");
    options.stderr_file = folder_.Path("err");
    const auto process = base::Spawn(options);
    ORDO_EXPECT_OK(process);
    return *process;
  }

  base::ExitStatus Wait(const base::ProcessId& process) {
    const auto status = base::WaitForExit(process.pid, kDeadline);
    ORDO_EXPECT_OK(status);
    return *status;
  }

  int RunToEnd(const std::vector<std::string>& arguments) {
    return Wait(Start(arguments)).exit_code;
  }

  std::string WriteSpec(const TrainSpec& spec) {
    const std::string path = folder_.Path("task.json");
    ORDO_EXPECT_OK(base::AtomicWrite(
        files_, path, base::WriteMessage(spec, base::TextForm::kJson)));
    return path;
  }

  // Waits until the trainer has told of a checkpoint at `step` or later that
  // was not there before; false if it ended instead.
  bool AwaitCheckpoint(const base::ProcessId& process,
                       base::RecordReader* reader, int64_t step) {
    const absl::Time deadline = absl::Now() + kDeadline;
    while (absl::Now() < deadline) {
      const bool running = base::IsRunning(process);
      const auto payload = reader->Next();
      ORDO_EXPECT_OK(payload);
      if (payload.ok() && payload->has_value()) {
        ProgressRecord record;
        EXPECT_TRUE(record.ParseFromString(**payload));
        if (record.has_checkpoint() && record.checkpoint().step() >= step) {
          return true;
        }
      } else if (!running) {
        return false;
      }
    }
    ADD_FAILURE() << "no checkpoint in time";
    return false;
  }

  std::string Sha256(const std::string& path) {
    return base::Sha256HexOfFile(files_, folder_.Path(path)).value();
  }

  std::string Text(const std::string& name) {
    return base::ReadFile(files_, folder_.Path(name), 1 << 20).value();
  }

  base::PosixFilesystem files_;
  base::testing::TemporaryFolder folder_;
};

class KilledTrainer : public TrainerTest,
                      public ::testing::WithParamInterface<const char*> {
 protected:
  // Lets the task go on in the folder "killed" up to `step` and kills it; true
  // if it was killed and stands there. Checkpoints of later steps are removed.
  bool KillAtStep(const std::string& task, base::RecordReader* reader,
                  int64_t step) {
    for (auto left = reader->Next(); left.ok() && left->has_value();) {
      left = reader->Next();
    }
    const base::ProcessId process =
        Start({"train", task, "--out", folder_.Path("killed"), "--resume"});
    AwaitCheckpoint(process, reader, step);
    // It may have ended by itself.
    base::SignalProcess(process, SIGKILL).IgnoreError();
    const base::ExitStatus status = Wait(process);
    const std::string folder = folder_.Path("killed/checkpoints");
    for (int64_t later = step + 1; later <= 20; ++later) {
      ORDO_EXPECT_OK(
          files_.RemoveTree(folder + "/" + std::to_string(later) + "-1"));
    }
    return status.signal == SIGKILL &&
           base::Exists(files_, folder + "/" + std::to_string(step) + "-1");
  }
};
INSTANTIATE_TEST_SUITE_P(Encodings, KilledTrainer,
                         ::testing::Values("none", "rope", "tape"));

// Kills the program once at every step, as soon as it has told of that step's
// checkpoint; each time another process goes on from there.
TEST_P(KilledTrainer, AtEveryStepEndsWithTheModelOfAnUndisturbedOne) {
  TrainSpec spec = TinySpec(GetParam());
  spec.clear_evaluations();
  spec.mutable_checkpoint()->set_every_steps(1);
  // Steps long enough to be killed in.
  spec.mutable_training()->set_batch_size(1024);
  spec.mutable_training()->set_micro_batch_size(1024);
  const std::string task = WriteSpec(spec);
  ASSERT_EQ(RunToEnd({"train", task, "--out", folder_.Path("whole")}), 0)
      << Text("err");
  base::RecordReader reader(files_,
                            folder_.Path("killed/attempts/1/progress.records"));
  for (int64_t step = 1; step < spec.training().steps(); ++step) {
    // A machine that stalls may let the program come further.
    for (int tries = 1; !KillAtStep(task, &reader, step); ++tries) {
      ASSERT_LT(tries, 5) << "not killed at step " << step;
    }
  }
  ASSERT_EQ(
      RunToEnd({"train", task, "--out", folder_.Path("killed"), "--resume"}), 0)
      << Text("err");
  for (const char* file : {"model.safetensors", "optimizer.safetensors"}) {
    EXPECT_EQ(Sha256(std::string("killed/checkpoints/20-1/") + file),
              Sha256(std::string("whole/checkpoints/20-1/") + file));
  }
}

bool HasGpu() { return access("/dev/nvidiactl", F_OK) == 0; }

class GpuTrainer : public KilledTrainer {
 protected:
  std::vector<double> Losses(const std::string& folder) {
    base::RecordReader reader(
        files_, folder_.Path(folder + "/attempts/1/progress.records"));
    std::vector<double> losses;
    for (auto left = reader.Next(); left.ok() && left->has_value();
         left = reader.Next()) {
      ProgressRecord record;
      EXPECT_TRUE(record.ParseFromString(**left));
      if (record.has_step()) losses.push_back(record.step().loss());
    }
    return losses;
  }
};
INSTANTIATE_TEST_SUITE_P(Encodings, GpuTrainer,
                         ::testing::Values("rope", "tape", "t5"));

// In bf16: the losses of a CPU but for rounding, the bits of an undisturbed run
// after a kill, and answers to questions.
TEST_P(GpuTrainer, TrainsResumesAndEvaluates) {
  if (!HasGpu()) GTEST_SKIP() << "skipped: no device";
  TrainSpec spec = TinySpec(GetParam());
  spec.mutable_training()->set_precision("bf16");
  spec.mutable_checkpoint()->set_every_steps(1);
  ASSERT_EQ(RunToEnd({"train", WriteSpec(spec), "--out", folder_.Path("cpu")}),
            0)
      << Text("err");
  spec.mutable_resources()->set_device("cuda");
  const std::string task = WriteSpec(spec);
  ASSERT_EQ(RunToEnd({"train", task, "--out", folder_.Path("whole")}), 0)
      << Text("err");
  EXPECT_THAT(Losses("whole"),
              ::testing::Pointwise(::testing::DoubleNear(0.05), Losses("cpu")));
  base::RecordReader reader(files_,
                            folder_.Path("killed/attempts/1/progress.records"));
  for (int tries = 1; !KillAtStep(task, &reader, 10); ++tries) {
    ASSERT_LT(tries, 5) << "not killed";
  }
  ASSERT_EQ(
      RunToEnd({"train", task, "--out", folder_.Path("killed"), "--resume"}), 0)
      << Text("err");
  for (const char* file : {"model.safetensors", "optimizer.safetensors"}) {
    EXPECT_EQ(Sha256(std::string("killed/checkpoints/20-1/") + file),
              Sha256(std::string("whole/checkpoints/20-1/") + file));
  }
  EXPECT_THAT(Text("whole/results/addition_grid-20-1/result.json"),
              HasSubstr("\"bf16\""));
}

TEST_F(TrainerTest, SaysWhichKernelsComputeAttention) {
  TrainSpec spec = TinySpec("rope");
  spec.clear_evaluations();
  spec.mutable_training()->set_steps(2);
  spec.mutable_training()->set_kernel("cpu_tiled");
  ASSERT_EQ(RunToEnd({"train", WriteSpec(spec), "--out", folder_.Path("a")}), 0)
      << Text("err");
  EXPECT_THAT(Text("err"),
              ::testing::ContainsRegex("attention computed.*cpu_tiled"));
  EXPECT_THAT(Text("a/checkpoints/2-1/state.json"),
              ::testing::ContainsRegex(
                  "\"attention_kernels\": \\[[ \n]*\"cpu_tiled\"[ \n]*\\]"));
}

TEST_F(TrainerTest, SaysWhatATaskForAGpuLacks) {
  if (HasGpu()) GTEST_SKIP() << "there is a GPU";
  TrainSpec spec = TinySpec("none");
  spec.mutable_resources()->set_device("cuda");
  EXPECT_EQ(RunToEnd({"train", WriteSpec(spec), "--out", folder_.Path("a")}),
            ordo::training::v1::DEVICE_ERROR);
  EXPECT_THAT(Text("err"), HasSubstr("open device cuda: "));
  EXPECT_THAT(Text("err"),
              ::testing::AnyOf(HasSubstr("LD_LIBRARY_PATH"),
                               HasSubstr("nvidia-smi"), HasSubstr("nvcc")));
}

TEST_F(TrainerTest, LeavesWithACheckpointOnSigterm) {
  TrainSpec spec = TinySpec("rope");
  spec.mutable_training()->set_steps(1'000'000);
  const std::string task = WriteSpec(spec);
  const auto process = Start({"train", task, "--out", folder_.Path("a")});
  base::RecordReader reader(files_,
                            folder_.Path("a/attempts/1/progress.records"));
  ASSERT_TRUE(AwaitCheckpoint(process, &reader, 5));
  // Started again on its way, it still has its name.
  std::string name;
  std::ifstream("/proc/" + std::to_string(process.pid) + "/comm") >> name;
  EXPECT_EQ(name, "ordo-trainer");
  ORDO_ASSERT_OK(base::SignalProcess(process, SIGTERM));
  EXPECT_EQ(Wait(process).exit_code, ordo::training::v1::STOPPED);
  ProgressRecord last;
  std::string newest_checkpoint;
  while (true) {
    const auto payload = reader.Next();
    ORDO_ASSERT_OK(payload);
    if (!payload->has_value()) break;
    ASSERT_TRUE(last.ParseFromString(**payload));
    if (last.has_checkpoint()) newest_checkpoint = last.checkpoint().id();
  }
  EXPECT_EQ(last.finished().code(), ordo::training::v1::STOPPED);
  EXPECT_EQ(newest_checkpoint, std::to_string(last.finished().step()) + "-1");
}

TEST_F(TrainerTest, ASignalEndsTheTrainingOfATokenizerAtOnce) {
  // Nobody writes to it, so reading it waits for ever.
  ASSERT_EQ(mkfifo(folder_.Path("text").c_str(), 0600), 0);
  const auto process =
      Start({"train-tokenizer", "--data", folder_.Path("text"), "--out",
             folder_.Path("pieces.model"), "--vocabulary-size", "300"});
  // By then it reads: it has opened its library and nothing else is left to do.
  const std::string maps = absl::StrCat("/proc/", process.pid, "/maps");
  const absl::Time deadline = absl::Now() + kDeadline;
  while (base::IsRunning(process) && absl::Now() < deadline) {
    std::ifstream file(maps);
    const std::string text((std::istreambuf_iterator<char>(file)),
                           std::istreambuf_iterator<char>());
    if (absl::StrContains(text, "libordo_sentence_piece")) break;
  }
  ORDO_ASSERT_OK(base::SignalProcess(process, SIGTERM));
  EXPECT_EQ(Wait(process).signal, SIGTERM);
  EXPECT_FALSE(base::Exists(files_, folder_.Path("pieces.model")));
}

TEST_F(TrainerTest, RefusesAFolderThatHoldsCheckpoints) {
  TrainSpec spec = TinySpec("none");
  spec.mutable_training()->set_steps(2);
  const std::string task = WriteSpec(spec);
  ASSERT_EQ(RunToEnd({"train", task, "--out", folder_.Path("a")}), 0);
  EXPECT_EQ(RunToEnd({"train", task, "--out", folder_.Path("a")}),
            ordo::training::v1::BAD_SPEC);
  EXPECT_THAT(Text("err"), HasSubstr("--resume"));
}

TEST_F(TrainerTest, KeepsAsManyCheckpointsAsThePolicySays) {
  TrainSpec spec = TinySpec("none");
  spec.mutable_checkpoint()->set_every_steps(2);
  spec.mutable_checkpoint()->set_keep(2);
  ASSERT_EQ(RunToEnd({"train", WriteSpec(spec), "--out", folder_.Path("a")}),
            0);
  EXPECT_EQ(files_.List(folder_.Path("a/checkpoints"))->size(), 2u);
}

TEST_F(TrainerTest, NamesTheFieldOfABadTask) {
  ORDO_ASSERT_OK(
      base::AtomicWrite(files_, folder_.Path("task.yaml"),
                        "encoding: {name: taep}\ndata: {task: addition}\n"
                        "training: {steps: 0}\n"));
  EXPECT_EQ(RunToEnd({"train", folder_.Path("task.yaml"), "--out",
                      folder_.Path("a")}),
            ordo::training::v1::BAD_SPEC);
  EXPECT_THAT(Text("err"), HasSubstr("encoding.name"));
  EXPECT_THAT(Text("err"), HasSubstr("'tape'"));
  EXPECT_THAT(Text("err"), HasSubstr("training.steps"));
  EXPECT_EQ(RunToEnd({"tarin"}), ordo::training::v1::BAD_SPEC);
}

TEST_F(TrainerTest, EvaluatesGeneratesAndGivesLogitsOfACheckpoint) {
  // Long enough to get some sums right.
  TrainSpec spec = TinySpec("tape");
  (*spec.mutable_data()->mutable_params())["max_digits"].set_number_value(1);
  spec.mutable_model()->set_width(32);
  spec.mutable_model()->set_mlp_width(96);
  spec.mutable_training()->set_steps(300);
  spec.mutable_training()->set_batch_size(64);
  spec.mutable_training()->set_micro_batch_size(64);
  spec.mutable_training()->set_learning_rate(5e-3);
  spec.mutable_checkpoint()->set_every_steps(100);
  ASSERT_EQ(RunToEnd({"train", WriteSpec(spec), "--out", folder_.Path("a")}), 0)
      << Text("err");
  const std::string checkpoint = folder_.Path("a/checkpoints/300-1");

  ORDO_ASSERT_OK(base::AtomicWrite(
      files_, folder_.Path("e.yaml"),
      "checkpoints: [{path: " + checkpoint +
          "}]\n"
          "evaluations: [{task: addition_grid, params: {max_digits: 3, "
          "samples: 2}}]\n"));
  ASSERT_EQ(RunToEnd({"evaluate", folder_.Path("e.yaml"), "--out",
                      folder_.Path("e")}),
            0)
      << Text("err");
  // The same model and questions as the evaluation inside the training task.
  EXPECT_EQ(Sha256("e/results/addition_grid-300-1/table.csv"),
            Sha256("a/results/addition_grid-300-1/table.csv"));
  EXPECT_THAT(Text("e/results/addition_grid-300-1/result.json"),
              ::testing::Not(HasSubstr("\"grid_mean\": 0.0,\n    \"largest")));

  ASSERT_EQ(RunToEnd({"generate", "--checkpoint", checkpoint, "--prompt",
                      "2 + 3 =", "--max-tokens", "4"}),
            0)
      << Text("err");
  EXPECT_EQ(Text("out"), "5\n");

  ORDO_ASSERT_OK(WriteSafetensors(
      files_, folder_.Path("tokens.safetensors"),
      {{"tokens", at::arange(4, 12, at::kLong).view({2, 4})}}));
  ASSERT_EQ(RunToEnd({"logits", "--checkpoint", checkpoint, "--tokens",
                      folder_.Path("tokens.safetensors"), "--out",
                      folder_.Path("logits.safetensors")}),
            0)
      << Text("err");
  ORDO_ASSERT_OK_AND_ASSIGN(
      const auto logits,
      ReadSafetensors(files_, folder_.Path("logits.safetensors")));
  EXPECT_EQ(logits.at("logits").sizes(), (std::vector<int64_t>{2, 4, 19}));
  EXPECT_EQ(logits.at("logits").scalar_type(), at::kFloat);
}

TEST_F(TrainerTest, NamesADamagedCheckpointFile) {
  ASSERT_EQ(RunToEnd({"train", WriteSpec(TinySpec("none")), "--out",
                      folder_.Path("a")}),
            0);
  ORDO_ASSERT_OK(files_.Truncate(
      folder_.Path("a/checkpoints/20-1/model.safetensors"), 50));
  EXPECT_EQ(RunToEnd({"generate", "--checkpoint",
                      folder_.Path("a/checkpoints/20-1"), "--prompt", "1+1="}),
            ordo::training::v1::CHECKPOINT_DAMAGED);
  EXPECT_THAT(Text("err"), HasSubstr("20-1/model.safetensors is damaged"));
}

}  // namespace
}  // namespace ordo::worker::trainer
