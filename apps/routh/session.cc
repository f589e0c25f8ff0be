#include "session.h"

#include <algorithm>
#include <cmath>

#include "device.h"
#include "exact_law.h"

namespace routh::app {
namespace {

/// "0.1" and "7" are numbers in JSON, everything else is text.
io::Json value_of(const std::string& text) {
  const io::Json value = io::Json::parse(text, nullptr, false);
  return value.is_number() ? value : io::Json(text);
}

/// --final-step is final_step.
std::string key_of(const std::string& option) {
  std::string key = option.substr(option.find_first_not_of('-'));
  std::replace(key.begin(), key.end(), '-', '_');
  return key;
}

io::Json given_values(const CLI::Option& option) {
  if (option.get_items_expected_max() == 0) return true;  // a flag
  if (option.get_items_expected_max() == 1) return value_of(option.results().back());
  io::Json values = io::Json::array();
  for (const std::string& text : option.results()) values.push_back(value_of(text));
  return values;
}

}  // namespace

bool names_output(const std::string& option) {
  constexpr const char* kOutputs[] = {"--json",    "--csv",   "--hdf5",  "--plot",
                                      "--animate", "--modes", "--quiet", "--checkpoint"};
  return std::find(std::begin(kOutputs), std::end(kOutputs), option) != std::end(kOutputs);
}

io::Json top(const Session& session, const CLI::App& command, io::Json options) {
  if (options.is_null()) options = io::Json::object();
  for (const CLI::Option* option : command.get_options()) {
    const std::string name = option->get_name();
    if (option->count() == 0 || name[0] != '-' || names_output(name)) continue;
    if (!options.contains(key_of(name))) options[key_of(name)] = given_values(*option);
  }
  return io::top(session.command, std::move(options), has_cuda());
}

}  // namespace routh::app
