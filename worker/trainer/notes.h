#ifndef ORDO_WORKER_TRAINER_NOTES_H_
#define ORDO_WORKER_TRAINER_NOTES_H_

#include <string>

#include "absl/strings/str_cat.h"

// What ranks tell each other beside gradients (Collective::Tell), by key.

namespace ordo::worker::trainer {

// A rank's TrainSpec, serialised, and its Environment as JSON.
inline std::string TaskNote(int rank) { return absl::StrCat("task/", rank); }
inline std::string EnvironmentNote(int rank) {
  return absl::StrCat("environment/", rank);
}
// Rank 0's word at pause n: see Leader.
inline std::string TurnNote(int n) { return absl::StrCat("turn/", n); }
// A rank has come to pause n: all that was added up before has reached it.
inline std::string HereNote(int n, int rank) {
  return absl::StrCat("here/", n, "/", rank);
}
// A rank was asked to stop while it waited.
inline constexpr char kStopNote[] = "stop";
// A rank has read the last turn.
inline std::string LeftNote(int rank) { return absl::StrCat("left/", rank); }

}  // namespace ordo::worker::trainer

#endif  // ORDO_WORKER_TRAINER_NOTES_H_
