#ifndef ORDO_MODEL_TEXT_TASK_TABLE_CELLS_H_
#define ORDO_MODEL_TEXT_TASK_TABLE_CELLS_H_

#include <string>

// Texts that users chose, in the tables of reports. Pure functions,
// thread-safe.

namespace ordo::model::text::task {

// A field of a spreadsheet, quoted where it has to be.
std::string CsvField(const std::string& text);

// A cell of a Markdown table.
std::string MarkdownCell(const std::string& text);

}  // namespace ordo::model::text::task

#endif  // ORDO_MODEL_TEXT_TASK_TABLE_CELLS_H_
