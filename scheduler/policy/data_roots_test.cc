#include "scheduler/policy/data_roots.h"

#include "gtest/gtest.h"

namespace ordo::scheduler::policy {
namespace {

TEST(DataRootsTest, APathIsReadWhereItsFolderIsOne) {
  const DataRoots roots = {{"/srv/books", "/srv/code"}};
  EXPECT_TRUE(MayRead(roots, {"/srv/books"}));
  EXPECT_TRUE(MayRead(roots, {"/srv/books/a/b.txt", "/srv/code/c"}));
  EXPECT_FALSE(MayRead(roots, {"/srv/books/a", "/srv/more"}));
  EXPECT_FALSE(MayRead(roots, {"/srv/books-2"}));
  EXPECT_FALSE(MayRead(roots, {"/srv"}));
  EXPECT_TRUE(MayRead(roots, {}));
}

TEST(DataRootsTest, TheRootHasAll) {
  EXPECT_TRUE(MayRead({{"/"}}, {"/srv/books"}));
}

TEST(DataRootsTest, WhoDoesNotSayMayReadAll) {
  EXPECT_TRUE(MayRead(std::nullopt, {"/srv/books"}));
  EXPECT_FALSE(MayRead(std::set<std::string>(), {"/srv/books"}));
}

}  // namespace
}  // namespace ordo::scheduler::policy
