#ifndef ORDO_SCHEDULER_CORE_RESULTS_H_
#define ORDO_SCHEDULER_CORE_RESULTS_H_

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "google/protobuf/repeated_field.h"
#include "proto/ordo/jobs/v1/job_spec.pb.h"
#include "proto/ordo/reports/v1/reports.pb.h"
#include "proto/ordo/training/v1/progress.pb.h"
#include "proto/ordo/training/v1/result_key.pb.h"
#include "scheduler/core/turn.h"

// Results of evaluations, by what they depend on: a question is answered by one
// job at a time, and what was answered is known from then on.

namespace ordo::scheduler::core {

// Bytes that the results in one task take, which is a text of at most a MiB.
// What is known beyond that is evaluated again, and the trainer warns of it.
inline constexpr size_t kMaxKnownBytes = 384 << 10;

// Digests of the questions that a job with this spec asks now, sorted, each
// once: of kind EVALUATE, which does not evaluate again, and of checkpoints
// that are there; or of kind GATE, of the checkpoints that it compares, if its
// sets are fixed: one with a budget (max_items) asks slices of them. None of
// others.
std::vector<std::string> QuestionsOf(const State& state, const JobEntry& entry,
                                     const jobs::v1::JobSpec& spec);

// Adds what is known of these questions, as far as there is room. The number of
// those left out.
int32_t AddKnownResults(
    const State& state, const std::vector<std::string>& questions,
    google::protobuf::RepeatedPtrField<training::v1::KnownResult>* known);

// Makes a job that waits for devices wait for the answer to a question of it,
// which a live job has yet to give. False, and nothing is changed, when there
// is none.
bool AwaitAnswer(Turn& turn, const std::string& job);

// A job's attempt is live, and answers what it asks, has not answered and
// nobody else is to; its spec is, or becomes, Live.spec. Without effect where
// that cannot be read.
void BeginAnswers(State& state, JobEntry& entry);
// A job has another checkpoint: live ones that follow it answer what they ask
// of that too, since they may yet be told of it.
void AddAnswers(State& state, const std::string& followed);
// The attempt is over: those that await it wait for devices again.
void EndAnswers(Turn& turn, const Live& live);

// A report of the live job of the entry was registered, which answers its
// question: one that was evaluated is known by its key from now on, in the
// place of an earlier one.
void TakeResult(Turn& turn, JobEntry& entry,
                const training::v1::ReportWritten& written,
                const reports::v1::Report& report);

// As they are stored.
std::vector<RowPtr> ResultRows(const State& state);
// DATA_LOSS when the row cannot be read.
absl::Status TakeResultRow(const Row& row, State* state);

}  // namespace ordo::scheduler::core

#endif  // ORDO_SCHEDULER_CORE_RESULTS_H_
