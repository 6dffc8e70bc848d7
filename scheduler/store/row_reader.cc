#include "scheduler/store/row_reader.h"

#include <map>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "base/status/status.h"
#include "scheduler/core/present.h"
#include "scheduler/store/checksum.h"
#include "scheduler/store/damage.h"
#include "scheduler/store/stored.pb.h"

namespace ordo::scheduler::store {
namespace {

bool Parse(std::string_view bytes, google::protobuf::MessageLite* message) {
  return message->ParseFromArray(bytes.data(), static_cast<int>(bytes.size()));
}

core::StoredJob FromMessage(StoredJob message) {
  core::StoredJob stored;
  stored.job = std::move(*message.mutable_job());
  stored.request_id = std::move(*message.mutable_request_id());
  stored.fingerprint = std::move(*message.mutable_fingerprint());
  stored.incarnation = std::move(*message.mutable_incarnation());
  stored.acknowledged_records = message.acknowledged_records();
  return stored;
}

// Which rows: `sql` gives their key, their other values and the checksum, as
// RowWriter counted them.
struct Query {
  std::string table;
  std::string sql;
  int num_key_columns = 1;
};

Query NamedQuery(const std::string& table) {
  return {table, absl::StrCat("SELECT name, body, crc FROM ", table,
                              " ORDER BY name")};
}

const Query& Specs() {
  static const Query& query =
      *new Query{"specs", "SELECT id, digest, body, crc FROM specs"};
  return query;
}

const Query& Jobs() {
  static const Query& query = *new Query{
      "jobs",
      "SELECT sequence, name, spec, body, crc FROM jobs ORDER BY sequence"};
  return query;
}

Query OtherQuery(const std::string& where) {
  return {"other",
          absl::StrCat("SELECT kind, key, body, crc FROM other ", where,
                       " ORDER BY kind, key"),
          2};
}

bool IsGood(const std::string& table, const Statement& row) {
  Checksum checksum(table);
  const int crc = row.num_columns() - 1;
  for (int i = 0; i < crc; ++i) {
    if (row.IsInt(i)) {
      checksum.Add(row.Int(i));
    } else {
      checksum.Add(row.View(i));
    }
  }
  return row.IsInt(crc) && row.Int(crc) == checksum.value();
}

class Reader {
 public:
  explicit Reader(Database& database)
      : database_(database), damage_(database.path()) {}

  // Calls `take` for each row whose checksum is right; it says whether the row
  // makes sense.
  template <typename Take>
  absl::Status ForEach(const Query& query, Take take);

  absl::Status ReadSpecs();
  absl::Status ReadJobs(std::vector<core::JobPtr>* jobs);
  template <typename T>
  absl::Status ReadNamed(const std::string& table,
                         std::vector<std::shared_ptr<const T>>* records);
  absl::Status ReadOther(std::vector<core::RowPtr>* rows);
  absl::Status damage() const { return damage_.status(); }

 private:
  Database& database_;
  Damage damage_;
  std::map<int64_t, core::SpecPtr> specs_;
};

template <typename Take>
absl::Status Reader::ForEach(const Query& query, Take take) {
  ORDO_ASSIGN_OR_RETURN(auto row, database_.Prepare(query.sql));
  while (true) {
    ORDO_ASSIGN_OR_RETURN(const bool found, row->Step());
    if (!found) return absl::OkStatus();
    if (IsGood(query.table, *row) && take(*row)) continue;
    std::string key;
    for (int i = 0; i < query.num_key_columns; ++i) {
      absl::StrAppend(&key, i == 0 ? "" : " ", row->ColumnName(i), " ",
                      row->Bytes(i));
    }
    damage_.Add(query.table, key);
  }
}

absl::Status Reader::ReadSpecs() {
  return ForEach(Specs(), [this](const Statement& row) {
    auto spec = std::make_shared<jobs::v1::JobSpec>();
    if (!Parse(row.View(2), spec.get())) return false;
    specs_[row.Int(0)] = std::move(spec);
    return true;
  });
}

absl::Status Reader::ReadJobs(std::vector<core::JobPtr>* jobs) {
  return ForEach(Jobs(), [this, jobs](const Statement& row) {
    StoredJob stored;
    const auto spec = specs_.find(row.Int(2));
    if (spec == specs_.end() || !Parse(row.View(3), &stored)) return false;
    jobs->push_back(
        core::RecordOf(FromMessage(std::move(stored)), spec->second));
    return true;
  });
}

template <typename T>
absl::Status Reader::ReadNamed(const std::string& table,
                               std::vector<std::shared_ptr<const T>>* records) {
  return ForEach(NamedQuery(table), [records](const Statement& row) {
    auto record = std::make_shared<T>();
    if (!Parse(row.View(1), record.get())) return false;
    records->push_back(std::move(record));
    return true;
  });
}

absl::Status Reader::ReadOther(std::vector<core::RowPtr>* rows) {
  const auto audit = static_cast<int>(core::Row::Kind::kAudit);
  return ForEach(OtherQuery(absl::StrCat("WHERE kind <> ", audit)),
                 [rows](const Statement& row) {
                   rows->push_back(std::make_shared<core::Row>(
                       core::Row{static_cast<core::Row::Kind>(row.Int(0)),
                                 row.Bytes(1), row.Bytes(2)}));
                   return true;
                 });
}

}  // namespace

absl::StatusOr<core::Records> ReadRecords(Database& database) {
  core::Records records;
  Reader reader(database);
  ORDO_RETURN_IF_ERROR(reader.ReadSpecs());
  ORDO_RETURN_IF_ERROR(reader.ReadJobs(&records.jobs));
  ORDO_RETURN_IF_ERROR(reader.ReadNamed("checkpoints", &records.checkpoints));
  ORDO_RETURN_IF_ERROR(reader.ReadNamed("reports", &records.reports));
  ORDO_RETURN_IF_ERROR(reader.ReadOther(&records.rows));
  ORDO_RETURN_IF_ERROR(reader.damage());
  return records;
}

absl::Status CheckRows(Database& database) {
  Reader reader(database);
  for (const Query& query : {Specs(), Jobs(), NamedQuery("checkpoints"),
                             NamedQuery("reports"), OtherQuery("")}) {
    ORDO_RETURN_IF_ERROR(
        reader.ForEach(query, [](const Statement&) { return true; }));
  }
  return reader.damage();
}

}  // namespace ordo::scheduler::store
