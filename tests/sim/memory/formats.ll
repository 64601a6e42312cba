; Converts the elements of a buffer: loads four channels through one format, stores them through another.

target triple = "amdgcn-amd-amdhsa"

define amdgpu_kernel void @convert(ptr addrspace(1) %source, ptr addrspace(1) %target, i32 %records,
                                   i32 %from_flags, i32 %to_flags) {
  %id = call i32 @llvm.amdgcn.workitem.id.x()
  %bytes = zext i32 %records to i64
  %from = call ptr addrspace(8) @llvm.amdgcn.make.buffer.rsrc.p8.p1(ptr addrspace(1) %source, i16 16, i64 %bytes, i32 %from_flags)
  %to = call ptr addrspace(8) @llvm.amdgcn.make.buffer.rsrc.p8.p1(ptr addrspace(1) %target, i16 16, i64 %bytes, i32 %to_flags)
  %v = call <4 x float> @llvm.amdgcn.struct.ptr.buffer.load.format.v4f32(ptr addrspace(8) %from, i32 %id, i32 0, i32 0, i32 0)
  call void @llvm.amdgcn.struct.ptr.buffer.store.format.v4f32(<4 x float> %v, ptr addrspace(8) %to, i32 %id, i32 0, i32 0, i32 0)
  ret void
}

define amdgpu_kernel void @halves(ptr addrspace(1) %source, ptr addrspace(1) %target, i32 %records,
                                  i32 %from_flags, i32 %to_flags) {
  %id = call i32 @llvm.amdgcn.workitem.id.x()
  %bytes = zext i32 %records to i64
  %from = call ptr addrspace(8) @llvm.amdgcn.make.buffer.rsrc.p8.p1(ptr addrspace(1) %source, i16 16, i64 %bytes, i32 %from_flags)
  %to = call ptr addrspace(8) @llvm.amdgcn.make.buffer.rsrc.p8.p1(ptr addrspace(1) %target, i16 16, i64 %bytes, i32 %to_flags)
  %v = call <4 x half> @llvm.amdgcn.struct.ptr.buffer.load.format.v4f16(ptr addrspace(8) %from, i32 %id, i32 0, i32 0, i32 0)
  call void @llvm.amdgcn.struct.ptr.buffer.store.format.v4f16(<4 x half> %v, ptr addrspace(8) %to, i32 %id, i32 0, i32 0, i32 0)
  ret void
}

declare i32 @llvm.amdgcn.workitem.id.x()
declare ptr addrspace(8) @llvm.amdgcn.make.buffer.rsrc.p8.p1(ptr addrspace(1), i16, i64, i32)
declare <4 x float> @llvm.amdgcn.struct.ptr.buffer.load.format.v4f32(ptr addrspace(8), i32, i32, i32, i32)
declare <4 x half> @llvm.amdgcn.struct.ptr.buffer.load.format.v4f16(ptr addrspace(8), i32, i32, i32, i32)
declare void @llvm.amdgcn.struct.ptr.buffer.store.format.v4f32(<4 x float>, ptr addrspace(8), i32, i32, i32, i32)
declare void @llvm.amdgcn.struct.ptr.buffer.store.format.v4f16(<4 x half>, ptr addrspace(8), i32, i32, i32, i32)
