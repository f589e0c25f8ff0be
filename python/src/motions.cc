#include "courses.h"
#include "own_system.h"
#include "routh/io/document.h"
#include "routh/io/motion.h"
#include "routh/simulate/mode_kernel.h"
#include "ticker.h"

namespace routh::python {

io::Course course_of(const py::dict& options) {
  io::Course c;
  take(options, "method", c.method);
  take(options, "end", c.end);
  take(options, "every", c.every);
  take(options, "law", c.law);
  take(options, "seed", c.seed);
  take(options, "h", c.step);
  if (options.contains("alpha")) c.alpha = options["alpha"].cast<double>();
  if (options.contains("gamma")) c.gamma = options["gamma"].cast<double>();
  take(options, "jacobians", c.jacobians);
  if (options.contains("detection")) c.detection = options["detection"].cast<bool>() ? "on" : "off";
  if (options.contains("stabilise")) c.no_stabilise = !options["stabilise"].cast<bool>();
  take(options, "pseudo_impulse", c.pseudo_impulse);
  take(options, "rtol", c.rtol);
  take(options, "friction", c.friction);
  take(options, "strict", c.strict);
  take(options, "eps", c.eps);
  take(options, "exact", c.exact);
  take(options, "contact_damping", c.contact_damping);
  take(options, "stiffness", c.stiffness);
  take(options, "ratio", c.ratio);
  take(options, "damping_ratio", c.damping_ratio);
  take(options, "impact_only", c.impact_only);
  take(options, "domain", c.impulses);
  take(options, "derivative", c.derivative);
  return c;
}

namespace {

using Eigen::VectorXd;

/// The scene of a motion, with inputs drawn.
Scene moving_scene(const Scene& given, const py::dict& options) {
  Scene scene = meant(given, options);
  if (!io::has_inputs(scene->scenario)) return scene;
  scene = std::make_shared<Loaded>(*scene);
  io::draw_inputs(scene->scenario, course_of(options).seed);
  return scene;
}

/// A motion and how it was made.
struct Moved {
  Scene scene;
  std::string method;
  io::Simulated done;
  bool interrupted = false;
  std::optional<InclusionPath> path;  ///< over time and impulse, where it was asked for
  InclusionResidual residual;         ///< of that path

  const Trajectory& t() const { return done.trajectory; }
  io::Motion motion() const {
    return {scene->scenario, method, done.options, t(),
            done.derivative ? &*done.derivative : nullptr};
  }
};

std::shared_ptr<Moved> simulate(const Scene& given, const py::dict& options, bool project,
                                py::object show) {
  const Scene scene = moving_scene(given, options);
  auto made = std::make_shared<Moved>();
  made->scene = scene;
  io::Course course = course_of(options);
  const io::Scenario& scenario = scene->scenario;
  const io::Method& method = io::method_of(scenario, course);
  made->method = method.name;
  if (course.impulses) io::check_inclusion(scenario, method);
  const double end = course.end != 0 ? course.end : scenario.run.simulation.end;
  Ticker ticker(std::move(show));
  const auto* own = dynamic_cast<const OwnSystem*>(scenario.moving());
  course.progress = [&](double time) {
    return own && own->interrupted() ? ticker.interrupt() : ticker.goes_on(time / end);
  };
  {
    py::gil_scoped_release without;
    const State start = method.systems ? State{} : io::start_of(scenario, project);
    made->done = io::simulate(scenario, start, course);
    if (course.impulses) made->done.options["domain"] = "s";
    if (course.impulses && made->t().status != SimulationStatus::kInterrupted) {
      made->path = inclusion(*scenario.moving(), made->t());
      made->residual = inclusion_residual(*scenario.moving(), *made->path, made->done.inclusion);
    }
  }
  made->interrupted = ticker.finish();
  if (own) own->raise_again();
  return made;
}

py::list names_of(const Moved& m, const std::vector<int>& contacts) {
  const io::Motion motion = m.motion();
  py::list names;
  for (const int i : contacts) names.append(motion.contact_name(i));
  return names;
}

py::list events(const Moved& m) {
  py::list list;
  for (const Event& e : m.t().events) {
    py::dict d;
    d["time"] = e.time;
    d["kind"] = std::string(to_string(e.kind));
    d["contacts"] = names_of(m, e.contacts);
    d["v_minus"] = e.v_minus;
    d["v_plus"] = e.v_plus;
    d["impulse"] = e.impulse;
    d["outcomes"] = e.outcomes;
    const std::vector<Contact>& contacts = m.scene->scenario.terms.contacts;
    py::list ways;
    for (const Continuation& way : e.continuations)
      ways.append(to_string(way, e.mode_before, contacts));
    d["continuations"] = ways;
    if (!e.mode_after.empty()) {
      d["mode_before"] = mode_names(e.mode_before, contacts);
      d["mode_after"] = mode_names(e.mode_after, contacts);
    }
    list.append(d);
  }
  return list;
}

/// What hybrid executions tell besides.
py::list modes(const Moved& m) {
  py::list list;
  if (!m.t().hybrid()) return list;
  for (const Mode& mode : m.t().hybrid()->modes)
    list.append(mode_names(mode, m.scene->scenario.terms.contacts));
  return list;
}
py::list zeno_points(const Moved& m) {
  py::list list;
  if (!m.t().hybrid()) return list;
  for (const ZenoPoint& z : m.t().hybrid()->zeno)
    list.append(py::make_tuple(z.state.time, z.state.q, z.state.v, z.ratio, z.period, z.error));
  return list;
}

py::object over_s(const Moved& m) {
  if (!m.path) return py::none();
  const InclusionPath& p = *m.path;
  const auto numbers = [](const std::vector<double>& list) {
    return py::array_t<double>(static_cast<py::ssize_t>(list.size()), list.data());
  };
  py::dict d;
  d["s"] = numbers(p.s);
  d["t"] = numbers(p.t);
  d["q"] = rows(p.q, m.scene->scenario.q.size());
  d["v"] = rows(p.v, m.scene->scenario.v.size());
  d["rate"] = numbers(p.rate);
  d["normal_rate"] =
      rows(p.normal_rate, static_cast<Eigen::Index>(m.scene->scenario.terms.contacts.size()));
  d["zeno"] = p.zeno >= 0 ? py::object(py::float_(p.zeno)) : py::object(py::none());
  d["residual"] = m.residual.mean;
  return d;
}

py::dict at_start(const Scene& given, const py::dict& options, bool project) {
  const Scene scene = moving_scene(given, options);
  const io::Scenario& scenario = scene->scenario;
  const io::Course course = course_of(options);
  io::method_of(scenario, course);
  Instant now;
  {
    py::gil_scoped_release without;
    now = instant(*scenario.moving(), io::start_of(scenario, project),
                  io::hybrid_options(scenario, course, 1));
  }
  if (const auto* own = dynamic_cast<const OwnSystem*>(scenario.moving())) own->raise_interrupt();
  py::dict d;
  d["mode"] = mode_names(now.mode, scenario.terms.contacts);
  d["acceleration"] = now.acceleration;
  d["normal"] = now.normal;
  d["tangential"] = now.tangential;
  return d;
}

/// A mechanism on which a program pushes as well.
class Pushed final : public System {
 public:
  explicit Pushed(const System& inner) : inner_(inner), push(VectorXd::Zero(inner.nv())) {}

 private:
  const System& inner_;

 public:
  VectorXd push;  ///< generalised force [N, N m]

  int nq() const override { return inner_.nq(); }
  int nv() const override { return inner_.nv(); }
  void evaluate(double t, const VectorXd& q, const VectorXd& v, Terms& terms,
                const Wanted& wanted) const override {
    inner_.evaluate(t, q, v, terms, wanted);
    terms.forces += push;
  }
  void gaps(const VectorXd& q, VectorXd& contact, VectorXd& joint,
            std::vector<std::int64_t>* id) const override {
    inner_.gaps(q, contact, joint, id);
  }
  double potential_energy(const VectorXd& q) const override { return inner_.potential_energy(q); }
  std::vector<int> groups() const override { return inner_.groups(); }
  void integrate(VectorXd& q, const VectorXd& v, double dt) const override {
    inner_.integrate(q, v, dt);
  }
  bool contacts_vary() const override { return inner_.contacts_vary(); }
  bool bounces() const override { return inner_.bounces(); }
  std::vector<std::string> coordinate_names() const override { return inner_.coordinate_names(); }
  std::vector<std::string> velocity_names() const override { return inner_.velocity_names(); }
};

/// Time-stepping, one step at a time.
struct Stepping {
  Scene scene;
  Pushed system;
  std::optional<TimeStepper> stepper;
  bool busy = false;  // with the GIL

  /// Steps run without the GIL: another thread, or the forces that a step asks for, may come here.
  struct Alone {
    bool& busy;
    explicit Alone(bool& b) : busy(b) {
      if (busy)
        throw std::runtime_error(
            "the Stepper is within a step, of another thread or of the one that asked for forces");
      busy = true;
    }
    ~Alone() { busy = false; }
    Alone(const Alone&) = delete;
    Alone& operator=(const Alone&) = delete;
  };

  Stepping(const Scene& of, const py::dict& options)
      : scene(moving_scene(of, options)), system(moving(scene)) {
    const io::Course course = course_of(options);
    const TimeSteppingOptions o = io::time_stepping_options(scene->scenario, course);
    bool project = false;
    take(options, "project", project);
    py::gil_scoped_release without;
    stepper.emplace(system, io::start_of(scene->scenario, project), o);
  }
  static const System& moving(const Scene& scene) {
    if (!scene->scenario.moving())
      throw io::InputError(scene->scenario.name +
                           ": a stepper needs a mechanism, a model or a System that moves");
    return *scene->scenario.moving();
  }
  void step(std::int64_t count) {
    const Alone alone(busy);
    const auto* own = dynamic_cast<const OwnSystem*>(scene->scenario.moving());
    Ticker ticker(py::none{});
    {
      py::gil_scoped_release without;
      for (std::int64_t i = 0; i < count && ticker.goes_on(0); ++i) {
        stepper->step();
        if (own && own->interrupted()) ticker.interrupt();
      }
    }
    if (!ticker.finish()) return;
    PyErr_SetNone(PyExc_KeyboardInterrupt);
    throw py::error_already_set();
  }
  void push(const VectorXd& force) {
    const Alone alone(busy);
    if (force.size() != system.nv())
      throw io::InputError("force: has " + std::to_string(force.size()) + " entries; there are " +
                           std::to_string(system.nv()) + " velocities");
    if (!force.allFinite()) throw io::InputError("force: has a number that is not finite");
    system.push = force;
    stepper->forces_changed();
  }
};

}  // namespace

void define_motions(py::module_& m) {
  py::class_<Moved, std::shared_ptr<Moved>>(m, "Moved")
      .def_readonly("scene", &Moved::scene)
      .def_readonly("method", &Moved::method)
      .def_readonly("interrupted", &Moved::interrupted)
      .def_property_readonly("status",
                             [](const Moved& x) { return std::string(to_string(x.t().status)); })
      .def_property_readonly("stopped", [](const Moved& x) { return x.t().stopped(); })
      .def_property_readonly("message", [](const Moved& x) { return x.t().message; })
      .def_property_readonly("steps", [](const Moved& x) { return x.t().steps; })
      .def_property_readonly("seconds", [](const Moved& x) { return x.t().seconds; })
      .def_property_readonly("max_penetration",
                             [](const Moved& x) { return x.t().max_penetration; })
      .def_property_readonly("max_joint_error",
                             [](const Moved& x) { return x.t().max_joint_error; })
      .def_property_readonly(
          "time", [](const py::object& self) { return view(self.cast<Moved&>().t().time, self); })
      .def_property_readonly(
          "energy",
          [](const py::object& self) { return view(self.cast<Moved&>().t().energy, self); })
      .def_property_readonly(
          "q",
          [](const Moved& x) { return rows(x.t().q, x.t().q.empty() ? 0 : x.t().q[0].size()); })
      .def_property_readonly(
          "v",
          [](const Moved& x) { return rows(x.t().v, x.t().v.empty() ? 0 : x.t().v[0].size()); })
      .def_property_readonly("v_raw",
                             [](const Moved& x) {
                               const std::vector<VectorXd> none;
                               return rows(x.t().stepping() ? x.t().stepping()->v_raw : none,
                                           x.scene->scenario.v.size());
                             })
      .def_property_readonly("modes", modes)
      .def_property_readonly("zeno", zeno_points)
      .def_property_readonly("inclusion", over_s)
      .def_property_readonly("events", events)
      .def("json",
           [](const Moved& x, int indent) {
             io::Json json = io::to_json(x.motion());
             if (x.path) json["inclusion"] = io::to_json(*x.path);
             return whole_json(x.done.options, std::move(json), indent);
           })
      .def("csv", [](const Moved& x) { return io::to_csv(x.motion()); })
      .def("draw",
           [](const Moved& x, const std::string& name, const std::string& folder) {
             py::gil_scoped_release without;
             std::vector<std::string> paths = io::draw(x.motion(), name, folder);
             if (x.path) {
               for (std::string& path : io::draw(x.scene->scenario, *x.path, name + "-s", folder))
                 paths.push_back(std::move(path));
             }
             return paths;
           })
      .def("animate", [](const Moved& x, const std::string& path) {
        py::gil_scoped_release without;
        io::animate(x.motion(), path);
      });
  m.def("simulate", simulate);
  m.def("at_start", at_start);

  py::class_<Stepping>(m, "Stepper")
      .def(py::init<Scene, const py::dict&>())
      .def_readonly("scene", &Stepping::scene)
      .def("step", &Stepping::step)
      .def("push", &Stepping::push)
      .def_property_readonly("time", [](const Stepping& s) { return s.stepper->time(); })
      .def_property_readonly("q", [](const Stepping& s) { return s.stepper->q(); })
      .def_property_readonly("v", [](const Stepping& s) { return s.stepper->v_weighted(); })
      .def_property_readonly("impacts", [](const Stepping& s) {
        const Trajectory& log = s.stepper->log();
        std::vector<double> times;
        for (const Event& e : log.events) {
          if (e.kind == EventKind::kImpact) times.push_back(e.time);
        }
        return times;
      });
}

}  // namespace routh::python
