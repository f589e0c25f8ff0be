#include <fmt/format.h>

#include <algorithm>

#include "numbers.h"
#include "simulate.h"

namespace routh::app {
namespace {

constexpr Eigen::Index kShownStates = 8;  // of a matrix that fits a terminal
constexpr std::size_t kShownJumps = 6;

std::string matrix_text(const std::vector<std::string>& names, const std::vector<std::string>& of,
                        const Eigen::MatrixXd& m) {
  const double largest = m.size() ? m.lpNorm<Eigen::Infinity>() : 0;
  std::size_t width = 11;
  for (const auto* both : {&names, &of}) {
    for (const std::string& name : *both) width = std::max(width, name.size() + 1);
  }
  std::string text = fmt::format("    {:<{}}", "", width);
  for (const std::string& name : of) text += fmt::format("{:>{}}", name, width);
  text += '\n';
  for (Eigen::Index i = 0; i < m.rows(); ++i) {
    text += fmt::format("    {:<{}}", names[static_cast<std::size_t>(i)], width);
    for (const double x : m.row(i)) text += fmt::format("{:>{}.4g}", rounded(x, largest), width);
    text += '\n';
  }
  return text;
}

}  // namespace

std::string describe_derivative(const io::Motion& motion) {
  const MotionDerivative& d = *motion.derivative;
  std::string text = fmt::format("\nderivative of the state at {:.6g} s by that at the start: {}\n",
                                 d.end, d.differentiable ? "differentiable" : d.message);
  if (!d.D.allFinite()) return text;
  const std::vector<std::string> names = motion.state_names();
  if (d.D.rows() > kShownStates)
    return text + fmt::format("    {0} x {0}, with {1}; --json has them\n", d.D.rows(),
                              motion.trajectory.stepping()
                                  ? fmt::format("friction of {} contacts and masses of {} bodies",
                                                d.contacts.size(), d.bodies.size())
                                  : fmt::format("{} saltation matrices", d.jumps.size()));
  text += matrix_text(names, names, d.D);
  if (!d.contacts.empty()) text += "  by friction\n" + matrix_text(names, d.contacts, d.friction);
  if (!d.bodies.empty()) text += "  by mass\n" + matrix_text(names, d.bodies, d.mass);
  for (std::size_t k = 0; k < d.jumps.size() && k < kShownJumps; ++k) {
    const MotionJump& jump = d.jumps[k];
    std::string contacts;
    for (const int i : jump.contacts)
      contacts += (contacts.empty() ? "" : ", ") + motion.contact_name(i);
    text += fmt::format("  across {} of {} at {:.6f} s\n{}", to_string(jump.kind), contacts,
                        jump.time, matrix_text(names, names, jump.matrix));
  }
  if (d.jumps.size() > kShownJumps)
    text += fmt::format("    .. {} more; --json has them all\n", d.jumps.size() - kShownJumps);
  return text;
}

}  // namespace routh::app
