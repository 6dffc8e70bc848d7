#include "model/text/task/table_cells.h"

#include "absl/strings/str_cat.h"
#include "absl/strings/str_replace.h"

namespace ordo::model::text::task {

std::string CsvField(const std::string& text) {
  if (text.find_first_of(",\"\r\n") == std::string::npos) return text;
  return absl::StrCat("\"", absl::StrReplaceAll(text, {{"\"", "\"\""}}), "\"");
}

std::string MarkdownCell(const std::string& text) {
  return absl::StrReplaceAll(text, {{"|", "\\|"}, {"\n", " "}});
}

}  // namespace ordo::model::text::task
