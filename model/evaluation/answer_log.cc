#include "model/evaluation/answer_log.h"

#include <cmath>
#include <optional>
#include <utility>

#include "base/log/log.h"
#include "base/status/status.h"
#include "nlohmann/json.hpp"

namespace ordo::model::evaluation {
namespace {

using Json = nlohmann::json;

// Numbers are written so that they are read as the same.
Json ToJson(const Answered& answered) {
  return {{"marks", answered.marks},
          {"produced", answered.produced},
          {"nats", answered.nats}};
}

bool IsFinite(const std::vector<Answered>& answered) {
  for (const Answered& each : answered) {
    if (!std::isfinite(each.nats)) return false;
  }
  return true;
}

// Nothing of what is no pass.
std::optional<std::pair<int64_t, std::vector<Answered>>> ParsePass(
    const std::string& text) {
  const Json json = Json::parse(text, nullptr, /*allow_exceptions=*/false);
  std::pair<int64_t, std::vector<Answered>> pass;
  try {
    json.at("pass").get_to(pass.first);
    for (const Json& row : json.at("answers")) {
      Answered& answered = pass.second.emplace_back();
      row.at("marks").get_to(answered.marks);
      row.at("produced").get_to(answered.produced);
      row.at("nats").get_to(answered.nats);
    }
  } catch (const Json::exception&) {
    return std::nullopt;
  }
  return pass;
}

}  // namespace

absl::StatusOr<std::unique_ptr<AnswerLog>> AnswerLog::Open(
    base::Filesystem& files, const AnswerLogOptions& options) {
  std::unique_ptr<AnswerLog> log(new AnswerLog(files, options));
  for (const std::string& path : options.earlier) log->Read(path);
  log->Read(options.path);
  // One file has all that is known, however often it is interrupted.
  files.RemoveTree(options.path).IgnoreError();
  ORDO_ASSIGN_OR_RETURN(log->writer_,
                        base::RecordWriter::Open(files, options.path));
  ORDO_RETURN_IF_ERROR(log->writer_->Append(options.key));
  const auto known = std::exchange(log->passes_, {});
  for (const auto& [pass, answered] : known) log->Add(pass, answered);
  return log;
}

void AnswerLog::Read(const std::string& path) {
  base::RecordReader reader(files_, path);
  auto payload = reader.Next();
  if (!payload.ok() || !payload->has_value() || **payload != options_.key) {
    return;
  }
  while (true) {
    payload = reader.Next();
    if (!payload.ok() || !payload->has_value()) return;
    auto pass = ParsePass(**payload);
    if (!pass.has_value()) return;
    passes_[pass->first] = std::move(pass->second);
  }
}

const std::vector<Answered>* AnswerLog::Find(int64_t pass) const {
  const auto found = passes_.find(pass);
  return found == passes_.end() ? nullptr : &found->second;
}

void AnswerLog::Add(int64_t pass, const std::vector<Answered>& answered) {
  passes_[pass] = answered;
  // JSON has no other numbers; such a pass is computed again.
  if (writer_ == nullptr || !IsFinite(answered)) return;
  Json answers = Json::array();
  for (const Answered& each : answered) answers.push_back(ToJson(each));
  const absl::Status status = writer_->Append(
      Json({{"pass", pass}, {"answers", std::move(answers)}}).dump());
  if (status.ok()) return;
  base::LogWarning("answers are not kept for a restart",
                   {{"path", options_.path}, {"error", status}});
  writer_.reset();
}

void AnswerLog::Remove() {
  writer_.reset();
  files_.RemoveTree(options_.path).IgnoreError();
  for (const std::string& path : options_.earlier) {
    files_.RemoveTree(path).IgnoreError();
  }
}

}  // namespace ordo::model::evaluation
