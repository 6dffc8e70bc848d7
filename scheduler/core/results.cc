#include "scheduler/core/results.h"

#include <algorithm>
#include <memory>
#include <set>
#include <utility>

#include "absl/status/statusor.h"
#include "absl/strings/str_cat.h"
#include "model/catalog/result_key.h"
#include "scheduler/core/follow.h"
#include "scheduler/core/references.h"
#include "scheduler/core/waiting.h"

namespace ordo::scheduler::core {
namespace {

using training::v1::KnownResult;

RowPtr RowOf(const KnownResult& result) {
  return std::make_shared<const Row>(
      Row{Row::Kind::kResult, result.key(), result.SerializeAsString()});
}

// Takes the place of one with its key.
void Keep(State& state, KnownResult result) {
  std::vector<KnownResultPtr>& known = state.results[result.question()];
  known.erase(std::remove_if(known.begin(), known.end(),
                             [&result](const KnownResultPtr& each) {
                               return each->key() == result.key();
                             }),
              known.end());
  known.push_back(std::make_shared<const KnownResult>(std::move(result)));
}

// The spec of a job that may ask; null: it does not, or that cannot be read.
SpecPtr SpecThatAsks(const JobEntry& entry) {
  const JobFacts& facts = *entry.job->facts;
  if (facts.kind != jobs::v1::JobSpec::EVALUATE &&
      facts.kind != jobs::v1::JobSpec::GATE) {
    return nullptr;
  }
  absl::StatusOr<SpecPtr> spec = facts.spec->Get();
  return spec.ok() ? *std::move(spec) : nullptr;
}

// The checkpoints that a job with this spec asks now, null where one is not
// there; none of a job that answers nothing as a whole.
std::vector<CheckpointPtr> AskedBy(const State& state, const JobEntry& entry,
                                   const jobs::v1::JobSpec& spec) {
  if (spec.kind() == jobs::v1::JobSpec::EVALUATE && !spec.again()) {
    return EvaluatedBy(state, entry, spec);
  }
  std::vector<CheckpointPtr> asked;
  if (spec.kind() != jobs::v1::JobSpec::GATE || spec.gate().has_max_items()) {
    return asked;
  }
  // Nothing is found of a report, nor where there is no anchor.
  for (const std::string* name :
       {&spec.gate().candidate(), &spec.gate().baseline(),
        &spec.gate().anchor()}) {
    asked.push_back(FindReferenced(state, *name));
  }
  return asked;
}

// Whether a report of the job itself, of an earlier attempt, is the answer.
bool HasAnswered(const State& state, const JobEntry& entry,
                 const std::string& question) {
  const auto known = state.results.find(question);
  return known != state.results.end() &&
         std::any_of(known->second.begin(), known->second.end(),
                     [&entry](const KnownResultPtr& result) {
                       return JobIdOf(result->report()) == entry.job->id();
                     });
}

// Nobody answers the question any more: those that await it wait for devices.
void Settle(Turn& turn, const std::string& question) {
  State& state = turn.state;
  state.answering.erase(question);
  const auto waiting = state.awaited.extract(question);
  if (waiting.empty()) return;
  for (const std::string& id : waiting.mapped()) {
    JobEntry& entry = state.jobs.at(id);
    std::get<Queued>(entry.place).awaits_answer = false;
    state.awaits.erase(id);
    UpdateWaiting(state, entry, *entry.job);
    turn.freed.push_back(id);
  }
}

}  // namespace

std::vector<std::string> QuestionsOf(const State& state, const JobEntry& entry,
                                     const jobs::v1::JobSpec& spec) {
  std::set<std::string> questions;
  for (const CheckpointPtr& checkpoint : AskedBy(state, entry, spec)) {
    if (checkpoint == nullptr || checkpoint->manifest_sha256().empty()) {
      continue;
    }
    for (const training::v1::Evaluation& evaluation : spec.evaluations()) {
      questions.insert(
          model::catalog::QuestionDigest(model::catalog::QuestionOf(
              {checkpoint->manifest_sha256(), evaluation,
               spec.has_encoding() ? &spec.encoding() : nullptr,
               spec.resources().device()})));
    }
  }
  return {questions.begin(), questions.end()};
}

int32_t AddKnownResults(
    const State& state, const std::vector<std::string>& questions,
    google::protobuf::RepeatedPtrField<KnownResult>* known) {
  size_t num_bytes = 0;
  int32_t num_left_out = 0;
  for (const std::string& question : questions) {
    const auto found = state.results.find(question);
    if (found == state.results.end()) continue;
    for (const KnownResultPtr& result : found->second) {
      num_bytes += result->ByteSizeLong();
      if (num_bytes > kMaxKnownBytes) {
        ++num_left_out;
      } else {
        *known->Add() = *result;
      }
    }
  }
  return num_left_out;
}

bool AwaitAnswer(Turn& turn, const std::string& job) {
  State& state = turn.state;
  // Most of the time nobody answers anything.
  if (state.answering.empty()) return false;
  JobEntry& entry = state.jobs.at(job);
  const SpecPtr spec = SpecThatAsks(entry);
  if (spec == nullptr) return false;
  for (const std::string& question : QuestionsOf(state, entry, *spec)) {
    const auto other = state.answering.find(question);
    if (other == state.answering.end()) continue;
    std::get<Queued>(entry.place).awaits_answer = true;
    state.awaits[job] = question;
    state.awaited[question].insert(job);
    UpdateWaiting(state, entry, *entry.job);
    turn.freed.push_back(job);
    return true;
  }
  return false;
}

void BeginAnswers(State& state, JobEntry& entry) {
  Live& live = *LiveIn(entry);
  if (live.spec == nullptr) live.spec = SpecThatAsks(entry);
  if (live.spec == nullptr) return;
  for (std::string& question : QuestionsOf(state, entry, *live.spec)) {
    if (HasAnswered(state, entry, question)) continue;
    if (state.answering.emplace(question, entry.job->id()).second) {
      live.questions.push_back(std::move(question));
    }
  }
}

void AddAnswers(State& state, const std::string& followed) {
  for (const std::string& id : FollowersOf(state, followed)) {
    JobEntry& entry = state.jobs.at(id);
    if (LiveIn(entry) != nullptr) BeginAnswers(state, entry);
  }
}

void EndAnswers(Turn& turn, const Live& live) {
  for (const std::string& question : live.questions) Settle(turn, question);
}

void TakeResult(Turn& turn, JobEntry& entry,
                const training::v1::ReportWritten& written,
                const reports::v1::Report& report) {
  if (!written.has_key()) return;
  KnownResult result;
  result.set_question(model::catalog::QuestionDigest(written.key()));
  std::vector<std::string>& questions = LiveIn(entry)->questions;
  const auto asked =
      std::find(questions.begin(), questions.end(), result.question());
  if (asked != questions.end()) {
    questions.erase(asked);
    Settle(turn, result.question());
  }
  if (!written.taken_from().empty()) return;
  result.set_key(model::catalog::KeyDigest(written.key()));
  result.set_report(report.name());
  result.set_path(
      absl::StrCat(JobName(JobIdOf(report.name())), "/", report.folder()));
  result.set_files_sha256(model::catalog::FilesDigest(report.files()));
  turn.Emit(Record{RowOf(result)});
  Keep(turn.state, std::move(result));
}

std::vector<RowPtr> ResultRows(const State& state) {
  std::vector<RowPtr> rows;
  for (const auto& [question, known] : state.results) {
    for (const KnownResultPtr& result : known) rows.push_back(RowOf(*result));
  }
  return rows;
}

absl::Status TakeResultRow(const Row& row, State* state) {
  KnownResult result;
  if (!row.bytes.has_value() || !result.ParseFromString(*row.bytes) ||
      result.question().empty() || result.key() != row.key) {
    return absl::DataLossError(absl::StrCat("what the store has of the result ",
                                            row.key, " cannot be read"));
  }
  Keep(*state, std::move(result));
  return absl::OkStatus();
}

}  // namespace ordo::scheduler::core
