// Bit-fields that share their units with others, in LDS, in private and in global memory.
#define __global__ __attribute__((global))
#define __shared__ __attribute__((shared))

struct Fields {
    char kind;
    unsigned low : 5;
    unsigned high : 11;
    int small : 7;
};

struct __attribute__((packed)) Packed {
    unsigned first : 30;
    int split : 6; // ends behind the first unit
    unsigned last : 28;
};

extern "C" __global__ void fields(Fields *out, Packed *packed)
{
    __shared__ Fields shared[64];
    int i = __builtin_amdgcn_workitem_id_x();
    Fields own;
    own.kind = 1;
    own.low = 3;
    own.high = 4;
    own.small = 1;
    Fields *mine = &own, *local = &shared[i], *global = &out[i];
    Packed *other = &packed[i];
    *local = own;
    *global = own;
    other->split = 2;
    other->first = 7; // here the test begins
    mine->low += 1;
    local->low += i & 1;
    global->high += 1;
    other->first += 1;
    mine->small -= 3;
    local->high += 2;
    global->low += 3;
    other->split -= i & 7;
    mine->high = 9;
    local->low += 4;
    other->last = 5;
}
