#include "routh/lcp/double_description.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <utility>

namespace routh::lcp {
namespace {

/// The image: the largest entry between one half and one. What would be below the range of numbers
/// is 0; the margin of product_sign() covers it.
std::vector<double> image_of(const std::vector<mpz_class>& x) {
  std::vector<double> image(x.size());
  std::vector<long> exponent(x.size());
  long largest = 0;
  for (std::size_t k = 0; k < x.size(); ++k) {
    image[k] = mpz_get_d_2exp(&exponent[k], x[k].get_mpz_t());
    if (image[k] != 0) largest = std::max(largest, exponent[k]);
  }
  for (std::size_t k = 0; k < x.size(); ++k)
    image[k] = std::ldexp(image[k], static_cast<int>(std::max(exponent[k] - largest, -2000L)));
  return image;
}

}  // namespace

IntegerRow::IntegerRow(std::vector<mpz_class> entries) : x(std::move(entries)) {
  mpz_class common = 0;
  for (const mpz_class& value : x) {
    if (value == 0) continue;
    mpz_gcd(common.get_mpz_t(), common.get_mpz_t(), value.get_mpz_t());
    if (common == 1) break;
  }
  if (common > 1) {
    for (mpz_class& value : x)
      mpz_divexact(value.get_mpz_t(), value.get_mpz_t(), common.get_mpz_t());
  }
  image = image_of(x);
}

mpz_class product(const IntegerRow& a, const IntegerRow& b) {
  mpz_class sum = 0;
  for (std::size_t k = 0; k < a.x.size(); ++k) {
    if (a.image[k] != 0 || a.x[k] != 0)
      mpz_addmul(sum.get_mpz_t(), a.x[k].get_mpz_t(), b.x[k].get_mpz_t());
  }
  return sum;
}

int product_sign(const IntegerRow& a, const IntegerRow& b) {
  double sum = 0, size = 0;
  for (std::size_t k = 0; k < a.image.size(); ++k) {
    const double term = a.image[k] * b.image[k];
    sum += term;
    size += std::abs(term);
  }
  const double margin = size * 0x1p-51 * (4 + static_cast<double>(a.image.size())) + 0x1p-900;
  if (sum > margin) return 1;
  if (sum < -margin) return -1;
  return sgn(product(a, b));
}

IntegerRow negated(IntegerRow a) {
  for (mpz_class& value : a.x) mpz_neg(value.get_mpz_t(), value.get_mpz_t());
  for (double& value : a.image) value = -value;
  return a;
}

IntegerRow combination(const mpz_class& alpha, const IntegerRow& a, const mpz_class& beta,
                       const IntegerRow& b) {
  std::vector<mpz_class> x(a.x.size());
  for (std::size_t k = 0; k < x.size(); ++k) {
    mpz_mul(x[k].get_mpz_t(), alpha.get_mpz_t(), a.x[k].get_mpz_t());
    mpz_addmul(x[k].get_mpz_t(), beta.get_mpz_t(), b.x[k].get_mpz_t());
  }
  return IntegerRow(std::move(x));
}

int rank(const std::vector<IntegerRow>& rows) {
  constexpr std::uint64_t prime = 2147483647;
  const auto inverse = [](std::uint64_t a) {
    std::uint64_t result = 1;
    for (std::uint64_t e = prime - 2; e != 0; e /= 2, a = a * a % prime) {
      if (e % 2 != 0) result = result * a % prime;
    }
    return result;
  };
  // echelon form, row by row
  std::vector<std::vector<std::uint64_t>> echelon;
  std::vector<std::size_t> lead;
  for (const IntegerRow& row : rows) {
    std::vector<std::uint64_t> x;
    for (const mpz_class& value : row.x) x.push_back(mpz_fdiv_ui(value.get_mpz_t(), prime));
    for (std::size_t r = 0; r < echelon.size(); ++r) {
      const std::uint64_t by = x[lead[r]];
      if (by == 0) continue;
      for (std::size_t k = 0; k < x.size(); ++k)
        x[k] = (x[k] + (prime - by) * echelon[r][k]) % prime;
    }
    const auto first = std::find_if(x.begin(), x.end(), [](std::uint64_t v) { return v != 0; });
    if (first == x.end()) continue;
    const std::uint64_t by = inverse(*first);
    lead.push_back(static_cast<std::size_t>(first - x.begin()));
    for (std::uint64_t& value : x) value = value * by % prime;
    echelon.push_back(std::move(x));
    if (echelon.size() == row.x.size()) break;
  }
  return static_cast<int>(echelon.size());
}

void BitSet::set(int k) {
  if (k < 64) {
    first_ |= std::uint64_t{1} << k;
    return;
  }
  const auto word = static_cast<std::size_t>(k / 64 - 1);
  if (more_.size() <= word) more_.resize(word + 1);
  more_[word] |= std::uint64_t{1} << (k % 64);
}
bool BitSet::test(int k) const {
  if (k < 64) return first_ >> k & 1;
  const auto word = static_cast<std::size_t>(k / 64 - 1);
  return word < more_.size() && (more_[word] >> (k % 64) & 1);
}
bool BitSet::within(const BitSet& other) const {
  if (first_ & ~other.first_) return false;
  for (std::size_t w = 0; w < more_.size(); ++w) {
    if (more_[w] & ~(w < other.more_.size() ? other.more_[w] : 0)) return false;
  }
  return true;
}
BitSet BitSet::common(const BitSet& other) const {
  BitSet both;
  both.first_ = first_ & other.first_;
  both.more_.resize(std::min(more_.size(), other.more_.size()));
  for (std::size_t w = 0; w < both.more_.size(); ++w) both.more_[w] = more_[w] & other.more_[w];
  return both;
}
int BitSet::count() const {
  int sum = std::popcount(first_);
  for (const std::uint64_t word : more_) sum += std::popcount(word);
  return sum;
}

CutCone CutCone::everything(int size) {
  CutCone all;
  all.dimension = size;
  for (int k = 0; k < size; ++k) {
    std::vector<mpz_class> unit(size);
    unit[k] = 1;
    all.lines.emplace_back(std::move(unit));
  }
  return all;
}

void CutCone::cut(const IntegerRow& h, bool equality, const Pause& pause) {
  pause();
  const int number = cuts++;
  // a line that leaves the cut becomes a ray, along which all others are brought onto the cut; the
  // shortest keeps numbers short
  std::size_t best = lines.size();
  mpz_class value, least;
  for (std::size_t k = 0; k < lines.size(); ++k) {
    const mpz_class along = product(h, lines[k]);
    if (along != 0 && (best == lines.size() || abs(along) < abs(least))) best = k, least = along;
  }
  if (best < lines.size()) {
    IntegerRow line = std::move(lines[best]);
    lines.erase(lines.begin() + static_cast<std::ptrdiff_t>(best));
    if (least < 0) line = negated(std::move(line)), least = -least;
    for (IntegerRow& other : lines) {
      value = product(h, other);
      if (value != 0) other = combination(least, other, -value, line);
    }
    for (Ray& ray : rays) {
      value = product(h, ray.row);
      if (value != 0) ray.row = combination(least, ray.row, -value, line);
      ray.on.set(number);
    }
    dimension -= equality;
    if (equality) return;
    Ray leaving{std::move(line), {}};
    for (int k = 0; k < number; ++k) leaving.on.set(k);
    rays.push_back(std::move(leaving));
    return;
  }

  std::vector<signed char> side(rays.size());
  bool inside = false, outside = false;
  for (std::size_t k = 0; k < rays.size(); ++k) {
    side[k] = static_cast<signed char>(product_sign(h, rays[k].row));
    if (side[k] == 0) rays[k].on.set(number);
    inside |= side[k] > 0, outside |= side[k] < 0;
  }
  if (!outside && !(equality && inside)) return;
  // two rays of an edge share as many cuts at least
  const int shared = dimension - static_cast<int>(lines.size()) - 2;
  if (!inside || !outside) dimension = 0;  // a face of any dimension is left
  if (equality && dimension > 0) --dimension;
  // where an edge of the cone crosses the cut there is a new ray
  std::vector<mpz_class> along(rays.size());
  for (std::size_t k = 0; k < rays.size(); ++k) {
    if (side[k] != 0) along[k] = product(h, rays[k].row);
  }
  std::vector<Ray> kept;
  for (std::size_t a = 0; a < rays.size(); ++a) {
    if (side[a] <= 0) continue;
    pause();
    for (std::size_t b = 0; b < rays.size(); ++b) {
      if (side[b] >= 0) continue;
      BitSet both = rays[a].on.common(rays[b].on);
      bool edge = both.count() >= shared;
      for (std::size_t c = 0; c < rays.size() && edge; ++c)
        edge = c == a || c == b || !both.within(rays[c].on);
      if (!edge) continue;
      pause();
      both.set(number);
      kept.push_back({combination(along[a], rays[b].row, -along[b], rays[a].row), std::move(both)});
    }
  }
  for (std::size_t k = 0; k < rays.size(); ++k) {
    if (side[k] == 0 || (side[k] > 0 && !equality)) kept.push_back(std::move(rays[k]));
  }
  rays = std::move(kept);
}

int Cone::dimension() const {
  return (facets.empty() && equalities.empty() ? 0
          : facets.empty()                     ? equalities[0].size()
                                               : facets[0].size()) -
         static_cast<int>(equalities.size()) - 1;
}

bool Cone::contains(const IntegerRow& ray) const {
  return std::all_of(facets.begin(), facets.end(),
                     [&](const IntegerRow& f) { return product_sign(f, ray) >= 0; }) &&
         std::all_of(equalities.begin(), equalities.end(),
                     [&](const IntegerRow& e) { return product_sign(e, ray) == 0; });
}
bool Cone::contains(const std::vector<IntegerRow>& rays) const {
  return std::all_of(rays.begin(), rays.end(), [&](const IntegerRow& r) { return contains(r); });
}

void Cone::cut(const IntegerRow& h, bool equality, const Pause& pause) {
  inside.cut(h, equality, pause);
  if (!equality) {
    facets.push_back(h);
    return;
  }
  facets.push_back(h);  // numbers of cuts are those of facets
  equalities.push_back(h);
}

std::vector<IntegerRow> Cone::rows() const {
  std::vector<IntegerRow> all;
  for (const CutCone::Ray& ray : inside.rays) all.push_back(ray.row);
  return all;
}

namespace {

/// The cone whose polar was cut by these rays; a ray is extreme where no other lies on all of its
/// facets.
Cone cone_of(CutCone polar, std::vector<IntegerRow> rays) {
  Cone cone;
  cone.equalities = std::move(polar.lines);
  cone.inside.dimension = polar.dimension - static_cast<int>(cone.equalities.size());
  cone.inside.cuts = static_cast<int>(polar.rays.size());
  const int count = static_cast<int>(rays.size());
  std::vector<BitSet> on(count);
  for (std::size_t f = 0; f < polar.rays.size(); ++f) {
    for (int k = 0; k < count; ++k) {
      if (polar.rays[f].on.test(k)) on[k].set(static_cast<int>(f));
    }
    cone.facets.push_back(std::move(polar.rays[f].row));
  }
  for (int k = 0; k < count; ++k) {
    bool extreme = true;
    for (int j = 0; j < count && extreme; ++j)
      extreme = j == k || !on[k].within(on[j]) || (j > k && on[j].within(on[k]));
    if (extreme) cone.inside.rays.push_back({std::move(rays[k]), on[k]});
  }
  return cone;
}

/// Leaves out rows that depend on those before.
void keep_independent(std::vector<IntegerRow>& rows) {
  std::vector<IntegerRow> echelon, kept;
  std::vector<std::size_t> lead;
  for (IntegerRow& row : rows) {
    IntegerRow left = row;
    for (std::size_t r = 0; r < echelon.size(); ++r) {
      if (left.x[lead[r]] != 0)
        left = combination(echelon[r].x[lead[r]], left, -left.x[lead[r]], echelon[r]);
    }
    const auto first =
        std::find_if(left.x.begin(), left.x.end(), [](const mpz_class& x) { return x != 0; });
    if (first == left.x.end()) continue;
    lead.push_back(static_cast<std::size_t>(first - left.x.begin()));
    echelon.push_back(std::move(left));
    kept.push_back(std::move(row));
  }
  rows = std::move(kept);
}

}  // namespace

Cone hull(const std::vector<IntegerRow>& rays, const Pause& pause) {
  CutCone polar = CutCone::everything(rays.at(0).size());
  for (const IntegerRow& ray : rays) polar.cut(ray, false, pause);
  return cone_of(std::move(polar), rays);
}

// A facet is an inequality with as many rays on it as none of the others has; one that all rays
// lie on is an equality.
Cone minimal(const Cone& cone) {
  const std::vector<CutCone::Ray>& rays = cone.rays();
  if (rays.size() == 1) return hull({rays[0].row}, [] {});
  const int count = static_cast<int>(cone.facets.size());
  std::vector<BitSet> on(count);
  std::vector<int> size(count);
  for (int f = 0; f < count; ++f) {
    for (std::size_t k = 0; k < rays.size(); ++k) {
      if (rays[k].on.test(f)) on[f].set(static_cast<int>(k));
    }
    size[f] = on[f].count();
  }
  Cone result;
  result.equalities = cone.equalities;
  std::vector<int> facets;
  for (int f = 0; f < count; ++f) {
    if (size[f] == static_cast<int>(rays.size())) {
      result.equalities.push_back(cone.facets[f]);
      continue;
    }
    bool needed = size[f] > 0;
    for (int g = 0; g < count && needed; ++g) {
      if (g == f || size[g] < size[f] || size[g] == static_cast<int>(rays.size())) continue;
      needed = !on[f].within(on[g]) || (size[g] == size[f] && g > f);
    }
    if (needed) facets.push_back(f);
  }
  keep_independent(result.equalities);
  result.inside.dimension = rays[0].row.size() - static_cast<int>(result.equalities.size());
  for (const CutCone::Ray& ray : rays) result.inside.rays.push_back({ray.row, {}});
  for (const int f : facets) {
    for (std::size_t k = 0; k < rays.size(); ++k) {
      if (on[f].test(static_cast<int>(k))) result.inside.rays[k].on.set(result.inside.cuts);
    }
    ++result.inside.cuts;
    result.facets.push_back(cone.facets[f]);
  }
  return result;
}

Cone extended(const Cone& cone, const std::vector<IntegerRow>& rays, const Pause& pause) {
  CutCone polar;
  polar.lines = cone.equalities;
  polar.dimension = cone.rays()[0].row.size();
  polar.cuts = static_cast<int>(cone.rays().size());
  for (std::size_t f = 0; f < cone.facets.size(); ++f) {
    BitSet on;
    for (int k = 0; k < polar.cuts; ++k) {
      if (cone.rays()[k].on.test(static_cast<int>(f))) on.set(k);
    }
    polar.rays.push_back({cone.facets[f], std::move(on)});
  }
  std::vector<IntegerRow> all = cone.rows();
  for (const IntegerRow& ray : rays) {
    polar.cut(ray, false, pause);
    all.push_back(ray);
  }
  return cone_of(std::move(polar), std::move(all));
}

namespace {

/// What lies beyond the facets of one of them, one after the other, must be covered by the others.
bool covered_from(Cone rest, const std::vector<const Cone*>& by, std::size_t first, int& parts,
                  const Pause& pause) {
  if (rest.empty()) return true;
  if (--parts < 0) return false;
  const int full = rank(rest.rows());
  for (std::size_t k = first; k < by.size(); ++k) {
    if (by[k]->contains(rest.rows())) return true;
  }
  for (; first + 1 < by.size(); ++first) {
    const Cone& next = *by[first];
    const auto within = [&](const IntegerRow& e) {
      return std::all_of(rest.rays().begin(), rest.rays().end(),
                         [&](const CutCone::Ray& ray) { return product_sign(e, ray.row) == 0; });
    };
    if (!std::all_of(next.equalities.begin(), next.equalities.end(), within)) continue;
    // one that has no inner point in common takes nothing away
    Cone shared = rest;
    for (const IntegerRow& f : next.facets) shared.cut(f, false, pause);
    if (rank(shared.rows()) < full) continue;
    for (const IntegerRow& facet : next.facets) {
      Cone beyond = rest;
      beyond.cut(negated(facet), false, pause);
      const bool crosses =
          std::any_of(beyond.rays().begin(), beyond.rays().end(),
                      [&](const CutCone::Ray& ray) { return product_sign(facet, ray.row) < 0; });
      if (!crosses) continue;
      if (!covered_from(std::move(beyond), by, first + 1, parts, pause)) return false;
      rest.cut(facet, false, pause);
    }
    return true;
  }
  return false;
}

}  // namespace

bool covered(const Cone& polytope, const std::vector<Cone>& by, int parts, const Pause& pause) {
  std::vector<const Cone*> all;
  for (const Cone& cone : by) all.push_back(&cone);
  return covered_from(polytope, all, 0, parts, pause);
}

std::optional<Cone> convex_union(const Cone& a, const Cone& b, const Pause& pause) {
  if (a.dimension() != b.dimension()) return {};
  // half way from a corner that only one has to one that only the other has
  const auto own = [](const Cone& of, const Cone& other) {
    std::vector<const IntegerRow*> corners;
    for (const CutCone::Ray& ray : of.rays()) {
      if (!other.contains(ray.row)) corners.push_back(&ray.row);
    }
    return corners;
  };
  const std::vector<const IntegerRow*> of_a = own(a, b), of_b = own(b, a);
  for (const IntegerRow* x : of_a) {
    for (const IntegerRow* y : of_b) {
      const IntegerRow middle = combination(y->x[0], *x, x->x[0], *y);
      if (!a.contains(middle) && !b.contains(middle)) return {};
    }
  }
  Cone whole = extended(a, b.rows(), pause);
  if (static_cast<int>(whole.equalities.size()) != static_cast<int>(a.equalities.size())) return {};
  // what the hull has beyond a facet of one must lie in the other
  for (const IntegerRow& facet : a.facets) {
    const auto beyond = [&](const CutCone::Ray& ray) { return product_sign(facet, ray.row) < 0; };
    if (std::none_of(whole.rays().begin(), whole.rays().end(), beyond)) continue;
    Cone part = whole;
    part.cut(negated(facet), false, pause);
    if (!b.contains(part.rows())) return {};
  }
  return minimal(whole);
}

}  // namespace routh::lcp
