#include "worker/trainer/gate.h"

#include <algorithm>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_replace.h"
#include "absl/time/time.h"
#include "base/files/file_util.h"
#include "base/log/log.h"
#include "base/status/details.h"
#include "base/status/status.h"
#include "base/yaml/text_form.h"
#include "google/protobuf/struct.pb.h"
#include "model/catalog/catalog.h"
#include "model/evaluation/item_pairs.h"
#include "model/evaluation/report.h"
#include "model/formats/config_file.h"
#include "model/training/numerics.h"
#include "report/gate/account.h"
#include "report/gate/decision.h"
#include "report/gate/junit.h"
#include "report/gate/power.h"
#include "report/gate/summary.h"
#include "report/json_values.h"
#include "report/page.h"
#include "report/stats/sequential.h"
#include "report/summary/summary.h"
#include "worker/trainer/data.h"
#include "worker/trainer/exit_code.h"
#include "worker/trainer/gate_pieces.h"
#include "worker/trainer/gate_subjects.h"
#include "worker/trainer/gate_texts.h"
#include "worker/trainer/summary_report.h"

namespace ordo::worker::trainer {
namespace {

using model::training::NamedBytes;
using ordo::training::v1::Evaluation;
using ordo::training::v1::ExitCode;
using ordo::training::v1::Gate;
using ordo::training::v1::GateSpec;
using report::gate::Comparison;
using report::gate::Decision;
using report::gate::OnInconclusive;
using report::gate::Reference;

constexpr int kCandidate = 0;
constexpr size_t kMaxResultBytes = 16 << 20;
constexpr char kAnchor[] = "anchor";
// Of the bootstrap: the same items give the same interval.
constexpr uint64_t kBootstrapSeed = 1;

report::gate::Options OptionsOf(const Gate& gate) {
  report::gate::Options options;
  options.margin = gate.margin();
  if (gate.has_anchor_margin()) options.anchor_margin = gate.anchor_margin();
  options.level = gate.level();
  options.fail_below = gate.fail_below() == Gate::MARGIN
                           ? report::stats::FailBelow::kMargin
                           : report::stats::FailBelow::kZero;
  options.on_inconclusive =
      gate.on_inconclusive() == Gate::PASS   ? OnInconclusive::kPass
      : gate.on_inconclusive() == Gate::FAIL ? OnInconclusive::kFail
                                             : OnInconclusive::kInconclusive;
  options.seed = kBootstrapSeed;
  return options;
}

const model::catalog::EvaluationTraits& TraitsOf(const Evaluation& evaluation) {
  return model::catalog::Find(model::catalog::Kind::kEvaluationTask,
                              evaluation.task())
      ->evaluation;
}

// Why the candidate is not compared with the subject of this role, under the
// field of the job's spec that names that one. What cannot be compared never
// can be; what cannot be read may be restored.
absl::Status NotPaired(const absl::Status& status, const std::string& role) {
  if (status.ok()) return status;
  const bool is_unlike =
      absl::IsInvalidArgument(status) || absl::IsFailedPrecondition(status);
  const std::string field = absl::StrCat("gate.", role);
  std::vector<base::FieldViolation> violations = base::FieldViolations(status);
  for (base::FieldViolation& violation : violations) violation.field = field;
  return WithExitCode(violations.empty() ? base::AddContext(status, field)
                                         : base::InvalidFields(violations),
                      is_unlike ? ordo::training::v1::BAD_SPEC
                                : ordo::training::v1::DATA_MISSING);
}

// The candidate against one reference in one evaluation, as far as it is.
struct Pairing {
  int evaluation = 0;
  // Index of the reference among the subjects.
  int subject = 0;
  // Without its items.
  Comparison comparison;
  // Of the next look.
  int64_t num_items = 0;
  // Of all pieces that were paired, in their order.
  std::vector<report::gate::Item> items = {};
  size_t num_paired = 0;
};

// One run of a gate.
class GateRun {
 public:
  GateRun(const TrainerContext& context, const GateSpec& spec,
          Progress* progress)
      : context_(context),
        spec_(spec),
        progress_(progress),
        options_(OptionsOf(spec.gate())),
        subjects_(context, spec, progress) {}

  // CANCELLED on a request to stop.
  absl::Status Run() {
    ORDO_RETURN_IF_ERROR(Plan());
    ORDO_ASSIGN_OR_RETURN(const c10::Device device,
                          OpenDevice(context_, spec_.resources()));
    model::training::ConfigureNumerics(spec_.resources().threads());
    while (true) {
      for (int i = 0; i < spec_.subjects_size(); ++i) {
        ORDO_RETURN_IF_ERROR(subjects_.Evaluate(i, WantedOf(i), device));
      }
      for (Pairing& pairing : pairings_) ORDO_RETURN_IF_ERROR(Pair(&pairing));
      ORDO_ASSIGN_OR_RETURN(Decision decision, Decide());
      bool goes_on = false;
      for (size_t i = 0; i < pairings_.size(); ++i) {
        const int64_t next = decision.results[i].next_look;
        if (next == 0) continue;
        pairings_[i].num_items = next;
        goes_on = true;
      }
      if (!goes_on) return Write(std::move(decision));
    }
  }

  // What came of it, for people.
  const std::string& verdict() const { return verdict_; }

 private:
  // What is compared, before anything is evaluated.
  absl::Status Plan() {
    std::vector<Comparison> planned;
    for (int i = 0; i < spec_.evaluations_size(); ++i) {
      const Evaluation& evaluation = spec_.evaluations(i);
      for (int k = kCandidate + 1; k < spec_.subjects_size(); ++k) {
        Pairing pairing;
        pairing.evaluation = i;
        pairing.subject = k;
        pairing.comparison.task = evaluation.name();
        pairing.comparison.reference = spec_.subjects(k).role() == kAnchor
                                           ? Reference::kAnchor
                                           : Reference::kBaseline;
        const model::catalog::EvaluationTraits& traits = TraitsOf(evaluation);
        const auto scores = traits.item_scores;
        pairing.comparison.notation = traits.notation;
        pairing.comparison.score_range = model::catalog::ScoreRange(scores);
        pairing.comparison.is_binary =
            scores == model::catalog::ItemScores::kRightOrWrong;
        const Growth& growth = subjects_.growth(i);
        pairing.comparison.budget = growth.budget();
        if (growth.budget() > 0) {
          pairing.comparison.items_per_sample = growth.items_per_sample;
          pairing.comparison.asked_budget = spec_.gate().max_items();
          pairing.num_items = report::stats::NextLook(0, growth.budget(),
                                                      growth.items_per_sample);
        }
        planned.push_back(pairing.comparison);
        pairings_.push_back(std::move(pairing));
      }
    }
    return report::gate::CheckPlan(options_, planned);
  }

  std::vector<Piece> PiecesOf(const Pairing& pairing) const {
    return trainer::PiecesOf(subjects_.growth(pairing.evaluation),
                             pairing.num_items);
  }

  // What the next look needs of a subject.
  std::vector<WantedPiece> WantedOf(int subject) const {
    std::vector<WantedPiece> wanted;
    std::set<std::pair<int, int64_t>> seen;
    for (const Pairing& pairing : pairings_) {
      if (subject != kCandidate && subject != pairing.subject) continue;
      for (const Piece& piece : PiecesOf(pairing)) {
        if (!seen.insert({pairing.evaluation, piece.first}).second) continue;
        wanted.push_back({pairing.evaluation, piece});
      }
    }
    return wanted;
  }

  // Pairs what was evaluated since.
  absl::Status Pair(Pairing* pairing) {
    const std::vector<Piece> pieces = PiecesOf(*pairing);
    for (; pairing->num_paired < pieces.size(); ++pairing->num_paired) {
      const WantedPiece wanted = {pairing->evaluation,
                                  pieces[pairing->num_paired]};
      const auto paired = model::evaluation::PairItems(
          context_.files, {subjects_.FolderOf(kCandidate, wanted),
                           subjects_.FolderOf(pairing->subject, wanted)});
      ORDO_RETURN_IF_ERROR(
          NotPaired(paired.status(), spec_.subjects(pairing->subject).role()));
      for (const model::evaluation::ItemPair& item : paired->items) {
        pairing->items.push_back(
            {item.id, item.unit, item.baseline, item.candidate});
      }
      AddDifferences(paired->differences, pairing);
    }
    return absl::OkStatus();
  }

  static void AddDifferences(const std::vector<std::string>& found,
                             Pairing* pairing) {
    std::vector<std::string>& all = pairing->comparison.differences;
    for (std::string difference : found) {
      if (pairing->comparison.reference == Reference::kAnchor) {
        difference =
            absl::StrReplaceAll(difference, {{"the baseline", "the anchor"}});
      }
      if (std::find(all.begin(), all.end(), difference) == all.end()) {
        all.push_back(std::move(difference));
      }
    }
  }

  // By the items of the looks so far.
  absl::StatusOr<Decision> Decide() const {
    std::vector<Comparison> comparisons;
    for (const Pairing& pairing : pairings_) {
      comparisons.push_back(pairing.comparison);
      comparisons.back().items = pairing.items;
    }
    return report::gate::Decide(options_, comparisons);
  }

  report::gate::Subject NameOf(int subject) const {
    const GateSpec::Subject& of = spec_.subjects(subject);
    if (of.report().empty()) {
      return {of.role(), NameOfSource(of.checkpoint()),
              of.checkpoint().manifest_sha256()};
    }
    const std::string& name =
        of.role() == kAnchor ? spec_.gate().anchor() : spec_.gate().baseline();
    return {of.role(), name, DigestOfReport(of.report())};
  }

  // Of the checkpoint that a report is of; empty where it is not there any
  // more.
  std::string DigestOfReport(const std::string& folder) const {
    const auto text = base::ReadFile(
        context_.files,
        base::JoinPath(base::JoinPath(context_.storage_root, folder),
                       model::evaluation::kResultFile),
        kMaxResultBytes);
    google::protobuf::Struct result;
    if (!text.ok() ||
        !base::ReadMessage(*text, base::TextForm::kJson, &result).ok()) {
      return "";
    }
    const std::string name =
        report::JsonField(result, "checkpoint").string_value();
    if (name.empty()) return "";
    if (absl::StrContains(name, '/')) return DigestOfCheckpoint(context_, name);
    // Of the report's own job.
    const std::string job = report::JsonField(result, "job").string_value();
    return DigestOfCheckpoint(
        context_, absl::StrCat("jobs/", job, "/checkpoints/", name));
  }

  // Fills in what was asked and answered where items got worse. Prompts that
  // cannot be made again are left out, with a warning.
  absl::Status FillTexts(Decision* decision) const {
    for (size_t i = 0; i < pairings_.size(); ++i) {
      auto* worse = &decision->results[i].worse;
      if (worse->empty()) continue;
      ReportFolders folders;
      for (const Piece& piece : PiecesOf(pairings_[i])) {
        const WantedPiece wanted = {pairings_[i].evaluation, piece};
        folders.candidate.push_back(subjects_.FolderOf(kCandidate, wanted));
        folders.reference.push_back(
            subjects_.FolderOf(pairings_[i].subject, wanted));
      }
      ORDO_RETURN_IF_ERROR(
          NotPaired(FillOutputs(context_.files, folders, worse),
                    spec_.subjects(pairings_[i].subject).role()));
      const absl::Status filled = FillPromptsOf(pairings_[i], worse);
      if (absl::IsCancelled(filled)) return filled;
      if (!filled.ok()) {
        progress_->Warning(
            absl::StrCat("prompts of items that got worse are left out: ",
                         filled.message()));
      }
    }
    return absl::OkStatus();
  }

  absl::Status FillPromptsOf(
      const Pairing& pairing,
      std::vector<report::gate::WorseItem>* worse) const {
    const auto& source = spec_.subjects(kCandidate).checkpoint();
    ORDO_ASSIGN_OR_RETURN(const std::string folder,
                          FolderOfSource(context_, source));
    ORDO_ASSIGN_OR_RETURN(
        const auto config,
        model::formats::ReadConfigFile(context_.files, folder, nullptr));
    const auto* trained_on =
        config.config.data.task().empty() ? nullptr : &config.config.data;
    for (const Piece& piece : PiecesOf(pairing)) {
      const PieceQuestions questions =
          subjects_.QuestionsOf({pairing.evaluation, piece}, trained_on);
      ORDO_ASSIGN_OR_RETURN(
          const auto task,
          MakePiece(questions,
                    DataOf(context_, {spec_.attempt(), 0, source.step()},
                           progress_)));
      ORDO_RETURN_IF_ERROR(
          FillPrompts(*task, questions.evaluation.seed(), worse));
    }
    return absl::OkStatus();
  }

  absl::Status Write(Decision decision) {
    ORDO_RETURN_IF_ERROR(FillTexts(&decision));
    verdict_ = report::gate::SentenceOf(decision);
    report::gate::Account account =
        report::gate::MakeAccount(std::move(decision));
    account.job = spec_.job();
    account.created = absl::StrCat(
        "Made ", absl::FormatTime("%Y-%m-%d %H:%M UTC", context_.clock.Now(),
                                  absl::UTCTimeZone()));
    account.command = absl::StrCat("ordo rerun ", spec_.job());
    for (int i = 0; i < spec_.subjects_size(); ++i) {
      account.subjects.push_back(NameOf(i));
    }
    const report::summary::Summary summary = report::gate::Summarize(account);
    DrawnFigures drawn =
        DrawFigures(context_, spec_.attempt(), summary.figures, progress_);
    std::vector<NamedBytes> contents = std::move(drawn.files);
    contents.push_back(
        {"report.html", report::RenderPage(summary, drawn.svgs)});
    contents.push_back({"gate.md", report::gate::ToMarkdown(account)});
    contents.push_back({"result.json", summary.json});
    contents.push_back({"comparisons.csv", summary.csv});
    contents.push_back({"junit.xml", report::gate::ToJunit(account)});
    ordo::training::v1::ReportWritten report;
    report.set_id(kGateReport);
    report.set_kind(kGateReport);
    report.set_checkpoint(account.subjects[kCandidate].name);
    report.set_step(spec_.subjects(kCandidate).checkpoint().step());
    report.set_folder(
        absl::StrCat("results/", report.id(), "-", spec_.attempt()));
    report.mutable_metrics()->insert(summary.metrics.begin(),
                                     summary.metrics.end());
    base::LogInfo("gate decided", {{"verdict", verdict_}});
    return WriteSummaryReport(context_, std::move(report), contents, progress_);
  }

  const TrainerContext& context_;
  const GateSpec& spec_;
  Progress* const progress_;
  const report::gate::Options options_;
  GateSubjects subjects_;
  std::vector<Pairing> pairings_;
  std::string verdict_;
};

absl::StatusOr<ExitCode> DecideGate(const TrainerContext& context,
                                    const GateSpec& spec, Progress* progress,
                                    std::string* message) {
  if (spec.finished_reports().count(kGateReport) > 0) {
    *message = "the gate is decided";
    return ordo::training::v1::FINISHED;
  }
  GateRun run(context, spec, progress);
  const absl::Status status = run.Run();
  if (absl::IsCancelled(status)) {
    *message = "stopped on request";
    return ordo::training::v1::STOPPED;
  }
  ORDO_RETURN_IF_ERROR(status);
  *message = run.verdict();
  return ordo::training::v1::FINISHED;
}

}  // namespace

absl::StatusOr<ExitCode> RunGate(const TrainerContext& context,
                                 const GateSpec& spec, Progress* progress) {
  ordo::training::v1::TrainerStarted started;
  started.set_build_digest(context.build_digest);
  started.set_exact(true);
  progress->Started(started);
  std::string message;
  const absl::StatusOr<ExitCode> code =
      DecideGate(context, spec, progress, &message);
  ordo::training::v1::TrainerFinished finished;
  finished.set_code(code.ok() ? *code : ExitCodeOf(code.status()));
  finished.set_message(code.ok() ? message
                                 : std::string(code.status().message()));
  const absl::Status told = progress->Finished(finished);
  if (code.ok() && !told.ok()) return told;
  return code;
}

}  // namespace ordo::worker::trainer
