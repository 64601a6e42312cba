/* Parts that both the warehouse and its tests would share. */
struct Part {
  int id;
  int weight;
};

static inline int heavier(const Part &a, const Part &b) { return a.weight > b.weight ? a.id : b.id; }

template <class T> T clamp(T value, T low, T high) {
  if (value < low)
    return low;
  if (value > high)
    return high;
  return value;
}

struct Shelf {
  Part parts[4];
  int used;
  Shelf() : used(0) {}
  bool add(int id, int weight) {
    if (used >= 4)
      return false;
    parts[used].id = id; parts[used].weight = weight;
    used++;
    return true;
  }
  int total() const {
    int sum = 0;
    for (int i = 0; i < used; i++) sum += parts[i].weight;
    return sum;
  }
};
