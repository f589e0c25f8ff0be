#include "routh/model/system.h"

#include <limits>

namespace routh {

void System::gaps(const Eigen::VectorXd& q, Eigen::VectorXd& contact, Eigen::VectorXd& joint,
                  std::vector<std::int64_t>* id) const {
  const Terms all = terms(q, Eigen::VectorXd::Zero(nv()));
  contact.resize(static_cast<Eigen::Index>(all.contacts.size()));
  for (Eigen::Index i = 0; i < contact.size(); ++i) contact[i] = all.contacts[i].phi;
  joint = all.joint_gap;
  if (!id) return;
  id->clear();
  for (const Contact& c : all.contacts) id->push_back(c.id);
}

void System::gap_bends(const MotionBounds& /*bounds*/, const Eigen::VectorXd& gap,
                       Eigen::VectorXd& bend) const {
  bend.setConstant(gap.size(), std::numeric_limits<double>::infinity());
}

void System::integrate(Eigen::VectorXd& q, const Eigen::VectorXd& v, double dt) const {
  q += dt * v;
}

namespace {

std::vector<std::string> numbered(const std::string& letter, int count) {
  std::vector<std::string> names;
  for (int i = 0; i < count; ++i) names.push_back(std::string(letter).append(std::to_string(i)));
  return names;
}

}  // namespace

std::vector<std::string> System::coordinate_names() const { return numbered("q", nq()); }

std::vector<std::string> System::velocity_names() const {
  return nq() == nv() ? coordinate_names() : numbered("v", nv());
}

}  // namespace routh
