// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "support/process/command_line.h"

#include <gtest/gtest.h>

namespace tenon {
namespace {

struct Parsed {
  CommandLine::Outcome outcome;
  bool explain = false;
  std::string output;
  std::vector<std::string> paths, files;
};

Parsed parse(std::vector<const char *> arguments) {
  Parsed parsed;
  CommandLine options("tenon-x", "FILE... -o FILE", "Does x.");
  options.flag("explain", &parsed.explain, "say why");
  options.text("o", "FILE", &parsed.output, "write here");
  options.list("object-search-path", "DIR", &parsed.paths, "look in DIR");
  options.alias("iree-hal-executable-object-search-path");
  options.positional(&parsed.files);
  arguments.insert(arguments.begin(), "tenon-x");
  parsed.outcome = options.evaluate(int(arguments.size()), arguments.data());
  return parsed;
}

TEST(CommandLine, TakesFlagsValuesListsAndPositionalArguments) {
  Parsed parsed = parse({"a.json", "--explain", "-o", "x.tnx", "--object-search-path=p", "--object-search-path", "q",
                         "--iree-hal-executable-object-search-path=r", "-", "--", "--b"});
  EXPECT_FALSE(parsed.outcome.exitStatus.has_value());
  EXPECT_TRUE(parsed.explain);
  EXPECT_EQ(parsed.output, "x.tnx");
  EXPECT_EQ(parsed.paths, (std::vector<std::string>{"p", "q", "r"}));
  EXPECT_EQ(parsed.files, (std::vector<std::string>{"a.json", "-", "--b"}));
}

TEST(CommandLine, RefusesUnknownOptionsWithTheNearestOne) {
  Parsed parsed = parse({"--explian"});
  EXPECT_EQ(parsed.outcome.exitStatus, kExitUsage);
  EXPECT_NE(parsed.outcome.error.find("unknown option '--explian'; did you mean '--explain'?"), std::string::npos)
      << parsed.outcome.error;
}

TEST(CommandLine, RefusesSingleDashLongNames) {
  EXPECT_EQ(parse({"-explain"}).outcome.exitStatus, kExitUsage);
}

TEST(CommandLine, RefusesMissingAndUnwantedValues) {
  EXPECT_NE(parse({"-o"}).outcome.error.find("option '-o' needs a value (FILE)"), std::string::npos);
  EXPECT_NE(parse({"-o", ""}).outcome.error.find("option '-o' needs a value (FILE), found ''"), std::string::npos);
  EXPECT_NE(parse({"-o="}).outcome.error.find("option '-o' needs a value (FILE), found ''"), std::string::npos);
  EXPECT_NE(parse({"--explain=3"}).outcome.error.find("takes no value, found '3'"), std::string::npos);
}

TEST(CommandLine, RefusesEmptyValuesAndEntriesOfLists) {
  auto errorOf = [](const char *argument) {
    std::string kinds, where;
    std::vector<std::string> targets;
    CommandLine options("tenon-x", "", "");
    options.text("images", "KINDS", &kinds, "");
    options.list("target", "ARCH,..", &targets, "");
    options.words({"sm_75", "sm_80"}, /*isList=*/true);
    options.text("output", "WHERE", &where, "");
    options.mayBeEmpty();
    const char *arguments[] = {"tenon-x", argument};
    return options.evaluate(2, arguments).error;
  };
  EXPECT_NE(errorOf("--images=").find("option '--images' needs a value (KINDS), found ''"), std::string::npos);
  EXPECT_EQ(errorOf("--output="), "");
  EXPECT_EQ(errorOf("--target=sm_75,sm_80"), "");
  for (const char *list : {"--target=sm_75,,sm_80", "--target=sm_75,", "--target=,sm_75", "--target=,"})
    EXPECT_NE(errorOf(list).find(concat("option '--target' has an empty entry, found '", list + 9, "'")),
              std::string::npos)
        << errorOf(list);
}

TEST(CommandLine, HelpAndVersionWinOverErrors) {
  Parsed help = parse({"--nonsense", "--help"});
  EXPECT_EQ(help.outcome.exitStatus, 0);
  EXPECT_NE(help.outcome.out.find("usage: tenon-x FILE... -o FILE"), std::string::npos);
  EXPECT_NE(help.outcome.out.find("--object-search-path=DIR"), std::string::npos);
  EXPECT_EQ(help.outcome.out.find("iree"), std::string::npos) << "aliases are not shown";
  EXPECT_NE(parse({"--version"}).outcome.out.find("tenon-x "), std::string::npos);
}

TEST(CommandLine, RefusesPositionalArgumentsWhereNoneAreDeclared) {
  CommandLine options("tenon-y", "", "");
  const char *arguments[] = {"tenon-y", "file"};
  EXPECT_NE(options.evaluate(2, arguments).error.find("unexpected argument 'file'"), std::string::npos);
}

TEST(CommandLine, TakesAValueBehindAnEqualsSignAlone) {
  auto ptx = [](std::vector<const char *> arguments) {
    std::optional<std::string> value;
    std::vector<std::string> files;
    CommandLine options("tenon-x", "", "");
    options.optionalText("ptx", "EXPORT", &value, "");
    options.positional(&files);
    arguments.insert(arguments.begin(), "tenon-x");
    EXPECT_FALSE(options.evaluate(int(arguments.size()), arguments.data()).exitStatus);
    return std::pair(value, files);
  };
  EXPECT_EQ(ptx({"f"}).first, std::nullopt);
  EXPECT_EQ(ptx({"--ptx", "f"}), std::pair(std::optional<std::string>(""), std::vector<std::string>{"f"}));
  EXPECT_EQ(ptx({"--ptx=k", "f"}), std::pair(std::optional<std::string>("k"), std::vector<std::string>{"f"}));
}

TEST(CommandLine, HelpTeaches) {
  CommandLine options("tenon-x", "FILE", "Does x.");
  options.example("tenon-x a", "does x to a");
  options.environment("TENON_X", "how");
  options.environment("TENON_X", "again, by other options");
  options.exitStatus(1, "x differs");
  options.exitStatus(3, "x is not there");
  const std::string help = options.help();
  for (const char *part : {"\nexamples:\n  tenon-x a\n      does x to a\n", "\nenvironment:\n  TENON_X",
                           "  1   x differs\n", "  3   x is not there\n", "  2   the command line is wrong\n"})
    EXPECT_NE(help.find(part), std::string::npos) << part << "\nin:\n" << help;
  EXPECT_EQ(help.find("again"), std::string::npos);
}

TEST(CommandLine, OtherFormatsOfHelp) {
  EXPECT_EQ(parse({"--help=man"}).outcome.out.find(".TH TENON-X 1"), 0u);
  EXPECT_NE(parse({"--help=bash"}).outcome.out.find("complete -F _tenon_x tenon-x"), std::string::npos);
  EXPECT_EQ(parse({"--help=zsh"}).outcome.out.find("#compdef tenon-x"), 0u);
  EXPECT_NE(parse({"--help=fish"}).outcome.out.find("complete -c tenon-x -l explain"), std::string::npos);
  EXPECT_NE(parse({"--help=markdown"}).outcome.out.find("| `--explain` | say why |"), std::string::npos);
  EXPECT_EQ(parse({"--help=text"}).outcome.out, parse({"--help"}).outcome.out);
  const Parsed wrong = parse({"--help=html"});
  EXPECT_EQ(wrong.outcome.exitStatus, kExitUsage);
  EXPECT_NE(wrong.outcome.error.find("--help=html: wanted text, man"), std::string::npos) << wrong.outcome.error;
}

TEST(CommandLine, VersionSaysWhatIsUsedAndAsksOnlyThen) {
  int asked = 0;
  CommandLine options("tenon-x", "", "");
  options.versions([&asked] { return ++asked, std::string("Library 3\n"); });
  const char *none[] = {"tenon-x"}, *version[] = {"tenon-x", "--version"};
  EXPECT_FALSE(options.evaluate(1, none).exitStatus);
  EXPECT_EQ(asked, 0);
  EXPECT_NE(options.evaluate(2, version).out.find("\nLibrary 3\n"), std::string::npos);
}

} // namespace
} // namespace tenon
