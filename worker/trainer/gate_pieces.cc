#include "worker/trainer/gate_pieces.h"

#include <algorithm>
#include <utility>

#include "absl/strings/str_cat.h"
#include "base/status/status.h"
#include "model/tasks/registry.h"
#include "model/tasks/sample_slice.h"
#include "report/stats/sequential.h"

namespace ordo::worker::trainer {
namespace {

using model::tasks::EvaluationTask;
using ordo::training::v1::Evaluation;

constexpr char kSamples[] = "samples";

Evaluation WithSamples(Evaluation evaluation, int64_t samples) {
  (*evaluation.mutable_params())[kSamples].set_number_value(
      static_cast<double>(samples));
  return evaluation;
}

}  // namespace

bool operator==(const Piece& a, const Piece& b) {
  return a.first == b.first && a.count == b.count;
}

std::vector<Piece> PiecesOf(const Growth& growth, int64_t num_items) {
  if (growth.budget() == 0) return {Piece{}};
  std::vector<Piece> pieces;
  const int64_t wanted_items = std::min(num_items, growth.budget());
  int64_t num_samples = 0;
  int64_t seen = 0;
  while (seen < wanted_items) {
    seen =
        report::stats::NextLook(seen, growth.budget(), growth.items_per_sample);
    const int64_t wanted = seen / growth.items_per_sample;
    pieces.push_back({num_samples, wanted - num_samples});
    num_samples = wanted;
  }
  return pieces;
}

std::string ReportIdOf(const Evaluation& evaluation, const std::string& role,
                       const Piece& piece) {
  const std::string id = absl::StrCat(evaluation.name(), "-", role);
  return piece.count == 0 ? id : absl::StrCat(id, "-", piece.first);
}

absl::StatusOr<std::unique_ptr<EvaluationTask>> MakePiece(
    const PieceQuestions& questions, const model::tasks::DataAccess& access) {
  const auto make = [&](const Evaluation& evaluation) {
    return model::tasks::MakeEvaluationTask(evaluation, questions.trained_on,
                                            access);
  };
  const Piece& piece = questions.piece;
  if (piece.count == 0) return make(questions.evaluation);
  ORDO_ASSIGN_OR_RETURN(
      auto whole,
      make(WithSamples(questions.evaluation, questions.growth.max_samples)));
  ORDO_ASSIGN_OR_RETURN(auto part, make(EvaluationOf(questions)));
  const model::tasks::SampleSlice::Range range = {
      piece.first, piece.count, questions.growth.items_per_sample,
      questions.evaluation.seed()};
  return std::make_unique<model::tasks::SampleSlice>(std::move(whole),
                                                     std::move(part), range);
}

Evaluation EvaluationOf(const PieceQuestions& questions) {
  if (questions.piece.count == 0) return questions.evaluation;
  return WithSamples(questions.evaluation, questions.piece.count);
}

}  // namespace ordo::worker::trainer
