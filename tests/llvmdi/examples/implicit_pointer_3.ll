; the SSA register is the address of x
%x.addr = alloca i64, addrspace(5)
store i64 7, ptr addrspace(5) %x.addr
call void @llvm.dbg.def(metadata !2, metadata ptr addrspace(5) %x.addr)
call void @llvm.dbg.def(metadata !4, metadata ptr addrspace(5) %x.addr)
%0 = load i64, ptr addrspace(5) %x.addr
ret i64 %0

!1 = !DILocalVariable("x", ...)
!2 = distinct !DILifetime(object: !1, location: !DIExpr(DIOpReferrer(ptr addrspace(5)), DIOpDeref(i64)))
!3 = !DILocalVariable("p", ...)
!4 = distinct !DILifetime(object: !3, location: !DIExpr(DIOpReferrer(ptr addrspace(5))))
