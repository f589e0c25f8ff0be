#include "mujoco_peer.h"

#include <fmt/format.h>
#include <mujoco/mujoco.h>

#include <algorithm>
#include <cstring>
#include <stdexcept>

namespace routh::bench {

struct MujocoPeer::Impl {
  Setup setup;
  mjModel* model = nullptr;
  mjData* data = nullptr;

  ~Impl() {
    if (data) mj_deleteData(data);
    if (model) mj_deleteModel(model);
  }
};

namespace {

std::string mjcf(const MujocoPeer::Setup& s) {
  constexpr double kRadius = 1e-4;
  std::string text = fmt::format(
      "<mujoco><compiler angle='radian'/><option timestep='{}' gravity='0 0 {}' integrator='{}'>"
      "</option><size njmax='{}' nconmax='{}'/>"
      "<default><geom condim='1' solimp='0.0001 0.0001 1 0.5 1' solref='-1 0'/></default>"
      "<worldbody>",
      s.step, -s.gravity, s.rk4 ? "RK4" : "Euler", 2 * s.springs + 100, 2 * s.springs + 100);
  for (int i = 0; i < s.springs; ++i) {
    const double x = s.springs > 1 ? -s.half_width + 2 * s.half_width * i / (s.springs - 1) : 0;
    text += fmt::format("<geom type='sphere' size='{}' pos='{} 0 {}'/>", kRadius, x,
                        s.length - kRadius);
  }
  text += "<body name='plate'>";
  if (s.planar) text += "<joint type='slide' axis='1 0 0'/>";
  text += "<joint type='slide' axis='0 0 1'/>";
  if (s.planar) text += "<joint type='hinge' axis='0 -1 0'/>";
  text += fmt::format(
      "<inertial pos='0 0 0' mass='{0}' diaginertia='{1} {1} {1}'/>"
      "<geom type='sphere' size='{2}' pos='0 0 {2}'/></body></worldbody></mujoco>",
      s.mass, s.inertia, 1e5 * s.half_width);
  return text;
}

}  // namespace

MujocoPeer::MujocoPeer(const Setup& setup) : impl_(std::make_unique<Impl>()) {
  impl_->setup = setup;
  const std::string text = mjcf(setup);
  auto vfs = std::make_unique<mjVFS>();
  mj_defaultVFS(vfs.get());
  mj_makeEmptyFileVFS(vfs.get(), "plate.xml", static_cast<int>(text.size()));
  std::memcpy(vfs->filedata[mj_findFileVFS(vfs.get(), "plate.xml")], text.data(), text.size());
  char error[1000] = "";
  impl_->model = mj_loadXML("plate.xml", vfs.get(), error, sizeof error);
  mj_deleteVFS(vfs.get());
  if (!impl_->model) throw std::runtime_error(std::string("MuJoCo: ") + error);
  impl_->data = mj_makeData(impl_->model);

  // MuJoCo scales solref and regularises by the inertia of the bodies: the stiffness and damping of
  // a contact per unit of solref are measured on a contact pressed by 1 cm, moving at 1 m/s
  const auto set = [&](double k, double b) {
    for (int i = 0; i < impl_->model->ngeom; ++i) {
      impl_->model->geom_solref[mjNREF * i] = -k;
      impl_->model->geom_solref[mjNREF * i + 1] = -b;
    }
  };
  const auto force = [&](double k, double b, double depth, double speed) {
    set(k, b);
    reset(setup.length - depth, 0);
    impl_->data->qvel[setup.planar ? 1 : 0] = -speed;
    mj_forward(impl_->model, impl_->data);
    if (impl_->data->nefc < 1) throw std::runtime_error("MuJoCo: the plate does not touch");
    return impl_->data->efc_force[0];
  };
  const double per_k = (force(2e5, 1, 0.01, 0) - force(1e5, 1, 0.01, 0)) / 1e5 / 0.01;
  const double per_b = (force(1e5, 2e3, 0.01, 1) - force(1e5, 1e3, 0.01, 1)) / 1e3;
  set(setup.stiffness / setup.springs / per_k,
      std::max(1e-9, setup.damping / setup.springs / per_b));
}

MujocoPeer::~MujocoPeer() = default;
MujocoPeer::MujocoPeer(MujocoPeer&&) noexcept = default;

void MujocoPeer::reset(double height, double angle) {
  mj_resetData(impl_->model, impl_->data);
  impl_->data->qpos[impl_->setup.planar ? 1 : 0] = height;
  if (impl_->setup.planar) impl_->data->qpos[2] = angle;
}

void MujocoPeer::step() { mj_step(impl_->model, impl_->data); }
double MujocoPeer::time() const { return impl_->data->time; }

Eigen::VectorXd MujocoPeer::position() const {
  return Eigen::Map<const Eigen::VectorXd>(impl_->data->qpos, impl_->model->nq);
}
Eigen::VectorXd MujocoPeer::velocity() const {
  return Eigen::Map<const Eigen::VectorXd>(impl_->data->qvel, impl_->model->nv);
}

std::string MujocoPeer::version() { return mj_versionString(); }

}  // namespace routh::bench
