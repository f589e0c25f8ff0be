#include "routh/model/system.h"

namespace routh {

void System::gaps(const Eigen::VectorXd& q, Eigen::VectorXd& contact,
                  Eigen::VectorXd& joint) const {
  const Terms all = terms(q, Eigen::VectorXd::Zero(nv()));
  contact.resize(static_cast<Eigen::Index>(all.contacts.size()));
  for (Eigen::Index i = 0; i < contact.size(); ++i) contact[i] = all.contacts[i].phi;
  joint = all.joint_gap;
}

std::vector<std::string> System::coordinate_names() const {
  std::vector<std::string> names;
  for (int i = 0; i < nq(); ++i) names.push_back(std::string("q").append(std::to_string(i)));
  return names;
}

}  // namespace routh
