#include "routh/mujoco/masses.h"

#include "routh/mujoco/impl.h"

namespace routh::mujoco {
namespace {

/// A model whose bodies have masses of their own; all else is shared.
struct Reweighed {
  std::shared_ptr<const mjModel> of;
  mjModel model;
  std::vector<mjtNum> mass, subtree;

  explicit Reweighed(std::shared_ptr<const mjModel> original)
      : of(std::move(original)), model(*of) {
    weigh(0, 0);
    model.body_mass = mass.data();
    model.body_subtreemass = subtree.data();
  }
  /// As it was, but for one body.
  void weigh(int body, double more) {
    mass.assign(of->body_mass, of->body_mass + of->nbody);
    subtree.assign(of->body_subtreemass, of->body_subtreemass + of->nbody);
    mass[body] += more;
    for (int b = body; b > 0; b = of->body_parentid[b]) subtree[b] += more;
    subtree[0] += more;
  }
};

}  // namespace

Masses masses(const System& system) {
  const Loaded& loaded = *system.impl_->loaded;
  const auto own = std::make_shared<Reweighed>(loaded.original);
  auto impl =
      std::make_unique<System::Impl>(prepare({own, &own->model}, loaded.reach, loaded.warning));
  impl->inputs = system.impl_->inputs;
  const std::shared_ptr<System> heavier(new System(std::move(impl)));

  const mjModel& m = *own->of;
  Masses all{.by = 0};
  std::vector<int> places;
  for (int b = 1; b < m.nbody; ++b) {
    if (m.body_mass[b] == 0 || m.body_weldid[b] == 0) continue;
    all.bodies.push_back(body_name(m, b));
    all.by += m.body_mass[b];
    places.push_back(b);
  }
  all.heavier = [own, heavier, places, by = all.by](std::size_t k) -> const routh::System& {
    own->weigh(places[k], by);
    heavier->impl_->forget();
    return *heavier;
  };
  return all;
}

}  // namespace routh::mujoco
