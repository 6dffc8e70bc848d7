#include "scheduler/store/row_decoder.h"

#include <utility>

#include "absl/strings/str_cat.h"
#include "base/status/status.h"
#include "scheduler/core/present.h"
#include "scheduler/store/checksum.h"
#include "scheduler/store/stored.pb.h"

namespace ordo::scheduler::store {
namespace {

// Those of many jobs are looked up row by row; a spec that is met again after
// so many others has another handle.
constexpr size_t kMaxKnownSpecs = 4096;

bool Parse(std::string_view bytes, google::protobuf::MessageLite* message) {
  return message->ParseFromArray(bytes.data(), static_cast<int>(bytes.size()));
}

}  // namespace

bool ChecksumIsRight(const Table& table, const Statement& row) {
  Checksum checksum(table.name);
  const int last = row.num_columns() - 1;
  for (int i = 0; i < last; ++i) {
    if (row.IsInt(i)) {
      checksum.Add(row.Int(i));
    } else {
      checksum.Add(row.View(i));
    }
  }
  return row.IsInt(last) && row.Int(last) == checksum.value();
}

std::string Select(const Table& table, const std::string& rest) {
  return absl::StrCat("SELECT ", table.columns, " FROM ", table.name, " ",
                      rest);
}

std::string KeyOf(const Table& table, const Statement& row) {
  std::string key;
  for (int i = 0; i < table.num_keys; ++i) {
    absl::StrAppend(&key, i == 0 ? "" : " ", row.ColumnName(i), " ",
                    row.Bytes(i));
  }
  return key;
}

RowDecoder::RowDecoder(Database& database,
                       std::shared_ptr<core::SpecSource> specs, SpecPlace place)
    : source_(std::move(specs)),
      place_(source_ == nullptr ? SpecPlace::kMemory : place),
      origin_(database.origin()),
      damage_(origin_),
      arena_(arena_block_.data(), arena_block_.size()) {}

absl::StatusOr<std::unique_ptr<RowDecoder>> RowDecoder::Make(
    Database& database, std::shared_ptr<core::SpecSource> specs,
    SpecPlace place) {
  std::unique_ptr<RowDecoder> decoder(
      new RowDecoder(database, std::move(specs), place));
  ORDO_ASSIGN_OR_RETURN(
      decoder->next_spec_,
      database.Prepare(Select(kSpecs, "WHERE id >= ? ORDER BY id")));
  return decoder;
}

void RowDecoder::AddDamage(const Table& table, const Statement& row) {
  damage_.Add(table.name, KeyOf(table, row));
}

bool RowDecoder::Check(const Table& table, const Statement& row) {
  if (ChecksumIsRight(table, row)) return true;
  AddDamage(table, row);
  return false;
}

absl::StatusOr<bool> RowDecoder::SeekSpec(int64_t id) {
  if (spec_at_ == id) return true;
  const bool follows = spec_at_.has_value() && *spec_at_ + 1 == id;
  spec_at_.reset();
  if (!follows) {
    next_spec_->Reset();
    next_spec_->BindInt(1, id);
  }
  ORDO_ASSIGN_OR_RETURN(const bool found, next_spec_->Step());
  if (!found) return false;
  spec_at_ = next_spec_->Int(0);
  return *spec_at_ == id;
}

absl::StatusOr<bool> RowDecoder::ReadSpec(int64_t id, jobs::v1::JobSpec* spec) {
  ORDO_ASSIGN_OR_RETURN(const bool found, SeekSpec(id));
  if (!found || !Check(kSpecs, *next_spec_)) return false;
  if (Parse(next_spec_->View(2), spec)) return true;
  AddDamage(kSpecs, *next_spec_);
  return false;
}

absl::StatusOr<core::SpecPtr> RowDecoder::Spec(int64_t id) {
  auto spec = std::make_shared<jobs::v1::JobSpec>();
  ORDO_ASSIGN_OR_RETURN(const bool is_whole, ReadSpec(id, spec.get()));
  return is_whole ? core::SpecPtr(std::move(spec)) : nullptr;
}

void RowDecoder::ForgetSpecs() {
  specs_.clear();
  spec_at_.reset();
  next_spec_->Reset();
}

absl::StatusOr<core::FactsPtr> RowDecoder::FactsOfSpec(int64_t id) {
  const auto known = specs_.find(id);
  if (known != specs_.end()) return known->second;
  if (specs_.size() >= kMaxKnownSpecs) specs_.clear();
  core::FactsPtr facts;
  if (place_ == SpecPlace::kStore) {
    arena_.Reset();
    auto* spec =
        google::protobuf::Arena::CreateMessage<jobs::v1::JobSpec>(&arena_);
    ORDO_ASSIGN_OR_RETURN(const bool is_whole, ReadSpec(id, spec));
    if (is_whole) {
      facts = std::make_shared<core::JobFacts>(
          core::FactsOf(*spec, table_.KeepStored(*spec, id, source_)));
    }
  } else {
    ORDO_ASSIGN_OR_RETURN(const core::SpecPtr spec, Spec(id));
    if (spec != nullptr) {
      facts = std::make_shared<core::JobFacts>(
          core::FactsOf(*spec, table_.Keep(spec)));
      if (source_ != nullptr) facts->spec->NoteStored(id, source_);
    }
  }
  specs_.emplace(id, facts);
  return facts;
}

absl::StatusOr<core::JobPtr> RowDecoder::Job(const Statement& row) {
  if (!Check(kJobs, row)) return nullptr;
  ORDO_ASSIGN_OR_RETURN(const core::FactsPtr of_spec, FactsOfSpec(row.Int(3)));
  StoredJob message;
  if (of_spec == nullptr || !Parse(row.View(8), &message)) {
    AddDamage(kJobs, row);
    return nullptr;
  }
  core::StoredJob stored;
  stored.job = std::move(*message.mutable_job());
  stored.request_id = row.Bytes(2);
  stored.fingerprint = std::move(*message.mutable_fingerprint());
  stored.incarnation = std::move(*message.mutable_incarnation());
  stored.acknowledged_records = message.acknowledged_records();
  return core::RecordOf(std::move(stored), *of_spec);
}

template <typename T>
std::shared_ptr<const T> RowDecoder::Artifact(const Table& table,
                                              const Statement& row) {
  if (!Check(table, row)) return nullptr;
  auto artifact = std::make_shared<T>();
  // The body stands before the checksum.
  if (Parse(row.View(row.num_columns() - 2), artifact.get())) return artifact;
  AddDamage(table, row);
  return nullptr;
}

core::CheckpointPtr RowDecoder::Checkpoint(const Statement& row) {
  return Artifact<checkpoints::v1::Checkpoint>(kCheckpoints, row);
}

core::ReportPtr RowDecoder::Report(const Statement& row) {
  return Artifact<reports::v1::Report>(kReports, row);
}

core::RowPtr RowDecoder::Other(const Statement& row) {
  if (!Check(kOther, row)) return nullptr;
  const auto kind = static_cast<core::Row::Kind>(row.Int(0));
  // Of another size it would be taken for a kind that it is not.
  if (static_cast<int64_t>(kind) != row.Int(0)) {
    AddDamage(kOther, row);
    return nullptr;
  }
  return std::make_shared<const core::Row>(
      core::Row{kind, row.Bytes(1), row.Bytes(2)});
}

absl::Status RowDecoder::TakeDamage() {
  absl::Status status = damage_.status();
  if (!status.ok()) damage_ = Damage(origin_);
  return status;
}

std::vector<absl::Status> RowDecoder::TakeEachDamage() {
  std::vector<absl::Status> each = damage_.each();
  if (!each.empty()) damage_ = Damage(origin_);
  return each;
}

}  // namespace ordo::scheduler::store
