#include "services/cli/terminal.h"

#include <cstdlib>
#include <fcntl.h>
#include <pty.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include "gtest/gtest.h"

namespace ordo::services::cli {
namespace {

class DetectTerminalTest : public ::testing::Test {
 protected:
  void SetUp() override {
    winsize size = {};
    size.ws_col = 123;
    size.ws_row = 45;
    ASSERT_EQ(openpty(&main_, &child_, nullptr, nullptr, &size), 0);
    setenv("TERM", "xterm", 1);
    unsetenv("NO_COLOR");
  }
  void TearDown() override {
    close(main_);
    close(child_);
  }
  int main_ = -1;
  int child_ = -1;
};

TEST_F(DetectTerminalTest, TerminalHasColourAndSize) {
  const Terminal terminal = DetectTerminal(child_);
  EXPECT_TRUE(terminal.interactive);
  EXPECT_TRUE(terminal.color);
  EXPECT_EQ(terminal.width, 123);
  EXPECT_EQ(terminal.height, 45);
}

TEST_F(DetectTerminalTest, AResizedWindowIsLookedAtAgain) {
  Terminal terminal = DetectTerminal(child_);
  winsize size = {};
  size.ws_col = 60;
  size.ws_row = 20;
  ASSERT_EQ(ioctl(main_, TIOCSWINSZ, &size), 0);
  UpdateSize(&terminal);
  EXPECT_EQ(terminal.width, 60);
  EXPECT_EQ(terminal.height, 20);
  // Of which nobody knows.
  size = {};
  ASSERT_EQ(ioctl(main_, TIOCSWINSZ, &size), 0);
  UpdateSize(&terminal);
  EXPECT_EQ(terminal.width, 60);
  Terminal none;
  UpdateSize(&none);
  EXPECT_EQ(none.width, 80);
}

TEST_F(DetectTerminalTest, TheFirstLocaleThatIsSetSaysWhetherThereIsUnicode) {
  unsetenv("LC_ALL");
  setenv("LC_CTYPE", "", 1);
  setenv("LANG", "de_DE.utf8", 1);
  EXPECT_TRUE(DetectTerminal(child_).unicode);
  setenv("LC_CTYPE", "C", 1);
  EXPECT_FALSE(DetectTerminal(child_).unicode);
  setenv("LC_ALL", "C.UTF-8", 1);
  EXPECT_TRUE(DetectTerminal(child_).unicode);
}

TEST_F(DetectTerminalTest, NoColorTurnsColourOffUnlessItIsEmpty) {
  setenv("NO_COLOR", "1", 1);
  EXPECT_FALSE(DetectTerminal(child_).color);
  EXPECT_TRUE(DetectTerminal(child_).interactive);
  setenv("NO_COLOR", "", 1);
  EXPECT_TRUE(DetectTerminal(child_).color);
}

TEST_F(DetectTerminalTest, DumbTerminalIsNotRedrawn) {
  setenv("TERM", "dumb", 1);
  EXPECT_FALSE(DetectTerminal(child_).interactive);
  EXPECT_FALSE(DetectTerminal(child_).color);
}

TEST_F(DetectTerminalTest, FileIsNoTerminal) {
  const int fd = open("/dev/null", O_RDONLY);
  EXPECT_FALSE(DetectTerminal(fd).interactive);
  EXPECT_FALSE(DetectTerminal(fd).color);
  close(fd);
}

TEST(PaintTest, ColoursOnlyWhereTheyAreWanted) {
  Terminal terminal;
  EXPECT_EQ(Paint(terminal, Color::kRed, "x"), "x");
  terminal.color = true;
  EXPECT_EQ(Paint(terminal, Color::kRed, "x"), "\x1b[31mx\x1b[0m");
  EXPECT_EQ(Paint(terminal, Color::kNone, "x"), "x");
}

TEST(WidthTest, CountsCodePointsNotBytes) {
  EXPECT_EQ(DisplayWidth("größe"), 5);
  EXPECT_EQ(DisplayWidth("▁▂█"), 3);
  EXPECT_EQ(Truncate("größe", 3), "grö");
  EXPECT_EQ(Truncate("ab", 3), "ab");
}

TEST(WidthTest, WideLettersTakeTwoColumns) {
  EXPECT_EQ(DisplayWidth("位置 ok"), 7);
  EXPECT_EQ(DisplayWidth("한글"), 4);
  EXPECT_EQ(DisplayWidth("\U0001F680"), 2);
  EXPECT_EQ(Truncate("位置", 4), "位置");
  EXPECT_EQ(Truncate("位置", 3), "位");
  EXPECT_EQ(Truncate("位置", 1), "");
}

TEST(WidthTest, MarksStayWithTheirLetters) {
  const std::string marked = "e\u0301x";
  EXPECT_EQ(DisplayWidth(marked), 2);
  EXPECT_EQ(Truncate(marked, 1), "e\u0301");
}

TEST(WidthTest, WhatIsNoTextIsCountedSomehow) {
  EXPECT_EQ(DisplayWidth("a\xff"), 2);
  EXPECT_EQ(Truncate("a\xe4\xbd", 1), "a");
}

TEST(PrintableTest, TextCannotSteerTheTerminal) {
  EXPECT_EQ(Printable("a\x1b[2Jb\tc\nd\x7f"), "a?[2Jb c d?");
  EXPECT_EQ(Printable("grün"), "grün");
}

}  // namespace
}  // namespace ordo::services::cli
