#include "routh/mujoco/masses.h"

#include <algorithm>

#include "routh/mujoco/dialect.h"
#include "routh/mujoco/model.h"

namespace routh::mujoco {

std::vector<MassSlope> mass_slopes(const System& system, const Eigen::VectorXd& q) {
  const mjModel& m = *system.model();
  const DataPtr data = make_data(m);
  std::copy(q.begin(), q.end(), data->qpos);
  mj_kinematics(&m, data.get());
  mj_comPos(&m, data.get());
  std::vector<MassSlope> slopes;
  Eigen::Matrix<double, 3, Eigen::Dynamic, Eigen::RowMajor> Jc(3, m.nv);
  for (int b = 1; b < m.nbody; ++b) {
    if (m.body_mass[b] == 0 || m.body_weldid[b] == 0) continue;
    mj_jacBodyCom(&m, data.get(), Jc.data(), nullptr, b);
    slopes.push_back({body_name(m, b), Jc.transpose() * Jc});
  }
  return slopes;
}

}  // namespace routh::mujoco
