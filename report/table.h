#ifndef ORDO_REPORT_TABLE_H_
#define ORDO_REPORT_TABLE_H_

#include <string>
#include <vector>

namespace ordo::report {

// A table of texts in the forms that people read. Each row has as many cells as
// the header; `num_text_columns` from the left hold words, the others numbers.
struct Table {
  std::string title;
  int num_text_columns = 1;
  std::vector<std::string> header;
  std::vector<std::vector<std::string>> rows;
  // In HTML it is seen once its title is opened.
  bool is_folded = false;
  // How it is to be read: stands below it; may be empty.
  std::string note = {};
};

// What a cell says where nothing is known.
inline constexpr char kNoValue[] = "-";

// Four digits, or kNoValue where it is not finite.
std::string NumberText(double value);
// All its digits, for programs; empty where it is not finite.
std::string ExactText(double value);

// With its title, where it has one, as a heading.
std::string ToMarkdown(const Table& table);
std::string ToHtml(const Table& table);
// RFC 4180, without title and note.
std::string ToCsv(const Table& table);

}  // namespace ordo::report

#endif  // ORDO_REPORT_TABLE_H_
