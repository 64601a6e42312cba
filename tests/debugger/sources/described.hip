// Arrays behind descriptors, as Fortran has them. test_described_arrays.py gives `Described` such a type.
struct Described { int *data; long count, stride; };
struct Holder { int first; Described inside; };
__attribute__((device)) int global_data[4] = {1, 2, 3, 4};

extern "C" __attribute__((global)) void kern(int *out)
{
  int t = __builtin_amdgcn_workitem_id_x();
  int own[10];
  for (int i = 0; i < 10; i++)
    own[i] = i * t;
  Described every_other = {own + 1, 4, 8};
  Described global = {global_data, 4, 4};
  Described nothing = {nullptr, 0, 0};
  Holder holder = {7, {own + 3, 2, 4}};
  Holder *pointer = &holder;
  out[t] = own[2] + pointer->first + every_other.data[0] + (int)global.count + (int)nothing.count;
}
