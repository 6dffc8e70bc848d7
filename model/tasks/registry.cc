#include "model/tasks/registry.h"

#include <algorithm>
#include <utility>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "base/status/details.h"
#include "base/status/status.h"
#include "model/catalog/catalog.h"
#include "model/catalog/lengths.h"
#include "model/tasks/addition.h"
#include "model/tasks/bitwise_or.h"
#include "model/tasks/by_lengths.h"
#include "model/tasks/counting.h"
#include "model/tasks/flip_flop.h"
#include "model/tasks/inside_params.h"
#include "model/tasks/nope/nope.h"
#include "model/tasks/nope/scan_task.h"
#include "model/tasks/pairs.h"
#include "model/tasks/passkey/passkey.h"
#include "model/tasks/question_params.h"
#include "model/tasks/retrieval/retrieval.h"
#include "model/tasks/ruoss/ruoss.h"
#include "model/tasks/selective_copy.h"
#include "model/tasks/sorting.h"
#include "model/tasks/text_params.h"

namespace ordo::model::tasks {
namespace {

using catalog::Params;
using ordo::training::v1::Data;

// The parameters with their defaults, checked.
absl::StatusOr<catalog::ParamMap> Resolved(catalog::Kind kind,
                                           const std::string& name,
                                           catalog::ParamMap params,
                                           const Data* trained_on = nullptr) {
  std::vector<base::FieldViolation> violations;
  const catalog::Entry* entry =
      catalog::ResolveName(kind, "task", name, &violations);
  if (entry != nullptr) {
    catalog::ResolveLengths({*entry, "", trained_on}, &params, &violations);
    if (entry->from_training != nullptr && trained_on != nullptr) {
      entry->from_training("", *trained_on, &params, &violations);
    }
    catalog::ResolveParams(*entry, "", &params, &violations);
    catalog::RefuseMultiples(*entry, "", params, &violations);
  }
  ORDO_RETURN_IF_ERROR(base::InvalidFields(violations));
  return params;
}

int Int(const Params& params, const std::string& name) {
  return static_cast<int>(params.Integer(name));
}

// Operands of an operation are of digits or of bits; the numbers that are
// sorted have a length and a number.
struct PairSizes {
  const Operation& operation;
  const char* first;
  const char* second;
  bool has_rows = true;
};

PairSizes AdditionSizes() {
  return {Addition(), "max_digits", "max_digits", /*has_rows=*/false};
}
PairSizes BitwiseOrSizes() { return {BitwiseOr(), "max_bits", "max_bits"}; }
PairSizes MultiplicationSizes() {
  return {Multiplication(), "max_digits", "max_digits"};
}
PairSizes SortingSizes() { return {Sorting(), "max_digits", "max_numbers"}; }

template <PairSizes (*kSizes)()>
std::unique_ptr<TrainingTask> PairsOf(const Params& params) {
  const PairSizes sizes = kSizes();
  PairsOptions options;
  options.max_first = Int(params, sizes.first);
  options.max_second = Int(params, sizes.second);
  if (sizes.has_rows) {
    options.rows = static_cast<uint64_t>(params.Integer("rows"));
  }
  return MakePairs(sizes.operation, options);
}

// `trained_on` is the resolved data of a model, or null; the task of the grid
// is called as that of training with _grid behind it.
template <PairSizes (*kSizes)()>
std::unique_ptr<EvaluationTask> PairGridOf(
    const Params& params, const ordo::training::v1::Data* trained_on) {
  const PairSizes sizes = kSizes();
  PairGridOptions options;
  options.max_first = Int(params, sizes.first);
  options.max_second = Int(params, sizes.second);
  options.samples = Int(params, "samples");
  if (trained_on != nullptr && absl::StrCat(trained_on->task(), "_grid") ==
                                   std::string(sizes.operation.stream)) {
    const Params trained(trained_on->params());
    options.trained_first = Int(trained, sizes.first);
    options.trained_second = Int(trained, sizes.second);
  }
  return MakePairGrid(sizes.operation, options);
}

FlipFlopOptions FlipFlopStringsOf(const Params& params) {
  FlipFlopOptions options;
  options.length = 2 * Int(params, "pairs");
  options.ignore = params.Number("ignore");
  return options;
}

std::unique_ptr<TrainingTask> FlipFlopOf(const Params& params) {
  FlipFlopOptions options = FlipFlopStringsOf(params);
  options.full_loss = params.String("loss") == "full";
  return MakeFlipFlop(options);
}

std::unique_ptr<EvaluationTask> FlipFlopReadsOf(
    const Params& params, const ordo::training::v1::Data* /*trained_on*/) {
  FlipFlopReadsOptions options;
  options.strings = FlipFlopStringsOf(params);
  options.samples = Int(params, "samples");
  return MakeFlipFlopReads(options);
}

SelectiveCopyOptions SelectiveCopyRowsOf(const Params& params) {
  SelectiveCopyOptions options;
  options.symbols = Int(params, "symbols");
  options.blanks = Int(params, "blanks");
  options.markers = params.String("layout") == "markers";
  options.separator = params.String("layout") == "separated";
  return options;
}

std::unique_ptr<TrainingTask> SelectiveCopyOf(const Params& params) {
  return MakeSelectiveCopy(SelectiveCopyRowsOf(params));
}

std::unique_ptr<EvaluationTask> SelectiveCopiesOf(
    const Params& params, const ordo::training::v1::Data* /*trained_on*/) {
  SelectiveCopiesOptions options;
  options.rows = SelectiveCopyRowsOf(params);
  options.samples = Int(params, "samples");
  return MakeSelectiveCopies(options);
}

CountingOptions ProgramsOf(const Params& params) {
  CountingOptions options;
  options.variables = Int(params, "variables");
  options.max_operations = Int(params, "max_operations");
  options.pass = Int(params, "pass");
  options.max_tokens = Int(params, "max_tokens");
  return options;
}

std::unique_ptr<TrainingTask> CountingOf(const Params& params) {
  CountingTrainingOptions options;
  options.programs = ProgramsOf(params);
  options.rows = static_cast<uint64_t>(params.Integer("rows"));
  return MakeCounting(options);
}

std::unique_ptr<EvaluationTask> CountingAnswersOf(
    const Params& params, const ordo::training::v1::Data* /*trained_on*/) {
  CountingAnswersOptions options;
  options.programs = ProgramsOf(params);
  options.samples = Int(params, "samples");
  return MakeCountingAnswers(options);
}

nope::NopeOptions NopeRowsOf(const Params& params, std::string task) {
  nope::NopeOptions options;
  options.task = std::move(task);
  options.min_length = Int(params, "min_length");
  options.max_length = std::max(options.min_length, Int(params, "max_length"));
  options.rows = static_cast<uint64_t>(params.Integer("rows"));
  return options;
}

std::unique_ptr<TrainingTask> NopeOf(const Params& params) {
  return nope::MakeNope(NopeRowsOf(params, params.String("task")));
}

std::unique_ptr<TrainingTask> PcfgOf(const Params& params) {
  return nope::MakeNope(NopeRowsOf(params, "pcfg"));
}

// `trained_on` is of the training task `name`, or of another.
nope::NopeLengthsOptions NopeQuestionsOf(
    const Params& params, const ordo::training::v1::Data* trained_on,
    const std::string& name) {
  nope::NopeLengthsOptions options;
  options.min_length = Int(params, "min_length");
  options.max_length = std::max(options.min_length, Int(params, "max_length"));
  options.samples = Int(params, "samples");
  if (trained_on != nullptr && trained_on->task() == name) {
    options.trained_length = Int(Params(trained_on->params()), "max_length");
  }
  return options;
}

std::unique_ptr<EvaluationTask> NopeLengthsOf(
    const Params& params, const ordo::training::v1::Data* trained_on) {
  nope::NopeLengthsOptions options =
      NopeQuestionsOf(params, trained_on, "nope");
  options.task = params.String("task");
  return nope::MakeNopeLengths(options);
}

std::unique_ptr<EvaluationTask> PcfgLengthsOf(
    const Params& params, const ordo::training::v1::Data* trained_on) {
  nope::NopeLengthsOptions options =
      NopeQuestionsOf(params, trained_on, "pcfg");
  options.task = "pcfg";
  return nope::MakeNopeLengths(options);
}

nope::ScanOptions CommandsOf(const Params& params) {
  nope::ScanOptions options;
  options.min_actions = Int(params, "min_actions");
  options.max_actions =
      std::max(options.min_actions, Int(params, "max_actions"));
  return options;
}

std::unique_ptr<TrainingTask> ScanOf(const Params& params) {
  return nope::MakeScan(CommandsOf(params));
}

std::unique_ptr<EvaluationTask> ScanAnswersOf(
    const Params& params, const ordo::training::v1::Data* trained_on) {
  nope::ScanAnswersOptions options;
  options.commands = CommandsOf(params);
  options.samples = Int(params, "samples");
  if (trained_on != nullptr && trained_on->task() == "scan") {
    options.trained_actions =
        CommandsOf(Params(trained_on->params())).max_actions;
  }
  return nope::MakeScanAnswers(options);
}

int64_t PasskeyFillerOf(const Params& params) {
  return passkey::FillerAt(params.Integer("max_length"),
                           params.Integer("filler"));
}

std::unique_ptr<TrainingTask> PasskeyOf(const Params& params) {
  return passkey::MakePasskey({PasskeyFillerOf(params)});
}

absl::StatusOr<std::unique_ptr<EvaluationTask>> PasskeyTestsOf(
    const Params& params, const ordo::training::v1::Data* trained_on,
    const DataAccess& access) {
  passkey::PasskeyTestsOptions options;
  options.min_length = params.Integer("min_length");
  options.max_length =
      std::max(options.min_length, params.Integer("max_length"));
  options.unit = params.Integer("filler");
  options.samples = Int(params, "samples");
  if (trained_on != nullptr && trained_on->task() == "passkey") {
    options.trained_filler = PasskeyFillerOf(Params(trained_on->params()));
  }
  if (params.Has("depths")) options.depths = Int(params, "depths");
  ORDO_ASSIGN_OR_RETURN(auto tokens, PromptTokensOf(params, access));
  if (!tokens.has_value()) return passkey::MakePasskeyTests(options);
  return passkey::OpenPasskeyTests(options, *std::move(tokens),
                                   access.keep_going);
}

int64_t GreatestLength(const Params& params) {
  return std::max(params.Integer("min_length"), params.Integer("max_length"));
}

// Of the same task, or 0.
int64_t TrainedLength(const ordo::training::v1::Data* trained_on,
                      const std::string& name) {
  if (trained_on == nullptr || trained_on->task() != name) return 0;
  return GreatestLength(Params(trained_on->params()));
}

std::unique_ptr<TrainingTask> RulerOf(const Params& params) {
  retrieval::RulerOptions options;
  options.task = params.String("task");
  options.min_length = params.Integer("min_length");
  options.max_length = GreatestLength(params);
  return retrieval::MakeRuler(options);
}

absl::StatusOr<std::unique_ptr<EvaluationTask>> RulerTestsOf(
    const Params& params, const ordo::training::v1::Data* trained_on,
    const DataAccess& access) {
  retrieval::RulerTestsOptions options;
  options.task = params.String("task");
  options.min_length = params.Integer("min_length");
  options.max_length = GreatestLength(params);
  options.samples = Int(params, "samples");
  options.trained_length = TrainedLength(trained_on, "ruler");
  ORDO_ASSIGN_OR_RETURN(auto tokens, PromptTokensOf(params, access));
  return retrieval::MakeRulerTests(options, std::move(tokens));
}

std::unique_ptr<TrainingTask> NeedleOf(const Params& params) {
  retrieval::NeedleOptions options;
  options.min_length = params.Integer("min_length");
  options.max_length = GreatestLength(params);
  return retrieval::MakeNeedle(options);
}

absl::StatusOr<std::unique_ptr<EvaluationTask>> NeedleGridOf(
    const Params& params, const ordo::training::v1::Data* trained_on,
    const DataAccess& access) {
  retrieval::NeedleGridOptions options;
  options.min_length = params.Integer("min_length");
  options.max_length = GreatestLength(params);
  options.lengths = Int(params, "lengths");
  options.depths = Int(params, "depths");
  options.samples = Int(params, "samples");
  options.trained_length = TrainedLength(trained_on, "needle");
  ORDO_ASSIGN_OR_RETURN(auto tokens, PromptTokensOf(params, access));
  return retrieval::MakeNeedleGrid(options, std::move(tokens));
}

std::unique_ptr<TrainingTask> RuossOf(const Params& params) {
  ruoss::RuossOptions options;
  options.task = params.String("task");
  options.max_length = Int(params, "max_length");
  options.rows_per_length = Int(params, "rows_per_length");
  return ruoss::MakeRuoss(options);
}

std::unique_ptr<EvaluationTask> RuossLengthsOf(
    const Params& params, const ordo::training::v1::Data* trained_on) {
  ruoss::RuossLengthsOptions options;
  options.task = params.String("task");
  options.min_length = Int(params, "min_length");
  options.max_length = std::max(options.min_length, Int(params, "max_length"));
  options.length_step = Int(params, "length_step");
  options.samples = Int(params, "samples");
  if (trained_on != nullptr && trained_on->task() == "ruoss") {
    options.trained_length = Int(Params(trained_on->params()), "max_length");
  }
  return ruoss::MakeRuossLengths(options);
}

using MadeTraining = absl::StatusOr<std::unique_ptr<TrainingTask>>;
using MadeEvaluation = absl::StatusOr<std::unique_ptr<EvaluationTask>>;

struct TrainingRow {
  const char* name;
  MadeTraining (*make)(const Params& params, const DataAccess& access);
};

struct EvaluationRow {
  const char* name;
  MadeEvaluation (*make)(const Params& params,
                         const ordo::training::v1::Data* trained_on,
                         const DataAccess& access);
};

// Of tasks that read nothing.
template <std::unique_ptr<TrainingTask> (*kMake)(const Params& params)>
MadeTraining MadeUp(const Params& params, const DataAccess& /*access*/) {
  return kMake(params);
}

template <std::unique_ptr<EvaluationTask> (*kMake)(
    const Params& params, const ordo::training::v1::Data* trained_on)>
MadeEvaluation MadeUp(const Params& params,
                      const ordo::training::v1::Data* trained_on,
                      const DataAccess& /*access*/) {
  return kMake(params, trained_on);
}

// Of the inside of a model. What it reads without data of its own are rows of
// what the model was trained on, unless that is text, which says where it is.
template <InsideQuery::Kind kKind>
MadeEvaluation LooksInside(const Params& params,
                           const ordo::training::v1::Data* trained_on,
                           const DataAccess& access) {
  InsideSource source{nullptr, access};
  if (trained_on != nullptr && trained_on->task() != kTextTask &&
      params.Strings("data").empty()) {
    ORDO_ASSIGN_OR_RETURN(source.trained_on,
                          MakeTrainingTask(*trained_on, access));
  }
  return InsideOf(kKind, params, std::move(source));
}

constexpr TrainingRow kTrainingTasks[] = {
    {"addition", MadeUp<PairsOf<AdditionSizes>>},
    {"bitwise_or", MadeUp<PairsOf<BitwiseOrSizes>>},
    {"counting", MadeUp<CountingOf>},
    {"flip_flop", MadeUp<FlipFlopOf>},
    {"multiplication", MadeUp<PairsOf<MultiplicationSizes>>},
    {"needle", MadeUp<NeedleOf>},
    {"nope", MadeUp<NopeOf>},
    {"passkey", MadeUp<PasskeyOf>},
    {"pcfg", MadeUp<PcfgOf>},
    {"ruler", MadeUp<RulerOf>},
    {"ruoss", MadeUp<RuossOf>},
    {"scan", MadeUp<ScanOf>},
    {"scrolls", ScrollsOf},
    {"selective_copy", MadeUp<SelectiveCopyOf>},
    {"sorting", MadeUp<PairsOf<SortingSizes>>},
    {"text", TextOf},
};

constexpr EvaluationRow kEvaluationTasks[] = {
    {"addition_grid", MadeUp<PairGridOf<AdditionSizes>>},
    {"attention_map", LooksInside<InsideQuery::Kind::kAttention>},
    {"bitwise_or_grid", MadeUp<PairGridOf<BitwiseOrSizes>>},
    {"counting", MadeUp<CountingAnswersOf>},
    {"flip_flop", MadeUp<FlipFlopReadsOf>},
    {"multiplication_grid", MadeUp<PairGridOf<MultiplicationSizes>>},
    {"needle", NeedleGridOf},
    {"nope", MadeUp<NopeLengthsOf>},
    {"passkey", PasskeyTestsOf},
    {"pcfg", MadeUp<PcfgLengthsOf>},
    {"position_similarity", LooksInside<InsideQuery::Kind::kPositions>},
    {"questions", QuestionsOf},
    {"ruler", RulerTestsOf},
    {"ruoss", MadeUp<RuossLengthsOf>},
    {"scan", MadeUp<ScanAnswersOf>},
    {"selective_copy", MadeUp<SelectiveCopiesOf>},
    {"sorting_grid", MadeUp<PairGridOf<SortingSizes>>},
    {"stability", LooksInside<InsideQuery::Kind::kShifts>},
    {"text", PerplexityOf},
};

// A task, or one of several lengths where the parameters name these.
MadeEvaluation MakeOfRow(const EvaluationRow& row,
                         const catalog::ParamMap& params,
                         const ordo::training::v1::Data* trained_on,
                         const DataAccess& access) {
  const catalog::Entry& entry =
      *catalog::Find(catalog::Kind::kEvaluationTask, row.name);
  const catalog::LengthAxis& axis = entry.evaluation.length;
  const std::vector<int64_t> lengths = catalog::LengthsOf(entry, params);
  if (axis.params.empty() || lengths.empty()) {
    return row.make(Params(params), trained_on, access);
  }
  std::vector<TaskAtLength> parts;
  for (const int64_t length : lengths) {
    const catalog::ParamMap of_length =
        catalog::AtLength(entry, params, length);
    ORDO_ASSIGN_OR_RETURN(auto task,
                          row.make(Params(of_length), trained_on, access));
    parts.push_back({length, std::move(task)});
  }
  return MakeByLengths(std::move(parts),
                       {axis.params.size() == 1 ? axis.params[0] : "length",
                        catalog::TrainedLength(entry, trained_on)});
}

template <typename Table>
std::vector<std::string> NamesOf(const Table& table) {
  std::vector<std::string> names;
  for (const auto& row : table) names.emplace_back(row.name);
  return names;
}

absl::Status NotInTable(const std::string& name) {
  return absl::InternalError(
      absl::StrCat("task '", name, "' is in the catalogue but has no code"));
}

}  // namespace

absl::StatusOr<std::unique_ptr<TrainingTask>> MakeTrainingTask(
    const ordo::training::v1::Data& data, const DataAccess& access) {
  ORDO_ASSIGN_OR_RETURN(
      const catalog::ParamMap params,
      Resolved(catalog::Kind::kTrainingTask, data.task(), data.params()));
  for (const TrainingRow& row : kTrainingTasks) {
    if (data.task() != row.name) continue;
    auto task = row.make(Params(params), access);
    ORDO_RETURN_IF_ERROR(DataMissing(task.status()));
    return task;
  }
  return NotInTable(data.task());
}

absl::StatusOr<std::unique_ptr<EvaluationTask>> MakeEvaluationTask(
    const ordo::training::v1::Evaluation& evaluation,
    const ordo::training::v1::Data* trained_on, const DataAccess& access) {
  ordo::training::v1::Data resolved;
  if (trained_on != nullptr) {
    resolved = *trained_on;
    ORDO_ASSIGN_OR_RETURN(*resolved.mutable_params(),
                          Resolved(catalog::Kind::kTrainingTask,
                                   resolved.task(), resolved.params()));
    trained_on = &resolved;
  }
  ORDO_ASSIGN_OR_RETURN(
      const catalog::ParamMap params,
      Resolved(catalog::Kind::kEvaluationTask, evaluation.task(),
               evaluation.params(), trained_on));
  for (const EvaluationRow& row : kEvaluationTasks) {
    if (evaluation.task() != row.name) continue;
    auto task = MakeOfRow(row, params, trained_on, access);
    ORDO_RETURN_IF_ERROR(DataMissing(task.status()));
    return task;
  }
  return NotInTable(evaluation.task());
}

absl::StatusOr<std::shared_ptr<const Tokenizer>> MakeTokenizer(
    const ordo::training::v1::Data& data, const DataAccess& access) {
  if (data.task() == kTextTask || data.task() == kScrollsTask) {
    ORDO_ASSIGN_OR_RETURN(
        const catalog::ParamMap params,
        Resolved(catalog::Kind::kTrainingTask, data.task(), data.params()));
    auto tokenizer = TextTokenizerOf(Params(params), access);
    ORDO_RETURN_IF_ERROR(DataMissing(tokenizer.status()));
    return std::shared_ptr<const Tokenizer>(*std::move(tokenizer));
  }
  ORDO_ASSIGN_OR_RETURN(std::shared_ptr<const TrainingTask> task,
                        MakeTrainingTask(data, access));
  // The tokenizer is the task's, and keeps it.
  return std::shared_ptr<const Tokenizer>(task, &task->tokenizer());
}

std::vector<std::string> TrainingTaskNames() { return NamesOf(kTrainingTasks); }

std::vector<std::string> EvaluationTaskNames() {
  return NamesOf(kEvaluationTasks);
}

}  // namespace ordo::model::tasks
