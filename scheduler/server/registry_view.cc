#include "scheduler/server/registry_view.h"

#include <memory>
#include <utility>

#include "base/check.h"
#include "base/status/status.h"
#include "scheduler/core/names.h"

namespace ordo::scheduler::server {

using checkpoints::v1::Alias;

void RegistryView::Put(const core::Row& row) {
  // The core has written what it holds, or read it at the start.
  if (row.kind == core::Row::Kind::kAlias) {
    std::shared_ptr<Alias> alias;
    if (row.bytes.has_value()) {
      alias = std::make_shared<Alias>();
      ORDO_CHECK(alias->ParseFromString(*row.bytes)) << row.key;
    }
    PutAlias(row.key, std::move(alias));
  } else if (!row.bytes.has_value()) {
    pins_.erase(row.key);
  } else {
    ORDO_CHECK(pins_[row.key].ParseFromString(*row.bytes)) << row.key;
  }
}

void RegistryView::PutAlias(const std::string& id, core::AliasPtr alias) {
  if (const core::AliasPtr before = core::FindAlias(aliases_, id)) {
    const auto names = aliases_of_.find(before->checkpoint());
    names->second.erase(before->name());
    if (names->second.empty()) aliases_of_.erase(names);
  }
  if (alias == nullptr) {
    aliases_.erase(id);
    return;
  }
  if (!alias->has_delete_time()) {
    aliases_of_[alias->checkpoint()].insert(alias->name());
  }
  aliases_[id] = std::move(alias);
}

absl::StatusOr<Alias> RegistryView::Get(const std::string& alias) const {
  ORDO_ASSIGN_OR_RETURN(const core::AliasPtr found,
                        core::GetAlias(aliases_, alias));
  return *found;
}

Listing<Alias> RegistryView::List(const Page& page) const {
  Listing<Alias> listing;
  const std::string before = core::IdOf(page.before);
  for (const auto& [id, alias] : core::AllAliases(aliases_)) {
    if (id <= before) continue;
    if (static_cast<int>(listing.items.size()) == page.size) {
      listing.next = listing.items.back().name();
      break;
    }
    listing.items.push_back(*alias);
  }
  return listing;
}

void RegistryView::ShowNames(checkpoints::v1::Checkpoint* checkpoint) const {
  const auto pin = pins_.find(checkpoint->name());
  if (pin != pins_.end()) *checkpoint->mutable_pin() = pin->second;
  const auto names = aliases_of_.find(checkpoint->name());
  if (names == aliases_of_.end()) return;
  for (const std::string& name : names->second) checkpoint->add_aliases(name);
}

}  // namespace ordo::scheduler::server
