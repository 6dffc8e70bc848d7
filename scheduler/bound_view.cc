#include "scheduler/bound_view.h"

#include <utility>
#include <vector>

#include "absl/strings/ascii.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/strings/str_split.h"
#include "google/protobuf/descriptor.h"
#include "google/protobuf/message.h"
#include "proto/ordo/audit/v1/change.pb.h"
#include "scheduler/core/names.h"

namespace ordo::scheduler {
namespace {

using google::protobuf::FieldDescriptor;
using google::protobuf::Message;
using google::protobuf::Reflection;

constexpr char kHidden[] = "another";
constexpr char kHiddenJob[] = "jobs/another";
constexpr char kJobPrefix[] = "jobs/";

bool IsIdCharacter(char c) {
  return absl::ascii_islower(static_cast<unsigned char>(c)) ||
         absl::ascii_isdigit(static_cast<unsigned char>(c)) || c == '-';
}

// Whether a name of a resource may begin there: not within a path or a word.
bool MayBegin(const std::string& text, size_t at) {
  return at == 0 || (text[at - 1] != '/' && text[at - 1] != '_' &&
                     text[at - 1] != '.' && !IsIdCharacter(text[at - 1]));
}

// Puts "jobs/another" in the place of each jobs/{job} that is not seen, which
// may be a whole text, its beginning or within it.
class NameHider {
 public:
  // `own` is the id of the job that all is said of, which its reader knows.
  NameHider(const BoundView& view, std::string own)
      : view_(view), own_(std::move(own)) {}

  // In every text of it, at any depth, so that no field is forgotten. Keys of
  // maps are no names of jobs.
  void HideIn(Message* message) const {
    const Reflection& reflection = *message->GetReflection();
    const bool is_entry = message->GetDescriptor()->options().map_entry();
    std::vector<const FieldDescriptor*> fields;
    reflection.ListFields(*message, &fields);
    for (const FieldDescriptor* field : fields) {
      if (is_entry && field->number() == kMapKey) continue;
      if (field->cpp_type() == FieldDescriptor::CPPTYPE_MESSAGE) {
        HideInMessages(field, message);
      } else if (field->type() == FieldDescriptor::TYPE_STRING) {
        HideInTexts(field, message);
      }
    }
  }

 private:
  static constexpr int kMapKey = 1;

  void HideInMessages(const FieldDescriptor* field, Message* message) const {
    const Reflection& reflection = *message->GetReflection();
    if (!field->is_repeated()) {
      return HideIn(reflection.MutableMessage(message, field));
    }
    const int size = reflection.FieldSize(*message, field);
    for (int i = 0; i < size; ++i) {
      HideIn(reflection.MutableRepeatedMessage(message, field, i));
    }
  }

  void HideInTexts(const FieldDescriptor* field, Message* message) const {
    const Reflection& reflection = *message->GetReflection();
    if (!field->is_repeated()) {
      return reflection.SetString(message, field,
                                  Shown(reflection.GetString(*message, field)));
    }
    const int size = reflection.FieldSize(*message, field);
    for (int i = 0; i < size; ++i) {
      reflection.SetRepeatedString(
          message, field, i,
          Shown(reflection.GetRepeatedString(*message, field, i)));
    }
  }

  std::string Shown(const std::string& text) const {
    std::string shown;
    size_t copied = 0;
    size_t at = text.find(kJobPrefix);
    while (at != std::string::npos) {
      const size_t begin = at + sizeof(kJobPrefix) - 1;
      size_t end = begin;
      while (end < text.size() && IsIdCharacter(text[end])) ++end;
      if (end > begin && MayBegin(text, at) &&
          IsHidden(text.substr(begin, end - begin))) {
        absl::StrAppend(&shown, text.substr(copied, begin - copied), kHidden);
        copied = end;
      }
      at = text.find(kJobPrefix, end);
    }
    absl::StrAppend(&shown, text.substr(copied));
    return shown;
  }

  bool IsHidden(const std::string& job) const {
    return job != own_ && !view_.SeesJob(job);
  }

  const BoundView& view_;
  const std::string own_;
};

// Of one change of an alias: checkpoints are words of their own in what was
// done. What people say of one that is not seen may name it as well.
void HideInChange(const BoundView& view, audit::v1::Change* change) {
  bool hides = false;
  std::vector<std::string> words = absl::StrSplit(change->action(), ' ');
  for (std::string& word : words) {
    if (!absl::StartsWith(word, kJobPrefix)) continue;
    if (view.SeesJob(core::JobIdOf(word))) continue;
    word = kHiddenJob;
    hides = true;
  }
  if (!hides) return;
  change->set_action(absl::StrJoin(words, " "));
  change->clear_reason();
}

}  // namespace

bool BoundView::SeesJob(const std::string& job) const {
  const auto queue = scheduler.GetQueueOf(job);
  return queue.ok() && Sees(*queue);
}

std::string BoundView::Masked(const std::string& text,
                              const std::set<std::string>& named) const {
  std::string shown;
  for (size_t i = 0; i < text.size();) {
    size_t end = i;
    while (end < text.size() && IsIdCharacter(text[end])) ++end;
    if (end == i) {
      shown.push_back(text[i++]);
      continue;
    }
    const std::string word = text.substr(i, end - i);
    bool is_hidden = false;
    if (named.count(word) == 0) {
      const auto queue = scheduler.GetQueueOf(word);
      is_hidden = queue.ok() && !Sees(*queue);
    }
    absl::StrAppend(&shown, is_hidden ? kHidden : word);
    i = end;
  }
  return shown;
}

void BoundView::HideIn(jobs::v1::Job* job) const {
  const auto hide = [this](std::string* message) {
    if (!message->empty()) *message = Masked(*message);
  };
  hide(job->mutable_message());
  for (std::string& notice : *job->mutable_notices()) hide(&notice);
  for (auto& attempt : *job->mutable_attempts()) {
    hide(attempt.mutable_message());
    for (auto& rank : *attempt.mutable_ranks()) hide(rank.mutable_message());
  }
  NameHider(*this, core::IdOf(job->name())).HideIn(job);
}

void BoundView::HideIn(workers::v1::Worker* worker) const {
  for (auto& device : *worker->mutable_devices()) {
    if (!device.job().empty() && !SeesJob(core::IdOf(device.job()))) {
      device.set_job(kHiddenJob);
      device.clear_attempt();
    }
    for (auto& blame : *device.mutable_blames()) {
      if (blame.job().empty() || SeesJob(core::IdOf(blame.job()))) continue;
      blame.clear_job();
      blame.clear_attempt();
    }
    if (device.has_quarantine()) {
      auto& reason = *device.mutable_quarantine()->mutable_reason();
      reason = Masked(reason);
    }
    if (!device.withheld().empty()) {
      device.set_withheld(Masked(device.withheld()));
    }
  }
}

void BoundView::HideIn(checkpoints::v1::Alias* alias) const {
  for (auto& change : *alias->mutable_changes()) HideInChange(*this, &change);
}

void BoundView::HideIn(reports::v1::Report* report) const {
  NameHider(*this, core::JobIdOf(report->name())).HideIn(report);
}

}  // namespace ordo::scheduler
