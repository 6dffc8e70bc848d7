#ifndef ORDO_SCHEDULER_STORE_TESTING_TABLES_H_
#define ORDO_SCHEDULER_STORE_TESTING_TABLES_H_

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "base/files/testing/temporary_folder.h"
#include "base/status/testing/status_matchers.h"
#include "gtest/gtest.h"
#include "scheduler/store/row_writer.h"
#include "scheduler/store/schema.h"
#include "scheduler/store/sqlite.h"

namespace ordo::scheduler::store::testing {

// For tests of what lies in the tables: an empty database in a file.
class TablesTest : public ::testing::Test {
 protected:
  TablesTest() {
    auto database = Database::Open(folder_.Path("db"));
    EXPECT_TRUE(database.ok()) << database.status();
    database_ = *std::move(database);
  }

  void Execute(const std::string& sql) {
    ORDO_ASSERT_OK(database_->Execute(sql));
  }
  // Of the first column of the first row.
  int64_t Number(const std::string& sql) {
    auto query = database_->Prepare(sql);
    EXPECT_TRUE(query.ok()) << query.status();
    EXPECT_THAT((*query)->Step(), base::testing::IsOkAndHolds(true));
    return (*query)->Int(0);
  }
  // By a writer of its own, where there are tables.
  void Write(const std::vector<core::Record>& records) {
    ORDO_ASSERT_OK_AND_ASSIGN(const auto writer, RowWriter::Make(*database_));
    for (const core::Record& record : records) {
      ORDO_ASSERT_OK(writer->Write(record));
    }
  }

  const base::testing::TemporaryFolder folder_;
  std::unique_ptr<Database> database_;
};

}  // namespace ordo::scheduler::store::testing

#endif  // ORDO_SCHEDULER_STORE_TESTING_TABLES_H_
