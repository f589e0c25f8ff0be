#include "mujoco_stack.h"

#include <fmt/format.h>
#include <mujoco/mujoco.h>

#include <algorithm>
#include <cstring>
#include <stdexcept>

namespace routh::bench {
namespace {

using Model = std::unique_ptr<mjModel, decltype(&mj_deleteModel)>;
using Data = std::unique_ptr<mjData, decltype(&mj_deleteData)>;

std::string mjcf(const Stack& stack, double h) {
  const std::size_t contacts = 8 * stack.boxes.size() + 8;
  std::string text = fmt::format(
      "<mujoco><option timestep='{}' gravity='0 0 {}'/><size njmax='{}' nconmax='{}'/>"
      "<default><geom friction='{}'/></default>"
      "<worldbody><geom type='plane' size='10 10 1'/>",
      h, -stack.gravity, 4 * contacts, contacts, stack.mu);
  for (const Box& box : stack.boxes) {
    text += fmt::format(
        "<body><joint type='slide' axis='1 0 0'/><joint type='slide' axis='0 0 1'/>"
        "<joint type='hinge' axis='0 -1 0'/>"
        "<inertial pos='0 0 0' mass='{0}' diaginertia='{1} {1} {1}'/>"
        "<geom type='box' size='{2} {2} {3}'/></body>",
        box.mass, box.inertia, box.width / 2, box.height / 2);
  }
  return text + "</worldbody></mujoco>";
}

Model load(const std::string& text) {
  const auto vfs = std::make_unique<mjVFS>();
  mj_defaultVFS(vfs.get());
  mj_makeEmptyFileVFS(vfs.get(), "stack.xml", static_cast<int>(text.size()));
  std::memcpy(vfs->filedata[mj_findFileVFS(vfs.get(), "stack.xml")], text.data(), text.size());
  char error[1000] = "";
  Model model(mj_loadXML("stack.xml", vfs.get(), error, sizeof error), &mj_deleteModel);
  mj_deleteVFS(vfs.get());
  if (!model) throw std::runtime_error(std::string("MuJoCo: ") + error);
  return model;
}

class MujocoStack : public StackCode {
 public:
  MujocoStack(const Stack& stack, double h)
      : model_(load(mjcf(stack, h))), data_(mj_makeData(model_.get()), &mj_deleteData) {
    std::copy(stack.q.begin(), stack.q.end(), data_->qpos);
    std::copy(stack.v.begin(), stack.v.end(), data_->qvel);
  }

  std::string name() const override { return "MuJoCo"; }
  void run(int steps) override {
    for (int i = 0; i < steps; ++i) {
      mj_step(model_.get(), data_.get());
      if (data_->solver_iter >= model_->opt.iterations) ++unsolved_;
    }
  }
  Eigen::VectorXd q() const override {
    return Eigen::Map<const Eigen::VectorXd>(data_->qpos, model_->nq);
  }
  Eigen::VectorXd v() const override {
    return Eigen::Map<const Eigen::VectorXd>(data_->qvel, model_->nv);
  }
  int contacts() const override { return data_->ncon; }
  double penetration() const override {
    double deepest = 0;
    for (int i = 0; i < data_->ncon; ++i) deepest = std::max(deepest, -data_->contact[i].dist);
    return deepest;
  }

  long unsolved() const override { return unsolved_; }

 private:
  Model model_;
  Data data_;
  long unsolved_ = 0;
};

}  // namespace

std::unique_ptr<StackCode> mujoco_stack(const Stack& stack, double h) {
  return std::make_unique<MujocoStack>(stack, h);
}

std::string mujoco_settings(double h) {
  const Model model = load(mjcf({}, h));
  const char* cones[] = {"pyramidal", "elliptic"};
  const char* solvers[] = {"PGS", "CG", "Newton"};
  const char* integrators[] = {"Euler", "RK4", "implicit"};
  return fmt::format("MuJoCo {}: {} cone, {} solver, {} integrator", mj_versionString(),
                     cones[model->opt.cone], solvers[model->opt.solver],
                     integrators[model->opt.integrator]);
}

}  // namespace routh::bench
