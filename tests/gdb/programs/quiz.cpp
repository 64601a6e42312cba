#include "both.h"
#include "quiz_rules.h"

enum class Mood { Calm, Happy = 4, Angry };

class Quiz {
public:
  Quiz(int id, int points) : id_(id), points_(points), mood_(Mood::Calm) { ++open_; }
  ~Quiz() { --open_; }
  Quiz &answer(int value);
  Quiz &skip() { points_--; return *this; }
  int points() const { return points_; }
  bool operator==(const Quiz &o) const { return points_ == o.points_; }
  static int open() { return open_; }
private:
  int id_, points_;
  Mood mood_;
  DEVICE static int open_;
};
DEVICE int Quiz::open_;

Quiz &Quiz::answer(int value) {
  if (rules::is_prime(value)) {
    points_ += rules::Bonus<3>::of(value);
    mood_ = Mood::Happy;
  } else if (value % 2 == 0) {
    points_ += rules::Bonus<1>::of(value);
  } else {
    mood_ = Mood::Angry;
  }
  return *this;
}

template <class T> struct Stack {
  T data[4];
  int top;
  Stack() : top(0) {}
  void push(const T &v) { if (top < 4) data[top++] = v; }
  T pop();
};
template <class T> T Stack<T>::pop() {
  return data[--top];
}

static int fold(int n) {
  if (n < 2)
    return n;
  return fold(n - 1) + fold(n - 2);
}

static int loop(int n) {
  int a = 0, b = 0;
outer:
  for (int i = 0; i < n; i++) {
    for (int j = i; j < n; j++) {
      if (j == 3) { a++; break; }
      if (i == 2) { if (++b < 3) goto outer; return a * 10 + b; }
    }
  }
  return a;
}

KERNEL void kern(int *out, int n) {
  {
    Quiz quiz(1, 10);
    quiz.answer(7).answer(8).skip().answer(9);
    out[0] = quiz.points();
    Quiz other(2, 12);
    out[1] = quiz == other ? 1 : 0;
    out[2] = Quiz::open();
  }
  Stack<int> ints;
  Stack<double> doubles;
  for (int i = 0; i < 3; i++) ints.push(i), doubles.push(i * 0.5);
  out[3] = ints.pop() + (int)(doubles.pop() * 2);
  out[4] = fold(4);
  out[5] = loop(n);
  auto add = [n](int x) { return x + n; };
  out[6] = rules::twice(add, 1);
  out[7] = Quiz::open();
}
