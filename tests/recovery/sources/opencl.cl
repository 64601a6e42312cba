// OpenCL's ways: a function of the program, a macro that the command line defines, vectors.
uint local_place(void) { return __builtin_amdgcn_workitem_id_x(); }
int clamped(int value, int low, int high) { return value < low ? low : value > high ? high : value; }

kernel void clauses(global int *out, global const int *in, int count, long wide)
{
    const uint gid = (uint)__builtin_amdgcn_workgroup_id_x() * 40u + local_place();
    int x = in[gid];
    int y = x * 3 + 1;
    int z = clamped(y, 10, 90);
    int w = z - 4;
    bump(w);
    out[gid] = x + w;
    int4 four = (int4)(x, y, z, w);
    int total = four.x + four.w;
    ushort packed = (ushort)(y << 4 | z);
    if (count > x && packed != 0) {
        int inside = packed % 11;
        out[128 + gid] = inside + total;
    }
    out[256 + gid] = y - z;
    out[384 + gid] = (int)(wide >> (gid & 7)) + x;
}

kernel void pointers(global int *out, global const int *in, int count, long wide)
{
    const uint gid = (uint)__builtin_amdgcn_workgroup_id_x() * 40u + local_place();
    global const int *first = in + gid;
    global const int *end = first + (count & 3) + 1;
    int sum = 0;
    while (first != end)
        sum += *first++;
    const int last = end[-1];
    const bool positive = sum > last;
    out[gid] = sum;
    out[128 + gid] = positive ? last : -last;
}
