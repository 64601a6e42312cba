#include "both.h"

struct Item {
  int key;
  float weight;
};

DEVICE Item items[6] = {{5, 0.5f}, {3, 0.25f}, {9, 1.5f}, {1, 4.0f}, {7, 2.0f}, {2, 8.0f}};

static void exchange(Item &a, Item &b) {
  Item kept = a;
  a = b;
  b = kept;
}

static bool less(const Item &a, const Item &b) {
  return a.key < b.key;
}

static int partition(Item *data, int low, int high) {
  Item pivot = data[high];
  int at = low;
  for (int i = low; i < high; i++) {
    if (less(data[i], pivot)) {
      exchange(data[i], data[at]);
      at++;
    }
  }
  exchange(data[at], data[high]);
  return at;
}

static void quicksort(Item *data, int low, int high) {
  if (low >= high)
    return;
  int middle = partition(data, low, high);
  quicksort(data, low, middle - 1);
  quicksort(data, middle + 1, high);
}

KERNEL void kern(int *out, int n) {
  int last = 5;
  quicksort(items, 0, last);
  float sum = 0;
  for (int i = 0; i <= last; i++) {
    out[i] = items[i].key;
    sum += items[i].weight;
  }
  out[6] = (int)sum + n;
}
