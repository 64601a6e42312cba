; "Variable Located In An alloca"
%x.addr = alloca i64, addrspace(5)
call void @llvm.dbg.def(metadata !2, metadata ptr addrspace(5) %x.addr)
store i64 1, ptr addrspace(5) %x.addr
...
call void @llvm.dbg.kill(metadata !2)
ret void

!1 = !DILocalVariable("x", ...)
!2 = distinct !DILifetime(object: !1, location: !DIExpr(DIOpReferrer(ptr addrspace(5)), DIOpDeref(i64)))
