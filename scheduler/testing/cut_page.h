#ifndef ORDO_SCHEDULER_TESTING_CUT_PAGE_H_
#define ORDO_SCHEDULER_TESTING_CUT_PAGE_H_

#include <vector>

#include "scheduler/scheduler.h"

namespace ordo::scheduler::testing {

// Cuts a page out of `all`, which is in the order of the listing; `key` gives
// what Page::before names.
template <typename T, typename Key>
Listing<T> CutPage(const std::vector<T>& all, const Page& page, Key key) {
  Listing<T> listing;
  bool started = page.before.empty();
  for (const T& item : all) {
    if (!started) {
      started = key(item) == page.before;
      continue;
    }
    if (static_cast<int>(listing.items.size()) == page.size) {
      listing.next = key(listing.items.back());
      break;
    }
    listing.items.push_back(item);
  }
  return listing;
}

}  // namespace ordo::scheduler::testing

#endif  // ORDO_SCHEDULER_TESTING_CUT_PAGE_H_
