// Functions that other objects may see: calls go through the global offset table.
#define EXPORTED extern "C" __attribute__((device, noinline, visibility("default")))
EXPORTED int first(int v)
{
  return 3 * v;
}
EXPORTED int second(int v)
{
  return v - 1;
}
EXPORTED int both(int v)
{
  int a = first(v);
  return a + second(a);
}
extern "C" __attribute__((global)) void kern(int *out)
{
  out[__builtin_amdgcn_workitem_id_x()] = both(__builtin_amdgcn_workitem_id_x());
}
