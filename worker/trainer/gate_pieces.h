#ifndef ORDO_WORKER_TRAINER_GATE_PIECES_H_
#define ORDO_WORKER_TRAINER_GATE_PIECES_H_

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "model/catalog/gate.h"
#include "model/tasks/data_access.h"
#include "model/tasks/task.h"
#include "proto/ordo/training/v1/spec.pb.h"

// What a gate asks of each of its subjects, piece by piece: an evaluation as a
// whole, or slices of one that grows until it decides.

namespace ordo::worker::trainer {

using model::catalog::Growth;

// A piece of an evaluation.
struct Piece {
  // Its samples; count 0: all that it has.
  int64_t first = 0;
  int64_t count = 0;
};

bool operator==(const Piece& a, const Piece& b);

// The pieces that have the first `num_items` items, in their order, one for
// each look. A function of both arguments, however often one asked before. Of a
// fixed set all of it.
std::vector<Piece> PiecesOf(const Growth& growth, int64_t num_items);

// Id of the report of a piece.
std::string ReportIdOf(const ordo::training::v1::Evaluation& evaluation,
                       const std::string& role, const Piece& piece);

// What is asked, ready to be made.
struct PieceQuestions {
  // Resolved.
  ordo::training::v1::Evaluation evaluation;
  Growth growth;
  Piece piece;
  // What the model was trained on, or null. Not owned.
  const ordo::training::v1::Data* trained_on = nullptr;
};

// As model::tasks::MakeEvaluationTask; of a slice a SampleSlice.
absl::StatusOr<std::unique_ptr<model::tasks::EvaluationTask>> MakePiece(
    const PieceQuestions& questions, const model::tasks::DataAccess& access);

// The evaluation as its report has it: with the samples of the piece.
ordo::training::v1::Evaluation EvaluationOf(const PieceQuestions& questions);

}  // namespace ordo::worker::trainer

#endif  // ORDO_WORKER_TRAINER_GATE_PIECES_H_
