// Structs by value aligned to 16, 32 and 64 bytes. ptxas counts alignments from the start of the constant bank (0x160,
// 0x210 or 0x380 by architecture), so behind the first one above 16 each target has offsets of its own.
struct alignas(16) Row {
  float x[3];
};
struct alignas(32) Block {
  int x[5];
};
#ifdef TWIN_ALIGNMENT
struct alignas(32) Tile {
#else
struct alignas(64) Tile {
#endif
  short x[20];
  char pad[24];
};

extern "C" __global__ void fixed(float *out, Row row, int n) {
  if (threadIdx.x < unsigned(n))
    out[threadIdx.x] = row.x[threadIdx.x % 3];
}

extern "C" __global__ void placed(float *out, int n, Block block, char c, Tile tile, Row row, long long last) {
  if (threadIdx.x < unsigned(n))
    out[threadIdx.x] = block.x[threadIdx.x % 5] + tile.x[threadIdx.x % 20] + row.x[threadIdx.x % 3] + c + float(last);
}
