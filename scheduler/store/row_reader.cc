#include "scheduler/store/row_reader.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <iterator>
#include <limits>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <thread>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "base/status/status.h"
#include "scheduler/core/effect.h"
#include "scheduler/core/job.h"
#include "scheduler/core/registry.h"
#include "scheduler/store/damage.h"
#include "scheduler/store/meta.h"
#include "scheduler/store/row_decoder.h"

namespace ordo::scheduler::store {
namespace {

struct LiveJobs {
  std::vector<core::JobPtr> jobs;
  // Ids of those that may have checkpoints and reports.
  std::vector<std::string> started;
};

// Adds those of these sequences, both inclusive.
absl::Status ReadJobs(Database& database, RowDecoder& decoder,
                      std::pair<int64_t, int64_t> sequences, LiveJobs* live) {
  ORDO_ASSIGN_OR_RETURN(
      const auto query,
      database.Prepare(
          Select(kJobs,
                 "INDEXED BY live_jobs WHERE end_ns = 0 AND sequence "
                 "BETWEEN ? AND ? ORDER BY sequence")));
  query->BindInt(1, sequences.first);
  query->BindInt(2, sequences.second);
  return ForEach(*query, [&](const Statement& row) -> absl::Status {
    ORDO_ASSIGN_OR_RETURN(core::JobPtr job, decoder.Job(row));
    // What waits for its first attempt, as most may do, has nothing.
    if (job == nullptr || !job->attempts.empty()) {
      live->started.push_back(row.Bytes(1));
    }
    if (job != nullptr) live->jobs.push_back(std::move(job));
    return absl::OkStatus();
  });
}

// The sequence up to which half of many live jobs lie; nothing: there are few.
absl::StatusOr<std::optional<int64_t>> MiddleOf(Database& database) {
  const auto number =
      [&database](const std::string& sql) -> absl::StatusOr<int64_t> {
    int64_t found = 0;
    ORDO_RETURN_IF_ERROR(ForEach(database, sql, [&found](const Statement& row) {
      found = row.Int(0);
      return absl::OkStatus();
    }));
    return found;
  };
  const std::string live = " FROM jobs INDEXED BY live_jobs WHERE end_ns = 0";
  ORDO_ASSIGN_OR_RETURN(const int64_t count,
                        number(absl::StrCat("SELECT count(*)", live)));
  if (count < kManyJobs) return std::optional<int64_t>();
  ORDO_ASSIGN_OR_RETURN(
      const int64_t middle,
      number(absl::StrCat("SELECT sequence", live,
                          " ORDER BY sequence LIMIT 1 OFFSET ", count / 2)));
  return std::optional<int64_t>(middle);
}

absl::StatusOr<LiveJobs> ReadLiveJobs(Database& database, RowDecoder& decoder,
                                      Database* other) {
  constexpr int64_t kFirst = std::numeric_limits<int64_t>::min();
  constexpr int64_t kLast = std::numeric_limits<int64_t>::max();
  std::optional<int64_t> middle;
  if (other != nullptr) {
    ORDO_ASSIGN_OR_RETURN(middle, MiddleOf(database));
  }
  LiveJobs live, second;
  if (!middle.has_value()) {
    ORDO_RETURN_IF_ERROR(ReadJobs(database, decoder, {kFirst, kLast}, &live));
    return live;
  }
  ORDO_ASSIGN_OR_RETURN(
      const auto second_decoder,
      RowDecoder::Make(*other, decoder.source(), SpecPlace::kStore));
  absl::Status second_status;
  std::thread reader([&] {
    second_status =
        ReadJobs(*other, *second_decoder, {*middle + 1, kLast}, &second);
  });
  const absl::Status status =
      ReadJobs(database, decoder, {kFirst, *middle}, &live);
  reader.join();
  ORDO_RETURN_IF_ERROR(status);
  ORDO_RETURN_IF_ERROR(second_status);
  decoder.AddDamage(*second_decoder);
  const auto append = [](auto& from, auto* to) {
    to->insert(to->end(), std::make_move_iterator(from.begin()),
               std::make_move_iterator(from.end()));
  };
  append(second.jobs, &live.jobs);
  append(second.started, &live.started);
  return live;
}

// Adds the ended jobs that live ones and rows name.
absl::Status ReadNamed(PastReader& reader, core::Records* records) {
  std::set<std::string> named;
  for (const core::JobPtr& job : records->jobs) {
    for (std::string& id : core::JobsNamedBy(*job->facts)) {
      named.insert(std::move(id));
    }
  }
  for (const core::RowPtr& row : records->rows) {
    named.insert(core::JobNamedBy(*row));
  }
  named.erase("");
  for (const std::string& id : named) {
    ORDO_ASSIGN_OR_RETURN(auto past, reader.Find(id));
    if (!past.has_value()) continue;
    records->jobs.push_back(std::move(past->job));
    for (auto& each : past->checkpoints) {
      records->checkpoints.push_back(std::move(each));
    }
    for (auto& each : past->reports) {
      records->reports.push_back(std::move(each));
    }
  }
  return absl::OkStatus();
}

void Sort(core::Records* records) {
  const auto by_name = [](const auto& a, const auto& b) {
    return a->name() < b->name();
  };
  std::sort(records->jobs.begin(), records->jobs.end(),
            [](const core::JobPtr& a, const core::JobPtr& b) {
              return a->facts->sequence < b->facts->sequence;
            });
  std::sort(records->checkpoints.begin(), records->checkpoints.end(), by_name);
  std::sort(records->reports.begin(), records->reports.end(), by_name);
}

// Whether a row of kOther says what a queue used of a kind of device. Its key
// has one slash, which no other row's has: one of another kind whose kind is
// damaged is not taken for it.
bool IsQueueUse(const Statement& row) {
  const std::string_view key = row.View(1);
  return row.IsInt(0) &&
         row.Int(0) == static_cast<int64_t>(core::Row::Kind::kQueueUse) &&
         std::count(key.begin(), key.end(), '/') == 1;
}

// Digits of the key of a result.
constexpr size_t kResultKeyLength = 64;

// Whether such a row says which result has a key; ids have fewer characters.
bool IsResult(const Statement& row) {
  return row.IsInt(0) &&
         row.Int(0) == static_cast<int64_t>(core::Row::Kind::kResult) &&
         row.View(1).size() == kResultKeyLength;
}

// Adds what queues used and what was answered to `left_out`, where such a row
// is damaged: the one is counted from then on, the other evaluated again.
absl::Status ReadOther(Database& database, RowDecoder& decoder,
                       core::Records* records, Damage* left_out) {
  return ForEach(database, Select(kOther, "ORDER BY kind, key"),
                 [&](const Statement& row) {
                   if ((IsQueueUse(row) || IsResult(row)) &&
                       !ChecksumIsRight(kOther, row)) {
                     left_out->Add(kOther.name, KeyOf(kOther, row));
                   } else if (auto other = decoder.Other(row)) {
                     records->rows.push_back(std::move(other));
                   }
                   return absl::OkStatus();
                 });
}

}  // namespace

absl::StatusOr<std::unique_ptr<PastReader>> PastReader::Make(
    Database& database, RowDecoder& decoder) {
  std::unique_ptr<PastReader> reader(new PastReader(decoder));
  ORDO_ASSIGN_OR_RETURN(
      reader->job_,
      database.Prepare(Select(kJobs, "WHERE name = ? AND end_ns <> 0")));
  ORDO_ASSIGN_OR_RETURN(
      reader->checkpoints_,
      database.Prepare(Select(kCheckpoints, "WHERE job = ? ORDER BY name")));
  ORDO_ASSIGN_OR_RETURN(
      reader->reports_,
      database.Prepare(Select(kReports, "WHERE job = ? ORDER BY name")));
  return reader;
}

absl::StatusOr<std::optional<core::PastJob>> PastReader::Find(
    const std::string& job) {
  job_->BindText(1, job);
  absl::StatusOr<bool> found = job_->Step();
  absl::StatusOr<core::JobPtr> read = core::JobPtr();
  if (found.ok() && *found) read = decoder_.Job(*job_);
  job_->Reset();
  ORDO_RETURN_IF_ERROR(found);
  ORDO_RETURN_IF_ERROR(read);
  if (*read == nullptr) return std::optional<core::PastJob>();
  core::PastJob past;
  past.job = *std::move(read);
  ORDO_RETURN_IF_ERROR(AddArtifacts(job, &past.checkpoints, &past.reports));
  return std::optional<core::PastJob>(std::move(past));
}

absl::Status PastReader::AddArtifacts(
    const std::string& job, std::vector<core::CheckpointPtr>* checkpoints,
    std::vector<core::ReportPtr>* reports) {
  ORDO_RETURN_IF_ERROR(ForEachOf(*checkpoints_, job, [&](const Statement& row) {
    if (auto each = decoder_.Checkpoint(row)) {
      checkpoints->push_back(std::move(each));
    }
  }));
  return ForEachOf(*reports_, job, [&](const Statement& row) {
    if (auto each = decoder_.Report(row)) reports->push_back(std::move(each));
  });
}

template <typename Take>
absl::Status PastReader::ForEachOf(Statement& query, const std::string& job,
                                   Take take) {
  query.BindText(1, job);
  absl::StatusOr<bool> found = query.Step();
  for (; found.ok() && *found; found = query.Step()) take(query);
  query.Reset();
  return found.status();
}

absl::StatusOr<core::Records> ReadRecords(
    Database& database, std::vector<absl::Status>* left_out,
    std::shared_ptr<core::SpecSource> specs, Database* other) {
  core::Records records;
  Damage left_out_rows(database.origin());
  ORDO_ASSIGN_OR_RETURN(
      const auto decoder,
      RowDecoder::Make(database, std::move(specs), SpecPlace::kStore));
  ORDO_ASSIGN_OR_RETURN(records.last_sequence,
                        ReadMeta(database, kLastSequenceKey));
  ORDO_RETURN_IF_ERROR(ForEach(
      database, "SELECT coalesce(max(sequence), 0) FROM jobs",
      [&records](const Statement& row) {
        records.last_sequence = std::max(records.last_sequence, row.Int(0));
        return absl::OkStatus();
      }));
  ORDO_ASSIGN_OR_RETURN(const auto reader,
                        PastReader::Make(database, *decoder));
  ORDO_ASSIGN_OR_RETURN(LiveJobs live, ReadLiveJobs(database, *decoder, other));
  records.jobs = std::move(live.jobs);
  for (const std::string& job : live.started) {
    ORDO_RETURN_IF_ERROR(
        reader->AddArtifacts(job, &records.checkpoints, &records.reports));
  }
  ORDO_RETURN_IF_ERROR(ReadOther(database, *decoder, &records, &left_out_rows));
  ORDO_RETURN_IF_ERROR(ReadNamed(*reader, &records));
  Sort(&records);
  ORDO_RETURN_IF_ERROR(decoder->TakeDamage());
  if (left_out != nullptr) *left_out = left_out_rows.each();
  return records;
}

absl::StatusOr<std::vector<std::string>> FindDamagedRows(Database& database) {
  std::vector<std::string> damaged;
  for (const Table& table :
       {kSpecs, kJobs, kRetired, kCheckpoints, kReports, kOther}) {
    ORDO_RETURN_IF_ERROR(
        ForEach(database, Select(table, ""), [&](const Statement& row) {
          if (!ChecksumIsRight(table, row)) {
            damaged.push_back(RowName(table.name, KeyOf(table, row)));
          }
          return absl::OkStatus();
        }));
  }
  return damaged;
}

}  // namespace ordo::scheduler::store
