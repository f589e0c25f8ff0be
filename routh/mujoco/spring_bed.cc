#include "routh/mujoco/spring_bed.h"

#include <algorithm>
#include <sstream>
#include <stdexcept>
#include <string>

#include "routh/mujoco/model.h"
#include "routh/mujoco/source.h"

namespace routh::mujoco {

struct SpringBed::Impl {
  Setup setup;
  ModelPtr model;
  DataPtr data;
};

namespace {

std::string mjcf_of(const SpringBed::Setup& s) {
  constexpr double kRadius = 1e-4;
  std::ostringstream text;
  text.precision(17);
  text << "<mujoco><compiler angle='radian'/><option timestep='" << s.step << "' gravity='0 0 "
       << -s.gravity << "' integrator='" << (s.rk4 ? "RK4" : "Euler") << "'/><size njmax='"
       << 2 * s.springs + 100 << "' nconmax='" << 2 * s.springs + 100
       << "'/><default><geom condim='1' solimp='0.0001 0.0001 1 0.5 1' solref='-1 0'/></default>"
          "<worldbody>";
  for (int i = 0; i < s.springs; ++i) {
    const double x = s.springs > 1 ? -s.half_width + 2 * s.half_width * i / (s.springs - 1) : 0;
    text << "<geom type='sphere' size='" << kRadius << "' pos='" << x << " 0 " << s.length - kRadius
         << "'/>";
  }
  text << "<body name='plate'>";
  if (s.planar) text << "<joint type='slide' axis='1 0 0'/>";
  text << "<joint type='slide' axis='0 0 1'/>";
  if (s.planar) text << "<joint type='hinge' axis='0 -1 0'/>";
  text << "<inertial pos='0 0 0' mass='" << s.mass << "' diaginertia='" << s.inertia << ' '
       << s.inertia << ' ' << s.inertia << "'/><geom type='sphere' size='" << 1e5 * s.half_width
       << "' pos='0 0 " << 1e5 * s.half_width << "'/></body></worldbody></mujoco>";
  return text.str();
}

}  // namespace

SpringBed::SpringBed(const Setup& setup) : impl_(std::make_unique<Impl>()) {
  impl_->setup = setup;
  std::string warning;
  impl_->model = load_text(mjcf_of(setup), "plate.xml", {}, warning);
  impl_->data = make_data(*impl_->model);

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
    mj_forward(impl_->model.get(), impl_->data.get());
    if (impl_->data->nefc < 1) throw std::runtime_error("MuJoCo: the plate does not touch");
    return impl_->data->efc_force[0];
  };
  const double per_k = (force(2e5, 1, 0.01, 0) - force(1e5, 1, 0.01, 0)) / 1e5 / 0.01;
  const double per_b = (force(1e5, 2e3, 0.01, 1) - force(1e5, 1e3, 0.01, 1)) / 1e3;
  set(setup.stiffness / setup.springs / per_k,
      std::max(1e-9, setup.damping / setup.springs / per_b));
}

SpringBed::~SpringBed() = default;
SpringBed::SpringBed(SpringBed&&) noexcept = default;

void SpringBed::reset(double height, double angle) {
  mj_resetData(impl_->model.get(), impl_->data.get());
  impl_->data->qpos[impl_->setup.planar ? 1 : 0] = height;
  if (impl_->setup.planar) impl_->data->qpos[2] = angle;
}

void SpringBed::step() { mj_step(impl_->model.get(), impl_->data.get()); }
double SpringBed::time() const { return impl_->data->time; }

Eigen::VectorXd SpringBed::position() const {
  return Eigen::Map<const Eigen::VectorXd>(impl_->data->qpos, impl_->model->nq);
}
Eigen::VectorXd SpringBed::velocity() const {
  return Eigen::Map<const Eigen::VectorXd>(impl_->data->qvel, impl_->model->nv);
}

}  // namespace routh::mujoco
