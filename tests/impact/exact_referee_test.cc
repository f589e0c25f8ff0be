// Exact sets, and the polyhedra they are made of, held against the Parma Polyhedra Library.

#include <gtest/gtest.h>

#include "random_problem.h"
#include "referee/automaton.h"
#include "referee/exact_by_ppl.h"
#include "routh/lcp/double_description.h"

namespace routh {
namespace {

using Eigen::VectorXd;
using lcp::Cone;
using lcp::IntegerRow;
using Rows = std::vector<IntegerRow>;

const lcp::Pause kNever = [] {};

ppl::Linear_Expression homogeneous(const IntegerRow& row) {
  ppl::Linear_Expression e;
  for (int k = 1; k < row.size(); ++k) e += row.x[k] * ppl::Variable(k - 1);
  return e;
}
ppl::Constraint_System constraints(const Cone& cone) {
  ppl::Constraint_System system;
  for (const IntegerRow& f : cone.facets) system.insert(homogeneous(f) + f.x[0] >= 0);
  for (const IntegerRow& f : cone.equalities) system.insert(homogeneous(f) + f.x[0] == 0);
  return system;
}
ppl::C_Polyhedron by_ppl(const Rows& rows) {
  ppl::Generator_System system;
  for (const IntegerRow& row : rows) {
    if (row.x[0] != 0) system.insert(ppl::point(homogeneous(row), row.x[0]));
  }
  for (const IntegerRow& row : rows) {
    if (row.x[0] == 0) system.insert(ppl::ray(homogeneous(row)));
  }
  ppl::C_Polyhedron p(rows[0].size() - 1, ppl::EMPTY);
  p.add_generators(system);
  return p;
}

/// Small integers make many points coincide, lie on lines and span less than all of space.
struct Polyhedra {
  std::mt19937 random;
  int dimension, spread;

  std::vector<mpz_class> numbers(int count) {
    std::vector<mpz_class> x(count);
    for (mpz_class& value : x)
      value = static_cast<int>(random() % static_cast<unsigned>(2 * spread + 1)) - spread;
    return x;
  }
  IntegerRow row(bool point) {
    for (;;) {
      std::vector<mpz_class> x = numbers(dimension);
      const bool any = std::any_of(x.begin(), x.end(), [](auto& value) { return value != 0; });
      x.insert(x.begin(), point ? 1 + static_cast<int>(random() % 3) : 0);
      if (point || any) return IntegerRow(std::move(x));
    }
  }
  Rows points() {
    Rows rows;
    for (int k = 1 + static_cast<int>(random() % 8); k > 0; --k) rows.push_back(row(true));
    return rows;
  }
};

void expect_same(const Cone& own, const ppl::C_Polyhedron& referee, const std::string& where) {
  if (own.empty()) {
    EXPECT_TRUE(referee.is_empty()) << where;
    return;
  }
  EXPECT_EQ(by_ppl(own.rows()), referee) << where;
  ppl::C_Polyhedron from_facets(referee.space_dimension());
  from_facets.add_constraints(constraints(own));
  EXPECT_EQ(from_facets, referee) << where;
  const auto& generators = referee.minimized_generators();
  EXPECT_EQ(std::distance(generators.begin(), generators.end()),
            static_cast<std::ptrdiff_t>(own.rays().size()))
      << where;
}

TEST(DoubleDescriptionReferee, HullsAndIntersectionsAreThose) {
  std::mt19937 random(501);
  for (int k = 0; k < 400; ++k) {
    Polyhedra make{random, 1 + k % 6, k % 2 == 0 ? 1 : 9};
    random.discard(1000);
    const std::string where = "polyhedron " + std::to_string(k);
    const Rows points = make.points();
    Cone own = lcp::hull(points, kNever);
    ppl::C_Polyhedron referee = by_ppl(points);
    expect_same(own, referee, where);
    EXPECT_EQ(own.dimension(), static_cast<int>(referee.affine_dimension())) << where;
    EXPECT_EQ(lcp::rank(points), own.dimension() + 1) << where;
    for (int cuts = 0; cuts < 4 && !own.empty(); ++cuts) {
      const IntegerRow h(make.numbers(make.dimension + 1));
      const bool equality = make.random() % 4 == 0;
      own.cut(h, equality, kNever);
      const ppl::Linear_Expression e = homogeneous(h) + h.x[0];
      referee.add_constraint(equality ? e == 0 : e >= 0);
      expect_same(own, referee, where + ", cut " + std::to_string(cuts));
      if (own.empty()) break;
      const Cone least = lcp::minimal(own);
      expect_same(least, referee, where + ", least");
      const auto& needed = referee.minimized_constraints();
      // a point has one facet at infinity
      EXPECT_EQ(static_cast<std::size_t>(std::distance(needed.begin(), needed.end())),
                least.equalities.size() + (least.dimension() > 0 ? least.facets.size() : 0))
          << where;
      EXPECT_EQ(least.dimension(), static_cast<int>(referee.affine_dimension())) << where;
    }
  }
}

TEST(DoubleDescriptionReferee, PolytopesAreCarriedAlongCones) {
  std::mt19937 random(502);
  int pointed = 0;
  for (int k = 0; k < 200; ++k) {
    Polyhedra make{random, 2 + k % 5, 4};
    random.discard(1000);
    Rows rays;
    for (int r = 0; r < 1 + k % 5; ++r) {
      rays.push_back(make.row(false));
      // all on one side
      if (rays.back().x[1] <= 0) rays.back().x[1] = 1 - rays.back().x[1];
      rays.back() = IntegerRow(rays.back().x);
    }
    const Rows points = make.points();
    ppl::C_Polyhedron referee = by_ppl(points), cone = by_ppl({make.row(true)});
    cone = ppl::C_Polyhedron(make.dimension, ppl::EMPTY);
    ppl::Linear_Expression zero;
    cone.add_generator(ppl::point(zero));
    for (const IntegerRow& ray : rays) cone.add_generator(ppl::ray(homogeneous(ray)));
    referee.time_elapse_assign(cone);
    pointed += 1;
    expect_same(lcp::extended(lcp::hull(points, kNever), rays, kNever), referee,
                "polyhedron " + std::to_string(k));
  }
  EXPECT_EQ(pointed, 200);
}

TEST(DoubleDescriptionReferee, ContainmentAndConvexUnionsAreThose) {
  std::mt19937 random(503);
  int contained = 0, convex = 0, covered = 0;
  for (int k = 0; k < 400; ++k) {
    Polyhedra make{random, 1 + k % 3, 2};
    random.discard(1000);
    const Rows first = make.points();
    // two parts of one, that may overlap; or two that know nothing of each other
    Cone a = lcp::hull(first, kNever), b = lcp::hull(make.points(), kNever);
    if (k % 2 == 0) {
      const IntegerRow h(make.numbers(make.dimension + 1));
      Cone left = a, right = a;
      left.cut(h, false, kNever), right.cut(negated(h), false, kNever);
      if (left.empty() || right.empty()) continue;
      const Cone whole = a;
      a = lcp::hull(left.rows(), kNever), b = lcp::hull(right.rows(), kNever);
      EXPECT_TRUE(lcp::covered(whole, {a, b}, 100, kNever)) << "polyhedron " << k;
      covered += !a.contains(whole.rows()) && !b.contains(whole.rows());
    }
    ppl::C_Polyhedron p = by_ppl(a.rows());
    const ppl::C_Polyhedron q = by_ppl(b.rows());
    EXPECT_EQ(a.contains(b.rows()), p.contains(q)) << "polyhedron " << k;
    contained += p.contains(q);
    Rows both = a.rows();
    for (const IntegerRow& row : b.rows()) both.push_back(row);
    const Cone whole = lcp::hull(both, kNever);
    if (a.dimension() != b.dimension() || a.dimension() != whole.dimension()) continue;
    const std::optional<Cone> joined = lcp::convex_union(a, b, kNever);
    const bool is = joined.has_value();
    if (is) expect_same(*joined, by_ppl(both), "polyhedron " + std::to_string(k));
    EXPECT_EQ(is, p.upper_bound_assign_if_exact(q)) << "polyhedron " << k;
    EXPECT_EQ(is, lcp::covered(whole, {a, b}, 100, kNever)) << "polyhedron " << k;
    convex += is;
  }
  EXPECT_GT(contained, 20);
  EXPECT_GT(convex, 50);
  EXPECT_GT(covered, 30);
}

/// Corners and centres of the pieces of one in the other.
double farthest(const std::vector<Polytope>& a, const std::vector<Polytope>& b) {
  double far = 0;
  for (const Polytope& piece : a) {
    VectorXd centre = VectorXd::Zero(piece.corners[0].size());
    for (const VectorXd& corner : piece.corners) {
      far = std::max(far, nearest_point(b, corner).distance);
      centre += corner / static_cast<double>(piece.corners.size());
    }
    far = std::max(far, nearest_point(b, centre).distance);
  }
  return far;
}

/// Problems of a kind; how many sets were compared.
int expect_same_sets(int contacts, int velocities, int tangents, int edges, unsigned seed,
                     int problems) {
  std::mt19937 random(seed);
  int compared = 0;
  for (int k = 0; k < problems; ++k) {
    const ImpactProblem p =
        test::random_impact(random, contacts, velocities, tangents, edges).problem;
    if (!colliding(p, p.c)) continue;
    const std::string where = "problem " + std::to_string(k) + " of seed " + std::to_string(seed);
    const ExactResult referee = exact_by_ppl(p, {.max_polyhedra = 250});
    const ExactResult own = exact(p, {.max_polyhedra = 250});
    EXPECT_EQ(own.status == ExactStatus::kJammed, referee.status == ExactStatus::kJammed) << where;
    if (referee.status != ExactStatus::kExact) continue;
    EXPECT_EQ(own.status, ExactStatus::kExact) << where;
    if (own.status != ExactStatus::kExact) continue;
    ++compared;
    EXPECT_LE(own.pieces.size(), referee.pieces.size()) << where;
    EXPECT_LT(farthest(own.pieces, referee.pieces), 1e-12 * p.c.norm()) << where;
    EXPECT_LT(farthest(referee.pieces, own.pieces), 1e-12 * p.c.norm()) << where;
  }
  return compared;
}

TEST(ExactReferee, SetsOfTwoContactsAreThose) {
  EXPECT_GT(expect_same_sets(2, 2, 1, 2, 511, 40), 10);
  EXPECT_GT(expect_same_sets(2, 3, 1, 2, 512, 40), 15);
  EXPECT_GT(expect_same_sets(2, 4, 1, 2, 513, 25), 10);
}
TEST(ExactReferee, SetsOfThreeContactsAreThose) {
  EXPECT_GT(expect_same_sets(3, 3, 1, 2, 514, 24), 3);
}
TEST(ExactReferee, SetsInSpaceAreThose) {
  EXPECT_GT(expect_same_sets(1, 3, 2, 8, 515, 20), 5);
  EXPECT_GT(expect_same_sets(2, 3, 2, 4, 516, 14), 2);
}

}  // namespace
}  // namespace routh
