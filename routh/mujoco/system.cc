#include "routh/mujoco/system.h"

#include <algorithm>
#include <limits>
#include <stdexcept>

#include "routh/mujoco/impl.h"

namespace routh::mujoco {
namespace {

using Eigen::VectorXd;

constexpr double kReach = 0.01;  // [m]

}  // namespace

std::unique_ptr<System::Impl> System::checked(std::shared_ptr<const mjModel_> model,
                                              const std::string& name, std::string warning) {
  auto impl = std::make_unique<Impl>(prepare(std::move(model), kReach, std::move(warning)));
  try {
    impl->check_inertia();
  } catch (const std::invalid_argument& error) {
    throw std::invalid_argument(name + ": " + error.what());
  }
  return impl;
}

System::System(std::unique_ptr<Impl> impl) : impl_(std::move(impl)) { read_restitution(); }

void System::read_restitution() {
  const mjModel& m = impl_->wide();
  const int number = mj_name2id(&m, mjOBJ_NUMERIC, "restitution");
  if (number < 0) return;
  if (m.numeric_size[number] != 1)
    throw std::invalid_argument("restitution has " + std::to_string(m.numeric_size[number]) +
                                " numbers; it is one for all contacts");
  set_restitution(m.numeric_data[m.numeric_adr[number]]);
}

void System::set_restitution(double e) {
  if (!(e >= 0 && e <= 1))
    throw std::invalid_argument("restitution is " + std::to_string(e) +
                                "; it must be between 0 and 1");
  restitution_ = e;
}

System::System(const std::string& path, const Additions& additions) {
  std::string warning;
  ModelPtr model = load_file(path, additions, warning);
  impl_ = checked(std::move(model), path, std::move(warning));
  read_restitution();
}

System System::from_text(std::string_view text, const std::string& name,
                         const Additions& additions) {
  std::string warning;
  ModelPtr model = load_text(text, name, additions, warning);
  return System(checked(std::move(model), name, std::move(warning)));
}

System::System(const System& other)
    : routh::System(other),
      impl_(std::make_unique<Impl>(*other.impl_)),
      restitution_(other.restitution_) {}
System::System(System&&) noexcept = default;
System& System::operator=(System other) noexcept {
  impl_ = std::move(other.impl_);
  restitution_ = other.restitution_;
  return *this;
}
System::~System() = default;

int System::nq() const { return impl_->wide().nq; }
int System::nv() const { return impl_->wide().nv; }
int System::nu() const { return impl_->wide().nu; }

void System::evaluate(double t, const VectorXd& q, const VectorXd& v, Terms& terms,
                      const Wanted& wanted) const {
  const Impl::Borrowed work = impl_->borrow();
  work->place(q);
  if (v.size() != nv())
    throw std::invalid_argument("v has " + std::to_string(v.size()) +
                                " entries, but the model has " + std::to_string(nv()) +
                                " velocities (nv)");
  if (!v.allFinite()) throw std::invalid_argument("v has an entry that is not finite");
  work->find_constraints(Impl::limit_reach(v, wanted.horizon));
  work->fill_forces(t, v, terms);
  work->fill_stiffness(terms);
  if (wanted.whole_Kv) {
    work->add_inertial_terms(v, terms);
  } else {
    work->add_spin_terms(v, terms);
  }
  work->fill_contacts(terms);
  for (Contact& contact : terms.contacts) contact.e = contact.pair < 0 ? 0 : restitution_;
  work->fill_joints(terms);
  if (wanted.joint_bias) work->fill_joint_bias(q, v, terms);
}

void System::evaluate_flight(const VectorXd& q, const VectorXd& v, Terms& terms) const {
  const Impl::Borrowed work = impl_->borrow();
  work->place(q);
  work->find_joints();
  work->fill_forces(0, v, terms);
  work->fill_joints(terms);
  work->fill_joint_bias(q, v, terms);
}

void System::leave_out(const Contact& contact) {
  const mjModel& m = impl_->wide();
  if (contact.pair < 0)
    throw std::invalid_argument("contact " + contact.name + " is not between two shapes");
  const int ngeom = static_cast<int>(m.ngeom);
  auto changed = std::make_unique<Impl>(*impl_);
  std::vector<std::int64_t>& pairs = changed->inputs.left_out;
  pairs.push_back(pair_key(m, contact.pair / ngeom, contact.pair % ngeom));
  std::sort(pairs.begin(), pairs.end());
  impl_ = std::move(changed);
}

void System::gaps(const VectorXd& q, VectorXd& contact, VectorXd& joint,
                  std::vector<std::int64_t>* id) const {
  const Impl::Borrowed work = impl_->borrow();
  work->place(q);
  work->find_constraints();
  joint.resize(work->joint_rows());
  work->joint_rows([&](int row, int efc) { joint[row] = work->data->efc_pos[efc]; });
  contact.resize(static_cast<Eigen::Index>(work->touches.size() + work->limits.size()));
  Eigen::Index i = 0;
  for (const Touch& touch : work->touches) contact[i++] = touch.phi;
  for (const Limit& limit : work->limits) contact[i++] = limit.phi;
  if (!id) return;
  id->clear();
  for (const Touch& touch : work->touches) id->push_back(id_of(impl_->wide(), touch));
  for (const Limit& limit : work->limits) id->push_back(limit.id());
}

double System::potential_energy(const VectorXd& q) const {
  const Impl::Borrowed work = impl_->borrow();
  work->place(q);
  work->move();
  mj_energyPos(&impl_->wide(), work->data.get());
  return work->data->energy[0];
}

std::vector<int> System::groups() const { return impl_->groups(); }

void System::integrate(VectorXd& q, const VectorXd& v, double dt) const {
  if (q.size() != nq() || v.size() != nv())
    throw std::invalid_argument("integrate needs q with nq and v with nv entries");
  mj_integratePos(&impl_->wide(), q.data(), v.data(), dt);
}

std::vector<std::string> System::coordinate_names() const {
  return mujoco::coordinate_names(impl_->wide());
}
std::vector<std::string> System::velocity_names() const {
  return mujoco::velocity_names(impl_->wide());
}

std::string System::title() const { return impl_->wide().names; }
const std::vector<std::string>& System::notes() const { return impl_->loaded->notes; }

std::vector<std::string> System::keyframes() const {
  std::vector<std::string> names;
  for (int k = 0; k < impl_->wide().nkey; ++k) {
    const char* name = mj_id2name(&impl_->wide(), mjOBJ_KEY, k);
    names.push_back(name && *name ? name : std::to_string(k));
  }
  return names;
}

State System::keyframe(const std::string& name) const {
  const mjModel& m = impl_->wide();
  const int key = impl_->key(name);
  return {.time = m.key_time[key],
          .q = vector(m.key_qpos + key * m.nq, m.nq),
          .v = vector(m.key_qvel + key * m.nv, m.nv)};
}

State System::home() const {
  return {.q = vector(impl_->wide().qpos0, nq()), .v = VectorXd::Zero(nv())};
}

bool System::has_free_joint() const {
  const mjModel& m = impl_->wide();
  return std::find(m.jnt_type, m.jnt_type + m.njnt, mjJNT_FREE) != m.jnt_type + m.njnt;
}

bool System::has_ground() const {
  const mjModel& m = impl_->wide();
  const bool free = has_free_joint();
  for (int g = 0; g < m.ngeom; ++g) {
    const int body = m.geom_bodyid[g];
    if (m.body_weldid[body] != 0 || !(m.geom_contype[g] || m.geom_conaffinity[g])) continue;
    // a fixed root is no ground of its own
    if (free || body == 0 || m.geom_type[g] == mjGEOM_PLANE) return true;
  }
  return m.npair > 0;
}

double System::reach() const { return impl_->loaded->reach; }

void System::set_reach(double reach) {
  if (!(reach > 0)) throw std::invalid_argument("reach must be positive");
  auto loaded = prepare(impl_->loaded->original, reach, impl_->loaded->warning);
  auto changed = std::make_unique<Impl>(loaded);
  changed->inputs = impl_->inputs;
  impl_ = std::move(changed);
}

void System::set_friction(double mu) {
  if (!(mu >= 0 && mu <= 1e12))
    throw std::invalid_argument("friction is " + std::to_string(mu) +
                                "; it must be between 0 and 1e12");
  ModelPtr model(mj_copyModel(nullptr, impl_->loaded->original.get()));
  for (int g = 0; g < model->ngeom; ++g) model->geom_friction[3 * g] = mu;
  for (int p = 0; p < model->npair; ++p) {
    model->pair_friction[5 * p] = model->pair_friction[5 * p + 1] = mu;
  }
  auto changed = std::make_unique<Impl>(prepare(std::move(model), reach(), impl_->loaded->warning));
  changed->inputs = impl_->inputs;
  impl_ = std::move(changed);
}

double System::clearance(const VectorXd& q, int joint) const {
  const Impl::Borrowed work = impl_->borrow();
  work->place(q);
  const mjModel& m = impl_->wide();
  work->move();
  work->collided = false;
  mj_collision(&m, work->data.get());
  find_touches(m, *work->data,
               {.reach = reach(),
                .lands = m.body_rootid[m.jnt_bodyid[joint]],
                .left_out = &impl_->inputs.left_out},
               work->touches);
  double least = std::numeric_limits<double>::infinity();
  for (const Touch& touch : work->touches) least = std::min(least, touch.phi);
  return least;
}

std::vector<std::string> System::actuator_names() const {
  std::vector<std::string> names;
  for (int i = 0; i < nu(); ++i) {
    const char* name = mj_id2name(&impl_->wide(), mjOBJ_ACTUATOR, i);
    names.push_back(name && *name ? name : "actuator" + std::to_string(i));
  }
  return names;
}

const VectorXd& System::control() const { return impl_->inputs.control; }

void System::set_control(const VectorXd& control) {
  if (control.size() != nu())
    throw std::invalid_argument("control has " + std::to_string(control.size()) +
                                " entries, but the model has " + std::to_string(nu()) +
                                " actuators (nu)");
  if (!control.allFinite()) throw std::invalid_argument("control has an entry that is not finite");
  impl_->inputs.control = control;
}

void System::set_control(const std::string& keyframe) {
  const mjModel& m = impl_->wide();
  const int key = impl_->key(keyframe);
  impl_->inputs.control = vector(m.key_ctrl + key * m.nu, m.nu);
  impl_->inputs.activation = vector(m.key_act + key * m.na, m.na);
  impl_->inputs.mocap_pos = vector(m.key_mpos + 3 * key * m.nmocap, 3 * m.nmocap);
  impl_->inputs.mocap_quat = vector(m.key_mquat + 4 * key * m.nmocap, 4 * m.nmocap);
}

const mjModel_* System::model() const { return impl_->loaded->original.get(); }
const VectorXd& System::activation() const { return impl_->inputs.activation; }
const VectorXd& System::mocap_positions() const { return impl_->inputs.mocap_pos; }
const VectorXd& System::mocap_orientations() const { return impl_->inputs.mocap_quat; }

}  // namespace routh::mujoco
