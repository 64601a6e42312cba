#define FROM_HEADER 7
#define NESTED(a) (a + FROM_HEADER)
