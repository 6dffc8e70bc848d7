#include "scheduler/store/migration.h"

#include <memory>
#include <string>
#include <utility>

#include "absl/strings/str_cat.h"
#include "base/status/status.h"
#include "scheduler/core/present.h"
#include "scheduler/store/damage.h"
#include "scheduler/store/row_writer.h"

namespace ordo::scheduler::store {
namespace {

class Migration {
 public:
  Migration(Database& database, RowWriter& writer)
      : database_(database), writer_(writer), damage_(database.origin()) {}

  absl::Status MoveJobs();
  template <typename T>
  absl::Status MoveNamed(const std::string& table);
  absl::Status damage() const { return damage_.status(); }

 private:
  Database& database_;
  RowWriter& writer_;
  Damage damage_;
};

absl::Status Migration::MoveJobs() {
  ORDO_ASSIGN_OR_RETURN(
      auto query,
      database_.Prepare("SELECT sequence, body, request_id, fingerprint, "
                        "incarnation, acknowledged FROM jobs_1 "
                        "ORDER BY sequence"));
  core::SpecTable specs;
  while (true) {
    ORDO_ASSIGN_OR_RETURN(const bool found, query->Step());
    if (!found) return absl::OkStatus();
    core::StoredJob stored;
    if (!stored.job.ParseFromString(query->Bytes(1)) ||
        stored.job.sequence() != query->Int(0)) {
      damage_.Add("jobs", absl::StrCat("sequence ", query->Int(0)));
      continue;
    }
    stored.request_id = query->Bytes(2);
    stored.fingerprint = query->Bytes(3);
    stored.incarnation = query->Bytes(4);
    stored.acknowledged_records = query->Int(5);
    ORDO_RETURN_IF_ERROR(
        writer_.Write({core::RecordOf(std::move(stored), &specs)}));
  }
}

template <typename T>
absl::Status Migration::MoveNamed(const std::string& table) {
  ORDO_ASSIGN_OR_RETURN(
      auto query,
      database_.Prepare(absl::StrCat("SELECT name, body FROM ", table, "_1")));
  while (true) {
    ORDO_ASSIGN_OR_RETURN(const bool found, query->Step());
    if (!found) return absl::OkStatus();
    auto record = std::make_shared<T>();
    if (!record->ParseFromString(query->Bytes(1)) ||
        record->name() != query->Bytes(0)) {
      damage_.Add(table, absl::StrCat("name ", query->Bytes(0)));
      continue;
    }
    ORDO_RETURN_IF_ERROR(
        writer_.Write({std::shared_ptr<const T>(std::move(record))}));
  }
}

}  // namespace

absl::Status SetVersion1Aside(Database& database) {
  return database.Execute(
      "ALTER TABLE jobs RENAME TO jobs_1;"
      "ALTER TABLE checkpoints RENAME TO checkpoints_1;"
      "ALTER TABLE reports RENAME TO reports_1");
}

absl::Status TakeVersion1Over(Database& database) {
  {
    ORDO_ASSIGN_OR_RETURN(const auto writer, RowWriter::Make(database));
    Migration migration(database, *writer);
    ORDO_RETURN_IF_ERROR(migration.MoveJobs());
    ORDO_RETURN_IF_ERROR(
        migration.MoveNamed<checkpoints::v1::Checkpoint>("checkpoints"));
    ORDO_RETURN_IF_ERROR(migration.MoveNamed<reports::v1::Report>("reports"));
    ORDO_RETURN_IF_ERROR(migration.damage());
  }
  return database.Execute(
      "DROP TABLE jobs_1; DROP TABLE checkpoints_1; DROP TABLE reports_1");
}

}  // namespace ordo::scheduler::store
