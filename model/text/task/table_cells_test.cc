#include "model/text/task/table_cells.h"

#include "gtest/gtest.h"

namespace ordo::model::text::task {
namespace {

TEST(TableCells, FieldsOfSpreadsheetsAreQuotedWhereTheyHaveToBe) {
  EXPECT_EQ(CsvField("gpt2/tokenizer.json"), "gpt2/tokenizer.json");
  EXPECT_EQ(CsvField("West, far"), "\"West, far\"");
  EXPECT_EQ(CsvField("a \"b\""), "\"a \"\"b\"\"\"");
}

TEST(TableCells, ACellOfATableStaysOne) {
  EXPECT_EQ(MarkdownCell("a|b\nc"), "a\\|b c");
}

}  // namespace
}  // namespace ordo::model::text::task
