// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "compiler/host/program/buffer_table.h"

#include <gtest/gtest.h>

namespace tenon::compiler::host {
namespace {

TEST(BufferTable, NeverOverwritesInputsOrConstants) {
  BufferTable table;
  EXPECT_FALSE(table.mayOverwrite(table.addInput(0), 100));
  EXPECT_FALSE(table.mayOverwrite(table.addConstant(0), 100));
}

TEST(BufferTable, OverwritesATransientAtItsLastUse) {
  BufferTable table;
  BufferIndex buffer = table.addTransient(0, 5);
  EXPECT_FALSE(table.mayOverwrite(buffer, 4)) << "read at 5";
  EXPECT_TRUE(table.mayOverwrite(buffer, 5));
}

TEST(BufferTable, ATiedResultBringsItsOwnLastUse) {
  BufferTable table;
  BufferIndex buffer = table.addTransient(0, 5);
  table.takeOver(buffer, 9);
  EXPECT_FALSE(table.mayOverwrite(buffer, 8));
  EXPECT_TRUE(table.mayOverwrite(buffer, 9));
}

TEST(BufferTable, OneBufferPerConstant) {
  BufferTable table;
  BufferIndex first = table.addConstant(1);
  EXPECT_EQ(table.addConstant(1), first);
  EXPECT_NE(table.addConstant(2), first);
  EXPECT_EQ(table.all().size(), 2u);
}

} // namespace
} // namespace tenon::compiler::host
