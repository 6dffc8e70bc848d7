#include "scheduler/store/sqlite_reader.h"

#include <algorithm>
#include <functional>
#include <limits>
#include <set>
#include <utility>

#include "absl/strings/str_cat.h"
#include "base/mutex.h"
#include "base/status/details.h"
#include "base/status/status.h"
#include "scheduler/store/damage.h"
#include "scheduler/store/row_decoder.h"
#include "scheduler/store/row_reader.h"
#include "scheduler/store/row_writer.h"

namespace ordo::scheduler::store {
namespace {

// One call at a time, all of whose queries see the same commits.
class Connection {
 public:
  static absl::StatusOr<std::unique_ptr<Connection>> Open(
      const std::string& path, const DatabaseOptions& options,
      std::shared_ptr<core::SpecSource> specs);

  // The statement, to be bound and run; the same one the next time.
  absl::StatusOr<Statement*> Prepare(const std::string& sql);
  RowDecoder& decoder() { return *decoder_; }
  PastReader& past() { return *past_; }

  // Whether all that was decoded since the last call could be read; else adds
  // what could not.
  bool IsWhole(std::vector<absl::Status>* damage);
  // Decodes the rows of a bound query, whose keys are their first columns,
  // until there are so many items, behind damage too, as Found says. `decode`
  // gives what a row holds.
  template <typename T, typename Decode>
  absl::Status Collect(Statement& query, int limit, Decode decode,
                       Found<T>* found);

  absl::Status Begin() { return begin_->Run(); }
  // Gives the damage that was met.
  absl::Status End();

 private:
  explicit Connection(std::unique_ptr<Database> database)
      : database_(std::move(database)) {}

  std::unique_ptr<Database> database_;
  std::unique_ptr<Statement> begin_, end_;
  std::unique_ptr<RowDecoder> decoder_;
  std::unique_ptr<PastReader> past_;
  std::map<std::string, std::unique_ptr<Statement>> statements_;
};

absl::StatusOr<std::unique_ptr<Connection>> Connection::Open(
    const std::string& path, const DatabaseOptions& options,
    std::shared_ptr<core::SpecSource> specs) {
  ORDO_ASSIGN_OR_RETURN(auto database, Database::Open(path, options));
  std::unique_ptr<Connection> connection(new Connection(std::move(database)));
  Database& own = *connection->database_;
  ORDO_ASSIGN_OR_RETURN(connection->begin_, own.Prepare("BEGIN"));
  ORDO_ASSIGN_OR_RETURN(connection->end_, own.Prepare("COMMIT"));
  ORDO_ASSIGN_OR_RETURN(connection->decoder_,
                        RowDecoder::Make(own, std::move(specs)));
  ORDO_ASSIGN_OR_RETURN(connection->past_,
                        PastReader::Make(own, *connection->decoder_));
  return connection;
}

absl::StatusOr<Statement*> Connection::Prepare(const std::string& sql) {
  std::unique_ptr<Statement>& statement = statements_[sql];
  if (statement == nullptr) {
    ORDO_ASSIGN_OR_RETURN(statement, database_->Prepare(sql));
  }
  return statement.get();
}

absl::Status Connection::End() {
  const absl::Status damage = decoder_->TakeDamage();
  decoder_->ForgetSpecs();
  const absl::Status status = end_->Run();
  return status.ok() ? damage : status;
}

bool Connection::IsWhole(std::vector<absl::Status>* damage) {
  const std::vector<absl::Status> met = decoder_->TakeEachDamage();
  damage->insert(damage->end(), met.begin(), met.end());
  return met.empty();
}

void TakeKey(const Statement& row, std::optional<int64_t>* key) {
  *key = row.Int(0);
}
void TakeKey(const Statement& row, std::optional<std::string>* key) {
  *key = row.Bytes(0);
}

template <typename T, typename Decode>
absl::Status Connection::Collect(Statement& query, int limit, Decode decode,
                                 Found<T>* found) {
  absl::Status status;
  int num_damaged = 0;
  while (static_cast<int64_t>(found->items.size()) < limit) {
    const absl::StatusOr<bool> has_row = query.Step();
    status = has_row.status();
    if (!has_row.ok() || !*has_row) break;
    absl::StatusOr<T> item = decode(query);
    status = item.status();
    if (!item.ok()) break;
    if (IsWhole(&found->damage)) {
      found->items.push_back(*std::move(item));
    } else if (++num_damaged == kMaxDamagedItems) {
      TakeKey(query, &found->next);
      break;
    }
  }
  query.Reset();
  return status;
}

class SqliteReader : public Reader {
 public:
  SqliteReader(std::string path, DatabaseOptions options,
               std::shared_ptr<core::SpecSource> specs)
      : path_(std::move(path)),
        options_(std::move(options)),
        specs_(std::move(specs)) {
    options_.read_only = true;
  }

  absl::StatusOr<core::JobPtr> FindJob(const std::string& job) override;
  absl::StatusOr<PastJobs> FindPast(
      const std::vector<std::string>& jobs,
      const std::vector<std::string>& request_ids) override;
  absl::StatusOr<ExpiredJobs> FindExpired(const ExpiredQuery& query) override;
  absl::StatusOr<core::SpecPtr> FindSpec(int64_t id) override;
  absl::StatusOr<Found<core::JobPtr>> ListEnded(
      const EndedQuery& query) override;
  absl::StatusOr<std::map<core::JobState, int64_t>> CountEnded() override;
  absl::StatusOr<std::vector<std::string>> DeletedCheckpoints(
      const std::string& after, int limit) override;
  absl::StatusOr<core::CheckpointPtr> FindCheckpoint(
      const std::string& name) override {
    return FindArtifact(kCheckpoints, name, &RowDecoder::Checkpoint);
  }
  absl::StatusOr<core::ReportPtr> FindReport(const std::string& name) override {
    return FindArtifact(kReports, name, &RowDecoder::Report);
  }
  absl::StatusOr<Found<core::CheckpointPtr>> ListCheckpoints(
      const ArtifactQuery& query) override {
    return ListArtifacts(kCheckpoints, query, &RowDecoder::Checkpoint);
  }
  absl::StatusOr<Found<core::ReportPtr>> ListReports(
      const ArtifactQuery& query) override {
    return ListArtifacts(kReports, query, &RowDecoder::Report);
  }

 private:
  using Read = std::function<absl::Status(Connection&)>;
  template <typename Pointer>
  using Decode = Pointer (RowDecoder::*)(const Statement& row);

  // Calls `read` with a connection, in a transaction.
  absl::Status With(const Read& read);
  template <typename Pointer>
  absl::StatusOr<Pointer> FindArtifact(const Table& table,
                                       const std::string& name,
                                       Decode<Pointer> decode);
  template <typename Pointer>
  absl::StatusOr<Found<Pointer>> ListArtifacts(const Table& table,
                                               const ArtifactQuery& query,
                                               Decode<Pointer> decode);

  const std::string path_;
  DatabaseOptions options_;
  const std::shared_ptr<core::SpecSource> specs_;
  base::Mutex mutex_;
  std::vector<std::unique_ptr<Connection>> idle_ ORDO_GUARDED_BY(mutex_);
};

absl::Status SqliteReader::With(const Read& read) {
  std::unique_ptr<Connection> connection;
  {
    base::MutexLock lock(mutex_);
    if (!idle_.empty()) {
      connection = std::move(idle_.back());
      idle_.pop_back();
    }
  }
  if (connection == nullptr) {
    ORDO_ASSIGN_OR_RETURN(connection,
                          Connection::Open(path_, options_, specs_));
  }
  ORDO_RETURN_IF_ERROR(connection->Begin());
  const absl::Status status = read(*connection);
  const absl::Status end = connection->End();
  // One that has failed is closed.
  ORDO_RETURN_IF_ERROR(status);
  if (end.ok() || absl::IsDataLoss(end)) {
    base::MutexLock lock(mutex_);
    idle_.push_back(std::move(connection));
  }
  return end;
}

absl::StatusOr<core::JobPtr> SqliteReader::FindJob(const std::string& job) {
  core::JobPtr found;
  ORDO_RETURN_IF_ERROR(With([&](Connection& connection) {
    auto query = connection.Prepare(Select(kJobs, "WHERE name = ?"));
    if (!query.ok()) return query.status();
    (*query)->BindText(1, job);
    return ForEach(**query, [&](const Statement& row) -> absl::Status {
      ORDO_ASSIGN_OR_RETURN(found, connection.decoder().Job(row));
      return absl::OkStatus();
    });
  }));
  return found;
}

absl::StatusOr<core::SpecPtr> SqliteReader::FindSpec(int64_t id) {
  core::SpecPtr found;
  ORDO_RETURN_IF_ERROR(With([&](Connection& connection) -> absl::Status {
    ORDO_ASSIGN_OR_RETURN(found, connection.decoder().Spec(id));
    return absl::OkStatus();
  }));
  if (found != nullptr) return found;
  Damage missing(Origin{path_});
  missing.Add(kSpecs.name, absl::StrCat("id ", id));
  return missing.status();
}

// Adds the jobs that these requests made.
absl::Status AddRequested(Connection& connection, const std::string& sql,
                          const std::vector<std::string>& request_ids,
                          std::set<std::string>* names) {
  ORDO_ASSIGN_OR_RETURN(Statement * query, connection.Prepare(sql));
  for (const std::string& request_id : request_ids) {
    query->BindText(1, request_id);
    ORDO_RETURN_IF_ERROR(ForEach(*query, [names](const Statement& row) {
      names->insert(row.Bytes(0));
      return absl::OkStatus();
    }));
  }
  return absl::OkStatus();
}

absl::StatusOr<PastJobs> SqliteReader::FindPast(
    const std::vector<std::string>& jobs,
    const std::vector<std::string>& request_ids) {
  PastJobs found;
  ORDO_RETURN_IF_ERROR(With([&](Connection& connection) -> absl::Status {
    std::set<std::string> names(jobs.begin(), jobs.end());
    ORDO_RETURN_IF_ERROR(
        AddRequested(connection,
                     "SELECT name FROM jobs INDEXED BY job_requests "
                     "WHERE request_id = ? AND request_id <> ''",
                     request_ids, &names));
    ORDO_RETURN_IF_ERROR(
        AddRequested(connection,
                     "SELECT name FROM retired INDEXED BY retired_requests "
                     "WHERE request_id = ? AND request_id <> ''",
                     request_ids, &names));
    ORDO_ASSIGN_OR_RETURN(
        Statement * retired,
        connection.Prepare(Select(kRetired, "WHERE name = ?")));
    for (const std::string& name : names) {
      ORDO_ASSIGN_OR_RETURN(auto past, connection.past().Find(name));
      if (past.has_value()) {
        found.jobs.push_back(*std::move(past));
        continue;
      }
      retired->BindText(1, name);
      ORDO_RETURN_IF_ERROR(ForEach(*retired, [&](const Statement& row) {
        connection.decoder().Check(kRetired, row);
        found.retired.push_back(
            {name, row.Bytes(1), static_cast<core::JobState>(row.Int(2))});
        return absl::OkStatus();
      }));
    }
    return absl::OkStatus();
  }));
  return found;
}

absl::StatusOr<ExpiredJobs> SqliteReader::FindExpired(
    const ExpiredQuery& query) {
  ExpiredJobs found;
  ORDO_RETURN_IF_ERROR(With([&](Connection& connection) -> absl::Status {
    // The last of those that are too many.
    ORDO_ASSIGN_OR_RETURN(
        Statement * surplus,
        connection.Prepare(
            "SELECT end_ns, sequence FROM jobs INDEXED BY ended_times "
            "WHERE end_ns <> 0 ORDER BY end_ns DESC, sequence DESC "
            "LIMIT 1 OFFSET ?"));
    int64_t last_end_ns = 0;
    int64_t last_sequence = 0;
    if (query.keep >= 0) {
      surplus->BindInt(1, query.keep);
      ORDO_RETURN_IF_ERROR(ForEach(*surplus, [&](const Statement& row) {
        last_end_ns = row.Int(0);
        last_sequence = row.Int(1);
        return absl::OkStatus();
      }));
    }
    ORDO_ASSIGN_OR_RETURN(
        Statement * expired,
        connection.Prepare(
            "SELECT name, end_ns, sequence FROM jobs INDEXED BY ended_times "
            "WHERE end_ns <> 0 AND (end_ns, sequence) > (?1, ?2) AND "
            "(end_ns < ?3 OR (end_ns, sequence) <= (?4, ?5)) "
            "ORDER BY end_ns, sequence LIMIT ?6"));
    expired->BindInt(1, query.after_end_ns);
    expired->BindInt(2, query.after_sequence);
    expired->BindInt(3, query.ended_before_ns);
    expired->BindInt(4, last_end_ns);
    expired->BindInt(5, last_sequence);
    expired->BindInt(6, query.limit);
    std::vector<std::string> names;
    ORDO_RETURN_IF_ERROR(ForEach(*expired, [&](const Statement& row) {
      names.push_back(row.Bytes(0));
      found.last = JobEnd{row.Int(1), row.Int(2)};
      return absl::OkStatus();
    }));
    for (const std::string& name : names) {
      ORDO_ASSIGN_OR_RETURN(auto past, connection.past().Find(name));
      if (connection.IsWhole(&found.damage) && past.has_value()) {
        found.jobs.push_back(*std::move(past));
      }
    }
    return absl::OkStatus();
  }));
  return found;
}

// What is asked of a job beside its sequence and its first label: " AND ...".
std::string Conditions(const EndedQuery& query) {
  std::string sql;
  if (query.state.has_value()) absl::StrAppend(&sql, " AND state = ?");
  if (query.queue.has_value()) absl::StrAppend(&sql, " AND queue = ?");
  if (query.owner.has_value()) absl::StrAppend(&sql, " AND owner = ?");
  for (size_t i = 1; i < query.labels.size(); ++i) {
    absl::StrAppend(&sql,
                    " AND EXISTS (SELECT 1 FROM ended_labels AS other WHERE "
                    "other.label = ? AND other.sequence = jobs.sequence)");
  }
  return sql;
}

// Walks the index that leads to the fewest of them, as far as that is known:
// people have fewer jobs than queues, and a label is on fewer than either. How
// many rows it takes shows as they are read.
std::string EndedSql(const EndedQuery& query) {
  if (!query.labels.empty()) {
    // The first label leads, the others are looked up; also what leads to no
    // job that has ended is damage to tell of.
    return absl::StrCat(
        "SELECT ", kJobs.columns,
        " FROM (SELECT sequence FROM ended_labels WHERE label = ? "
        "AND sequence < ?) LEFT JOIN jobs USING (sequence) "
        "WHERE name IS NULL OR end_ns = 0 OR (end_ns <> 0",
        Conditions(query), ") ORDER BY sequence DESC");
  }
  std::string index = "ended_jobs";
  if (query.state.has_value()) index = "ended_states";
  if (query.queue.has_value()) index = "ended_queues";
  if (query.owner.has_value()) index = "ended_owners";
  return Select(
      kJobs,
      absl::StrCat("INDEXED BY ", index, " WHERE sequence < ? AND end_ns <> 0",
                   Conditions(query), " ORDER BY sequence DESC"));
}

// The job of a row to which labels may have led. Null when it is damaged, or
// those are: they repeat what jobs say, and have no checksums of their own.
absl::StatusOr<core::JobPtr> LabelledJob(const EndedQuery& query,
                                         const Statement& row,
                                         RowDecoder& decoder) {
  const int64_t sequence = row.Int(0);
  const bool has_ended = !row.Bytes(1).empty() && row.Int(7) != 0;
  core::JobPtr job;
  std::vector<std::string> own;
  if (has_ended) {
    ORDO_ASSIGN_OR_RETURN(job, decoder.Job(row));
    if (job == nullptr) return job;
    own = LabelTermsOf(*job->facts);
  }
  for (const auto& [key, value] : query.labels) {
    const std::string term = LabelTerm(key, value);
    if (std::find(own.begin(), own.end(), term) != own.end()) continue;
    decoder.AddDamage("ended_labels",
                      absl::StrCat("label ", term, " sequence ", sequence));
    return core::JobPtr();
  }
  return job;
}

absl::StatusOr<Found<core::JobPtr>> SqliteReader::ListEnded(
    const EndedQuery& query) {
  Found<core::JobPtr> jobs;
  ORDO_RETURN_IF_ERROR(With([&](Connection& connection) -> absl::Status {
    ORDO_ASSIGN_OR_RETURN(Statement * rows,
                          connection.Prepare(EndedSql(query)));
    int parameter = 0;
    auto label = query.labels.begin();
    if (label != query.labels.end()) {
      rows->BindText(++parameter, LabelTerm(label->first, label->second));
      ++label;
    }
    rows->BindInt(++parameter, query.before);
    if (query.state.has_value()) rows->BindInt(++parameter, *query.state);
    if (query.queue.has_value()) rows->BindText(++parameter, *query.queue);
    if (query.owner.has_value()) rows->BindText(++parameter, *query.owner);
    for (; label != query.labels.end(); ++label) {
      rows->BindText(++parameter, LabelTerm(label->first, label->second));
    }
    return connection.Collect(
        *rows, query.limit,
        [&](const Statement& row) {
          return LabelledJob(query, row, connection.decoder());
        },
        &jobs);
  }));
  return jobs;
}

absl::StatusOr<std::map<core::JobState, int64_t>> SqliteReader::CountEnded() {
  std::map<core::JobState, int64_t> counts;
  ORDO_RETURN_IF_ERROR(With([&](Connection& connection) -> absl::Status {
    ORDO_ASSIGN_OR_RETURN(
        Statement * query,
        connection.Prepare("SELECT state, count(*) FROM jobs INDEXED BY "
                           "ended_states WHERE end_ns <> 0 GROUP BY state"));
    return ForEach(*query, [&counts](const Statement& row) {
      counts[static_cast<core::JobState>(row.Int(0))] = row.Int(1);
      return absl::OkStatus();
    });
  }));
  return counts;
}

absl::StatusOr<std::vector<std::string>> SqliteReader::DeletedCheckpoints(
    const std::string& after, int limit) {
  std::vector<std::string> names;
  ORDO_RETURN_IF_ERROR(With([&](Connection& connection) -> absl::Status {
    ORDO_ASSIGN_OR_RETURN(
        Statement * query,
        connection.Prepare(
            absl::StrCat("SELECT ", kCheckpoints.columns,
                         " FROM checkpoints INDEXED BY deleted_checkpoints "
                         "WHERE deleted <> 0 AND name > ? ORDER BY name "
                         "LIMIT ?")));
    query->BindText(1, after);
    query->BindInt(2, limit);
    return ForEach(*query, [&names](const Statement& row) {
      // Whoever asks removes folders: a damaged mark is none.
      if (ChecksumIsRight(kCheckpoints, row)) names.push_back(row.Bytes(0));
      return absl::OkStatus();
    });
  }));
  return names;
}

template <typename Pointer>
absl::StatusOr<Pointer> SqliteReader::FindArtifact(const Table& table,
                                                   const std::string& name,
                                                   Decode<Pointer> decode) {
  Pointer found;
  ORDO_RETURN_IF_ERROR(With([&](Connection& connection) -> absl::Status {
    ORDO_ASSIGN_OR_RETURN(Statement * query,
                          connection.Prepare(Select(table, "WHERE name = ?")));
    query->BindText(1, name);
    return ForEach(*query, [&](const Statement& row) {
      found = (connection.decoder().*decode)(row);
      return absl::OkStatus();
    });
  }));
  return found;
}

template <typename Pointer>
absl::StatusOr<Found<Pointer>> SqliteReader::ListArtifacts(
    const Table& table, const ArtifactQuery& query, Decode<Pointer> decode) {
  Found<Pointer> artifacts;
  const std::string of_job = query.job.empty() ? "" : "job = ?3 AND ";
  ORDO_RETURN_IF_ERROR(With([&](Connection& connection) -> absl::Status {
    int64_t before = std::numeric_limits<int64_t>::max();
    if (!query.before.empty()) {
      bool is_there = false;
      ORDO_ASSIGN_OR_RETURN(
          Statement * find,
          connection.Prepare(absl::StrCat("SELECT create_ns FROM ", table.name,
                                          " WHERE name = ?")));
      find->BindText(1, query.before);
      ORDO_RETURN_IF_ERROR(ForEach(*find, [&](const Statement& row) {
        before = row.Int(0);
        is_there = true;
        return absl::OkStatus();
      }));
      if (!is_there) {
        return base::InvalidField("page_token", "is not one of this listing");
      }
    }
    ORDO_ASSIGN_OR_RETURN(
        Statement * rows,
        connection.Prepare(
            Select(table, absl::StrCat("WHERE ", of_job,
                                       "(create_ns, name) < (?1, ?2) "
                                       "ORDER BY create_ns DESC, "
                                       "name DESC"))));
    rows->BindInt(1, before);
    rows->BindText(2, query.before);
    if (!query.job.empty()) rows->BindText(3, query.job);
    return connection.Collect(
        *rows, query.limit,
        [&](const Statement& row) -> absl::StatusOr<Pointer> {
          return (connection.decoder().*decode)(row);
        },
        &artifacts);
  }));
  return artifacts;
}

}  // namespace

std::unique_ptr<Reader> MakeSqliteReader(
    const std::string& path, const DatabaseOptions& options,
    std::shared_ptr<core::SpecSource> specs) {
  return std::make_unique<SqliteReader>(path, options, std::move(specs));
}

}  // namespace ordo::scheduler::store
