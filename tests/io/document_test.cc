#include "routh/io/document.h"

#include <gtest/gtest.h>

namespace routh::io {
namespace {

std::string failure(const std::function<void()>& f) {
  try {
    f();
  } catch (const InputError& e) {
    return e.what();
  }
  return "";
}

TEST(Evaluate, KnowsArithmeticParametersAndAngles) {
  EXPECT_DOUBLE_EQ(evaluate("2^20"), 1048576);
  EXPECT_DOUBLE_EQ(evaluate("mass*(w^2 + h^2)/12", {{"mass", 3}, {"w", 1}, {"h", 2}}), 1.25);
  EXPECT_NEAR(evaluate("sin(30*deg)"), 0.5, 1e-15);
}

TEST(Evaluate, SaysWhatItCannotRead) {
  EXPECT_NE(failure([] { evaluate("widht*2", {{"width", 1}}); }).find("widht"), std::string::npos);
  EXPECT_NE(failure([] { evaluate("1/0"); }).find("finite"), std::string::npos);
  EXPECT_NE(failure([] { evaluate(""); }), "");
}

TEST(Nearest, SuggestsTheClosestName) {
  EXPECT_EQ(nearest("rocking-blok", {"compass-gait", "rocking-block"}), "rocking-block");
  EXPECT_EQ(nearest("x", {"M", "v"}), "");
  EXPECT_EQ(nearest("zzzzzz", {"compass-gait", "rocking-block"}), "");
}

TEST(Field, ErrorsNameFileLineAndField) {
  const Values values;
  const Field root = parse("a: 1\nb:\n  c: [1, x]\n", "f.yaml", &values);
  EXPECT_EQ(failure([&] { root["b"]["c"].vector(); }).rfind("f.yaml:3: b.c[1]:", 0), 0u);
  EXPECT_NE(failure([&] { root["missing"]; }).find("'missing' is missing"), std::string::npos);
  EXPECT_NE(failure([&] { root.allow_keys({"a"}); }).find("b: unknown field; known are a"),
            std::string::npos);
}

TEST(Field, TruncatedYamlHasALineNumber) {
  const Values values;
  const std::string what = failure([&] { parse("a: 1\nb: [1, 2\n", "f.yaml", &values); });
  EXPECT_EQ(what.rfind("f.yaml:", 0), 0u) << what;
  EXPECT_NE(what.find("not valid YAML"), std::string::npos);
}

TEST(Field, RaggedMatricesAreRefused) {
  const Values values;
  const Field root = parse("M: [[1, 0], [0]]", "f.yaml", &values);
  EXPECT_NE(failure([&] { root["M"].matrix(); }).find("has 1 entries"), std::string::npos);
}

}  // namespace
}  // namespace routh::io
