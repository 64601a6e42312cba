#include "both.h"

namespace util {
template <typename T, int N> class Ring {
public:
  Ring() : head_(0), size_(0) {}
  bool push(const T &value) {
    if (full())
      return false;
    data_[(head_ + size_) % N] = value;
    ++size_;
    return true;
  }
  T pop() {
    T value = data_[head_];
    head_ = (head_ + 1) % N;
    --size_;
    return value;
  }
  bool full() const { return size_ == N; }
  bool empty() const { return size_ == 0; }
  int size() const { return size_; }
  T &operator[](int i) { return data_[(head_ + i) % N]; }

private:
  T data_[N];
  int head_;
  int size_;
};

template <typename A, typename B> struct Pair {
  A first;
  B second;
};

template <typename T> T largest(T a, T b) { return b < a ? a : b; }

namespace detail {
enum class Level : unsigned char { Low = 1, Mid, High = 10 };
DEVICE int counter = 3;
DEVICE inline int bump(int by) { return counter += by; }
} // namespace detail
} // namespace util

struct Task {
  int id;
  util::detail::Level level;
  float cost;
  Task(int i = 0, util::detail::Level l = util::detail::Level::Low, float c = 1.5f) : id(i), level(l), cost(c) {}
  bool operator<(const Task &other) const { return cost < other.cost; }
  Task operator+(const Task &other) const { return Task(id + other.id, level, cost + other.cost); }
  DEVICE static int made;
  static int count() { return made; }
};
DEVICE int Task::made = 4;

typedef util::Pair<int, Task> Entry;
using Tasks = util::Ring<Task, 4>;

DEVICE static int total_cost(Tasks &tasks) {
  float sum = 0;
  for (int i = 0; i < tasks.size(); i++) {
    Task &t = tasks[i];
    sum += t.cost;
  }
  return (int)sum;
}

template <typename F> int apply(F f, int n) {
  int acc = 0;
  for (int i = 0; i < n; ++i)
    acc += f(i);
  return acc;
}

DEVICE int over(int v) { return v; }
DEVICE int over(double v) { return (int)(v * 10); }
DEVICE int over(const Task &t) { return t.id * 1000; }

KERNEL void kern(int *out, int n) {
  Tasks tasks;
  for (int i = 0; i < 3; i++)
    tasks.push(Task(i + 1, util::detail::Level::Mid, i * 2.5f));
  Entry entry = {n, Task(9)};
  util::Ring<char, 6> letters;
  letters.push('x');
  letters.push('y');
  int offset = 5;
  auto add = [offset, &out](int v) { return v + offset + out[0]; };
  int sum = apply(add, 4);
  const Task &best = util::largest(tasks[0], tasks[1]);
  int Task::*member = &Task::id;
  out[1] = sum + total_cost(tasks) + over(2) + over(1.5) + over(entry.second);
  out[2] = util::largest(3, n) + util::detail::bump(2) + best.*member;
  out[3] = Task::count() + letters.pop();
}
