; "Implicit Pointer Location Description": both variables in memory
%x.addr = alloca i64, addrspace(5)
call void @llvm.dbg.def(metadata !2, metadata ptr addrspace(5) %x.addr)
store i64 7, ptr addrspace(5) %x.addr
%p.addr = alloca ptr, addrspace(5)
call void @llvm.dbg.def(metadata !4, metadata ptr addrspace(5) %p.addr)
store ptr addrspace(5) %x.addr, ptr addrspace(5) %p.addr
%0 = load ptr addrspace(5), ptr addrspace(5) %p.addr
%1 = load i64, ptr addrspace(5) %0
ret i64 %1

!1 = !DILocalVariable("x", ...)
!2 = distinct !DILifetime(object: !1, location: !DIExpr(DIOpReferrer(ptr addrspace(5)), DIOpDeref(i64)))
!3 = !DILocalVariable("p", ...)
!4 = distinct !DILifetime(object: !3, location: !DIExpr(DIOpReferrer(ptr addrspace(5)), DIOpDeref(ptr addrspace(5))))
