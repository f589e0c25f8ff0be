#pragma once

#include <Eigen/Core>

namespace routh {

/// Floating point with 113 bits: the compiler's own, with what Eigen asks of a number.
class Quad {
 public:
#ifdef __SIZEOF_FLOAT128__
  __extension__ using Value = __float128;
#else
  using Value = long double;
#endif
  static_assert(sizeof(Value) == 16);

  Quad(double x = 0) : value_(x) {}  // NOLINT: as a double is a long double
  explicit operator double() const { return static_cast<double>(value_); }

  Quad& operator+=(Quad x) { return value_ += x.value_, *this; }
  Quad& operator-=(Quad x) { return value_ -= x.value_, *this; }
  Quad& operator*=(Quad x) { return value_ *= x.value_, *this; }
  Quad& operator/=(Quad x) { return value_ /= x.value_, *this; }
  Quad operator-() const { return Quad(0) -= *this; }
  friend Quad operator+(Quad a, Quad b) { return a += b; }
  friend Quad operator-(Quad a, Quad b) { return a -= b; }
  friend Quad operator*(Quad a, Quad b) { return a *= b; }
  friend Quad operator/(Quad a, Quad b) { return a /= b; }

  friend bool operator==(Quad a, Quad b) { return a.value_ == b.value_; }
  friend bool operator<(Quad a, Quad b) { return a.value_ < b.value_; }
  friend bool operator>(Quad a, Quad b) { return a.value_ > b.value_; }
  friend bool operator<=(Quad a, Quad b) { return a.value_ <= b.value_; }
  friend bool operator>=(Quad a, Quad b) { return a.value_ >= b.value_; }
  friend Quad abs(Quad x) { return x < 0 ? -x : x; }

 private:
  Value value_;
};

}  // namespace routh

namespace Eigen {

template <>
struct NumTraits<routh::Quad> : GenericNumTraits<double> {
  using Real = routh::Quad;
  using NonInteger = routh::Quad;
  using Nested = routh::Quad;
  using Literal = routh::Quad;
  enum { RequireInitialization = 1, ReadCost = 2, AddCost = 40, MulCost = 40 };
  static Real epsilon() { return 0x1p-112; }
  static Real dummy_precision() { return 1e-30; }
  static int digits10() { return 33; }
};

}  // namespace Eigen
