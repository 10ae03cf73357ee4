// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "compiler/bridge/locations.h"

#include "mlir/IR/Diagnostics.h"
#include "mlir/IR/MLIRContext.h"
#include "llvm/Support/raw_ostream.h"

#include <gtest/gtest.h>

namespace tenon::compiler::bridge {
namespace {

/// A finding and its notes as "place severity: message" lines.
void print(mlir::Diagnostic &diagnostic, std::string &text) {
  llvm::raw_string_ostream stream(text);
  stream << diagnostic.getLocation() << " " << int(diagnostic.getSeverity()) << ": " << diagnostic.str() << "\n";
  for (mlir::Diagnostic &note : diagnostic.getNotes())
    print(note, text);
}

class LocationsTest : public ::testing::Test {
protected:
  LocationsTest() : handler_(&context_, [&](mlir::Diagnostic &found) { print(found, text_); }) {}

  mlir::Location at(const char *file, unsigned line, unsigned column) {
    return mlir::FileLineColLoc::get(&context_, file, line, column);
  }

  mlir::MLIRContext context_;
  std::string text_;
  mlir::ScopedDiagnosticHandler handler_;
};

TEST_F(LocationsTest, NamesFilesWithoutFoldersAndFindsTheWayBack) {
  LocationMap map;
  mlir::Location export_ = at("/home/me/example.mlir", 31, 5);
  SourceLocation where = map.toSource(export_);
  EXPECT_EQ(where.toString(), "example.mlir:31:5");
  mlir::Location fallback = mlir::UnknownLoc::get(&context_);
  EXPECT_EQ(map.toMlir(where, fallback), export_);
  EXPECT_EQ(map.toMlir({"k.ptx", 12, 3}, fallback), at("k.ptx", 12, 3));
  EXPECT_EQ(map.toMlir({}, fallback), fallback);
  EXPECT_FALSE(map.toSource(fallback).known());
}

TEST_F(LocationsTest, TellsFilesOfOneNameApart) {
  LocationMap map;
  mlir::Location first = at("/home/me/a/example.mlir", 31, 5), second = at("/home/me/b/example.mlir", 31, 5);
  SourceLocation inFirst = map.toSource(first), inSecond = map.toSource(second);
  EXPECT_EQ(inFirst.toString(), "example.mlir:31:5");
  EXPECT_EQ(inSecond.toString(), "example.mlir#2:31:5");
  EXPECT_EQ(map.toSource(at("/home/me/b/example.mlir", 40, 1)).toString(), "example.mlir#2:40:1");
  mlir::Location fallback = mlir::UnknownLoc::get(&context_);
  EXPECT_EQ(map.toMlir(inFirst, fallback), first);
  EXPECT_EQ(map.toMlir(inSecond, fallback), second);
}

TEST_F(LocationsTest, ReportsRulePlaceNotesAndFix) {
  LocationMap map;
  SourceLocation declared = map.toSource(at("/home/me/example.mlir", 31, 5));
  Diagnostics diagnostics;
  diagnostics.error({"k.ptx", 12, 3}, "K-4", "parameter 2 of 'f' is .u32")
      .note(declared, "declared here")
      .withFix("make it a pointer");
  report(diagnostics, map, at("/home/me/example.mlir", 1, 1));
  EXPECT_EQ(text_, "loc(\"k.ptx\":12:3) 2: [K-4] parameter 2 of 'f' is .u32\n"
                   "loc(\"/home/me/example.mlir\":31:5) 0: declared here\n"
                   "loc(\"k.ptx\":12:3) 0: fix: make it a pointer\n");
}

TEST_F(LocationsTest, ReportsWholeFilesAtTheDeclaration) {
  Diagnostics diagnostics;
  diagnostics.warning({"k.ptx"}, "", "is empty");
  report(diagnostics, LocationMap(), at("example.mlir", 2, 1));
  EXPECT_EQ(text_, "loc(\"example.mlir\":2:1) 1: k.ptx: is empty\n");
}

} // namespace
} // namespace tenon::compiler::bridge
