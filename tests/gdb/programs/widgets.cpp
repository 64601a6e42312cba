#include "both.h"

namespace ui {
struct Size {
  int w, h;
  int area() const { return w * h; }
};

class Widget {
public:
  Widget(const char *name, Size size) : name(name), size(size) {}
  virtual int cost() const { return size.area(); }
  virtual void grow(int by) { size.w += by; }
  int id() const { return ident; }
  const char *name;

protected:
  Size size;
  int ident = 42;
};

class Clickable {
public:
  virtual int click(int times) { return clicks; }
  int clicks = 0;
};

class Button : public Widget, public Clickable {
public:
  enum State { Up, Down, Held = 7 };
  Button(const char *name) : Widget(name, {10, 5}), state(Up) {}
  int cost() const override { return 2 * Widget::cost(); }
  int click(int times) override {
    for (int i = 0; i < times; i++)
      press();
    return clicks;
  }
  State state;

private:
  void press() {
    clicks += 1;
    state = state == Up ? Down : Up;
  }
};

class Toggle final : public Button {
public:
  Toggle() : Button("toggle") {}
  int cost() const override {
    int base = Button::cost();
    return base + 1;
  }
  bool on = false;
  mutable unsigned flags : 3 = 5;
  unsigned spare : 5 = 17;
};
} // namespace ui

using namespace ui;

DEVICE int visits;

DEVICE int total(Widget *const *all, int count) {
  int sum = 0;
  for (int i = 0; i < count; i++) {
    const Widget &w = *all[i];
    sum += w.cost();
    visits++;
  }
  return sum;
}

union Value {
  int i;
  float f;
  unsigned char b[4];
};

struct Node {
  Value value;
  Node *next;
  struct Inner {
    char tag;
    long big;
  } inner;
};

DEVICE int length(const Node *n) {
  int k = 0;
  while (n) {
    n = n->next;
    k++;
  }
  return k;
}

KERNEL void kern(int *out, int n) {
  Widget plain("plain", {3, 4});
  Button button("ok");
  Toggle toggle;
  Widget *all[3] = {&plain, &button, &toggle};
  Clickable *target = &toggle;
  Node last = {{.i = 1}, nullptr, {'z', 1L << 40}};
  Node first = {{.f = 1.0f}, &last, {'a', -1}};
  Button::State seen = toggle.state;
  int (Clickable::*action)(int) = &Clickable::click;
  plain.grow(n);
  out[0] = total(all, 3);
  out[1] = target->click(3);
  out[2] = (button.*action)(2);
  out[3] = length(&first) + seen;
  Button &ref = toggle;
  out[4] = ref.cost();
}
