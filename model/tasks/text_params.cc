#include "model/tasks/text_params.h"

#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "base/status/details.h"
#include "base/status/status.h"
#include "model/tasks/shares.h"
#include "model/text/task/perplexity.h"
#include "model/text/task/text_task.h"

namespace ordo::model::tasks {
namespace {

using catalog::Params;

// Where the parameters stand, for messages.
constexpr char kTrainingField[] = "data.params";

constexpr char kTokenizer[] = "tokenizer";

constexpr char kNeeded[] =
    "is needed: the model was not trained here on text that says it";

text::rows::WindowOptions WindowsOf(const Params& params) {
  using text::rows::Protocol;
  text::rows::WindowOptions windows;
  const std::string protocol = params.String("protocol");
  windows.protocol = protocol == "overlap"  ? Protocol::kOverlap
                     : protocol == "stride" ? Protocol::kStride
                                            : Protocol::kBlocks;
  windows.step = static_cast<int>(params.Integer("step"));
  windows.drop_last = params.Bool("drop_last");
  windows.every = static_cast<int>(params.Integer("every"));
  return windows;
}

}  // namespace

text::task::TextOptions TextOptionsOf(const Params& params, const char* field) {
  text::task::TextOptions options;
  options.field = field;
  options.data = params.Strings("data");
  const std::string format = params.String("format");
  options.token_files = format == "tokens";
  using Format = text::source::TextFormat;
  options.documents.format = format == "lines"        ? Format::kLines
                             : format == "json_lines" ? Format::kJsonLines
                                                      : Format::kFile;
  options.documents.field = params.String("field");
  options.tokenizer = params.String("tokenizer");
  const std::string marks = params.String("marks");
  options.marks.begin = marks == "begin" || marks == "both";
  options.marks.end = marks == "end" || marks == "both";
  return options;
}

text::store::HeldOut HeldOutOf(const Params& params) {
  text::store::HeldOut held_out;
  held_out.seed = static_cast<uint64_t>(params.Integer("split_seed"));
  held_out.per_million =
      static_cast<uint64_t>(Millionths(params.Number("held_out")));
  return held_out;
}

text::task::Split SplitOf(const Params& params) {
  const std::string split = params.String("split");
  return split == "all"       ? text::task::Split::kAll
         : split == "trained" ? text::task::Split::kTrained
                              : text::task::Split::kHeldOut;
}

void CheckTextGiven(const text::task::TextOptions& options,
                    std::vector<base::FieldViolation>* violations) {
  if (options.data.empty()) {
    violations->push_back({options.field + ".data", kNeeded});
  }
  if (options.tokenizer.empty()) {
    violations->push_back({options.field + ".tokenizer", kNeeded});
  }
}

absl::StatusOr<std::unique_ptr<TrainingTask>> TextOf(const Params& params,
                                                     const DataAccess& access) {
  text::task::TextTaskOptions options;
  options.text = TextOptionsOf(params, kTrainingField);
  options.weights = params.Numbers("weights");
  options.packing.row_length = static_cast<int>(params.Integer("length"));
  options.packing.separate_documents = params.Bool("separate_documents");
  options.packing.documents_per_group =
      static_cast<uint64_t>(params.Integer("documents_per_group"));
  options.held_out = HeldOutOf(params);
  return text::task::OpenTextTask(access, options);
}

absl::StatusOr<std::unique_ptr<EvaluationTask>> PerplexityOf(
    const Params& params, const ordo::training::v1::Data* trained_on,
    const DataAccess& access) {
  text::task::PerplexityOptions options;
  options.text = TextOptionsOf(params, kEvaluationField);
  options.split = SplitOf(params);
  options.held_out = HeldOutOf(params);
  options.windows = WindowsOf(params);
  for (const double length : params.Numbers("lengths")) {
    options.lengths.push_back(static_cast<int>(length));
  }
  options.documents_per_group =
      static_cast<uint64_t>(params.Integer("documents_per_group"));
  options.max_tokens = static_cast<uint64_t>(params.Integer("max_tokens"));
  if (trained_on != nullptr && trained_on->task() == kTextTask) {
    options.trained_length =
        static_cast<int>(Params(trained_on->params()).Integer("length"));
  }
  std::vector<base::FieldViolation> violations;
  CheckTextGiven(options.text, &violations);
  if (options.lengths.empty()) {
    violations.push_back({options.text.field + ".lengths", kNeeded});
  }
  ORDO_RETURN_IF_ERROR(base::InvalidFields(violations));
  return text::task::OpenPerplexity(access, options);
}

absl::StatusOr<std::optional<PromptTokens>> PromptTokensOf(
    const Params& params, const DataAccess& access) {
  const std::string name =
      params.Has(kTokenizer) ? params.String(kTokenizer) : "";
  if (name.empty() || name == catalog::kByteTokenizer) return std::nullopt;
  ORDO_ASSIGN_OR_RETURN(
      auto tokenizer,
      text::task::OpenTokenizer(
          access, absl::StrCat(kEvaluationField, ".", kTokenizer), name));
  // What a training says has been filled in.
  const bool begin = !params.Has("begin") || params.String("begin") != "never";
  return PromptTokens(std::move(tokenizer), begin);
}

absl::StatusOr<std::unique_ptr<Tokenizer>> TextTokenizerOf(
    const Params& params, const DataAccess& access) {
  return text::task::OpenTokenizer(access,
                                   std::string(kTrainingField) + ".tokenizer",
                                   params.String("tokenizer"));
}

}  // namespace ordo::model::tasks
