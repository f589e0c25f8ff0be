#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <memory>
#include <utility>

#include "commands.h"
#include "routh/io/scenario.h"
#include "routh/version.h"

/// The manual page and the completion of shells, from the definitions that the program itself
/// obeys: `routh man`, `routh completion SHELL`. The build writes them, installing places them.
namespace routh::app {
namespace {

/// What a shell may offer after an option or as an argument.
struct Choices {
  std::vector<std::string> words = {};  ///< these
  bool files = false, folders = false;  ///< paths
};

/// An option as shells and manuals see it.
struct Entry {
  std::vector<std::string> names;   ///< "--quiet", "-q"
  std::string about, group, value;  ///< value: what stands for it, empty for flags
  Choices choices = {};
};

std::vector<const CLI::App*> commands_of(const CLI::App& app) {
  std::vector<const CLI::App*> commands;
  for (const CLI::App* command : app.get_subcommands({})) {
    if (!command->get_group().empty()) commands.push_back(command);
  }
  return commands;
}

/// "TEXT:{a,b}" offers a and b, FILE and FOLDER offer paths.
Choices choices_of(const std::string& type) {
  Choices choices{.files = type == "FILE", .folders = type == "FOLDER"};
  const std::size_t open = type.find('{'), close = type.find('}');
  if (open == std::string::npos || close == std::string::npos) return choices;
  std::string word;
  for (std::size_t i = open + 1; i <= close; ++i) {
    if (type[i] == ',' || i == close) {
      choices.words.push_back(std::exchange(word, {}));
    } else {
      word += type[i];
    }
  }
  return choices;
}

std::vector<Entry> options_of(const CLI::App& command) {
  std::vector<Entry> entries;
  for (const CLI::Option* option : command.get_options()) {
    if (option->get_positional()) continue;
    Entry entry{.about = option->get_description(), .group = option->get_group()};
    for (const std::string& name : option->get_lnames()) entry.names.push_back("--" + name);
    for (const std::string& name : option->get_snames()) entry.names.push_back("-" + name);
    if (option->get_items_expected_max() > 0) {
      const std::string type = option->get_type_name();
      entry.choices = choices_of(type);
      entry.value = entry.choices.words.empty()
                        ? type.substr(0, type.find(':'))
                        : fmt::format("{}", fmt::join(entry.choices.words, "|"));
    }
    entries.push_back(std::move(entry));
  }
  return entries;
}

/// What a command takes beside options.
Choices arguments_of(const CLI::App& command) {
  for (const CLI::Option* option : command.get_options()) {
    if (!option->get_positional()) continue;
    Choices choices = choices_of(option->get_type_name());
    if (option->get_name() == "scenario")
      choices = {.words = io::scenario_names(), .files = command.get_name() != "show"};
    return choices;
  }
  return {};
}

std::string escaped(std::string text, const std::string& characters, const std::string& by) {
  for (std::size_t at = 0; (at = text.find_first_of(characters, at)) != std::string::npos;
       at += by.size() + 1)
    text.insert(at, by);
  return text;
}

/// Text of roff: hyphens stay hyphens, no line is a request.
std::string roff(const std::string& text) {
  std::string out = escaped(text, "\\-", "\\");
  std::size_t at = 0;
  while ((at = out.find("\\\\", at)) != std::string::npos) out.replace(at, 2, "\\e"), at += 2;
  if (!out.empty() && (out[0] == '.' || out[0] == '\'')) out.insert(0, "\\&");
  return out;
}

std::string man_page(const CLI::App& app) {
  std::string text = fmt::format(
      ".TH ROUTH 1 \"\" \"Routh {}\" \"User Commands\"\n.SH NAME\nrouth \\- {}\n.SH SYNOPSIS\n",
      kVersion, roff(app.get_description()));
  for (const CLI::App* command : commands_of(app)) {
    text += fmt::format(".B routh {}\n", command->get_name());
    for (const CLI::Option* option : command->get_options()) {
      const std::string name = option->get_name();
      if (option->get_positional())
        text += option->get_required() ? ".I " + name + "\n" : ".RI [ " + name + " ]\n";
    }
    text += ".RI [ options ]\n.br\n";
  }
  text +=
      ".SH DESCRIPTION\nA scenario is a built\\-in name, a YAML file, or a model of MuJoCo (.xml, "
      ".urdf).\n"
      "An option that does not belong to the chosen law, method or scenario is refused.\n";
  for (const CLI::App* command : commands_of(app)) {
    text +=
        fmt::format(".SH routh {}\n{}\n", command->get_name(), roff(command->get_description()));
    std::vector<Entry> entries = options_of(*command);
    std::vector<std::string> groups;
    for (const Entry& e : entries) {
      if (std::find(groups.begin(), groups.end(), e.group) == groups.end())
        groups.push_back(e.group);
    }
    for (const std::string& name : groups) {
      text += fmt::format(".SS {}\n", roff(name));
      for (const Entry& e : entries) {
        if (e.group != name) continue;
        text += fmt::format(".TP\n\\fB{}\\fR", roff(fmt::format("{}", fmt::join(e.names, ", "))));
        if (!e.value.empty()) text += fmt::format(" \\fI{}\\fR", roff(e.value));
        text += "\n" + roff(e.about) + "\n";
      }
    }
    // examples stand in the footer, before the exit codes
    const std::string footer = command->get_footer();
    const std::string examples = footer.substr(0, footer.find("\n\n"));
    text += ".SS Examples\n.nf\n" + roff(examples.substr(examples.find('\n') + 1)) + "\n.fi\n";
  }
  return text +
         ".SH EXIT STATUS\n.TP\n.B 0\ndone; of rerun: the answer is the same\n.TP\n.B 2\nbad "
         "input; nothing was "
         "written\n.TP\n.B 3\nnot finished or not written, what there is says so; of rerun: the "
         "answer differs\n.TP\n.B 130\nafter a second Ctrl\\-C\n"
         ".SH ENVIRONMENT\n.TP\n.B NO_COLOR\nwhen set and not empty, no colours on a terminal\n";
}

std::string joined(const std::vector<std::string>& words) {
  return fmt::format("{}", fmt::join(words, " "));
}

std::string bash_completion(const CLI::App& app) {
  std::vector<std::string> names;
  std::string cases, values;
  for (const CLI::App* command : commands_of(app)) {
    names.push_back(command->get_name());
    std::vector<std::string> words;
    for (const Entry& e : options_of(*command)) {
      words.insert(words.end(), e.names.begin(), e.names.end());
      if (e.value.empty()) continue;
      values += fmt::format("    '{} {}')\n", command->get_name(),
                            fmt::join(e.names, fmt::format("' | '{} ", command->get_name())));
      values += e.choices.files ? "      COMPREPLY=($(compgen -f -- \"$word\")) ;;\n"
                : e.choices.folders
                    ? "      COMPREPLY=($(compgen -d -- \"$word\")) ;;\n"
                    : fmt::format("      COMPREPLY=($(compgen -W '{}' -- \"$word\")) ;;\n",
                                  joined(e.choices.words));
    }
    const Choices arguments = arguments_of(*command);
    cases += fmt::format("        {}) options='{}' words='{}' files='{}' ;;\n", command->get_name(),
                         joined(words), joined(arguments.words), arguments.files ? "-f" : "");
  }
  return fmt::format(R"(# bash completion of routh {}, made by 'routh completion bash'
_routh() {{
  local word=${{COMP_WORDS[COMP_CWORD]}} before=${{COMP_WORDS[COMP_CWORD-1]}}
  local command=${{COMP_WORDS[1]}} options words files
  compopt -o filenames 2>/dev/null
  if [ "$COMP_CWORD" -eq 1 ]; then
    COMPREPLY=($(compgen -W '{} --help --version' -- "$word"))
    return
  fi
  case "$command $before" in
{}    *)
      case $command in
{}        *) return ;;
      esac
      case $word in
        -*) COMPREPLY=($(compgen -W "$options" -- "$word")) ;;
        *) COMPREPLY=($(compgen -W "$words" $files -- "$word")) ;;
      esac ;;
  esac
}}
complete -F _routh routh
)",
                     kVersion, joined(names), values, cases);
}

std::string zsh_completion(const CLI::App& app) {
  const auto quoted = [](const std::string& text) { return escaped(text, "[]:\\", "\\"); };
  // within single quotes one is written '\''
  const auto literal = [](const std::string& text) {
    std::string out;
    for (const char c : text) out += c == '\'' ? std::string("'\\''") : std::string(1, c);
    return out;
  };
  std::string commands, cases;
  for (const CLI::App* command : commands_of(app)) {
    commands += fmt::format("    '{}:{}'\n", command->get_name(),
                            literal(quoted(command->get_description())));
    cases += fmt::format("    {})\n      _arguments -s", command->get_name());
    for (const Entry& e : options_of(*command)) {
      const std::string action = e.choices.files     ? "_files"
                                 : e.choices.folders ? "_files -/"
                                                     : fmt::format("({})", joined(e.choices.words));
      for (const std::string& name : e.names) {
        cases += fmt::format(" \\\n        '{}{}[{}]{}'", e.value.empty() ? "" : "*", name,
                             literal(quoted(e.about)),
                             e.value.empty() ? "" : fmt::format(":{}:{}", quoted(e.value), action));
      }
    }
    const Choices arguments = arguments_of(*command);
    if (!arguments.words.empty() || arguments.files)
      cases += fmt::format(
          " \\\n        '*:argument:{{ {}{} }}'",
          arguments.words.empty() ? "" : fmt::format("compadd -- {}; ", joined(arguments.words)),
          arguments.files ? "_files" : "");
    cases += " ;;\n";
  }
  return fmt::format(R"(#compdef routh
# zsh completion of routh {}, made by 'routh completion zsh'
_routh() {{
  local -a commands=(
{}  )
  if (( CURRENT == 2 )); then
    _describe command commands
    return
  fi
  local command=$words[2]
  shift words
  (( CURRENT-- ))
  case $command in
{}  esac
}}
_routh "$@"
)",
                     kVersion, commands, cases);
}

std::string fish_completion(const CLI::App& app) {
  const auto quoted = [](const std::string& text) {
    return "'" + escaped(text, "\\'", "\\") + "'";
  };
  std::string text =
      fmt::format("# fish completion of routh {}, made by 'routh completion fish'\n", kVersion);
  text += "complete -c routh -f\n";
  for (const CLI::App* command : commands_of(app)) {
    const std::string& name = command->get_name();
    text += fmt::format("complete -c routh -n __fish_use_subcommand -a {} -d {}\n", name,
                        quoted(command->get_description()));
    const std::string when =
        fmt::format("complete -c routh -n '__fish_seen_subcommand_from {}'", name);
    for (const Entry& e : options_of(*command)) {
      text += when;
      for (const std::string& option : e.names)
        text += option[1] == '-' ? " -l " + option.substr(2) : " -s " + option.substr(1);
      if (!e.value.empty())
        text += e.choices.files     ? " -r -F"
                : e.choices.folders ? " -x -a '(__fish_complete_directories)'"
                                    : fmt::format(" -x -a {}", quoted(joined(e.choices.words)));
      text += fmt::format(" -d {}\n", quoted(e.about));
    }
    const Choices arguments = arguments_of(*command);
    if (!arguments.words.empty() || arguments.files)
      text += fmt::format("{} {}-a {}\n", when, arguments.files ? "-F " : "",
                          quoted(joined(arguments.words)));
  }
  return text;
}

}  // namespace

void add_manual(CLI::App& app) {
  CLI::App* man =
      app.add_subcommand("man", "print the manual page: routh man | man -l -")->group("");
  man->callback([&app] { fmt::print("{}", man_page(app)); });

  auto shell = std::make_shared<std::string>();
  CLI::App* completion =
      app.add_subcommand("completion", "print what completes commands in a shell")->group("");
  completion->add_option("shell", *shell, "bash, zsh or fish")
      ->required()
      ->check(CLI::IsMember({"bash", "zsh", "fish"}));
  completion->callback([&app, shell] {
    fmt::print("{}", *shell == "bash"  ? bash_completion(app)
                     : *shell == "zsh" ? zsh_completion(app)
                                       : fish_completion(app));
  });
}

}  // namespace routh::app
