#ifndef ORDO_SCHEDULER_STORE_TESTING_RECORDS_H_
#define ORDO_SCHEDULER_STORE_TESTING_RECORDS_H_

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "scheduler/core/effect.h"
#include "scheduler/core/load.h"
#include "scheduler/core/present.h"

// Records for tests of stores.

namespace ordo::scheduler::store::testing {

// A job that was started and has not ended.
inline core::StoredJob MakeStoredJob(int64_t sequence, const std::string& name,
                                     int64_t version = 1) {
  core::StoredJob stored;
  stored.job.mutable_spec()->set_name(name);
  // Every third job asks for the same.
  stored.job.mutable_spec()->mutable_training()->set_steps(sequence % 3);
  stored.job.set_sequence(sequence);
  stored.job.set_version(version);
  stored.job.add_attempts()->set_number(1);
  stored.request_id = "request-" + name;
  stored.fingerprint = "fingerprint-" + name;
  stored.incarnation = "incarnation-" + std::to_string(version);
  stored.acknowledged_records = version * 10;
  return stored;
}

inline core::Record RecordOf(core::StoredJob stored) {
  core::SpecTable specs;
  return {core::RecordOf(std::move(stored), &specs)};
}

inline core::Record JobRecord(int64_t sequence, const std::string& name,
                              int64_t version = 1) {
  return RecordOf(MakeStoredJob(sequence, name, version));
}

// One that names a checkpoint of another.
inline core::Record NamingJobRecord(int64_t sequence, const std::string& name,
                                    const std::string& checkpoint) {
  core::StoredJob stored = MakeStoredJob(sequence, name);
  stored.job.mutable_spec()->set_start_from(checkpoint);
  return RecordOf(std::move(stored));
}

struct EndedJob {
  jobs::v1::Job::State state = jobs::v1::Job::SUCCEEDED;
  std::string owner = "ada";
  std::string queue = "default";
  std::map<std::string, std::string> labels = {};
  // Id; empty: it stands alone.
  std::string parent = {};
};

inline core::Record EndedJobRecord(int64_t sequence, const std::string& name,
                                   const EndedJob& job = {}) {
  core::StoredJob stored = MakeStoredJob(sequence, name);
  stored.job.set_state(job.state);
  stored.job.mutable_owner()->set_user(job.owner);
  stored.job.mutable_spec()->set_queue(job.queue);
  for (const auto& [key, value] : job.labels) {
    (*stored.job.mutable_spec()->mutable_labels())[key] = value;
  }
  if (!job.parent.empty()) stored.job.set_parent("jobs/" + job.parent);
  stored.job.mutable_end_time()->set_seconds(1000 + sequence);
  return RecordOf(std::move(stored));
}

inline core::Record CheckpointRecord(const std::string& name,
                                     checkpoints::v1::Checkpoint::State state =
                                         checkpoints::v1::Checkpoint::AVAILABLE,
                                     int64_t create_seconds = 1) {
  auto checkpoint = std::make_shared<checkpoints::v1::Checkpoint>();
  checkpoint->set_name(name);
  checkpoint->set_state(state);
  checkpoint->mutable_create_time()->set_seconds(create_seconds);
  return {core::CheckpointPtr(std::move(checkpoint))};
}

inline core::Record ReportRecord(const std::string& name, int64_t step) {
  auto report = std::make_shared<reports::v1::Report>();
  report->set_name(name);
  report->set_step(step);
  return {core::ReportPtr(std::move(report))};
}

inline core::Record RowRecord(core::Row::Kind kind, const std::string& key,
                              const std::optional<std::string>& bytes) {
  return {std::make_shared<const core::Row>(core::Row{kind, key, bytes})};
}

// Each record in a line.
inline std::vector<std::string> Lines(const core::Records& records) {
  std::vector<std::string> lines;
  for (const core::JobPtr& job : records.jobs) {
    lines.push_back(absl::StrCat(core::Present(*job)->ShortDebugString(), " ",
                                 std::string(job->facts->request.id()), " ",
                                 job->facts->request.fingerprint(), " ",
                                 job->incarnation.value(), " ",
                                 job->acknowledged_records));
  }
  for (const auto& each : records.checkpoints) {
    lines.push_back(each->ShortDebugString());
  }
  for (const auto& each : records.reports) {
    lines.push_back(each->ShortDebugString());
  }
  for (const core::RowPtr& row : records.rows) {
    lines.push_back(absl::StrCat(static_cast<int>(row->kind), " ", row->key,
                                 " ", row->bytes.value_or("(removed)")));
  }
  return lines;
}

}  // namespace ordo::scheduler::store::testing

#endif  // ORDO_SCHEDULER_STORE_TESTING_RECORDS_H_
