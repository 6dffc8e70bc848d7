// Rows of a store's file, when somebody has changed what they say, with their
// checksums or without: each goes through what decodes it at a start. A row
// whose checksum is wrong is found, and no other is; a start refuses damage by
// that name; what it reads is what the rows say, and the core takes it as it
// takes any (CheckLoads).
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <set>
#include <string>
#include <tuple>
#include <vector>

#include "absl/strings/str_cat.h"
#include "base/check.h"
#include "base/text/proto_bytes.h"
#include "google/protobuf/text_format.h"
#include "scheduler/store/checksum.h"
#include "scheduler/store/row_decoder.h"
#include "scheduler/store/row_reader.h"
#include "scheduler/store/schema.h"
#include "scheduler/store/sqlite.h"
#include "tests/fuzz/cases.pb.h"
#include "tests/fuzz/loading.h"
#include "tests/fuzz/mutator.h"

namespace ordo::tests::fuzz {
namespace {

namespace core = scheduler::core;
namespace store = scheduler::store;

constexpr int kMaxRows = 64;

const std::vector<std::string>& Words() {
  static const auto& words =
      *new std::vector<std::string>{"a",
                                    "b",
                                    "jobs/a",
                                    "jobs/b",
                                    "jobs/a/checkpoints/10-1",
                                    "jobs/a/reports/r-10",
                                    "10-1",
                                    "w",
                                    "workers/w",
                                    "cpu",
                                    "cpu:0",
                                    "q",
                                    "queues/q",
                                    "default",
                                    "specs",
                                    "jobs",
                                    "retired",
                                    "checkpoints",
                                    "reports",
                                    "other"};
  return words;
}

const store::Table* FindTable(const std::string& name) {
  for (const store::Table* table :
       {&store::kSpecs, &store::kJobs, &store::kRetired, &store::kCheckpoints,
        &store::kReports, &store::kOther}) {
    if (name == table->name) return table;
  }
  return nullptr;
}

void Bind(const Cell& cell, int parameter, store::Statement* statement) {
  switch (cell.value_case()) {
    case Cell::kNumber:
      return statement->BindInt(parameter, cell.number());
    case Cell::kText:
      return statement->BindText(parameter, cell.text());
    case Cell::kBlob:
      return statement->BindBlob(parameter, cell.blob());
    case Cell::kSpec:
      return statement->BindBlob(parameter, cell.spec().SerializeAsString());
    case Cell::kJob:
      return statement->BindBlob(parameter, cell.job().SerializeAsString());
    case Cell::kCheckpoint:
      return statement->BindBlob(parameter,
                                 cell.checkpoint().SerializeAsString());
    case Cell::kReport:
      return statement->BindBlob(parameter, cell.report().SerializeAsString());
    case Cell::kQueue:
      return statement->BindBlob(parameter, cell.queue().SerializeAsString());
    case Cell::kWorker:
      return statement->BindBlob(parameter, cell.worker().SerializeAsString());
    case Cell::VALUE_NOT_SET:
      return statement->BindInt(parameter, 0);
  }
}

// A database in memory with the rows, and what those with right checksums say.
class Tables {
 public:
  Tables() {
    auto database = store::Database::Open(":memory:");
    ORDO_CHECK(database.ok()) << database.status();
    database_ = *std::move(database);
    const absl::Status made = store::PrepareSchema(*database_);
    ORDO_CHECK(made.ok()) << made;
  }

  // Nothing happens when the table does not take it.
  void Insert(const TableRow& row) {
    const store::Table* const table = FindTable(row.table());
    if (table == nullptr) return;
    // No checksum is negative: by this the row is found.
    const int64_t mark = --last_mark_;
    if (!InsertMarked(*table, row, mark)) return;
    const auto written = Prepare(Select(*table, "WHERE crc = ?"));
    written->BindInt(1, mark);
    const auto found = written->Step();
    ORDO_CHECK(found.ok() && *found) << "the row is gone";
    store::Checksum checksum(table->name);
    for (int i = 0; i + 1 < written->num_columns(); ++i) {
      if (written->IsInt(i)) {
        checksum.Add(written->Int(i));
      } else {
        checksum.Add(written->View(i));
      }
    }
    if (row.checksum_error() == 0) {
      Note(*table, *written);
    } else {
      ++num_damaged_;
    }
    written->Reset();
    const auto mend = Prepare(
        absl::StrCat("UPDATE ", table->name, " SET crc = ? ", "WHERE crc = ?"));
    mend->BindInt(
        1, static_cast<int64_t>(uint64_t{checksum.value()} +
                                static_cast<uint64_t>(row.checksum_error())));
    mend->BindInt(2, mark);
    const absl::Status mended = mend->Run();
    ORDO_CHECK(mended.ok()) << mended;
  }

  void Check() {
    const auto damaged = store::FindDamagedRows(*database_);
    ORDO_CHECK(damaged.ok()) << damaged.status();
    ORDO_CHECK(damaged->size() == num_damaged_)
        << damaged->size() << " rows, and not " << num_damaged_;
    auto records = store::ReadRecords(*database_);
    if (!records.ok()) {
      ORDO_CHECK(absl::IsDataLoss(records.status())) << records.status();
      return;
    }
    CheckSaid(*records);
    CheckLoads(*records);
  }

 private:
  std::unique_ptr<store::Statement> Prepare(const std::string& sql) {
    auto statement = database_->Prepare(sql);
    ORDO_CHECK(statement.ok()) << statement.status();
    return *std::move(statement);
  }

  bool InsertMarked(const store::Table& table, const TableRow& row,
                    int64_t mark) {
    const std::string columns = table.columns;
    const auto num_columns =
        1 + static_cast<int>(std::count(columns.begin(), columns.end(), ','));
    std::string places = "?";
    for (int i = 1; i < num_columns; ++i) places += ", ?";
    const auto insert =
        Prepare(absl::StrCat("INSERT INTO ", table.name, " (", table.columns,
                             ") VALUES (", places, ")"));
    for (int i = 0; i + 1 < num_columns; ++i) {
      Bind(i < row.cells_size() ? row.cells(i) : Cell(), i + 1, insert.get());
    }
    insert->BindInt(num_columns, mark);
    return insert->Run().ok();
  }

  void Note(const store::Table& table, const store::Statement& row) {
    if (table.name == std::string(store::kOther.name)) {
      others_.emplace(row.Int(0), row.Bytes(1), row.Bytes(2));
    } else if (table.name == std::string(store::kJobs.name)) {
      requests_.insert(row.Bytes(2));
    } else {
      bodies_.push_back(row.Bytes(row.num_columns() - 2));
    }
  }

  // Whether a row with a right checksum says so.
  template <typename T>
  bool IsSaid(const T& message) const {
    const std::string bytes = base::DeterministicBytes(message);
    return std::any_of(bodies_.begin(), bodies_.end(),
                       [&bytes](const std::string& body) {
                         T said;
                         return said.ParseFromString(body) &&
                                base::DeterministicBytes(said) == bytes;
                       });
  }

  void CheckSaid(const core::Records& records) const {
    for (const core::JobPtr& job : records.jobs) {
      const std::string request(job->facts->request.id());
      ORDO_CHECK(requests_.count(request) > 0) << job->id();
    }
    for (const core::CheckpointPtr& each : records.checkpoints) {
      ORDO_CHECK(IsSaid(*each)) << each->name();
    }
    for (const core::ReportPtr& each : records.reports) {
      ORDO_CHECK(IsSaid(*each)) << each->name();
    }
    for (const core::RowPtr& row : records.rows) {
      ORDO_CHECK(others_.count({static_cast<int64_t>(row->kind), row->key,
                                row->bytes.value_or("")}) > 0)
          << row->key;
    }
  }

  std::unique_ptr<store::Database> database_;
  int64_t last_mark_ = 0;
  size_t num_damaged_ = 0;
  // Kind, key and body.
  std::set<std::tuple<int64_t, std::string, std::string>> others_;
  // Of jobs.
  std::set<std::string> requests_;
  // Of all else.
  std::vector<std::string> bodies_;
};

}  // namespace
}  // namespace ordo::tests::fuzz

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  ordo::tests::fuzz::TableCase input;
  const std::string text(reinterpret_cast<const char*>(data), size);
  if (!google::protobuf::TextFormat::ParseFromString(text, &input)) return 0;
  if (input.rows_size() > ordo::tests::fuzz::kMaxRows) return 0;
  ordo::tests::fuzz::Tables tables;
  for (const auto& row : input.rows()) tables.Insert(row);
  tables.Check();
  return 0;
}

extern "C" size_t LLVMFuzzerCustomMutator(uint8_t* data, size_t size,
                                          size_t max_size, unsigned int seed) {
  return ordo::tests::fuzz::MutateText(
      ordo::tests::fuzz::Words(), seed,
      ordo::tests::fuzz::TableCase::default_instance(), {data, size, max_size});
}
