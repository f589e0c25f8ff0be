#pragma once

#include <gmpxx.h>

#include <cstdint>
#include <functional>
#include <optional>
#include <vector>

/// Convex cones and polytopes in integers of any length, by the double description method (Motzkin
/// et al. 1953; Fukuda, Prodon 1996): a cone is both the combinations of its rays and what its
/// facets allow, and each ray knows the facets it lies on. A point y of a polytope is the ray (w,
/// w y), w > 0; a direction is (0, d).
namespace routh::lcp {

/// A vector of integers without a common factor, and its rounded image: signs of products are read
/// from the images where rounding cannot have changed them.
struct IntegerRow {
  IntegerRow() = default;
  explicit IntegerRow(std::vector<mpz_class> entries);

  std::vector<mpz_class> x;
  std::vector<double> image;  ///< x times a power of two
  int size() const { return static_cast<int>(x.size()); }
  bool operator==(const IntegerRow& other) const { return x == other.x; }
};
mpz_class product(const IntegerRow& a, const IntegerRow& b);
int product_sign(const IntegerRow& a, const IntegerRow& b);
IntegerRow negated(IntegerRow a);
/// α a + β b without common factor.
IntegerRow combination(const mpz_class& alpha, const IntegerRow& a, const mpz_class& beta,
                       const IntegerRow& b);

/// How many of some rows are independent; modulo a prime, which may make it less.
int rank(const std::vector<IntegerRow>& rows);

/// A set of small numbers.
class BitSet {
 public:
  void set(int k);
  bool test(int k) const;
  bool within(const BitSet& other) const;  ///< a subset of the other
  BitSet common(const BitSet& other) const;
  int count() const;
  bool operator==(const BitSet& other) const { return within(other) && other.within(*this); }

 private:
  std::uint64_t first_ = 0;
  std::vector<std::uint64_t> more_;
};

/// Asked wherever work may be long; throws to abandon it.
using Pause = std::function<void()>;

/// A cone being cut: { lines, rays : cuts · x ≥ 0 }.
struct CutCone {
  struct Ray {
    IntegerRow row;
    BitSet on;  ///< cuts that it lies on
  };
  std::vector<IntegerRow> lines;
  std::vector<Ray> rays;
  int cuts = 0;
  int dimension = 0;  ///< of what is left, or less

  /// All of space.
  static CutCone everything(int size);
  /// Keeps what has h · x ≥ 0, or = 0. Rays stay extreme if they were.
  void cut(const IntegerRow& h, bool equality, const Pause& pause);
};

/// A pointed cone by both descriptions. `facets` may have more than needed, `equalities` are
/// independent.
struct Cone {
  std::vector<IntegerRow> equalities, facets;
  CutCone inside;  ///< its rays; cuts are facets

  const std::vector<CutCone::Ray>& rays() const { return inside.rays; }
  bool empty() const { return inside.rays.empty(); }
  int dimension() const;  ///< of the polytope
  bool contains(const IntegerRow& ray) const;
  bool contains(const std::vector<IntegerRow>& rays) const;
  void cut(const IntegerRow& h, bool equality, const Pause& pause);
  std::vector<IntegerRow> rows() const;
};

Cone hull(const std::vector<IntegerRow>& rays, const Pause& pause);
/// The same cone without facets it does not need.
Cone minimal(const Cone& cone);
/// The cone of a minimal one and more rays; what is not extreme is left out.
Cone extended(const Cone& cone, const std::vector<IntegerRow>& rays, const Pause& pause);

/// Does a union of polytopes contain another, that none of them need contain alone? `parts` are
/// looked at before the answer is that it is not known to, false.
bool covered(const Cone& polytope, const std::vector<Cone>& by, int parts, const Pause& pause);

/// The union of two minimal polytopes of the same dimension, where that is convex.
std::optional<Cone> convex_union(const Cone& a, const Cone& b, const Pause& pause);

}  // namespace routh::lcp
