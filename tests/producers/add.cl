__attribute__((noinline)) int twice(local int *l, int i)
{
    private int p[4];
    p[i & 3] = l[i] * 2;
    private int *pp = &p[i & 3];
    return *pp;
}

kernel void add(global const int *a, constant int *c, global int *out, local int *scratch)
{
    int i = __builtin_amdgcn_workitem_id_x();
    local int *l = scratch + i;
    *l = a[i] + c[0];
    private int mine = *l + 1;
    private int *pm = &mine;
    __builtin_amdgcn_s_barrier();
    out[i] = twice(scratch, i) + *pm;
}
