// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "support/process/completions.h"

#include "support/status.h"

#include <algorithm>

namespace tenon {
namespace {

enum class ValueKind : uint8_t { None, Words, File, Folder, Other };

ValueKind kindOf(const HelpOption &option) {
  if (option.valueName.empty())
    return ValueKind::None;
  if (!option.words.empty())
    return ValueKind::Words;
  if (option.valueName == "DIR")
    return ValueKind::Folder;
  for (std::string_view name : {"FILE", "PATH", "OBJECT"})
    if (option.valueName.find(name) != std::string::npos)
      return ValueKind::File;
  return ValueKind::Other;
}

std::string joined(const std::vector<std::string> &words) {
  std::string text;
  for (const std::string &word : words)
    text += concat(text.empty() ? "" : " ", word);
  return text;
}

/// A word within single quotes of a shell.
std::string quoted(std::string_view text, std::string_view quote = "'\\''") {
  std::string out = "'";
  for (char c : text)
    if (c == '\'')
      out += quote;
    else
      out += c;
  return out + "'";
}

/// The first line of the help, without what is said in parentheses or after a semicolon.
std::string shortHelp(const HelpOption &option) {
  std::string text = option.help.substr(0, option.help.find('\n'));
  text = text.substr(0, text.find(';'));
  return text.substr(0, text.find(" ("));
}

std::string functionName(std::string_view tool) {
  std::string name = concat("_", tool);
  std::ranges::replace(name, '-', '_');
  return name;
}

} // namespace

// `--name=VALUE` comes as three words where '=' separates words, which is how bash begins.
std::string bashCompletion(const ToolHelp &help) {
  const std::string function = functionName(help.tool);
  std::string cases, options;
  for (const HelpOption &option : help.options) {
    const std::string name = dashedOption(option.names.front());
    const ValueKind kind = kindOf(option);
    const bool attached = kind != ValueKind::None && option.names.front().size() > 1 && !option.valueIsOptional;
    options += concat(options.empty() ? "" : " ", name, attached ? "=" : "");
    if (kind == ValueKind::None)
      continue;
    std::string names;
    for (const std::string &spelling : option.names)
      names += concat(names.empty() ? "" : "|", dashedOption(spelling));
    std::string action = "return";
    if (kind == ValueKind::Words && option.valueIsList)
      action = concat("COMPREPLY=($(compgen -P \"${word%\"${word##*,}\"}\" -W ", quoted(joined(option.words)),
                      " -- \"${word##*,}\"))");
    else if (kind == ValueKind::Words)
      action = concat("COMPREPLY=($(compgen -W ", quoted(joined(option.words)), " -- \"$word\"))");
    else if (kind != ValueKind::Other)
      action = concat("compopt -o filenames; mapfile -t COMPREPLY < <(compgen ",
                      kind == ValueKind::Folder ? "-d" : "-f", " -- \"$word\")");
    cases += concat("    ", names, ") ", action, "; return ;;\n");
  }
  return concat("# bash completion for ", help.tool, ", written by `", help.tool, " --help=bash`\n", function,
                "() {\n"
                "  local word=${COMP_WORDS[COMP_CWORD]} before=${COMP_WORDS[COMP_CWORD - 1]} option=\n"
                "  COMPREPLY=()\n"
                "  if [[ $word == \"=\" ]]; then option=$before word=\n"
                "  elif [[ $before == \"=\" ]]; then option=${COMP_WORDS[COMP_CWORD - 2]}\n"
                "  elif [[ $word == --*=* ]]; then option=${word%%=*} word=${word#*=}\n"
                "  elif [[ $before == -* && $word != -* ]]; then option=$before\n"
                "  fi\n"
                "  case $option in\n",
                cases,
                "  esac\n"
                "  if [[ $word == -* ]]; then\n"
                "    COMPREPLY=($(compgen -W ",
                quoted(options),
                " -- \"$word\"))\n"
                "    [[ ${COMPREPLY-} != *= ]] || compopt -o nospace\n"
                "  else\n"
                "    compopt -o filenames\n"
                "    mapfile -t COMPREPLY < <(compgen -f -- \"$word\")\n"
                "  fi\n"
                "}\n"
                "complete -F ",
                function, " ", help.tool, "\n");
}

std::string zshCompletion(const ToolHelp &help) {
  std::string text = concat("#compdef ", help.tool, "\n# zsh completion for ", help.tool, ", written by `", help.tool,
                            " --help=zsh`\n_arguments -S");
  for (const HelpOption &option : help.options) {
    const std::string &name = option.names.front();
    std::string about;
    for (char c : shortHelp(option))
      about += c == '[' || c == ']' || c == ':' || c == '\\' ? concat("\\", c) : std::string(1, c);
    std::string spec = concat(option.repeats ? "*" : "", dashedOption(name));
    const ValueKind kind = kindOf(option);
    if (kind != ValueKind::None)
      spec += name.size() == 1 ? "+" : option.valueIsOptional ? "=-" : "=";
    spec += concat("[", about, "]");
    if (kind != ValueKind::None) {
      spec += concat(option.valueIsOptional ? "::" : ":", "value:");
      if (kind == ValueKind::Words && option.valueIsList)
        spec += concat("_sequence compadd - ", joined(option.words));
      else if (kind == ValueKind::Words)
        spec += concat("(", joined(option.words), ")");
      else if (kind == ValueKind::Folder)
        spec += "_files -/";
      else if (kind == ValueKind::File)
        spec += "_files";
      else
        spec += " ";
    }
    text += concat(" \\\n  ", quoted(spec));
  }
  return text + " \\\n  '*:file:_files'\n";
}

std::string fishCompletion(const ToolHelp &help) {
  std::string text = concat("# fish completion for ", help.tool, ", written by `", help.tool, " --help=fish`\n");
  for (const HelpOption &option : help.options) {
    const std::string &name = option.names.front();
    const ValueKind kind = kindOf(option);
    text += concat("complete -c ", help.tool, name.size() == 1 ? " -s " : " -l ", name);
    if (kind == ValueKind::Words)
      text += concat(" -x -a ", quoted(option.valueIsList ? concat("(__fish_append , ", joined(option.words), ")")
                                                          : joined(option.words),
                                       "\\'"));
    else if (kind == ValueKind::Folder)
      text += " -x -a '(__fish_complete_directories)'";
    else if (kind == ValueKind::File)
      text += " -r -F";
    else if (kind == ValueKind::Other && !option.valueIsOptional)
      text += " -x";
    text += concat(" -d ", quoted(shortHelp(option), "\\'"), "\n");
  }
  return text;
}

} // namespace tenon
