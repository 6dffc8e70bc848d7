#include "worker/trainer/commands.h"

#include <filesystem>
#include <iostream>
#include <string>
#include <type_traits>

#include "absl/status/status.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "base/files/file_util.h"
#include "base/process/process.h"
#include "base/status/details.h"
#include "base/status/status.h"
#include "base/version/version.h"
#include "kernels/common/left_out.h"
#include "model/training/checkpoint.h"
#include "model/training/numerics.h"
#include "worker/trainer/benchmark.h"
#include "worker/trainer/context.h"
#include "worker/trainer/convert.h"
#include "worker/trainer/cost.h"
#include "worker/trainer/data.h"
#include "worker/trainer/encoding_flag.h"
#include "worker/trainer/evaluate.h"
#include "worker/trainer/exit_code.h"
#include "worker/trainer/gate.h"
#include "worker/trainer/inference.h"
#include "worker/trainer/job_page.h"
#include "worker/trainer/probe.h"
#include "worker/trainer/progress.h"
#include "worker/trainer/spec_file.h"
#include "worker/trainer/summarize.h"
#include "worker/trainer/train.h"
#include "worker/trainer/train_tokenizer.h"

namespace ordo::worker::trainer {
namespace {

using ordo::training::v1::ExitCode;
using ordo::training::v1::TrainSpec;

constexpr int kDefaultThreads = 2;
constexpr int kMaxThreads = 1024;
constexpr int kMaxTokens = 1 << 20;

// Whether no scheduler stands behind this process.
bool RunsByHand(const CommandLine& line) {
  return line.flags.count("--deployment") == 0;
}

absl::StatusOr<TrainerContext> MakeContext(const CommandContext& context,
                                           const CommandLine& line) {
  ORDO_ASSIGN_OR_RETURN(const std::string build_digest, base::BuildId());
  TrainerContext trainer(context.files, context.clock);
  trainer.job_folder = line.Flag("--out");
  trainer.storage_root = line.Flag("--storage-root");
  ORDO_ASSIGN_OR_RETURN(trainer.data_roots,
                        ParseDataRoots(line.Flag("--data-roots")));
  trainer.build_digest = build_digest;
  ORDO_ASSIGN_OR_RETURN(const std::string own, base::ExecutablePath());
  trainer.gpu_kernels = base::GpuKernelsIn(base::FolderOf(own));
  trainer.nccl_library = base::NcclLibraryIn(base::FolderOf(own));
  trainer.sentence_piece = base::SentencePieceIn(base::FolderOf(own));
  trainer.prune_checkpoints = RunsByHand(line);
  trainer.may_start_over = !RunsByHand(line);
  trainer.stop_requested = context.stop_requested;
  trainer.leave = context.leave;
  return trainer;
}

// Checkpoints of a folder that a trainer run by hand goes on from; refuses to
// write among them unless told to go on.
absl::Status FindOwnCheckpoints(const TrainerContext& context, bool resume,
                                TrainSpec* spec) {
  const std::string folder = CheckpointsFolder(context);
  ORDO_ASSIGN_OR_RETURN(
      const std::vector<std::string> ids,
      model::training::ListCheckpoints(context.files, folder));
  if (!ids.empty() && !resume) {
    return base::InvalidField(
        "--out", absl::StrCat(folder,
                              " holds checkpoints already; give "
                              "--resume to go on from the newest, or another "
                              "folder"));
  }
  // Relative ones would be looked for under the storage root.
  const std::string absolute = std::filesystem::absolute(folder);
  for (const std::string& id : ids) {
    auto* source = spec->add_resume();
    source->set_path(base::JoinPath(absolute, id));
  }
  return absl::OkStatus();
}

// Which rank this process is, where its task, which all ranks share, does not
// say.
absl::Status TakeRank(const CommandLine& line, TrainSpec* spec) {
  if (line.flags.count("--rank") != 0) {
    const std::string text = line.Flag("--rank");
    int rank = 0;
    if (!absl::SimpleAtoi(text, &rank) || rank < 0 ||
        rank >= spec->resources().ranks()) {
      return base::InvalidField(
          "--rank",
          absl::StrCat("must be 0..", spec->resources().ranks() - 1,
                       " (the task's resources.ranks is ",
                       spec->resources().ranks(), "), is '", text, "'"));
    }
    spec->set_rank(rank);
  }
  if (line.flags.count("--host") != 0) spec->set_host(line.Flag("--host"));
  return absl::OkStatus();
}

// Of all attempts so far, where the task does not say which are the job's own.
template <typename Spec>
JobPage PageOf(const Spec& spec) {
  JobPage page;
  page.job = spec.job();
  page.attempts.insert(spec.attempt());
  if constexpr (!std::is_same_v<Spec, TrainSpec>) {
    for (int i = 1; i < spec.attempt(); ++i) page.attempts.insert(i);
  }
  return page;
}

// The page of a job is written once all else is done and told.
void WritePageAtEnd(const TrainerContext& trainer, const CommandLine& line,
                    const absl::StatusOr<ExitCode>& code, const JobPage& page) {
  if (RunsByHand(line) || !code.ok() || *code != ordo::training::v1::FINISHED) {
    return;
  }
  WriteJobPage(trainer, page);
}

absl::StatusOr<ExitCode> TrainCommand(const CommandContext& context,
                                      const CommandLine& line) {
  ORDO_ASSIGN_OR_RETURN(TrainSpec spec,
                        ReadTrainSpec(context.files, line.spec));
  ORDO_RETURN_IF_ERROR(TakeRank(line, &spec));
  ORDO_ASSIGN_OR_RETURN(TrainerContext trainer, MakeContext(context, line));
  const bool resume = line.flags.count("--resume") != 0;
  // A job's attempts name what they resume from; a run by hand does not.
  if (spec.resume().empty() &&
      (resume || line.flags.count("--deployment") == 0)) {
    ORDO_RETURN_IF_ERROR(FindOwnCheckpoints(trainer, resume, &spec));
  }
  ORDO_ASSIGN_OR_RETURN(
      const auto progress,
      Progress::Open(context.files, context.clock,
                     AttemptFolder(trainer, spec.attempt()), spec.rank()));
  const absl::StatusOr<ExitCode> code = Train(trainer, spec, progress.get());
  if (spec.rank() == 0) {
    JobPage page = PageOf(spec);
    page.attempts.insert(spec.own_attempts().begin(),
                         spec.own_attempts().end());
    page.encoding = spec.encoding().name();
    WritePageAtEnd(trainer, line, code, page);
  }
  return code;
}

absl::StatusOr<ExitCode> EvaluateCommand(const CommandContext& context,
                                         const CommandLine& line) {
  ORDO_ASSIGN_OR_RETURN(auto spec, ReadEvaluateSpec(context.files, line.spec));
  ORDO_ASSIGN_OR_RETURN(const auto encoding,
                        ParseEncodingFlag(line.Flag("--encoding")));
  if (encoding) *spec.mutable_encoding() = *encoding;
  ORDO_ASSIGN_OR_RETURN(const TrainerContext trainer,
                        MakeContext(context, line));
  ORDO_ASSIGN_OR_RETURN(const auto progress,
                        Progress::Open(context.files, context.clock,
                                       AttemptFolder(trainer, spec.attempt())));
  const absl::StatusOr<ExitCode> code =
      EvaluateCheckpoints(trainer, spec, progress.get());
  JobPage page = PageOf(spec);
  page.shows_all = true;
  WritePageAtEnd(trainer, line, code, page);
  return code;
}

absl::StatusOr<ExitCode> BenchmarkCommand(const CommandContext& context,
                                          const CommandLine& line) {
  ORDO_ASSIGN_OR_RETURN(const auto spec,
                        ReadBenchmarkSpec(context.files, line.spec));
  ORDO_ASSIGN_OR_RETURN(const TrainerContext trainer,
                        MakeContext(context, line));
  ORDO_ASSIGN_OR_RETURN(const auto progress,
                        Progress::Open(context.files, context.clock,
                                       AttemptFolder(trainer, spec.attempt())));
  const absl::StatusOr<ExitCode> code =
      RunBenchmark(trainer, spec, progress.get());
  WritePageAtEnd(trainer, line, code, PageOf(spec));
  return code;
}

absl::StatusOr<ExitCode> SummarizeCommand(const CommandContext& context,
                                          const CommandLine& line) {
  ORDO_ASSIGN_OR_RETURN(const auto spec,
                        ReadSummarizeSpec(context.files, line.spec));
  ORDO_ASSIGN_OR_RETURN(const TrainerContext trainer,
                        MakeContext(context, line));
  ORDO_ASSIGN_OR_RETURN(const auto progress,
                        Progress::Open(context.files, context.clock,
                                       AttemptFolder(trainer, spec.attempt())));
  return RunSummary(trainer, spec, progress.get());
}

absl::StatusOr<ExitCode> GateCommand(const CommandContext& context,
                                     const CommandLine& line) {
  ORDO_ASSIGN_OR_RETURN(const auto spec,
                        ReadGateSpec(context.files, line.spec));
  ORDO_ASSIGN_OR_RETURN(const TrainerContext trainer,
                        MakeContext(context, line));
  ORDO_ASSIGN_OR_RETURN(const auto progress,
                        Progress::Open(context.files, context.clock,
                                       AttemptFolder(trainer, spec.attempt())));
  return RunGate(trainer, spec, progress.get());
}

absl::StatusOr<int> IntFlag(const CommandLine& line, const std::string& name,
                            int fallback, int max) {
  const std::string text = line.Flag(name);
  if (text.empty()) return fallback;
  int value = 0;
  if (!absl::SimpleAtoi(text, &value) || value < 1 || value > max) {
    return base::InvalidField(
        name, absl::StrCat("must be 1..", max, ", is '", text, "'"));
  }
  return value;
}

absl::StatusOr<ExitCode> GenerateCommand(const CommandContext& context,
                                         const CommandLine& line) {
  ORDO_ASSIGN_OR_RETURN(
      const int threads,
      IntFlag(line, "--threads", kDefaultThreads, kMaxThreads));
  model::training::ConfigureNumerics(threads);
  GenerateOptions options;
  options.checkpoint = line.Flag("--checkpoint");
  options.prompt = line.Flag("--prompt");
  options.kernel = line.Flag("--kernel");
  ORDO_ASSIGN_OR_RETURN(
      options.max_tokens,
      IntFlag(line, "--max-tokens", options.max_tokens, kMaxTokens));
  options.data.files = &context.files;
  if (line.flags.count("--storage-root") != 0) {
    options.data.data_folder =
        base::JoinPath(line.Flag("--storage-root"), "data");
  }
  ORDO_ASSIGN_OR_RETURN(options.data.data_roots,
                        ParseDataRoots(line.Flag("--data-roots")));
  ORDO_ASSIGN_OR_RETURN(const std::string own, base::ExecutablePath());
  options.data.sentence_piece = base::SentencePieceIn(base::FolderOf(own));
  ORDO_ASSIGN_OR_RETURN(const std::string text,
                        Generate(context.files, options));
  std::cout << text << std::endl;
  return ordo::training::v1::FINISHED;
}

absl::StatusOr<ExitCode> LogitsCommand(const CommandContext& context,
                                       const CommandLine& line) {
  ORDO_ASSIGN_OR_RETURN(
      const int threads,
      IntFlag(line, "--threads", kDefaultThreads, kMaxThreads));
  model::training::ConfigureNumerics(threads);
  ORDO_ASSIGN_OR_RETURN(const auto encoding,
                        ParseEncodingFlag(line.Flag("--encoding")));
  ORDO_RETURN_IF_ERROR(Logits(
      context.files, {line.Flag("--checkpoint"), line.Flag("--tokens"),
                      line.Flag("--out"), encoding, line.Flag("--kernel")}));
  return ordo::training::v1::FINISHED;
}

absl::StatusOr<ExitCode> ConvertCommand(const CommandContext& context,
                                        const CommandLine& line) {
  ORDO_ASSIGN_OR_RETURN(const auto encoding,
                        ParseEncodingFlag(line.Flag("--encoding")));
  ORDO_RETURN_IF_ERROR(Convert(context.files, {line.Flag("--checkpoint"),
                                               line.Flag("--out"), encoding}));
  return ordo::training::v1::FINISHED;
}

absl::StatusOr<ExitCode> MergeCommand(const CommandContext& context,
                                      const CommandLine& line) {
  ORDO_RETURN_IF_ERROR(
      Merge(context.files, {line.Flag("--checkpoint"), line.Flag("--out")}));
  return ordo::training::v1::FINISHED;
}

absl::StatusOr<ExitCode> CostCommand(const CommandContext& context,
                                     const CommandLine& line) {
  CostOptions options;
  options.spec = line.spec;
  options.convention = line.Flag("--convention");
  options.output = line.Flag("-o");
  ORDO_ASSIGN_OR_RETURN(options.tokens,
                        IntFlag(line, "--tokens", 0, kMaxTokens));
  ORDO_ASSIGN_OR_RETURN(const std::string text,
                        CostText(context.files, options));
  std::cout << text << std::flush;
  return ordo::training::v1::FINISHED;
}

absl::StatusOr<ExitCode> TrainTokenizerCommand(const CommandContext& context,
                                               const CommandLine& line) {
  TrainTokenizerOptions options;
  options.data = absl::StrSplit(line.Flag("--data"), ':', absl::SkipEmpty());
  options.out = line.Flag("--out");
  ORDO_ASSIGN_OR_RETURN(
      options.vocabulary_size,
      IntFlag(line, "--vocabulary-size", 0, kMaxVocabularySize));
  options.type = line.Flag("--type");
  options.format = line.Flag("--format");
  options.field = line.Flag("--field");
  ORDO_ASSIGN_OR_RETURN(const std::string own, base::ExecutablePath());
  options.sentence_piece = base::SentencePieceIn(base::FolderOf(own));
  ORDO_ASSIGN_OR_RETURN(const std::string text,
                        TrainTokenizer(context.files, options));
  std::cout << text << std::flush;
  return ordo::training::v1::FINISHED;
}

absl::StatusOr<ExitCode> ProbeCommand(const CommandContext& context,
                                      const CommandLine& line) {
  ProbeOptions options;
  options.device = line.Flag("--device");
  ORDO_ASSIGN_OR_RETURN(const std::string own, base::ExecutablePath());
  options.gpu_kernels = base::GpuKernelsIn(base::FolderOf(own));
  ORDO_ASSIGN_OR_RETURN(options.build_digest, base::BuildId());
  // Before what takes its time.
  ORDO_RETURN_IF_ERROR(ProbeText({}, line.Flag("-o")).status());
  ORDO_ASSIGN_OR_RETURN(const auto probe,
                        Probe(context.files, context.clock, options));
  ORDO_ASSIGN_OR_RETURN(const std::string text,
                        ProbeText(probe, line.Flag("-o")));
  std::cout << text << std::flush;
  return ordo::training::v1::FINISHED;
}

absl::StatusOr<ExitCode> VersionCommand() {
  ORDO_ASSIGN_OR_RETURN(const std::string build, base::BuildId());
  std::cout << "ordo-trainer, build " << build << "\n";
  return ordo::training::v1::FINISHED;
}

}  // namespace

absl::StatusOr<ExitCode> RunCommand(const CommandContext& context,
                                    const CommandLine& line) {
  // What a probe of the device found wrong.
  kernels::LeaveOut(
      absl::StrSplit(line.Flag("--without-kernels"), ',', absl::SkipEmpty()));
  if (line.command == "train") return TrainCommand(context, line);
  if (line.command == "evaluate") return EvaluateCommand(context, line);
  if (line.command == "benchmark") return BenchmarkCommand(context, line);
  if (line.command == "summarize") return SummarizeCommand(context, line);
  if (line.command == "gate") return GateCommand(context, line);
  if (line.command == "generate") return GenerateCommand(context, line);
  if (line.command == "logits") return LogitsCommand(context, line);
  if (line.command == "convert") return ConvertCommand(context, line);
  if (line.command == "merge") return MergeCommand(context, line);
  if (line.command == "cost") return CostCommand(context, line);
  if (line.command == "probe") return ProbeCommand(context, line);
  if (line.command == "train-tokenizer") {
    return TrainTokenizerCommand(context, line);
  }
  if (line.command == "version") return VersionCommand();
  std::cout << Usage();
  return ordo::training::v1::FINISHED;
}

}  // namespace ordo::worker::trainer
