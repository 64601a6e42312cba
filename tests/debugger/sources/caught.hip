#define __global__ __attribute__((global))
__global__ void kern(int *out, int n) {
    int id = __builtin_amdgcn_workitem_id_x() + __builtin_amdgcn_workgroup_id_x() * 96;
    if (n == 1)
        __builtin_amdgcn_s_sendmsg(1, 0);
    if (n == 2)
        __builtin_debugtrap();
    if (n == 3)
        __builtin_trap();
    if (n == 4 && id == 5)
        *(volatile int *)(out - 0x100000) = 1;
    if (id < 0x1000000)
        out[id] = n;
}
