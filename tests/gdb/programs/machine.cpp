#include "both.h"

namespace vm {
enum class Op : char { Push, Add, Mul, Jump, Halt = 127 };

struct Code {
  Op op;
  short arg;
};

class Error {
public:
  int code;
  const char *what() const { return text; }
  const char *text = "none";
};

template <int Size = 8> class Stack {
  long cells[Size];
  int depth = 0;

public:
  void push(long v) { cells[depth++] = v; }
  long pop() { return cells[--depth]; }
  long peek(int back = 0) const { return cells[depth - 1 - back]; }
  int used() const { return depth; }
};

class Machine {
public:
  explicit Machine(const Code *program) : program(program), pc(0) {}
  ~Machine() { ended = true; }

  bool step() {
    const Code &code = program[pc++];
    ++cycles;
    switch (code.op) {
    case Op::Push:
      stack.push(code.arg);
      break;
    case Op::Add: {
      long b = stack.pop(), a = stack.pop();
      stack.push(a + b);
      break;
    }
    case Op::Mul: {
      long b = stack.pop(), a = stack.pop();
      stack.push(a * b);
      break;
    }
    case Op::Jump:
      pc += code.arg;
      break;
    case Op::Halt:
      return false;
    }
    return true;
  }

  long run(int limit = 100);
  DEVICE static unsigned cycles;
  Error error;

private:
  const Code *program;
  int pc;
  Stack<> stack;
  bool ended = false;
};
DEVICE unsigned Machine::cycles = 0;

DEVICE long Machine::run(int limit) {
  int steps = 0;
  while (step()) {
    if (++steps >= limit) {
      error.code = -1;
      error.text = "limit";
      break;
    }
  }
  return stack.peek();
}
} // namespace vm

using vm::Op;
DEVICE const vm::Code program[] = {
    {Op::Push, 2}, {Op::Push, 5}, {Op::Add, 0}, {Op::Jump, 1}, {Op::Push, 99}, {Op::Push, 6}, {Op::Mul, 0}, {Op::Halt, 0},
};

template <typename T> void exchange(T &a, T &b) {
  T keep = a;
  a = b;
  b = keep;
}

DEVICE int depth_first(int level) {
  int here = level;
  if (level > 0)
    here += depth_first(level - 1);
  return here;
}

KERNEL void kern(int *out, int n) {
  vm::Machine machine(program);
  long answer = machine.run();
  vm::Machine lazy(program);
  lazy.run(3);
  long other = 1;
  exchange(answer, other);
  out[0] = (int)other;
  out[1] = depth_first(3);
  for (int i = 0; i < n; i++) {
    int square = i * i;
    out[2] += square;
  }
}
