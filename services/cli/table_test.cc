#include "services/cli/table.h"

#include "gtest/gtest.h"

namespace ordo::services::cli {
namespace {

TEST(TableTest, ColumnsStandUnderTheirHeadings) {
  Table table({"NAME", ">STEP", "REASON"});
  table.AddRow({"a", "5", ""});
  table.AddRow({"größe", "1000", "RUNNING"});
  EXPECT_EQ(table.ToString(Terminal()),
            "NAME   STEP  REASON\n"
            "a         5\n"
            "größe  1000  RUNNING\n");
}

TEST(TableTest, ColoursDoNotShiftColumns) {
  Terminal terminal;
  terminal.color = true;
  Table table({"A", "B"});
  table.AddRow({Cell("x", Color::kGreen), "y"});
  EXPECT_EQ(table.ToString(terminal),
            "\x1b[1mA\x1b[0m  \x1b[1mB\x1b[0m\n\x1b[32mx\x1b[0m  y\n");
}

TEST(TableTest, CellsCannotBreakTheTable) {
  Table table({"A"});
  table.AddRow({Cell(std::string("x\ny"))});
  EXPECT_EQ(table.ToString(Terminal()), "A\nx y\n");
}

TEST(TableDeathTest, RowsHaveACellPerHeading) {
  Table table({"A", "B"});
  EXPECT_DEATH(table.AddRow({"x"}), "a cell per heading");
}

TEST(KeyValueLinesTest, ValuesStandUnderEachOther) {
  EXPECT_EQ(KeyValueLines({{"Job", "a"}, {"Created", "b"}}, Terminal()),
            "Job:     a\nCreated: b\n");
}

}  // namespace
}  // namespace ordo::services::cli
