// Arrays whose first index test_array_bounds.py changes: 1 of four elements, -2 of five.
__attribute__((device)) int shared_by_all[4] = {10, 20, 30, 40};

extern "C" __attribute__((global)) void kern(int *out)
{
  int t = __builtin_amdgcn_workitem_id_x();
  int from_1[4], from_minus_2[5], from_0[6];
  int table[4][5];
  for (int i = 0; i < 20; i++) {
    from_1[i % 4] = 10 * (i % 4) + t;
    from_minus_2[i % 5] = 10 * (i % 5) + t;
    from_0[i % 6] = 10 * (i % 6) + t;
    table[i / 5][i % 5] = i + t;
  }
  out[t] = from_1[2] + from_minus_2[2] + from_0[2] + table[1][1] + shared_by_all[t & 3];
}
