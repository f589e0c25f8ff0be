#include <cmath>

#include "routh/simulate/mode_kernel.h"

/// Limbs without mass in the air: they follow their laws, and give way to what they touch.
namespace routh {

using Eigen::VectorXd;

std::vector<ModeKernel::Layout::Skim> ModeKernel::skims(const Layout& layout) const {
  std::vector<Layout::Skim> found;
  for (const int l : layout.in_air) {
    const Limb& limb = limbs_[l];
    const int j = limb.coordinate;
    for (std::size_t k = 0; k < terms_.contacts.size(); ++k) {
      const Contact& c = terms_.contacts[k];
      if (closed(layout.mode[k]) || c.phi > kOnGround || c.Jn[j] == 0) continue;
      const double cn = c.Jn.dot(v_);
      if (limb.acceleration) {
        // at rest there and pushed into it; what the body does is left to the impact
        const double still = 1e-9 * c.Jn.cwiseAbs().dot(v_.cwiseAbs()) + 1e-14;
        if (cn > still || c.Jn[j] * limb.acceleration(t_, q_[j], v_[j]) >= 0) continue;
      } else {
        const double rate = limb.rate ? limb.rate(t_, q_[j], v_[j]) : 0;
        if (cn + c.Jn[j] * (rate - v_[j]) >= 0) continue;
      }
      found.push_back({l, static_cast<int>(k)});
      break;
    }
  }
  return found;
}

/// First-order laws at the kernel's time and q, then the terms there.
void ModeKernel::follow_laws(const Layout& layout) {
  for (const int l : layout.in_air) {
    const Limb& limb = limbs_[l];
    const int k = limb.coordinate;
    if (!limb.acceleration) v_[k] = limb.rate ? limb.rate(t_, q_[k], v_[k]) : 0;
  }
  refresh();
  bool gave_way = false;
  for (const Layout::Skim& skim : layout.skims) {
    const Limb& limb = limbs_[skim.limb];
    if (limb.acceleration) continue;
    v_[limb.coordinate] -=
        normal_velocity(skim.contact) / terms_.contacts[skim.contact].Jn[limb.coordinate];
    gave_way = true;
  }
  if (gave_way) refresh();
}

void ModeKernel::give_way(const Layout& layout, double t, const VectorXd& q, VectorXd& v) {
  evaluate(t, q, v);
  for (const int l : layout.in_air) {
    const int j = limbs_[l].coordinate;
    for (std::size_t k = 0; k < terms_.contacts.size(); ++k) {
      const Contact& c = terms_.contacts[k];
      if (closed(layout.mode[k]) || c.phi > kOnGround || c.Jn[j] == 0) continue;
      const double cn = c.Jn.dot(v);
      if (cn < 0) v[j] -= cn / c.Jn[j];
    }
  }
  evaluate(t, q, v);
}

void ModeKernel::move_limbs(const Layout& layout, double t, const VectorXd& q, VectorXd& v) {
  t_ = t, q_ = q, v_ = v;
  follow_laws(layout);
  v = v_;
}

}  // namespace routh
