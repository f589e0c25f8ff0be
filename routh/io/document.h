#pragma once

#include <yaml-cpp/yaml.h>

#include <Eigen/Core>
#include <array>
#include <map>
#include <memory>
#include <span>
#include <stdexcept>
#include <string>
#include <vector>

/// Reading YAML with good manners: every error names the file, the line, the field and what to
/// change. Numbers may be expressions over named values ("mass*(width^2 + height^2)/12"), evaluated
/// by muParser.
namespace routh::io {

/// The outside world is wrong: a file, a field, an argument.
struct InputError : std::runtime_error {
  using std::runtime_error::runtime_error;
};
/// A model at whose start nothing is hit, with what to add; `check` takes it for an answer.
struct NoImpact : InputError {
  using InputError::InputError;
};

using Values = std::map<std::string, double>;

/// Value of an arithmetic expression; ^ is a power, `pi` and `deg` (radians per degree) are known.
/// Throws InputError.
double evaluate(const std::string& expression, const Values& values = {});

/// An expression over named values and variables, compiled once and evaluated often: forces in
/// scenario files over t, q, v and what they sense, fields over the names of a state.
class Script {
 public:
  /// Throws InputError when the expression cannot be understood. Names of variables may have dots
  /// in them, and hide values of their name.
  Script(const std::string& expression, const Values& values,
         const std::vector<std::string>& variables = {"t", "q", "v"});
  /// The variables in their order; the last may be left out where they are not read.
  double operator()(std::span<const double> at) const;
  double operator()(double t, double q, double v) const { return (*this)(std::array{t, q, v}); }
  /// Which of the variables the expression reads.
  const std::vector<int>& reads() const;

 private:
  struct Compiled;
  std::shared_ptr<Compiled> compiled_;
};

/// The known name most like `wrong`, or an empty string when none is.
std::string nearest(const std::string& wrong, const std::vector<std::string>& known);
/// "a, b, c"
std::string join(const std::vector<std::string>& words);

/// A place in a YAML file that knows where it is.
class Field {
 public:
  Field(YAML::Node node, std::string file, std::string path, const Values* values);

  [[noreturn]] void fail(const std::string& what) const;
  /// Throws unless this is a map with keys among `known`; suggests the nearest.
  void allow_keys(const std::vector<std::string>& known) const;

  bool has(const std::string& key) const;
  Field operator[](const std::string& key) const;  ///< fails when missing
  Field operator[](std::size_t index) const;
  std::size_t size() const;
  std::vector<std::string> keys() const;  ///< fails where one is given twice
  bool is_map() const { return node_.IsMap(); }
  bool is_sequence() const { return node_.IsSequence(); }
  const std::string& path() const { return path_; }

  std::string text() const;   ///< with every {expression} replaced by its whole value
  std::string words() const;  ///< the same, and braces around anything else stay
  /// An expression that may use these.
  Script script(const std::vector<std::string>& variables = {"t", "q", "v"}) const;
  double number() const;
  Eigen::Vector2d vector2() const;
  Eigen::VectorXd vector() const;
  Eigen::MatrixXd matrix() const;  ///< a list of equally long lists

  double number_or(const std::string& key, double otherwise) const;
  std::string text_or(const std::string& key, const std::string& otherwise) const;
  std::string words_or(const std::string& key, const std::string& otherwise) const;

 private:
  YAML::Node child(const std::string& key) const;
  std::string filled(bool strictly) const;

  YAML::Node node_;
  std::string file_, path_;
  const Values* values_;
};

/// Parses YAML text; `file` names it in errors. The values must outlive the field.
Field parse(const std::string& text, const std::string& file, const Values* values);

}  // namespace routh::io
