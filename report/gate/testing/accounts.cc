#include "report/gate/testing/accounts.h"

#include <string>
#include <utility>

#include "report/gate/testing/comparisons.h"

namespace ordo::report::gate::testing {

Account OneOfEach(OnInconclusive on_inconclusive) {
  Options options = Margin(0.05);
  options.on_inconclusive = on_inconclusive;
  const Comparison passes = Answers("sums", {1000, 5, 5});
  Comparison anchor = passes;
  anchor.reference = Reference::kAnchor;
  Comparison fails = Answers("lists", {1000, 0, 100});
  fails.differences = {"the candidate was evaluated in bf16"};
  fails.notation = "numbers are reversed";
  Decision decision =
      Decide(options, {passes, anchor, fails, Answers("recall", {50, 1, 1})})
          .value();
  WorseItem& item = decision.results[2].worse[0];
  item.prompt = "sort: <b>&\"x\"</b> | a\n`code`";
  item.reference_output = "right";
  item.candidate_output = std::string("wrong\x01\x1b[31m ]]> ") + "\xC3\xA9";
  Account account = MakeAccount(std::move(decision));
  account.job = "nightly";
  account.created = "2026-11-22 01:02";
  account.command = "ordo gate --candidate jobs/c --margin 0.05";
  account.subjects = {{"candidate", "jobs/c/checkpoints/200-1", "c0ffee"},
                      {"baseline", "jobs/b/checkpoints/100-1", "beef"},
                      {"anchor", "jobs/a/checkpoints/100-1", ""}};
  return account;
}

}  // namespace ordo::report::gate::testing
