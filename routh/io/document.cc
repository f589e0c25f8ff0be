#include "routh/io/document.h"

#include <fmt/format.h>
#include <muParser.h>

#include <algorithm>
#include <cmath>
#include <memory>
#include <mutex>
#include <numbers>
#include <numeric>
#include <set>

#include "routh/io/text.h"

namespace routh::io {

namespace {

constexpr double kLargestMatrix = 1e7;  // numbers

mu::Parser parser_with(const Values& values) {
  mu::Parser parser;
  parser.DefineConst("pi", std::numbers::pi);
  parser.DefineConst("deg", std::numbers::pi / 180);
  for (const auto& [name, value] : values) parser.DefineConst(name, value);
  return parser;
}

mu::Parser parser_of(const std::string& expression, const Values& values) {
  mu::Parser parser = parser_with(values);
  parser.SetExpr(expression);
  return parser;
}

}  // namespace

double evaluate(const std::string& expression, const Values& values) {
  try {
    int count = 0;
    // a parser takes longer to make than to ask, and expressions of a file follow each other
    thread_local Values known;
    thread_local std::unique_ptr<mu::Parser> parser;
    if (!parser || known != values) {
      parser = std::make_unique<mu::Parser>(parser_with(values));
      known = values;
    }
    parser->SetExpr(expression);
    const double value = parser->Eval(count)[0];
    if (count != 1)
      throw InputError(
          fmt::format("'{}' is {} numbers; the decimal sign is a point", expression, count));
    if (!std::isfinite(value))
      throw InputError(fmt::format("'{}' is not a finite number", expression));
    return value;
  } catch (const mu::Parser::exception_type& e) {
    throw InputError(fmt::format("cannot evaluate '{}': {}", expression, e.GetMsg()));
  }
}

struct Script::Compiled {
  std::mutex one_at_a_time;  // simulations may run in several threads
  mu::Parser parser;
  std::vector<double> at;  // the variables
  std::vector<int> reads;
};

Script::Script(const std::string& expression, const Values& values,
               const std::vector<std::string>& variables)
    : compiled_(std::make_shared<Compiled>()) {
  try {
    Values constants = values;
    for (const std::string& name : variables) constants.erase(name);
    mu::Parser& parser = compiled_->parser;
    parser = parser_of(expression, constants);
    const auto dotted = [](const std::string& name) { return name.find('.') != name.npos; };
    if (std::ranges::any_of(variables, dotted))
      parser.DefineNameChars((std::string(parser.ValidNameChars()) + ".").c_str());
    compiled_->at.resize(variables.size());
    for (std::size_t k = 0; k < variables.size(); ++k)
      parser.DefineVar(variables[k], &compiled_->at[k]);
    const mu::varmap_type used = parser.GetUsedVar();
    for (std::size_t k = 0; k < variables.size(); ++k) {
      if (used.count(variables[k]) > 0) compiled_->reads.push_back(static_cast<int>(k));
    }
    (void)parser.Eval();
  } catch (const mu::Parser::exception_type& e) {
    throw InputError(fmt::format("cannot evaluate '{}': {}", expression, e.GetMsg()));
  }
}

double Script::operator()(std::span<const double> at) const {
  const std::lock_guard lock(compiled_->one_at_a_time);
  std::copy(at.begin(), at.end(), compiled_->at.begin());
  return compiled_->parser.Eval();
}

const std::vector<int>& Script::reads() const { return compiled_->reads; }

std::string nearest(const std::string& wrong, const std::vector<std::string>& known) {
  std::string best;
  std::size_t best_distance = std::min(wrong.size(), wrong.size() / 3 + 2);
  for (const std::string& word : known) {
    // Levenshtein distance, one row at a time
    std::vector<std::size_t> row(word.size() + 1);
    std::iota(row.begin(), row.end(), 0);
    for (std::size_t i = 1; i <= wrong.size(); ++i) {
      std::size_t diagonal = row[0];
      row[0] = i;
      for (std::size_t j = 1; j <= word.size(); ++j) {
        const std::size_t replaced = diagonal + (wrong[i - 1] != word[j - 1]);
        diagonal = row[j];
        row[j] = std::min({row[j] + 1, row[j - 1] + 1, replaced});
      }
    }
    if (row.back() < best_distance) best = word, best_distance = row.back();
  }
  return best;
}

std::string join(const std::vector<std::string>& words) {
  return fmt::format("{}", fmt::join(words, ", "));
}

Field::Field(YAML::Node node, std::string file, std::string path, const Values* values)
    : node_(std::move(node)), file_(std::move(file)), path_(std::move(path)), values_(values) {}

void Field::fail(const std::string& what) const {
  const std::string where = path_.empty() ? "" : path_ + ": ";
  throw InputError(fmt::format("{}:{}: {}{}", file_, node_.Mark().line + 1, where, what));
}

void Field::allow_keys(const std::vector<std::string>& known) const {
  if (!node_.IsMap()) fail("must be a map with " + join(known));
  for (const std::string& key : keys()) {
    if (std::find(known.begin(), known.end(), key) != known.end()) continue;
    const std::string close = nearest(key, known);
    (*this)[key].fail(close.empty() ? "unknown field; known are " + join(known)
                                    : "unknown field; did you mean '" + close + "'?");
  }
}

YAML::Node Field::child(const std::string& key) const {
  if (!node_.IsMap()) return YAML::Node(YAML::NodeType::Undefined);
  for (const auto& entry : node_) {
    // names are cleaned wherever they stand, so that references find them
    if (entry.first.IsScalar() && without_controls(entry.first.Scalar()) == key)
      return entry.second;
  }
  return YAML::Node(YAML::NodeType::Undefined);
}

bool Field::has(const std::string& key) const { return child(key).IsDefined(); }

Field Field::operator[](const std::string& key) const {
  const YAML::Node node = child(key);
  if (!node.IsDefined()) fail("'" + key + "' is missing");
  return {node, file_, path_.empty() ? key : path_ + "." + key, values_};
}

Field Field::operator[](std::size_t index) const {
  return {node_[index], file_, fmt::format("{}[{}]", path_, index), values_};
}

std::size_t Field::size() const { return node_.size(); }

std::vector<std::string> Field::keys() const {
  if (!node_.IsMap() && !node_.IsNull()) fail("must be a map, such as {name: value}");
  std::vector<std::string> keys;
  std::set<std::string> known;
  for (const auto& entry : node_) {
    const Field at(entry.first, file_, path_, values_);
    if (!entry.first.IsScalar()) at.fail("a key must be a single word");
    keys.push_back(without_controls(entry.first.Scalar()));
    if (!known.insert(keys.back()).second) at.fail("'" + keys.back() + "' is given twice");
  }
  return keys;
}

std::string Field::text() const { return filled(true); }
std::string Field::words() const { return filled(false); }

std::string Field::filled(bool strictly) const {
  if (!node_.IsScalar()) fail("must be a single word or number");
  std::string text = without_controls(node_.Scalar());
  for (std::size_t open = text.find('{'); open != std::string::npos; open = text.find('{', open)) {
    const std::size_t close = text.find('}', open);
    try {
      if (close == std::string::npos) throw InputError("a '{' without its '}'");
      const double value = evaluate(text.substr(open + 1, close - open - 1), *values_);
      if (value != std::floor(value))
        throw InputError("the value between { and } must be a whole number");
      const std::string digits = fmt::format("{:.0f}", value);
      text.replace(open, close - open + 1, digits);
      open += digits.size();
    } catch (const InputError& e) {
      if (strictly) fail(e.what());
      ++open;
    }
  }
  return text;
}

Script Field::script(const std::vector<std::string>& variables) const {
  try {
    return Script(text(), *values_, variables);
  } catch (const InputError& e) {
    if (!node_.IsScalar()) throw;
    fail(e.what());
  }
}

double Field::number() const {
  try {
    return evaluate(text(), *values_);
  } catch (const InputError& e) {
    if (!node_.IsScalar()) throw;
    fail(e.what());
  }
}

Eigen::VectorXd Field::vector() const {
  if (!node_.IsSequence()) fail("must be a list of numbers, such as [1, 0]");
  Eigen::VectorXd v(size());
  for (std::size_t i = 0; i < size(); ++i) v[i] = (*this)[i].number();
  return v;
}

Eigen::Vector2d Field::vector2() const {
  if (!node_.IsSequence() || size() != 2) fail("must be two numbers, such as [1, 0]");
  return vector();
}

Eigen::MatrixXd Field::matrix() const {
  if (!node_.IsSequence()) fail("must be a list of rows, such as [[1, 0], [0, 1]]");
  Eigen::MatrixXd m;
  for (std::size_t i = 0; i < size(); ++i) {
    const Eigen::VectorXd row = (*this)[i].vector();
    if (i == 0 && static_cast<double>(size()) * static_cast<double>(row.size()) > kLargestMatrix)
      fail(fmt::format("{} x {} numbers are too many", size(), row.size()));
    if (i == 0) m.resize(size(), row.size());
    if (row.size() != m.cols()) {
      (*this)[i].fail(fmt::format("has {} entries, the first row has {}", row.size(), m.cols()));
    }
    m.row(i) = row;
  }
  return m;
}

double Field::number_or(const std::string& key, double otherwise) const {
  return has(key) ? (*this)[key].number() : otherwise;
}

std::string Field::text_or(const std::string& key, const std::string& otherwise) const {
  return has(key) ? (*this)[key].text() : otherwise;
}

std::string Field::words_or(const std::string& key, const std::string& otherwise) const {
  return has(key) ? (*this)[key].words() : otherwise;
}

Field parse(const std::string& text, const std::string& file, const Values* values) {
  try {
    YAML::Node node = YAML::Load(text);
    Field field(node, file, "", values);
    if (!node.IsMap()) field.fail("the file is empty or not a map of fields");
    return field;
  } catch (const YAML::Exception& e) {
    throw InputError(fmt::format("{}:{}: not valid YAML: {}", file, e.mark.line + 1, e.msg));
  }
}

}  // namespace routh::io
