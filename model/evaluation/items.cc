#include "model/evaluation/items.h"

#include <algorithm>
#include <utility>

#include "absl/strings/str_cat.h"
#include "base/digest/digest.h"
#include "base/files/file_util.h"
#include "base/status/status.h"
#include "model/training/durable_folder.h"
#include "nlohmann/json.hpp"

namespace ordo::model::evaluation {
namespace {

using Json = nlohmann::ordered_json;

// Of reading and of writing.
constexpr size_t kPartBytes = 256 << 10;
// Far more than an output and the marks of the longest row take.
constexpr size_t kMaxLineBytes = 4 << 20;

// Whether a byte goes on with the character of UTF-8 that an earlier one began.
bool GoesOn(char byte) {
  return (static_cast<unsigned char>(byte) & 0xC0) == 0x80;
}

std::string TextOf(const tasks::Marks& marks) {
  std::string text;
  for (const uint8_t mark : marks) text.push_back(mark != 0 ? '1' : '0');
  return text;
}

// What is wrong with a line, or nothing.
std::string ParseItem(const std::string& line, Item* item) {
  const Json json = Json::parse(line, nullptr, /*allow_exceptions=*/false);
  if (!json.is_object()) return "it is no JSON object";
  std::string marks;
  try {
    json.at("id").get_to(item->id);
    json.at("score").get_to(item->score);
    json.at("output").get_to(item->output);
    item->unit = json.value("unit", item->id);
    item->output_cut = json.value("output_cut", false);
    marks = json.value("marks", std::string());
  } catch (const Json::exception& error) {
    return error.what();
  }
  if (item->id.empty()) return "its id is empty";
  for (const char mark : marks) {
    if (mark != '0' && mark != '1') return "a mark is neither 0 nor 1";
    item->marks.push_back(mark == '1' ? 1 : 0);
  }
  return "";
}

}  // namespace

void SetOutput(std::string_view text, Item* item) {
  item->output_cut = text.size() > kMaxOutputBytes;
  size_t length = std::min(text.size(), kMaxOutputBytes);
  if (item->output_cut) {
    while (length > 0 && GoesOn(text[length])) --length;
  }
  item->output = std::string(text.substr(0, length));
}

std::string ItemLine(const Item& item) {
  Json line;
  line["id"] = item.id;
  if (item.unit != item.id) line["unit"] = item.unit;
  line["score"] = item.score;
  if (!item.marks.empty()) line["marks"] = TextOf(item.marks);
  line["output"] = item.output;
  if (item.output_cut) line["output_cut"] = true;
  return line.dump(/*indent=*/-1, ' ', /*ensure_ascii=*/false,
                   Json::error_handler_t::replace) +
         "\n";
}

absl::StatusOr<ordo::training::v1::FileInfo> WriteItems(
    base::Filesystem& files, const std::string& folder,
    const std::vector<Item>& items) {
  ORDO_ASSIGN_OR_RETURN(const auto file,
                        files.OpenForWrite(base::JoinPath(folder, kItemsFile),
                                           base::WriteMode::kTruncate));
  base::Sha256 digest;
  int64_t num_bytes = 0;
  std::string part;
  const auto flush = [&]() -> absl::Status {
    digest.Update(part);
    num_bytes += static_cast<int64_t>(part.size());
    const absl::Status status = file->Append(part);
    part.clear();
    return status;
  };
  for (const Item& item : items) {
    part += ItemLine(item);
    if (part.size() >= kPartBytes) ORDO_RETURN_IF_ERROR(flush());
  }
  ORDO_RETURN_IF_ERROR(flush());
  ORDO_RETURN_IF_ERROR(file->Sync());
  ORDO_RETURN_IF_ERROR(file->Close());
  ordo::training::v1::FileInfo info;
  info.set_path(kItemsFile);
  info.set_size_bytes(num_bytes);
  info.set_sha256(digest.FinishHex());
  return info;
}

absl::StatusOr<ItemReader> ItemReader::Open(base::Filesystem& files,
                                            const std::string& path) {
  ORDO_ASSIGN_OR_RETURN(auto file, files.OpenForRead(path));
  return ItemReader(path, std::move(file));
}

absl::StatusOr<std::optional<Item>> ItemReader::Next() {
  ORDO_ASSIGN_OR_RETURN(const std::optional<std::string> line, NextLine());
  if (!line) return std::nullopt;
  Item item;
  const std::string wrong = ParseItem(*line, &item);
  if (!wrong.empty()) return Damaged(wrong);
  return item;
}

absl::StatusOr<std::optional<std::string>> ItemReader::NextLine() {
  ++line_;
  size_t searched = used_;
  while (true) {
    const size_t end = buffer_.find('\n', searched);
    if (end != std::string::npos) {
      std::string line = buffer_.substr(used_, end - used_);
      used_ = end + 1;
      return line;
    }
    buffer_.erase(0, used_);
    used_ = 0;
    searched = buffer_.size();
    if (searched > kMaxLineBytes) {
      return Damaged(
          absl::StrCat("it has more than ", kMaxLineBytes, " bytes"));
    }
    ORDO_ASSIGN_OR_RETURN(const std::string part,
                          file_->ReadAt(offset_, kPartBytes));
    if (part.empty() && buffer_.empty()) return std::nullopt;
    if (part.empty()) return Damaged("it has no end");
    offset_ += part.size();
    buffer_ += part;
  }
}

absl::Status ItemReader::Damaged(const std::string& what) const {
  return training::DamagedFile(path_, absl::StrCat("line ", line_, ": ", what));
}

}  // namespace ordo::model::evaluation
