constant int table[3] = {5, 6, 7};
__attribute__((noinline)) int pick(local int *l, constant int *c, int *generic_pointer, int i)
{
    private int p[4];
    p[i & 3] = l[i] * 2;
    private int *pp = &p[i & 3];
    return *pp + c[1] + *generic_pointer;
}
kernel void spaces(global int *out, local int *scratch)
{
    local int fixed[64];
    int i = __builtin_amdgcn_workitem_id_x();
    fixed[i] = i * 3;
    int mine = 7;
    __builtin_amdgcn_s_barrier();
    int *either = i & 1 ? (int *)&mine : (int *)&fixed[i];
    out[i] = pick(fixed, table, either, i);
}
