// Measures a training step (forward, backward, AdamW) of a model under
// encodings, beside one under rope; its flags are those of kAbout and FlagsOf.

#include <algorithm>
#include <cstdint>
#include <cstdio>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "base/status/status.h"
#include "kernels/common/device_name.h"
#include "model/benchmark/attention_classes.h"
#include "model/benchmark/measurement.h"
#include "model/cost/cost.h"
#include "tests/bench/panels.h"
#include "tests/bench/program.h"
#include "tests/bench/training_step.h"

namespace {

using ordo::kernels::Device;
using ordo::kernels::DeviceName;
using ordo::kernels::Type;
using ordo::model::benchmark::Measurement;
using ordo::model::benchmark::MedianOf;
using ordo::model::benchmark::NameOf;
using ordo::model::benchmark::Quantile;
using ordo::tests::bench::AddDevice;
using ordo::tests::bench::DrawPanels;
using ordo::tests::bench::EncodingOf;
using ordo::tests::bench::ExitCodeOf;
using ordo::tests::bench::Flags;
using ordo::tests::bench::GaveHelp;
using ordo::tests::bench::kReferenceEncoding;
using ordo::tests::bench::ModelOf;
using ordo::tests::bench::NamedFigure;
using ordo::tests::bench::NumStepThreads;
using ordo::tests::bench::OpenDevice;
using ordo::tests::bench::Outputs;
using ordo::tests::bench::Panels;
using ordo::tests::bench::StepComparison;
using ordo::tests::bench::StepCosts;
using ordo::tests::bench::StepShape;
using ordo::tests::bench::WriteFigures;
using ordo::training::v1::Component;
using ordo::training::v1::Model;

constexpr int kMaxTokens = 65536;
constexpr int kMaxRows = 1024;
constexpr int kMaxRounds = 1000;

constexpr char kAbout[] =
    "Measures a training step (forward, backward, AdamW) of a model under "
    "encodings,\n"
    "beside one under rope. OMP_NUM_THREADS sets the threads; docs/kernels.md "
    "says\n"
    "what the figures mean. Example:\n"
    "  tools/bench step --encodings tape,t5 --json figures.jsonl --plots "
    "figures\n";

struct Arguments {
  std::string model = "small";
  // Of the paper of TAPE; the tiny model's task has less.
  int vocabulary = 32000;
  int rows = 1;
  int tokens = 1024;
  int rounds = 5;
  std::vector<std::string> encodings = {"tape"};
  Outputs outputs;
  bool quick = false;
  bool plain = false;
  DeviceName device;
};

Flags FlagsOf(Arguments* arguments) {
  Flags flags(kAbout);
  AddDevice(&flags, &arguments->device);
  flags.Add("--encodings", "A,B", "those encodings (tape unless given)",
            [=](const std::string& value) {
              arguments->encodings = absl::StrSplit(value, ',');
              return absl::OkStatus();
            });
  flags.AddText("--model", "PRESET",
                "small (unless given: 12 layers, 768 wide) or tiny",
                &arguments->model);
  flags.AddNumber("--rows", kMaxRows, "rows of a step (1 unless given)",
                  &arguments->rows);
  flags.AddNumber("--tokens", kMaxTokens, "tokens of a row (1024 unless given)",
                  &arguments->tokens);
  flags.AddNumber("--rounds", kMaxRounds, "how often (5 unless given)",
                  &arguments->rounds);
  flags.AddSwitch("--plain",
                  "each with plain operations in the place of its kernel, "
                  "beside itself with it",
                  [=] { arguments->plain = true; });
  arguments->outputs.AddTo(&flags);
  flags.AddSwitch("--quick",
                  "two short steps of the tiny model, to see that it works",
                  [=] {
                    arguments->quick = true;
                    arguments->model = "tiny";
                    arguments->tokens = 32;
                    arguments->rounds = 2;
                  });
  return flags;
}

absl::Status Parse(const Flags& flags, const std::vector<std::string>& given,
                   Arguments* arguments) {
  ORDO_RETURN_IF_ERROR(flags.Read(given));
  constexpr int kTinyVocabulary = 19;
  if (arguments->model == "tiny") arguments->vocabulary = kTinyVocabulary;
  return absl::OkStatus();
}

// What is counted of a step, whatever computes it: what model/cost counts of
// a forward pass, and twice that for the backward pass.
double FlopOf(const Arguments& arguments, const Model& model,
              const Component& encoding) {
  ordo::model::cost::CostOptions options;
  options.tokens = arguments.tokens;
  return 3.0 * arguments.rows *
         static_cast<double>(CountCost({model, encoding}, options).whole.flops);
}

// What is to be written of one encoding.
struct Found {
  std::string encoding;
  double flop = 0;
  StepCosts costs;
};

std::vector<Measurement> MeasurementsOf(const Arguments& arguments,
                                        const Found& found) {
  const StepCosts& costs = found.costs;
  Measurement about;
  about.benchmark = "step";
  about.params = {{"encoding", found.encoding},
                  {"model", arguments.model},
                  {"device", ToString(arguments.device)},
                  {"type", NameOf(arguments.device.device == Device::kCpu
                                      ? Type::kFloat32
                                      : Type::kBfloat16)},
                  {"B", absl::StrCat(arguments.rows)},
                  {"N", absl::StrCat(arguments.tokens)},
                  {"threads", absl::StrCat(NumStepThreads())}};
  if (arguments.quick) about.params["quick"] = "true";
  if (arguments.plain) about.params["kernel"] = "reference";
  std::vector<Measurement> out;
  const auto add = [&](const char* metric, const char* unit,
                       const std::vector<double>& samples) {
    about.metric = metric;
    about.unit = unit;
    out.push_back(MedianOf(about, samples));
  };
  std::vector<double> rates, flop_rates;
  for (const double seconds : costs.seconds) {
    rates.push_back(1.0 * arguments.rows * arguments.tokens / seconds);
    flop_rates.push_back(found.flop / seconds);
  }
  add("step_seconds", "s", costs.seconds);
  add("token_rate", "1/s", rates);
  add("flop_rate", "FLOP/s", flop_rates);
  add("peak_bytes", "B", {static_cast<double>(costs.bytes)});
  about.reference = arguments.plain ? "kernel" : kReferenceEncoding;
  add(arguments.plain ? "plain_ratio" : "step_ratio", "1", costs.ratios);
  return out;
}

// A panel for each encoding.
NamedFigure FigureOf(const Arguments& arguments,
                     const std::vector<Found>& all) {
  Panels panels;
  for (const Found& found : all) {
    const std::vector<double>& ratios = found.costs.ratios;
    const auto [low, high] = std::minmax_element(ratios.begin(), ratios.end());
    panels.Of(found.encoding)
        .Add(arguments.model, false,
             {arguments.tokens, Quantile(ratios, 0.5), *low, *high});
  }
  const std::string reference =
      arguments.plain ? "its kernel" : kReferenceEncoding;
  return {"step_ratio",
          DrawPanels(panels, {"A training step",
                              absl::StrCat(ToString(arguments.device), ", ",
                                           NumStepThreads(), " threads"),
                              absl::StrCat("time / ", reference),
                              /*level=*/1, reference})};
}

absl::Status Run(const Arguments& arguments) {
  ORDO_RETURN_IF_ERROR(arguments.outputs.Check());
  ORDO_RETURN_IF_ERROR(OpenDevice(arguments.device));
  ORDO_ASSIGN_OR_RETURN(
      const Model model,
      ModelOf(arguments.model, /*layers=*/0, arguments.vocabulary));
  std::vector<Component> encodings;
  for (const std::string& name : arguments.encodings) {
    ORDO_ASSIGN_OR_RETURN(const Component encoding, EncodingOf(name, model));
    encodings.push_back(encoding);
  }
  const StepShape shape = {arguments.rows, arguments.tokens, arguments.rounds,
                           arguments.plain, arguments.device.device};
  ORDO_ASSIGN_OR_RETURN(const auto comparison,
                        StepComparison::Create(model, shape));
  std::vector<Measurement> all;
  std::vector<Found> found;
  for (const Component& encoding : encodings) {
    ORDO_ASSIGN_OR_RETURN(StepCosts costs, comparison->Measure(encoding));
    found.push_back({encoding.name(), FlopOf(arguments, model, encoding),
                     std::move(costs)});
    for (const Measurement& m : MeasurementsOf(arguments, found.back())) {
      all.push_back(m);
    }
  }
  std::fputs(ToTable(all).c_str(), stdout);
  ORDO_RETURN_IF_ERROR(arguments.outputs.WriteJson(all));
  if (arguments.outputs.plots_folder.empty()) return absl::OkStatus();
  return WriteFigures({FigureOf(arguments, found)},
                      arguments.outputs.plots_folder);
}

}  // namespace

int main(int argc, char** argv) {
  const std::vector<std::string> given(argv + 1, argv + argc);
  Arguments arguments;
  const Flags flags = FlagsOf(&arguments);
  if (GaveHelp(flags, given)) return 0;
  absl::Status status = Parse(flags, given, &arguments);
  if (status.ok()) status = Run(arguments);
  return ExitCodeOf("step", status);
}
