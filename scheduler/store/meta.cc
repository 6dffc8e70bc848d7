#include "scheduler/store/meta.h"

#include <optional>

#include "absl/strings/str_cat.h"
#include "base/status/status.h"
#include "scheduler/store/checksum.h"
#include "scheduler/store/damage.h"
#include "scheduler/store/row_decoder.h"

namespace ordo::scheduler::store {
namespace {

// Nothing: it is damaged, and added to the damage.
absl::StatusOr<std::optional<int64_t>> Find(Database& database,
                                            std::string_view key,
                                            Damage* damage) {
  std::optional<int64_t> value;
  ORDO_ASSIGN_OR_RETURN(const auto query,
                        database.Prepare(Select(kMeta, "WHERE key = ?")));
  query->BindText(1, key);
  ORDO_RETURN_IF_ERROR(ForEach(*query, [&value](const Statement& row) {
    if (ChecksumIsRight(kMeta, row)) value = row.Int(1);
    return absl::OkStatus();
  }));
  if (!value.has_value()) {
    damage->Add(kMeta.name, absl::StrCat("key ", std::string(key)));
  }
  return value;
}

}  // namespace

absl::StatusOr<int64_t> ReadMeta(Database& database, std::string_view key) {
  Damage damage(database.origin());
  ORDO_ASSIGN_OR_RETURN(const auto value, Find(database, key, &damage));
  ORDO_RETURN_IF_ERROR(damage.status());
  return *value;
}

absl::Status WriteMeta(Database& database, std::string_view key,
                       int64_t value) {
  ORDO_ASSIGN_OR_RETURN(
      const auto put,
      database.Prepare("INSERT OR REPLACE INTO meta VALUES (?, ?, ?)"));
  put->BindText(1, key);
  put->BindInt(2, value);
  put->BindInt(3, Checksum(kMeta.name).Add(key).Add(value).value());
  return put->Run();
}

absl::Status CheckMeta(Database& database) {
  Damage damage(database.origin());
  for (const char* key : {kSchemaVersionKey, kEpochKey, kLastSequenceKey}) {
    ORDO_RETURN_IF_ERROR(Find(database, key, &damage).status());
  }
  return damage.status();
}

}  // namespace ordo::scheduler::store
