#ifndef ORDO_WORKER_TRAINER_GATE_SUBJECTS_H_
#define ORDO_WORKER_TRAINER_GATE_SUBJECTS_H_

#include <map>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "c10/core/Device.h"
#include "proto/ordo/training/v1/progress.pb.h"
#include "proto/ordo/training/v1/spec.pb.h"
#include "worker/trainer/context.h"
#include "worker/trainer/evaluate.h"
#include "worker/trainer/gate_pieces.h"
#include "worker/trainer/progress.h"

namespace ordo::worker::trainer {

// A piece of one of the gate's evaluations.
struct WantedPiece {
  int evaluation = 0;
  Piece piece;
};

// What a gate compares: evaluates what is missing, and knows where the reports
// of all lie. Not thread-safe; what it is given outlives it.
class GateSubjects {
 public:
  // `spec` is resolved.
  GateSubjects(const TrainerContext& context,
               const ordo::training::v1::GateSpec& spec, Progress* progress);

  // Of each evaluation.
  const Growth& growth(int evaluation) const { return growths_[evaluation]; }

  // Evaluates what of `wanted` the subject has no report of, with its model in
  // memory for as long, on `device`; a result of a whole evaluation that is
  // known by its key, also of another subject, is taken over. CANCELLED on a
  // request to stop; errors are marked with their exit code, and those of an
  // evaluation name its field.
  absl::Status Evaluate(int subject, const std::vector<WantedPiece>& wanted,
                        c10::Device device);

  // Folder of the report of a piece that is there.
  std::string FolderOf(int subject, const WantedPiece& wanted) const;

  // What is asked in a piece, of the model of the subject, which has a
  // checkpoint; `trained_on` is its data where it is known.
  PieceQuestions QuestionsOf(const WantedPiece& wanted,
                             const ordo::training::v1::Data* trained_on) const;

 private:
  // It answers what others ask of the same checkpoint.
  void Remember(const ordo::training::v1::ReportWritten& written);
  bool IsThere(int subject, const WantedPiece& wanted) const;
  std::string IdOf(int subject, const WantedPiece& wanted) const;

  const TrainerContext& context_;
  const ordo::training::v1::GateSpec& spec_;
  Progress* const progress_;
  KnownResults known_;
  std::vector<Growth> growths_;
  // Of reports by their id, of this attempt and of those before.
  std::map<std::string, std::string> folders_;
};

}  // namespace ordo::worker::trainer

#endif  // ORDO_WORKER_TRAINER_GATE_SUBJECTS_H_
